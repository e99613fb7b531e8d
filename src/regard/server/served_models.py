"""The models of a server: found in the package, on the command line and in the runs folder; loaded on first use."""

import re
import time
from collections.abc import Iterator
from dataclasses import dataclass
from math import prod
from pathlib import Path
from threading import Lock
from typing import Any, Literal

from regard.bundle.cards import read_cards
from regard.bundle.find import find_bundle, pretrained_names
from regard.bundle.manifest import NAME, Manifest, read_manifest, read_manifest_as
from regard.bundle.onnx_manifest import OnnxManifest
from regard.bundle.store import identity, shapes_of
from regard.data import phrasebook
from regard.lab.describe import describe_model
from regard.models.model_config import RecurrentConfig
from regard.runtime.onnx_folder import is_onnx
from regard.runtime.translator import Translator, load
from regard.server.errors import Refusal, not_found
from regard.server.schema.views import Model
from regard.server.settings import Settings
from regard.suggest import suggest
from regard.text.input_error import InputError

Origin = Literal["package", "run", "bundle"]
FRESH = 1.0
"""Seconds for which a model in memory is used without a look at its folder."""
_PAIR = re.compile(r"([a-z]{2,3})-([a-z]{2,3})")
_PACKAGED = re.compile(r"(?:demo-)?([a-z]{2,3}-[a-z]{2,3})")
_LANGUAGE = re.compile(r"[a-z]{2,3}")


@dataclass(frozen=True)
class Entry:
    """A model that can be loaded."""

    id: str
    origin: Origin
    path: Path


@dataclass(frozen=True, eq=False)
class Loaded:
    """A model in memory, and what the API says about it."""

    id: str
    translator: Translator
    about: Model
    pair: str | None
    """The phrasebook pair that it was trained on."""
    names: tuple[str, ...]
    """The pieces of its target vocabulary."""


class Catalogue:
    """Finds models by id; the folder of a run is looked at again whenever it is requested."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._named = _named(settings)
        self._loaded: dict[str, tuple[object, Loaded]] = {}
        self._abouts: dict[str, tuple[object, Model, str | None]] = {}
        self._looked: dict[str, float] = {}
        self._lock = Lock()
        if settings.bundles:
            for entry in self._named:
                self.get(entry.id)  # a bundle that cannot be loaded is reported at the start

    @property
    def default(self) -> str | None:
        """The only model, or the first of the command line."""
        entries = self.entries()
        return entries[0].id if entries and (len(entries) == 1 or self._settings.bundles) else None

    def entries(self) -> list[Entry]:
        known = {entry.id for entry in self._named}
        return [*self._named, *(entry for entry in self._in_runs() if entry.id not in known)]

    def abouts(self) -> list[Model]:
        """What is known about every model that can be read."""
        found = []
        for entry in self.entries():
            try:
                found.append(self._about(entry)[0])
            except InputError:
                continue  # a run that is being written, or from another version
        return found

    def find(self, name: str | None) -> str:
        """The id that a request means."""
        if name is None:
            if self.default is None:
                raise Refusal(
                    422, "invalid", "model: several models are served and the request names none",
                    hint=f"name one: {', '.join(entry.id for entry in self.entries()[:8])}", field="model",
                )  # fmt: skip
            return self.default
        ids = [entry.id for entry in self.entries()]
        if name not in ids:
            raise not_found("model", name, suggest(name, ids, "models"))
        return name

    def ready(self, name: str) -> Loaded | None:
        """The model with this id, if `get` looked at its folder within the last second."""
        if time.monotonic() - self._looked.get(name, -FRESH) >= FRESH:
            return None
        return self._loaded[name][1]

    def get(self, name: str) -> Loaded:
        """The model with this id, loaded again where a training run wrote a newer one."""
        with self._lock:
            entry = next((one for one in self.entries() if one.id == name), None)
            if entry is None:
                raise not_found("model", name, "GET /api/v1/models lists them")
            state = identity(find_bundle(entry.path) / NAME)
            before = self._loaded.get(name)
            if before is None or before[0] != state:
                translator = load(entry.path, self._settings.device, trust=self._settings.trust)
                loaded = Loaded(name, translator, *self._about(entry), translator.bundle.target.pieces)
                before = self._loaded[name] = state, loaded
            self._looked[name] = time.monotonic()
            return before[1]

    def _about(self, entry: Entry) -> tuple[Model, str | None]:
        folder = find_bundle(entry.path)
        state = identity(folder / NAME)
        before = self._abouts.get(entry.id)
        if before is not None and before[0] == state:
            return before[1], before[2]
        onnx = is_onnx(folder)
        manifest: Manifest = read_manifest_as(folder / NAME, OnnxManifest) if onnx else read_manifest(folder / NAME)
        pair = _phrasebook_pair(manifest)
        about = _describe(entry, manifest, folder, pair, onnx, self._settings.trust)
        self._abouts[entry.id] = state, about, pair
        return about, pair

    def _in_runs(self) -> Iterator[Entry]:
        folder = self._settings.runs
        if folder is None or not folder.is_dir():
            return
        for one in sorted(folder.iterdir()):
            if any((one / inner / NAME).is_file() for inner in ("best", "last")):
                yield Entry(one.name, "run", one)


def _named(settings: Settings) -> list[Entry]:
    """The models of the command line; without any, those of the package."""
    if not settings.bundles:
        names = sorted(pretrained_names(), key=lambda name: name.startswith("demo-"))  # everyday text first
        return [Entry(name, "package", find_bundle(name)) for name in names] if settings.studio else []
    entries: list[Entry] = []
    for given in settings.bundles:
        path = find_bundle(given)
        packaged = str(given) in pretrained_names() and not Path(given).exists()
        name = str(given) if packaged else _name(path)
        while any(entry.id == name for entry in entries):
            name += "-2"
        entries.append(Entry(name, "package" if packaged else "bundle", Path(given)))
    return entries


def _name(folder: Path) -> str:
    folder = folder.resolve()
    name = folder.parent.name if folder.name in ("best", "last") else folder.name
    return re.sub(r"[^\w.-]+", "-", name) or "model"


def _describe(
    entry: Entry, manifest: Manifest, folder: Path, pair: str | None, onnx: bool, trust: tuple[str, ...]
) -> Model:
    config = manifest.model
    recurrent = config if isinstance(config, RecurrentConfig) else None
    attends = recurrent is None or recurrent.score != "none"
    layers, heads = config.attention_shape
    card = read_cards().get(entry.id) if entry.origin == "package" else None
    named = _PACKAGED.fullmatch(entry.id) if entry.origin == "package" else None
    source, target = _languages(manifest, named[1] if named else pair)
    description = card.description if card else str(manifest.recipe.get("description") or "")
    beam = manifest.search.get("beam", 1)
    return Model(
        id=entry.id,
        origin=entry.origin,
        description=description[:1000],
        source_language=source,
        target_language=target,
        architecture="rnn" if recurrent else "transformer",
        about=describe_model(config),
        score=str(recurrent.score) if recurrent else "multi-head",
        window=recurrent.window if recurrent else "global",
        reach=recurrent.reach if recurrent and recurrent.window != "global" else None,
        placement=recurrent.placement if recurrent else None,
        layers=layers if attends else 0,
        heads=heads if attends else 0,
        has_attention=attends,
        can_step=not onnx,
        parameters=sum(prod(shape) for shape in shapes_of(manifest, folder, trust).values()),
        longest_source=manifest.longest_source,
        beam=beam if isinstance(beam, int) and manifest.search.get("temperature") is None else 1,
        examples=[_written(one.source) for one in phrasebook.showcase(pair)] if pair else [],
        score_line=card.score if card else None,
    )


def _written(sentence: str) -> str:
    """A sentence with a capital, as a person types it."""
    return sentence[:1].upper() + sentence[1:] + "."


def _data(manifest: Manifest) -> dict[str, Any]:
    data = manifest.recipe.get("data")
    return data if isinstance(data, dict) else {}


def _phrasebook_pair(manifest: Manifest) -> str | None:
    data = _data(manifest)
    pair = data.get("pair")
    return pair if data.get("kind") == "phrasebook" and pair in phrasebook.PAIRS else None


def _languages(manifest: Manifest, pair: str | None) -> tuple[str | None, str | None]:
    """As BCP 47 codes, where the recipe has them."""
    found = _PAIR.fullmatch(pair or "")
    if found:
        return found[1], found[2]
    data = _data(manifest)
    source, target = (
        value if isinstance(value, str) and _LANGUAGE.fullmatch(value) else None
        for value in (data.get("source"), data.get("target"))
    )
    return source, target
