"""Save and load bundles; loading checks every file against the manifest and reports what is wrong."""

import os
import shutil
from collections.abc import Callable, Collection
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Generic, TypeVar

import torch
from safetensors.torch import save_file
from typing_extensions import TypeVar as DefaultTypeVar

import regard
from regard.bounds import MOST
from regard.bundle.bundle_folder import whole_folder
from regard.bundle.find import find_bundle, name_of
from regard.bundle.int8 import quantise, restore, stored_shapes
from regard.bundle.manifest import NAME, VERSION, BundleError, FileEntry, Manifest, read_manifest, write_manifest
from regard.bundle.weights import most_bytes, read_tensors, refuse_holes
from regard.models.seq2seq import Seq2Seq, outline
from regard.text.input_error import InputError
from regard.text.tokenizer import Tokenizer

WEIGHTS, SOURCE, TARGET = "model.safetensors", "source.tokenizer.json", "target.tokenizer.json"
Found = TypeVar("Found")
M = DefaultTypeVar("M", default=Seq2Seq)


@dataclass(frozen=True)
class Bundle(Generic[M]):
    """A model with the two tokenizers it was trained with: a torch model, or an ONNX model (M)."""

    model: M
    source: Tokenizer
    target: Tokenizer
    manifest: Manifest
    path: Path

    @property
    def name(self) -> str:
        """What messages call it: its name in the package, otherwise its path."""
        return name_of(self.path)

    @property
    def longest_source(self) -> int:
        """Largest number of source pieces that are read, EOS not counted; longer input is cut."""
        return min(self.manifest.longest_source, self.most_source)

    @property
    def most_source(self) -> int:
        """Largest number of source pieces that the model can read, EOS not counted: a limit if it learned positions."""
        most = self.manifest.model.most_pieces
        return MOST["longest"] if most is None else most - int(self.manifest.source_eos)

    def with_longest_source(self, longest: int) -> "Bundle[M]":
        """The same bundle with another limit of source pieces than that of training."""
        if not 1 <= longest <= MOST["longest"]:
            raise InputError(f"longest_source = {longest:,}: expected 1 to {MOST['longest']:,} pieces")
        if longest > self.most_source:
            raise InputError(
                f"longest_source = {longest:,}, but {self.name} learned {self.manifest.model.most_pieces:,} positions: "
                f"{self.most_source:,} pieces are the most it can read"
            )
        return replace(self, manifest=self.manifest.model_copy(update={"longest_source": longest}))


def save_bundle(folder: Path | str, model: Seq2Seq, source: Tokenizer, target: Tokenizer, **about: Any) -> Manifest:
    """Write the folder atomically; `about` fills the manifest (source_eos, longest_source, recipe …)."""
    with whole_folder(Path(folder)) as draft:
        return write_bundle(draft, model, source, target, **about)


def save_int8(folder: Path | str, bundle: Bundle) -> Manifest:
    """Write a loaded bundle with int8 weights, and its tokenizer once where both sides share it."""
    known = bundle.manifest
    about = {key: getattr(known, key) for key in ("source_eos", "longest_source", "search", "recipe", "trained")}
    shared = bundle.source.data == bundle.target.data
    return save_bundle(
        folder, bundle.model, bundle.source, bundle.target, stored="int8", shared_tokenizer=shared, **about
    )


def write_bundle(draft: Path, model: Seq2Seq, source: Tokenizer, target: Tokenizer, **about: Any) -> Manifest:
    """Write a bundle into a temporary folder that the caller moves; files already in it belong to the bundle."""
    weights = weights_of(model)
    save_file(quantise(weights) if about.get("stored") == "int8" else weights, draft / WEIGHTS)
    (draft / SOURCE).write_bytes(source.data)
    if not about.get("shared_tokenizer"):
        (draft / TARGET).write_bytes(target.data)
    manifest = Manifest(
        regard=regard.__version__,
        torch=torch.__version__,
        model=model.config,
        source_vocabulary=len(source),
        target_vocabulary=len(target),
        files={path.name: FileEntry.of(path) for path in sorted(draft.iterdir())},
        **about,
    )
    return write_manifest(draft / NAME, manifest)


def copy_bundle(bundle: Path, folder: Path, **trained: Any) -> None:
    """Copy model and tokenizers into a new bundle; `trained` is its manifest's entry about the weights."""
    manifest = read_manifest(bundle / NAME)
    kept = {name: check_file(bundle / name, manifest) for name in (WEIGHTS, *_tokenizer_files(manifest))}
    with whole_folder(folder) as draft:
        for name in kept:
            shutil.copyfile(bundle / name, draft / name)
        about = {"version": VERSION, "files": kept, "trained": trained}
        write_manifest(draft / NAME, manifest.model_copy(update=about))


def weights_of(model: Seq2Seq) -> dict[str, torch.Tensor]:
    """Each parameter once, under its first name: safetensors does not write tied ones, which share memory, twice."""
    return {name: tensor.detach().cpu().contiguous() for name, tensor in _each_once(model).items()}


def _each_once(model: Seq2Seq) -> dict[str, torch.Tensor]:
    weights: dict[int, tuple[str, torch.Tensor]] = {}
    for name, tensor in model.state_dict(keep_vars=True).items():
        weights.setdefault(id(tensor), (name, tensor))
    return dict(weights.values())


def load_bundle(path: Path | str, device: torch.device | str = "cpu", *, trust: Collection[str] = ()) -> Bundle:
    """Read a bundle or a run folder; every file is checked against the manifest first.

    A bundle runs no code: a class outside regard that it names is imported only where `trust` names it too.
    """
    return read_settled(lambda: find_bundle(path), lambda folder: _read(folder, device, trust))


def read_settled(find: Callable[[], Path], read: Callable[[Path], Found]) -> Found:
    """Find a folder and read it; repeated if a training run replaced the folder meanwhile."""
    while True:
        folder = find()
        before = identity(folder)
        outcome: Found | InputError
        try:
            outcome = read(folder)
        except InputError as error:
            outcome = error
        if identity(folder) != before:
            continue
        if isinstance(outcome, InputError):
            raise outcome
        return outcome


def _read(folder: Path, device: torch.device | str, trust: Collection[str]) -> Bundle:
    manifest = read_manifest(folder / NAME)
    shapes = shapes_of(manifest, folder, trust)
    if manifest.stored == "int8":
        shapes = stored_shapes(shapes)
    check_file(folder / WEIGHTS, manifest, most_bytes(shapes))
    source, target = read_tokenizers(folder, manifest)
    try:
        weights = read_tensors(folder / WEIGHTS, shapes)
    except OSError as error:
        raise BundleError(f"cannot read {folder / WEIGHTS}: {error.strerror}") from error
    except ValueError as error:
        raise BundleError(f"{folder / WEIGHTS} {error}; copy the whole bundle again") from error
    if manifest.stored == "int8":
        weights = restore(weights)
    model = _build(manifest, folder, trust)
    precisions = {tensor.dtype for tensor in weights.values() if tensor.is_floating_point()}
    if len(precisions) == 1:  # as they were written
        model.to(precisions.pop())
    model.load_state_dict(weights, strict=False)  # the other names of tied parameters are missing
    return Bundle(model.to(device).eval(), source, target, manifest, folder)


def _tokenizer_files(manifest: Manifest) -> tuple[str, ...]:
    return (SOURCE,) if manifest.shared_tokenizer else (SOURCE, TARGET)


def read_tokenizers(folder: Path, manifest: Manifest) -> tuple[Tokenizer, Tokenizer]:
    """The tokenizers of source and target that the model was trained with."""
    names = _tokenizer_files(manifest)
    for name in names:
        check_file(folder / name, manifest, MOST["tokenizer"])
    tokenizers = [Tokenizer.load(folder / name) for name in names]
    source, target = tokenizers[0], tokenizers[-1].without_completion()
    for name, tokenizer, expected in (
        (names[0], source, manifest.source_vocabulary),
        (names[-1], target, manifest.target_vocabulary),
    ):
        if len(tokenizer) != expected:
            raise BundleError(
                f"{folder / name} has {len(tokenizer)} entries, but the model was trained with {expected}: "
                "this is another model's tokenizer, copy the whole bundle again"
            )
    return source, target


def _build(
    manifest: Manifest, folder: Path, trust: Collection[str], build: Callable[..., Seq2Seq] = Seq2Seq
) -> Seq2Seq:
    try:
        with torch.random.fork_rng(devices=[]):  # the weights it draws are replaced at once
            return build(manifest.model, manifest.source_vocabulary, manifest.target_vocabulary, trust=trust)
    except ValueError as error:
        raise BundleError(f"the model of {folder / NAME} cannot be built: {error}") from error


def shapes_of(manifest: Manifest, folder: Path, trust: Collection[str] = ()) -> dict[str, tuple[int, ...]]:
    """The expected shape of every weight, from a model on the meta device."""
    model = _build(manifest, folder, trust, outline)
    return {name: tuple(tensor.shape) for name, tensor in _each_once(model).items()}


def check_files(folder: Path) -> None:
    """Raise if a file of a bundle or checkpoint has changed since it was saved; nothing outside the folder is read."""
    manifest = read_manifest(folder / NAME)
    for name in manifest.files:
        if name == Path(name).name:
            check_file(folder / name, manifest)


def check_file(path: Path, manifest: Manifest, most: int = MOST["file"]) -> FileEntry:
    """The manifest's entry for this file; raises if it is missing, changed, or larger than `most` bytes."""
    entry = manifest.files.get(path.name)
    if entry is None:
        raise BundleError(
            f"{path.parent / NAME} is damaged (it does not list {path.name}): copy the whole bundle again"
        )
    try:
        size = path.stat().st_size
        if size > most:
            raise BundleError(f"{path} has {size:,} bytes, at most {most:,} are valid: copy the whole bundle again")
        refuse_holes(path)
        found = FileEntry.of(path) if size == entry.bytes else None
    except FileNotFoundError as error:
        raise BundleError(f"{path} is missing: the bundle is incomplete, copy the whole folder again") from error
    except OSError as error:
        raise BundleError(f"cannot read {path}: {error.strerror}") from error
    except BundleError:
        raise
    except ValueError as error:
        raise BundleError(f"{path} {error}: copy the whole bundle again") from error
    if found != entry and path.name in (SOURCE, TARGET) and _is_tokenizer(path):
        raise BundleError(
            f"{path} is not the tokenizer that this model was trained with (its checksum is not the manifest's): "
            "it comes from another bundle, or was changed; copy the whole bundle again"
        )
    if found is None:
        reason = "it is truncated," if size < entry.bytes else "it comes from another bundle, or was changed;"
        raise BundleError(f"{path} has {size} bytes instead of {entry.bytes}: {reason} copy the whole bundle again")
    if found != entry:
        raise BundleError(f"{path} is damaged (its checksum is not the manifest's): copy the whole bundle again")
    return entry


def _is_tokenizer(path: Path) -> bool:
    try:
        Tokenizer.load(path)
    except InputError:
        return False
    return True


def identity(path: Path) -> tuple[int, int, int] | None:
    """A value that changes when another folder or file takes this name, or the file is written to."""
    try:
        found = os.stat(path)
    except OSError:
        return None
    return found.st_ino, found.st_mtime_ns, found.st_size
