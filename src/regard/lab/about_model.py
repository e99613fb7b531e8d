"""What a page says about a model: architecture, languages, examples, score."""

import re
from collections.abc import Collection, Iterable
from math import prod
from pathlib import Path
from typing import Any, Literal

from regard.bundle.cards import read_cards
from regard.bundle.find import find_bundle, pretrained_names
from regard.bundle.manifest import Manifest
from regard.bundle.store import shapes_of
from regard.data import phrasebook
from regard.lab.describe import describe_model
from regard.models.model_config import RecurrentConfig

_PAIR = re.compile(r"([a-z]{2,3})-([a-z]{2,3})")
_PACKAGED = re.compile(r"(?:demo-)?([a-z]{2,3}-[a-z]{2,3})")
_PRONOUNCED = re.compile(r"g2p-([a-z]{2,3})")
_WORDS = {"en": ["Synchronise", "thought", "colonel", "rendezvous"]}
"""Examples for models that pronounce a language."""
_LANGUAGE = re.compile(r"[a-z]{2,3}")


def name_models(given: Iterable[str | Path]) -> list[tuple[str, Literal["package", "bundle"], Path]]:
    """A short name for each bundle, no two equal; whether it is a model of the package; its path."""
    found: list[tuple[str, Literal["package", "bundle"], Path]] = []
    for one in given:
        packaged = str(one) in pretrained_names() and not Path(one).exists()
        name = str(one) if packaged else _folder_name(find_bundle(one))
        while any(name == other for other, _, _ in found):
            name += "-2"
        found.append((name, "package" if packaged else "bundle", Path(one)))
    return found


def _folder_name(folder: Path) -> str:
    """The folder's name; for `best` and `last` the name of the run."""
    folder = folder.resolve()
    name = folder.parent.name if folder.name in ("best", "last") else folder.name
    return re.sub(r"[^\w.-]+", "-", name) or "model"


def about_model(manifest: Manifest, folder: Path, packaged: str | None, trust: Collection[str] = ()) -> dict[str, Any]:
    """The fields that `GET /models` and a page in the browser share; `packaged` is the name of a model in the package.

    Missing are `id`, `origin` and `can_step`.
    """
    config, pair = manifest.model, phrasebook_pair(manifest)
    recurrent = config if isinstance(config, RecurrentConfig) else None
    attends = recurrent is None or recurrent.score != "none"
    layers, heads = config.attention_shape
    card = read_cards().get(packaged) if packaged else None
    named, pronounced = _PACKAGED.fullmatch(packaged or ""), _PRONOUNCED.fullmatch(packaged or "")
    source, target = languages_of(manifest, named[1] if named else None)
    examples = [phrasebook.as_written(one.source) for one in phrasebook.showcase(pair)] if pair else []
    if pronounced:
        source, examples = pronounced[1], _WORDS.get(pronounced[1], [])
    description = card.description if card else str(manifest.recipe.get("description") or "")
    beam = manifest.search.get("beam", 1)
    return {
        "description": description[:1000],
        "direction": card.direction if card else f"{source} → {target}" if source and target else None,
        "source_language": source,
        "target_language": target,
        "architecture": "rnn" if recurrent else "transformer",
        "about": describe_model(config),
        "score": str(recurrent.score) if recurrent else "multi-head",
        "window": recurrent.window if recurrent else "global",
        "reach": recurrent.reach if recurrent and recurrent.window != "global" else None,
        "placement": recurrent.placement if recurrent else None,
        "layers": layers if attends else 0,
        "heads": heads if attends else 0,
        "has_attention": attends,
        "source_vocabulary": manifest.source_vocabulary,
        "target_vocabulary": manifest.target_vocabulary,
        "parameters": sum(prod(shape) for shape in shapes_of(manifest, folder, trust).values()),
        "longest_source": manifest.longest_source,
        "beam": beam if isinstance(beam, int) and manifest.search.get("temperature") is None else 1,
        "examples": examples,
        "score_line": card.score if card else None,
    }


def _data(manifest: Manifest) -> dict[str, Any]:
    data = manifest.recipe.get("data")
    return data if isinstance(data, dict) else {}


def phrasebook_pair(manifest: Manifest) -> str | None:
    """The phrasebook pair that a model was trained on."""
    data = _data(manifest)
    pair = data.get("pair")
    return pair if data.get("kind") == "phrasebook" and pair in phrasebook.PAIRS else None


def languages_of(manifest: Manifest, pair: str | None = None) -> tuple[str | None, str | None]:
    """BCP 47 codes of source and target: from `pair`, else from the recipe."""
    found = _PAIR.fullmatch(pair or phrasebook_pair(manifest) or "")
    if found:
        return found[1], found[2]
    data = _data(manifest)
    source, target = (
        value if isinstance(value, str) and _LANGUAGE.fullmatch(value) else None
        for value in (data.get("source"), data.get("target"))
    )
    return source, target
