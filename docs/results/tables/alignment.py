"""Tables of word alignment: the Hansards, how links are extracted, how two directions are joined."""

from typing import Any

from tables.records import markdown, record, records

METHODS = ("forward", "backward", "intersection", "union", "grow-diag", "grow-diag-final-and", "product")
READINGS = {
    "attention": "attention",
    "posterior 1, state": "`posterior=1`, Bayes' rule",
    "posterior 0.3, state": "`posterior=0.3`",
    "posterior 1, word": "`posterior=1 evidence=word`",
    "posterior 0.3, word": "`posterior=0.3 evidence=word`",
}


def hansards() -> str:
    """Models trained to the end, best first."""
    return _hansards([one for one in records("hansards") if one.get("posterior")])


def hansards_short() -> str:
    """Every mechanism with one short budget."""
    return _hansards([one for one in records("hansards") if not one.get("posterior")])


def _hansards(found: list[Any]) -> str:
    found.sort(key=lambda one: one["scores"][one["chosen"]]["aer"])
    head = ["", "en→fr", "fr→en", *METHODS[2:], "links extracted from", "training"]
    return markdown(
        head, ([one["name"], *_scores(one), _source(one), f"{one['seconds']['train']:.0f} s"] for one in found)
    )


def _scores(one: Any) -> list[str]:
    cells = {name: f"{100 * one['scores'][name]['aer']:.1f}" for name in METHODS}
    return [f"**{cell}**" if name == one["chosen"] else cell for name, cell in cells.items()]


def _source(one: Any) -> str:
    if one.get("posterior"):
        return f"posterior {one['posterior']['prior']:g}, {one['posterior']['evidence']}"
    return "rows " + " / ".join(f"{one['rules'][side]['shift']:+d}" for side in ("forward", "backward"))


def readings() -> str:
    return _readings("AER, %", ("additive", "dot", "general"), 100, 1)


def guide_readings() -> str:
    return _readings("Hansards, AER on test, both directions joined", ("additive", "dot"), 1, 3)


def _readings(label: str, scores: tuple[str, ...], factor: int, digits: int) -> str:
    found = {one["name"]: one["readings"] for one in records("hansards") if one.get("posterior")}
    errors = {
        (name, score): (one := found[f"{score}-output-full.0"][name])["aer"][one["chosen"]]
        for name in READINGS
        for score in scores
    }
    best = {score: min(errors[name, score] for name in READINGS) for score in scores}
    rows = []
    for name, text in READINGS.items():
        cells = [f"{factor * errors[name, score]:.{digits}f}" for score in scores]
        rows.append(
            [
                text,
                *(
                    f"**{cell}**" if errors[name, score] == best[score] else cell
                    for score, cell in zip(scores, cells, strict=True)
                ),
            ]
        )
    return markdown([label, *scores], rows)


def best_aer() -> float:
    """The best pair of models that learnt from nothing but the text, chosen on `trial`."""
    untaught = [one for one in records("hansards") if one["name"].endswith("-full.0")]
    one = min(untaught, key=lambda one: one["development"])
    return float(one["scores"][one["chosen"]]["aer"])


def symmetrisation() -> str:
    found = record("symmetrisation")
    names = ("grow-diag-final-and", "intersection", "product 0.2")
    rows = []
    for extraction, label in (
        ("attention", "attention"),
        ("posterior=0.3 evidence=word", "`posterior=0.3 evidence=word`"),
    ):
        errors = [f"{found['phrasebook'][extraction]['test'][name]:.3f}" for name in names]
        rows.append([f"phrasebook, test set, {label}", *errors[:2], f"**{errors[2]}**"])
    median, rest = found["hansards"]["median test error"], found["hansards"]
    better = rest["product better than grow-diag-final-and on test"]
    label = f"Hansards, `test`, median of {rest['rows']} rows"
    rows.append([label, f"{median['grow-diag-final-and']:.3f}", "", f"**{median['product']:.3f}**"])
    rows.append(["Hansards, `test`, rows with the lower error", str(rest["rows"] - better), "", str(better)])
    return markdown(["reported on", "grow-diag-final-and", "intersection", "product"], rows)
