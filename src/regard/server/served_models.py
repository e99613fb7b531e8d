"""The models of a server: found in the package, on the command line and in the runs folder; loaded on first use."""

import time
from collections.abc import Hashable, Iterator
from dataclasses import dataclass
from pathlib import Path
from threading import Lock
from typing import Literal

from regard.bundle.find import find_bundle, pretrained_names
from regard.bundle.manifest import NAME, Manifest, read_manifest, read_manifest_as
from regard.bundle.onnx_manifest import OnnxManifest
from regard.bundle.store import identity
from regard.lab.about_model import about_model, name_models, phrasebook_pair
from regard.runtime.onnx_folder import is_onnx
from regard.runtime.translator import Translator, load
from regard.server.errors import Refusal, not_found
from regard.server.schema.base import MOST_MODELS
from regard.server.schema.views import Model
from regard.server.settings import Settings
from regard.suggest import suggest
from regard.text.input_error import InputError

Origin = Literal["package", "run", "bundle"]
MOST_LOADED = MOST_MODELS
"""Models in memory besides those of the command line: as many as one comparison needs."""
FRESH = 1.0
"""Seconds for which a model in memory is used without a look at its folder."""


@dataclass(frozen=True)
class ServedModel:
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
    version: Hashable
    """Equal for equal files: the cache key of results that are kept longer than the model itself."""


class Catalogue:
    """Finds models by id; the folder of a run is looked at again whenever it is requested."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._named = _named(settings)
        self._loaded: dict[str, Loaded] = {}
        """The least recently used first."""
        self._abouts: dict[str, tuple[object, Model, str | None]] = {}
        self._checked_at: dict[str, float] = {}
        self._lock = Lock()
        if settings.bundles:
            for entry in self._named:
                self.get(entry.id)  # a bundle that cannot be loaded is reported at the start

    @property
    def default(self) -> str | None:
        """The only model, or the first of the command line."""
        entries = self.entries()
        return entries[0].id if entries and (len(entries) == 1 or self._settings.bundles) else None

    def entries(self) -> list[ServedModel]:
        known = {entry.id for entry in self._named}
        return [*self._named, *(entry for entry in self._in_runs() if entry.id not in known)]

    def abouts(self) -> list[Model]:
        """The description of every model that can be read."""
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
        if time.monotonic() - self._checked_at.get(name, -FRESH) >= FRESH:
            return None
        return self._loaded.get(name)

    def get(self, name: str) -> Loaded:
        """The model with this id, loaded again where a training run wrote a newer one."""
        with self._lock:
            entry = next((one for one in self.entries() if one.id == name), None)
            if entry is None:
                raise not_found("model", name, "GET /api/v1/models lists them")
            version = name, identity(find_bundle(entry.path) / NAME)
            loaded = self._loaded.pop(name, None)
            if loaded is None or loaded.version != version:
                translator = load(entry.path, self._settings.device, trust=self._settings.trust)
                loaded = Loaded(name, translator, *self._about(entry), translator.bundle.target.pieces, version)
            self._loaded[name] = loaded
            self._checked_at[name] = time.monotonic()
            self._evict()
            return loaded

    def _evict(self) -> None:
        """Forget the least recently used models; a request that decodes with one keeps it until it is done."""
        kept = {entry.id for entry in self._named} if self._settings.bundles else set()
        others = [name for name in self._loaded if name not in kept]
        for name in others[: max(0, len(others) - MOST_LOADED)]:
            del self._loaded[name]

    def _about(self, entry: ServedModel) -> tuple[Model, str | None]:
        folder = find_bundle(entry.path)
        state = identity(folder / NAME)
        before = self._abouts.get(entry.id)
        if before is not None and before[0] == state:
            return before[1], before[2]
        onnx = is_onnx(folder)
        manifest: Manifest = read_manifest_as(folder / NAME, OnnxManifest) if onnx else read_manifest(folder / NAME)
        pair = phrasebook_pair(manifest)
        about = Model(
            id=entry.id,
            origin=entry.origin,
            can_step=not onnx,
            **about_model(manifest, folder, entry.id if entry.origin == "package" else None, self._settings.trust),
        )
        self._abouts[entry.id] = state, about, pair
        return about, pair

    def _in_runs(self) -> Iterator[ServedModel]:
        folder = self._settings.runs
        if folder is None or not folder.is_dir():
            return
        for one in sorted(folder.iterdir()):
            if any((one / inner / NAME).is_file() for inner in ("best", "last")):
                yield ServedModel(one.name, "run", one)


def _named(settings: Settings) -> list[ServedModel]:
    """The models of the command line; without any, those of the package."""
    if not settings.bundles:
        names = sorted(pretrained_names(), key=lambda name: name.startswith("demo-"))  # everyday text first
        return [ServedModel(name, "package", find_bundle(name)) for name in names] if settings.studio else []
    return [ServedModel(*one) for one in name_models(settings.bundles)]
