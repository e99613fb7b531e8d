"""Tables of the guides: mechanisms compared, guided alignment, rounding of exported graphs."""

from tables.records import markdown, record


def comparison() -> str:
    rows = []
    for name, one in record("guides")["comparison"]["variants"].items():
        known = one["figures"]
        aligned = ["none", "none"]
        if "aer" in known:
            aligned = [_with_deviation(known["aer"], 1, 3), f"{known['entropy']['mean']:.3f}"]
        rows.append(
            [
                name,
                _with_deviation(known["bleu"], 1, 1),
                f"{_with_deviation(known['exact_match'], 100, 1)} %",
                *aligned,
                f"{known['parameters']['mean']:,.0f}",
            ]
        )
    return markdown(["variant", "BLEU", "exact match", "AER", "entropy, nats", "parameters"], rows)


def _with_deviation(figure: dict[str, float], factor: int, digits: int) -> str:
    return f"{factor * figure['mean']:.{digits}f} ± {factor * figure['deviation']:.{digits}f}"


def shifts() -> str:
    """The alignment error rate of each row of attention, the mean over seeds."""
    rows = []
    for name, one in record("guides")["comparison"]["variants"].items():
        if found := one["aer by shift"]:
            means = {shift: sum(values) / len(values) for shift, values in found.items()}
            best = min(means, key=means.__getitem__)
            rows.append([name, *(f"**{x:.3f}**" if shift == best else f"{x:.3f}" for shift, x in means.items())])
    return markdown(["", "row before (−1)", "row that wrote it (0)", "row after (+1)"], rows)


def guided() -> str:
    found = record("guides")["guided"]
    labels = {"en-fr": "`runs/en-fr`", "guided": "`runs/guided`, weight 0.3, the two models' own links"}
    rows = [
        [
            label,
            *(f"{found[name][figure]:.3f}" for figure in ("aer alone", "aer together", "entropy")),
            f"{found[name]['bleu']:.1f}",
        ]
        for name, label in labels.items()
    ]
    return markdown(["700 steps", "AER alone", "AER with `runs/fr-en`", "entropy, nats", "BLEU"], rows)


def rounding() -> str:
    rows = []
    for scale, distances in record("onnx_rounding")["scales"].items():
        cells = [f"{one['largest']:.1e}".replace("e-0", "e-") for one in distances.values()]
        over = list(distances.values())[-1]["over 1e-5"]
        rows.append([f"× {scale}", *cells[:2], cells[2] + (f", more than 1e-5 with {over} seeds" if over else "")])
    head = ["torch float32 from float64", "graphs from float64", "graphs from torch float32"]
    return markdown(["weights", *head], rows)
