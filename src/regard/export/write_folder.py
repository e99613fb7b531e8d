"""Writes a bundle as an ONNX folder, atomically: two graphs, one weights file, manifest and tokenizers."""

from pathlib import Path

import onnx
import torch

import regard
from regard.bundle.bundle_folder import check_no_bundle_lost, whole_folder
from regard.bundle.find import find_bundle
from regard.bundle.manifest import NAME, FileEntry, read_manifest, write_manifest
from regard.bundle.onnx_manifest import DATA, DECODER, ENCODER, Graphs, OnnxManifest
from regard.bundle.store import SOURCE, TARGET, Bundle, load_bundle
from regard.export import recurrent, transformer
from regard.export.attention import SCORES_WITH_GRAPH
from regard.export.graph import Graph
from regard.export.graph_state import is_shared
from regard.export.graph_weights import Weights
from regard.models.model_config import RecurrentConfig, TransformerConfig
from regard.models.seq2seq import Seq2Seq
from regard.runtime.onnx_folder import is_onnx
from regard.text.input_error import InputError


def export_onnx(path: Path, folder: Path, *, int8: bool = False, trace: bool = False) -> OnnxManifest:
    """Export the bundle at `path` into a new folder; InputError if a setting of its model has no graph."""
    bundle = find_bundle(path)
    check_exportable(bundle, read_manifest(bundle / NAME).model)  # before loading, which would need --trust
    return write_onnx(load_bundle(path), folder, int8=int8, trace=trace)


def write_onnx(bundle: Bundle, folder: Path, *, int8: bool = False, trace: bool = False) -> OnnxManifest:
    """Write the graphs, the weights, the manifest and the tokenizers."""
    check_no_bundle_lost(folder, is_onnx)
    with whole_folder(folder) as draft:
        weights = Weights(int8=int8)
        graphs = build_graphs(bundle.model, weights, trace=trace)
        for name, model in graphs.items():
            (draft / name).write_bytes(model.SerializeToString())
        weights.write(draft / DATA)
        for name in graphs:
            onnx.checker.check_model(str(draft / name))
        (draft / SOURCE).write_bytes(bundle.source.data)
        (draft / TARGET).write_bytes(bundle.target.data)
        state = tuple(output.name for output in graphs[ENCODER].graph.output)
        written = {"format", "version", "regard", "torch", "files", "sha256", "stored", "shared_tokenizer"}
        given = bundle.manifest.model_dump(exclude=written)
        manifest = OnnxManifest(
            regard=regard.__version__,
            torch=torch.__version__,
            **given,
            files={path.name: FileEntry.of(path) for path in sorted(draft.iterdir())},
            onnx=Graphs(int8=int8, trace=trace, state=state, shared=tuple(filter(is_shared, state))),
        )
        return write_manifest(draft / NAME, manifest)


def build_graphs(model: Seq2Seq, weights: Weights, *, trace: bool = False) -> dict[str, onnx.ModelProto]:
    """The graphs of a model by the names of their files."""
    family = recurrent if isinstance(model.config, RecurrentConfig) else transformer
    names = {id(parameter): name for name, parameter in model.named_parameters()}
    encoder, decoder = Graph("encoder", weights, names), Graph("decoder step", weights, names)
    family.build_step(decoder, model, family.build_encoder(encoder, model), trace=trace)
    return {ENCODER: encoder.model(), DECODER: decoder.model()}


def check_exportable(bundle: Path, config: RecurrentConfig | TransformerConfig) -> None:
    """Raise for a mechanism that has no graph: a class outside regard, or a new one."""
    if isinstance(config, RecurrentConfig) and config.score not in SCORES_WITH_GRAPH:
        what = "is a class outside regard, which has no ONNX graph" if ":" in config.score else "has no ONNX graph"
        known = ", ".join(sorted(SCORES_WITH_GRAPH))
        raise InputError(
            f"{bundle} cannot be exported: score = '{config.score}' {what}: train with one of the scores {known}"
        )
