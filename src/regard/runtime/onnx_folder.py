"""Loads a bundle for torch, or an ONNX folder for onnxruntime, for `regard.load`."""

from collections.abc import Collection
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from regard.bounds import MOST, cut
from regard.bundle.find import find_bundle
from regard.bundle.manifest import NAME, ONNX_FORMAT, BundleError, has_format, read_manifest_as
from regard.bundle.onnx_manifest import DATA, DECODER, ENCODER, NEW, OnnxManifest
from regard.bundle.store import Bundle, check_file, load_bundle, read_settled, read_tokenizers, shapes_of
from regard.bundle.weights import most_bytes
from regard.models.seq2seq import outline
from regard.reading_files import open_regular, read_regular
from regard.text.input_error import InputError

if TYPE_CHECKING:
    from regard.runtime.onnx_model import OnnxModel


def load_any(path: Path | str, device: torch.device | str = "cpu", *, trust: Collection[str] = ()) -> Bundle[Any]:
    """A bundle, run folder or ONNX folder."""
    if not is_onnx(find_bundle(path)):
        return load_bundle(path, device, trust=trust)
    require_onnx(f"{path} holds an ONNX export, which")
    if torch.device(device).type != "cpu":
        raise InputError(f"{path} is an ONNX folder, which runs on the CPU: leave the device '{device}' out")
    return read_settled(lambda: find_bundle(path), _read)


def is_onnx(folder: Path) -> bool:
    """Whether the folder has the manifest of an ONNX folder; False if it is damaged."""
    return has_format(folder, ONNX_FORMAT)


def require_onnx(what: str) -> None:
    """Raise if the packages of the extra are missing."""
    missing = [name for name in ("onnx", "onnxruntime") if find_spec(name) is None]
    if missing:
        raise InputError(f"{what} needs {' and '.join(missing)}, not installed here: pip install 'regard[onnx]'")


def _read(folder: Path) -> Bundle["OnnxModel"]:
    from regard.bundle.onnx_graph import check_interface, check_shapes, external_tensors, read_graph
    from regard.runtime.onnx_model import OnnxModel

    manifest = read_manifest_as(folder / NAME, OnnxManifest)
    check_file(folder / DATA, manifest, most_bytes(shapes_of(manifest, folder)))
    weights = _read_bytes(folder / DATA)
    source, target = read_tokenizers(folder, manifest)
    state = set(manifest.onnx.state)
    graphs, tensors = {}, {}
    for name, inputs, outputs in (
        (ENCODER, {"source", "source_lengths"}, state),
        (DECODER, {"tokens", *state}, {"logits", f"{NEW}position"}),
    ):
        check_file(folder / name, manifest, MOST["document"])
        graphs[name] = read_regular(folder / name)
        graph = read_graph(folder / name, graphs[name])
        check_interface(folder / name, graph, inputs, outputs)
        check_shapes(folder / name, graph, {"logits": (None, manifest.target_vocabulary), "weights": (None,) * 4})
        tensors[name] = external_tensors(folder / name, graph, weights)
    count = outline(manifest.model, manifest.source_vocabulary, manifest.target_vocabulary).parameters_count
    try:
        model = OnnxModel(manifest.model, graphs, tensors, count, manifest.onnx.shared)
    except Exception as error:  # onnxruntime has its own classes
        raise BundleError(
            f"onnxruntime cannot run the graphs in {folder} ({cut(str(error))}): export the bundle again"
        ) from error
    return Bundle(model, source, target, manifest, folder)


def _read_bytes(path: Path) -> np.ndarray:
    try:
        with open_regular(path) as file:
            return np.fromfile(file, dtype=np.uint8)
    except OSError as error:
        raise BundleError(f"cannot read {path}: {error.strerror}") from error
