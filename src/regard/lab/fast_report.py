"""`regard doctor --fast`: the implementation of each operation on this machine, found by running small models."""

import torch

from regard.lab.finding import Finding
from regard.models import ModelConfig, Seq2Seq, preset
from regard.models.cross_entropy import linear_cross_entropy
from regard.registry import EntryReport, explained, plain_requested, prepare_for_decoding
from regard.runtime.source_text import Padded, pad
from regard.search import beam_search

VOCABULARY = 2000
MODELS = {"additive GRU": "bahdanau", "Luong, input feeding": "luong", "Transformer": "transformer"}
"""Names of the reported models, and their presets."""


def fast_report() -> list[Finding]:
    """One finding for each operation: the implementations that ran, in which work, and why the refused ones did not.

    An entry that fits but stands behind the chosen one has no line: the order of preference is the reason.
    """
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    if plain_requested():
        return [Finding("·", "REGARD_PLAIN is set: every operation runs its plain version")]
    seen: dict[str, dict[str, list[EntryReport]]] = {}
    for name, config in ((name, preset(of, "tiny")) for name, of in MODELS.items()):
        for work, run in (("training", _train), ("decoding", _decode)):
            with explained() as found:
                run(config, device)
            for operation, choices in found.items():
                seen.setdefault(operation, {})[f"{name}, {work}"] = choices
    return [Finding("·", f"on {device.type}:"), *(_finding(name, works) for name, works in sorted(seen.items()))]


def _finding(operation: str, works: dict[str, list[EntryReport]]) -> Finding:
    by_choice: dict[str, list[str]] = {}
    for work, choices in works.items():
        by_choice.setdefault(_chosen(choices), []).append(work)
    lines = [f"{chosen}: {'; '.join(of)}" for chosen, of in by_choice.items()] if len(by_choice) > 1 else []
    reasons: dict[str, dict[str, list[str]]] = {}
    for work, choices in works.items():
        for choice in choices:
            if choice.refusal:
                reasons.setdefault(choice.entry, {}).setdefault(choice.refusal, []).append(work)
    for entry, each in reasons.items():
        lines += [
            f"not {entry}: {reason}" + (f" ({'; '.join(of)})" if len(of) < len(works) else "")
            for reason, of in each.items()
        ]
    return Finding("✓" if list(by_choice) != ["plain"] else "·", f"{operation}: {', '.join(by_choice)}", tuple(lines))


def _chosen(choices: list[EntryReport]) -> str:
    return next((choice.entry for choice in choices if choice.refusal is None), "plain")


def _prepared(config: ModelConfig, device: torch.device) -> tuple[Seq2Seq, Padded]:
    """A model and two random sentences."""
    with torch.random.fork_rng():
        torch.manual_seed(0)
        model = Seq2Seq(config, VOCABULARY, VOCABULARY).to(device)
        words = [torch.randint(4, VOCABULARY, (length,)).tolist() for length in (7, 4)]
    return model, pad(words, device)


def _train(config: ModelConfig, device: torch.device) -> None:
    model, words = _prepared(config, device)
    features = model.train()(words, words.source).features.flatten(0, 1)
    loss, _ = linear_cross_entropy(features, model.output.weight, model.output.bias, words.source.flatten())
    loss.backward()  # type: ignore[no-untyped-call]


def _decode(config: ModelConfig, device: torch.device) -> None:
    model, words = _prepared(config, device)
    limits = torch.full((2,), 5, device=device)
    beam_search(prepare_for_decoding(model.eval()), words, limits, beam=3)
