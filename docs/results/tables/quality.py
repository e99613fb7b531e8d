"""Tables of translation quality: sentence length, Multi30k, mechanisms, the demo, everyday sentences, pronunciation."""

from collections import Counter, defaultdict
from statistics import fmean, median
from typing import Any

from tables.records import each, markdown, millions, record, records, spread


def length() -> str:
    systems = record("length")["systems"]
    bins = [f"{max(one[0], 3)}–{one[1] or 120}" for one in next(iter(systems.values()))["by_length"]]
    rows = [[f"{name}, BLEU", *(f"{one[3]:.1f}" for one in system["by_length"])] for name, system in systems.items()]
    return markdown(["source words", *bins], rows)


REAL = {
    "vanilla-30": "no attention, trained on up to 30 words",
    "vanilla-50": "no attention, up to 50",
    "additive-30": "additive attention, up to 30",
    "additive-50": "additive attention, up to 50",
}


def length_real() -> str:
    systems = record("length_real")["systems"]
    bins = [f"{one['shortest']}–{one['longest']}" for one in systems["additive-50"]["testlen"]]
    rows = [
        [label, *(f"{one['bleu']:.1f}" for one in systems[name]["testlen"]), f"{systems[name]['bleu']:.1f}"]
        for name, label in REAL.items()
    ]
    return markdown(["source words", *bins, "all"], rows)


def length_joined() -> str:
    systems = record("length_real")["systems"]
    bins = [f"{one['shortest']}–{one['longest']}" for one in systems["additive-50"]["joined"]]
    rows = [[label, *(f"{one['bleu']:.1f}" for one in systems[name]["joined"])] for name, label in REAL.items()]
    alone = [
        "the last model, sentence by sentence",
        *(f"{one['apart']:.1f}" for one in systems["additive-50"]["joined"]),
    ]
    return markdown(["source words, joined", *bins], [*rows, alone])


NAMES = {
    "GRU, additive, 3 vote": "ensemble of 3 GRUs, additive",
    "2 Transformers vote": "ensemble of 2 Transformers-tiny with R-Drop",
    "2 Transformers and a GRU vote": "ensemble of 2 Transformers-tiny and a GRU, all with R-Drop",
    "4 teachers vote": "ensemble of the 4 teachers",
    "GRU, dot at the output, taught by the vote": "GRU, dot at the output, distilled from the 4 teachers",
    "Transformer-tiny, taught by the vote": "Transformer-tiny, distilled from the 4 teachers",
    "Transformer-tiny, long": "Transformer-tiny, 8,000 steps instead of 4,000",
}
"""The names of models in tables, if they differ from the names in the records."""


def multi30k() -> str:
    groups: dict[tuple[str, str], list[Any]] = defaultdict(list)
    for one in records("multi30k"):
        groups[one["pair"], one["name"]].append(one)
    rows = []
    for (pair, name), several in groups.items():
        first = several[0]
        parameters = Counter(first.get("parameters_each") or [first["parameters"]] * first["members"])
        size = " + ".join(f"{count} × " * (count > 1) + f"{one / 1e6:.1f} M" for one, count in parameters.items())
        scores = [spread([one["scores"][split] for one in several]) for split in ("val", "2016", "2017")]
        seconds = f"{fmean(one['seconds']['training'] for one in several):.0f}"
        runs = f", {len(several)} runs" if len(several) > 1 else ""
        rows.append([pair, NAMES.get(name, name) + runs, size, *scores, seconds])
    return markdown(["pair", "model", "parameters", "val", "test 2016", "test 2017", "training, s"], rows)


def multi30k_score(name: str, split: str, pair: str = "en-de") -> str:
    """The mean of all runs of a model on one split."""
    return spread([one["scores"][split] for one in records("multi30k") if (one["pair"], one["name"]) == (pair, name)])


GUIDE = (
    ("`multi30k-en-de`, seeds 0, 1, 2 (`--set train.seed=1`), mean ± deviation", "GRU, additive", "en-de"),
    ("an ensemble of the three (`--ensemble`)", "GRU, additive, 3 vote", "en-de"),
    ("`multi30k-en-de-luong`, seeds 0 and 1", "GRU, dot at the output", "en-de"),
    ("`multi30k-en-de-transformer`", "Transformer-tiny", "en-de"),
    ("the same with `--set train.steps=8000`, seeds 0 and 1", "Transformer-tiny, long", "en-de"),
    (
        "`multi30k-en-de-luong`, [distilled](../results/multi30k.md#knowledge-distillation) from four, seeds 0 and 1",
        "GRU, dot at the output, taught by the vote",
        "en-de",
    ),
    ("`multi30k-de-en`", "GRU, additive", "de-en"),
    ("`multi30k-en-de-transformer --set data.source=de --set data.target=en`", "Transformer-tiny", "de-en"),
    ("`multi30k-en-fr`", "GRU, additive", "en-fr"),
)


def guide_multi30k() -> str:
    """The table of the guide to real text."""
    rows = [[label, *(multi30k_score(name, split, pair) for split in ("2016", "2017"))] for label, name, pair in GUIDE]
    return markdown(["", "test 2016", "test 2017"], rows)


def mechanisms() -> str:
    names = ("mechanisms-multi30k", "mechanisms-multi30k-1800", "mechanisms-europarl", "mechanisms-europarl-8000")
    short, long, debates, to_end = ({one["name"]: one for one in record(name)["variants"]} for name in names)
    speed = record("mechanisms-multi30k-speed")["variants"]
    head = ["", "Multi30k, 1,200 steps: BLEU", "chrF", "entropy, nats", "1,800 steps: BLEU", "parameters"]
    head += ["a step alone, ms", "memory, MiB", "Europarl, 1,800 steps: BLEU", "8,000 steps: BLEU", "chrF"]
    rows = [
        [
            name,
            *(_figure(one, key, digits) for key, digits in (("bleu", 2), ("chrf", 2), ("entropy", 3))),
            _figure(long[name], "bleu", 2),
            millions(speed[name]["parameters"]),
            f"{speed[name]['milliseconds']:.1f}",
            f"{speed[name]['mebibytes']:,}",
            _figure(debates[name], "bleu", 2),
            *(_figure(to_end[name], key, digits) for key, digits in (("bleu", 2), ("chrf", 2), ("entropy", 3))),
            *(f"{point['loss']:.3f}" for point in to_end[name]["runs"][0]["curve"] if point["step"] == 6000),
        ]
        for name, one in short.items()
    ]
    return markdown([*head, "entropy, nats", "loss on dev after 6,000"], rows)


def _figure(variant: Any, key: str, digits: int) -> str:
    figure = variant["figures"].get(key)
    if figure is None:
        return "–"
    several = f" ± {figure['deviation']:.{digits}f}" if figure["seeds"] > 1 else ""
    return f"{figure['mean']:.{digits}f}{several}"


def demo() -> str:
    runs = record("demo")["runs"]
    rows = []
    for pair in ("en-fr", "fr-en", "en-hi"):
        mine = [run for run in runs if run["pair"] == pair]
        errors = [run["aer"] for run in mine]
        exact = each((100 * run["exact_match"] for run in mine), 1)
        seconds = each((run["train_seconds"] for run in mine), 0)
        rows.append([pair, f"{exact} %", each(errors, 3), f"{median(errors):.3f}", seconds])
    return markdown(["pair", "exact match", "alignment error rate", "median", "training, s"], rows)


def demo_by_length() -> str:
    by_seed = {name: bins for name, bins in record("demo")["by_length"].items() if name.startswith("en-fr")}
    bins = [f"{max(one['shortest'], 3)}–{one['longest']}" for one in by_seed["en-fr-0"]]
    rows = [[name[-1], *(f"{100 * one['exact_match']:.1f}" for one in found)] for name, found in by_seed.items()]
    return markdown(["seed", *bins], rows)


def everyday() -> str:
    found = record("everyday")
    labels = {
        "tatoeba-en-fr test": "en→fr",
        "tatoeba-fr-en test": "fr→en",
        "tatoeba-en-hi test": "en→hi, Tatoeba and LibreOffice",
        "tatoeba-en-hi-everyday test": "en→hi, then everyday sentences alone",
    }
    rows = []
    for name, label in labels.items():
        scores, one = found[name]["scores"], found[name]
        unseen = scores.get("sources not in the training text")
        rows.append(
            [
                label,
                *(f"{scores['as trained'][key]:.1f}" for key in ("bleu", "chrf")),
                f"{scores['all references']['bleu']:.1f}",
                f"{unseen['bleu']:.1f}" if unseen else "",
                f"{scores['int8']['bleu']:.1f}",
                f"{one['parameters']:,}",
                f"{one['int8 bytes'] / 1e6:.2f} MB",
            ]
        )
    head = ["", "BLEU", "chrF", "all references, BLEU", "sources not in training, BLEU", "int8, BLEU", "parameters"]
    return markdown([*head, "int8"], rows)


RUNS = {"en-fr": "tatoeba-en-fr test", "fr-en": "tatoeba-fr-en test", "en-hi": "tatoeba-en-hi-everyday test"}


def everyday_judged(pair: str) -> str:
    """Every sentence with its translation, and our judgement, which is in everyday-judged.json."""
    sentences = record("everyday")[RUNS[pair]]["sentences"]
    judged = record("everyday-judged")[pair]
    rows = [
        [str(number), one["source"], one["target"], verdict]
        for number, (one, verdict) in enumerate(zip(sentences, judged, strict=True), 1)
    ]
    return markdown(["", "sentence", "translation", ""], rows)


def everyday_count() -> str:
    labels = {
        "en-fr": "English → French, 9 million parameters, 161,768 pairs",
        "fr-en": "French → English, the same",
        "en-hi": "English → Hindi, 5 million parameters, 19,321 pairs",
    }
    judged = record("everyday-judged")
    counted = {pair: Counter(verdict[0] for verdict in judged[pair]) for pair in labels}
    return markdown(
        ["", "✓", "~", "✗"], [[label, *(str(counted[pair][mark]) for mark in "✓~✗")] for pair, label in labels.items()]
    )


def boxed() -> str:
    """The models en-fr and fr-en of the package beside the goals that were set before training."""
    found = record("boxed")
    columns = [found[name] for name in ("en-fr", "fr-en")]
    rows = [
        [label, *(f"{one['scores'][name]['bleu']:.2f}" for one in columns), goal]
        for name, label, goal in (
            ("Tatoeba test", "Tatoeba test, 3,371 sentences, BLEU", "52 and 61"),
            ("Europarl test", "Europarl test, 3,000 sentences, BLEU", "30"),
            ("15 to 25 words", "sentences of 15 to 25 words of both test sets, 1,112 sentences, BLEU", ""),
        )
    ]
    full = (f"{one['float32']['Tatoeba test']['bleu']:.2f}" for one in columns)
    rows.append(["Tatoeba test in float32, BLEU", *full, ""])
    exact = (f"{100 * one['names and numbers']['right']:.1f} %" for one in columns)
    rows.append(["names and numbers exact, 300 held-out sentences", *exact, "95 %"])
    rows.append(["60 new sentences, judged right", *(str(one["judged"]["right"]) for one in columns), "42"])
    before = (str(one["judged"]["right of the model without a teacher"]) for one in columns)
    rows.append(["the same, a model trained without a teacher", *before, ""])
    alone = (f"{found[f'tatoeba-{name}']['scores']['Tatoeba test']['bleu']:.2f}" for name in ("en-fr", "fr-en"))
    rows.insert(1, ["the same, the recipes for Tatoeba alone, BLEU", *alone, ""])
    older = (Counter(verdict[0] for verdict in one["judged older"]["verdicts"]) for one in columns)
    rows.append(
        ["22 older sentences: right, understandable, wrong", *(f"{n['✓']}, {n['~']}, {n['✗']}" for n in older), ""]
    )
    return markdown(["", "en-fr", "fr-en", "goal"], rows)


def boxed_judged(pair: str) -> str:
    """Every new sentence with its translation and the judgement."""
    one = record("boxed")[pair]
    sentences = one["translations"]["everyday-new.tsv"]
    judged = zip(sentences, one["judged"]["verdicts"], strict=True)
    rows = [
        [str(number), source, target, "✓" if right else "✗"]
        for number, ((source, target), right) in enumerate(judged, 1)
    ]
    return markdown(["", "sentence", "translation", ""], rows)


def pronunciation() -> str:
    return _pronunciation(
        "cmudict test",
        "CMUdict, 11,994 test words",
        ("Yao & Zweig 2015", 23.55, 5.45),
        ("Toshniwal & Livescu 2016", 20.24, 4.69),
    )


def pronunciation_languages() -> str:
    published = ("UBC's ensemble, SIGMORPHON 2020", 14.99, 3.30)
    return _pronunciation("sigmorphon test", "mean of 15 languages, 450 test words each", None, published)


def _pronunciation(
    name: str, label: str, single: tuple[str, float, float] | None, several: tuple[str, float, float]
) -> str:
    systems = dict(record("pronunciation")[name])
    packaged = systems.pop("g2p-en", None)
    alone = [one for one in systems.values() if one["models"] == 1]
    (together,) = (one for one in systems.values() if one["models"] > 1)
    rows = [[f"published, one model ({single[0]})", f"{single[1]:.2f}", f"{single[2]:.2f}"]] if single else []
    rows += [["one model, seeds 0 to 4", *(each((one[key] for one in alone), 2) for key in ("wer", "per"))]]
    if packaged:
        rows += [["g2p-en, in the package, int8, 4.9 MB", f"{packaged['wer']:.2f}", f"{packaged['per']:.2f}"]]
    rows += [[f"published, several models ({several[0]})", f"{several[1]:.2f}", f"{several[2]:.2f}"]]
    rows += [["our five as an ensemble", f"**{together['wer']:.2f}**", f"**{together['per']:.2f}**"]]
    return markdown([label, "WER, %", "PER, %"], rows)


def pronunciation_by_language() -> str:
    (together,) = (one for one in record("pronunciation")["sigmorphon test"].values() if one["models"] > 1)
    languages = together["languages"]
    rows = [
        [label, *(f"{one[key]:.1f}" for one in languages.values())]
        for label, key in (("WER, %", "wer"), ("PER, %", "per"))
    ]
    return markdown(["", *languages], rows)
