"""Tables of the small experiments behind docs/claims.md, from claims.json."""

from typing import Any

from tables.records import each, markdown, percent, record


def _experiment(name: str) -> Any:
    return record("claims")["experiments"][name]


def gradients() -> str:
    rows = _experiment("gradients")["rows"]
    lengths = sorted({row["length"] for row in rows})
    found = {(row["model"], row["length"]): row["middle"] for row in rows}
    labels = {"vanilla": "one fixed vector", "bahdanau": "additive attention"}
    head = ["share of the gradient at the middle word", *(f"{length} words" for length in lengths)]
    return markdown(
        head, ([label, *(f"{found[name, length]:.2g}" for length in lengths)] for name, label in labels.items())
    )


def similarity() -> str:
    rows = _experiment("similarity")["rows"]
    head = ["lengths vary by", *(percent(row["spread"]) for row in rows)]
    label = "a vector other than the most similar one has the largest product"
    return markdown(head, [[label, *(percent(row["another"]) for row in rows)]])


def parameters() -> str:
    rows = _experiment("parameters")["rows"]
    return markdown(
        ["size", "score", "parameters of the score", "of the model"],
        ([row["size"], row["score"], f"{row['own']:,}", f"{row['all']:,}"] for row in rows),
    )


def variance() -> str:
    rows = _experiment("variance")["rows"]
    labels = [(kind, key) for kind in ("plain", "scaled") for key in ("largest_weight", "gradient")]
    body = [["variance of the products", *(f"{row['variance']:,.0f}" for row in rows)]]
    body += [[f"{kind}: {key.replace('_', ' ')}", *(f"{row[kind][key]:.2f}" for row in rows)] for kind, key in labels]
    return markdown(["width", *(f"{row['width']:,}" for row in rows)], body)


def packing_cost() -> str:
    rows = _experiment("packing_cost")["rows"]
    return markdown(
        ["device", "words", "padding", "padded, ms", "packed, ms"],
        (
            [
                row.get("machine", "CPU, one thread"),
                "–".join(map(str, row["lengths"])),
                percent(row["padding"]),
                f"{row['padded']:.1f}",
                f"{row['packed']:.1f}",
            ]
            for row in rows
        ),
    )


def patterns() -> str:
    columns = {
        "patterns": "English → French",
        "patterns-plain": "without label smoothing",
        "patterns-hindi": "English → Hindi",
    }
    found = [_experiment(name) for name in columns]
    labels = {
        "near_the_diagonal": "words whose link is within 1.5 words of the diagonal",
        "crossed": "noun and adjective cross as they should",
        "sentences_with_a_stripe_of_three": "sentences where three target words or more share their main source word",
        "sentences_with_a_block_moved_back": "sentences where a block of words moves",
    }
    rows = [[label, *(_pattern(one, key) for one in found)] for key, label in labels.items()]
    return markdown([f"{found[0]['sentences']} unseen sentences", *columns.values()], rows)


def _pattern(one: Any, key: str) -> str:
    if key != "crossed":
        return percent(one[key])
    return f"{percent(one[key])} of {one['noun_adjective_pairs']}" if one["noun_adjective_pairs"] else "no such pairs"


def word_classes() -> str:
    smoothed, plain = (_experiment(name)["target"] for name in ("word_classes", "word_classes-plain"))
    received = _experiment("word_classes")["received_by_source"]
    rows = [
        [
            name,
            *(f"{one['entropy']:.2f}" for one in (smoothed[name], plain[name])),
            *(f"{smoothed[name]['largest']:.2f}", percent(smoothed[name]["on_gold"]), percent(plain[name]["on_gold"])),
            *(percent(one["several"], 1) for one in (smoothed[name], plain[name])),
            f"{received[name]['sum']:.2f}" if name in received else "",
        ]
        for name in sorted(smoothed, key=lambda name: -smoothed[name]["entropy"])
    ]
    head = ["target word", "entropy, nats", "without label smoothing", "largest weight", "weight on the gold word"]
    head += ["without label smoothing", "two or more above 0.2", "without label smoothing", "received by a source word"]
    rows.append(["auxiliary", *[""] * 7, f"{received['auxiliary']['sum']:.2f}"])
    return markdown(head, rows)


def german_classes() -> str:
    small, full = (_experiment(name) for name in ("german_classes", "german_classes-full"))
    names = {"preposition": "preposition", "article": "article", "verb or other": "other words", "mark": "punctuation"}
    rows = [
        [label, f"{small[name]['words']:,}", *(f"{one[name]['entropy']:.2f}" for one in (small, full))]
        for name, label in names.items()
    ]
    return markdown(["German word", "words", "the guide's small model, nats", "concat at the output, to the end"], rows)


def other_weights() -> str:
    smoothed, plain = (_experiment(name) for name in ("other_weights", "other_weights-plain"))
    names = [name for name, one in smoothed.items() if isinstance(one, dict)]
    head = ["weights", "exact match", "BLEU", "without label smoothing: exact match", "BLEU"]
    rows = [
        [
            name,
            *(
                cell
                for one in (smoothed[name], plain[name])
                for cell in (percent(one["exact_match"], 1), f"{one['bleu']:.1f}")
            ),
        ]
        for name in names
    ]
    return markdown(head, rows)


def removed_words() -> str:
    french, hindi = (_experiment(name) for name in ("removed_words", "removed_words-hindi"))
    names = ("looked at most", "any other", "looked at least")
    rows = [
        [
            name,
            *(
                cell
                for one in (french[name], hindi[name])
                for cell in (f"{one['fall']:.2f}", percent(one["best_word_changed"]))
            ),
        ]
        for name in names
    ]
    shares = [cell for one in (french, hindi) for cell in ("", percent(one["most_looked_at_is_most_needed"]))]
    rows.append(["the word looked at most is also the one needed most", *shares])
    head = ["deleted source word", "English → French: fall of the log-probability, nats", "best word changed"]
    return markdown([*head, "English → Hindi: fall", "best word changed"], rows)


def reach() -> str:
    found = _experiment("reach")["change_by_distance"]
    distances = sorted(found, key=int)
    return markdown(
        ["distance from the replaced word", *distances],
        [["relative change of the state", *(f"{found[one]:.2f}" for one in distances)]],
    )


def directions() -> str:
    experiments = record("claims")["experiments"]
    runs = sorted(
        (one for name, one in experiments.items() if name.startswith("directions-")), key=lambda one: one["seed"]
    )
    rows = []
    for encoder in ("two directions of 128", "one direction of 128", "one direction of 256"):
        mine = [one for one in runs if one["encoder"] == encoder]
        figures = [each(100 * one["exact_match"] for one in mine), each(one["bleu"] for one in mine)]
        rows.append(
            [encoder, *figures, each((one["aer"] for one in mine), 3), each((one["entropy"] for one in mine), 2)]
        )
    return markdown(["encoder, seeds 0 and 1", "exact match, %", "BLEU", "alignment error rate", "entropy, nats"], rows)


def beams() -> str:
    found = _experiment("beams")
    widths = sorted({int(name.split()[-1]) for name in found if "beam" in name})
    rows = []
    for lengths in ("3-20", "21-30"):
        ones = [found[f"{lengths} beam {width}"] for width in widths]
        label = lengths.replace("-", "–") + " words"
        rows.append([f"{label}, exact match, %", *(f"{100 * one['exact_match']:.1f}" for one in ones)])
        rows.append([f"{label}, BLEU", *(f"{one['bleu']:.1f}" for one in ones)])
        rows.append([f"{label}, ms a sentence", *(f"{one['milliseconds']:.1f}" for one in ones)])
    return markdown(["beam", *map(str, widths)], rows)
