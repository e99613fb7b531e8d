"""An ONNX folder that is damaged, foreign or hostile: one message, and no file outside the folder is read."""

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import helper, numpy_helper

import regard
from bundle.test_refused import accept, edit
from models.zoo import PRESETS
from regard.bundle import load_bundle
from regard.bundle.onnx_graph import OPERATORS
from regard.export.graph_weights import Weights
from regard.export.write_folder import build_graphs
from regard.text.input_error import InputError

from .graphs import EXPORTED, torch_model

FILES = ["encoder.onnx", "decoder.onnx", "weights.bin", "source.tokenizer.json", "target.tokenizer.json"]
Forge = Callable[[onnx.ModelProto], Any]


def refusal(folder: Path) -> str:
    with pytest.raises(InputError) as caught:
        regard.load(folder)
    message = str(caught.value)
    assert "\n" not in message
    return message


def forge(folder: Path, change: Forge, name: str = "decoder.onnx") -> None:
    """Change a graph and its entry in the manifest, as an attacker would."""
    model = onnx.load(folder / name, load_external_data=False)
    change(model)
    (folder / name).write_bytes(model.SerializeToString())
    accept(folder, name)


def external(model: onnx.ModelProto) -> onnx.TensorProto:
    return next(one for one in model.graph.initializer if one.data_location == onnx.TensorProto.EXTERNAL)


def relocate(key: str, value: str) -> Forge:
    def change(model: onnx.ModelProto) -> None:
        for entry in external(model).external_data:
            entry.value = value if entry.key == key else entry.value

    return change


@pytest.mark.parametrize("name", FILES)
def test_a_missing_or_damaged_file(folder: Path, name: str) -> None:
    data = (folder / name).read_bytes()
    (folder / name).write_bytes(data[:-1])
    tokenizer = "is not the tokenizer that this model was trained with"
    cut = tokenizer if "tokenizer" in name else f"has {len(data) - 1} bytes instead of {len(data)}"
    assert f"{folder / name} {cut}" in refusal(folder)
    (folder / name).write_bytes(bytes([data[0] ^ 1]) + data[1:])
    assert f"{folder / name} is " in refusal(folder)
    (folder / name).unlink()
    assert refusal(folder).startswith(f"{folder / name} is missing")
    (folder / name).symlink_to(folder / "gone")
    assert refusal(folder).startswith(f"{folder / name} is missing")


@pytest.mark.parametrize("name", FILES[:3])
def test_devices_and_pipes_are_not_opened(folder: Path, name: str) -> None:
    (folder / name).unlink()
    os.mkfifo(folder / name)
    assert "this is a device, a pipe or a socket, expected a regular file" in refusal(folder)
    (folder / name).unlink()
    (folder / name).symlink_to("/dev/zero")
    assert "this is a device, a pipe or a socket, expected a regular file" in refusal(folder)


def test_a_file_that_is_not_onnx(folder: Path) -> None:
    (folder / "encoder.onnx").write_bytes(b"\xff" * 100)
    accept(folder, "encoder.onnx")
    assert refusal(folder).startswith(f"{folder / 'encoder.onnx'} is damaged (it cannot be read as ONNX)")


@pytest.mark.parametrize("domain", ["", "com.microsoft"])
def test_another_opset(folder: Path, domain: str) -> None:
    forge(folder, lambda model: model.opset_import.append(helper.make_opsetid(domain, 7)))
    message = refusal(folder)
    assert f"{domain or 'ai.onnx'} 7" in message
    assert "but this version of regard runs opset 19 alone: export the bundle again with this version" in message


@pytest.mark.parametrize("place", ["../../secret.bin", "/etc/passwd", "other.bin", "./weights.bin", ""])
def test_weights_in_another_file_are_not_read(folder: Path, place: str) -> None:
    (folder / "other.bin").write_bytes(bytes(100_000))
    forge(folder, relocate("location", place))
    assert f"is stored in {place!r}, but only weights.bin is read" in refusal(folder)


@pytest.mark.parametrize(
    ("key", "value", "message"),
    [
        ("offset", "1000000000000", "do not fit"),
        ("offset", "-8", "it has no byte range in weights.bin for"),
        ("offset", "9" * 5000, "it has no byte range in weights.bin for"),
        ("offset", "2", "do not fit"),
        ("length", "4", "do not fit"),
        ("length", "many", "it has no byte range in weights.bin for"),
    ],
)
def test_weights_outside_the_file(folder: Path, key: str, value: str, message: str) -> None:
    forge(folder, relocate(key, value))
    assert message in refusal(folder)


def replace_node(operator: str, domain: str = "", **attributes: Any) -> Forge:
    def change(model: onnx.ModelProto) -> None:
        node = model.graph.node[-1]
        node.CopyFrom(helper.make_node(operator, node.input, node.output, domain=domain, **attributes))

    return change


def _outside() -> onnx.TensorProto:
    tensor = numpy_helper.from_array(np.zeros(1, dtype=np.float32), "outside")
    tensor.ClearField("raw_data")
    tensor.data_location = onnx.TensorProto.EXTERNAL
    tensor.external_data.add(key="location", value="/etc/passwd")
    return tensor


GRAPH = helper.make_graph([], "inner", [], [])


def scan(*nodes: onnx.NodeProto, holds: tuple[onnx.TensorProto, ...] = ()) -> Forge:
    return replace_node("Scan", body=helper.make_graph(nodes, "inner", [], [], holds), num_scan_inputs=1)


FOREIGN: dict[str, tuple[Forge, str]] = {
    "operator": (replace_node("StringNormalizer"), "its operator 'StringNormalizer' is not one that regard writes"),
    "domain": (replace_node("Identity", "evil"), "its operator 'Identity' is not one that regard writes"),
    "branch": (replace_node("If", then_branch=GRAPH, else_branch=GRAPH), "its operator 'If' is not one"),
    "scanned operator": (scan(helper.make_node("If", [], [])), "its operator 'If' is not one"),
    "scanned attribute": (scan(helper.make_node("Cast", [], [], to=_outside())), "attribute 'to' of Cast is not a"),
    "scanned scan": (scan(helper.make_node("Scan", [], [], body=GRAPH)), "its operator 'Scan' is not one"),
    "scanned tensor": (scan(holds=(_outside(),)), "the graph that its Scan repeats holds tensors"),
    "constant": (replace_node("Constant", value=_outside()), "its operator 'Constant' is not one"),
    "attribute": (replace_node("Identity", value=_outside()), "attribute 'value' of Identity is not a number"),
    "function": (
        lambda model: model.functions.append(helper.make_function("f", "g", [], [], [], [])),
        "it holds functions",
    ),
    "input": (lambda model: model.graph.input.pop(), "its inputs are not those in the manifest"),
    "output": (lambda model: model.graph.output.pop(0), "its outputs are not those in the manifest: 'logits'"),
}


@pytest.mark.parametrize("name", FOREIGN)
def test_a_graph_that_regard_does_not_write(folder: Path, name: str) -> None:
    change, message = FOREIGN[name]
    forge(folder, change)
    assert f"{folder / 'decoder.onnx'} is not a graph of `regard export onnx` ({message}" in refusal(folder)


def test_a_graph_that_onnxruntime_refuses(folder: Path) -> None:
    forge(folder, lambda model: model.graph.node.pop(0))
    assert refusal(folder).startswith(f"onnxruntime cannot run the graphs in {folder} (")


def test_a_graph_that_fails_while_it_runs(folder: Path) -> None:
    def other_row(model: onnx.ModelProto) -> None:
        gather = next(node for node in model.graph.node if node.op_type == "Gather")
        far = numpy_helper.from_array(np.array([10**6]), "far")
        model.graph.initializer.append(far)
        gather.input[1] = "far"

    forge(folder, other_row)
    with pytest.raises(InputError, match="onnxruntime could not run a graph"):
        regard.load(folder).translate("the cat")


def replace_output(name: str, *nodes: onnx.NodeProto, dims: tuple[int | str, ...], **axes: list[int]) -> Forge:
    """Compute this output from what it was before, with other declared dimensions."""

    def change(model: onnx.ModelProto) -> None:
        for node in model.graph.node:
            for places in (node.input, node.output):
                places[:] = ["before" if one == name else one for one in places]
        model.graph.initializer.extend(numpy_helper.from_array(np.array(one), axis) for axis, one in axes.items())
        model.graph.node.extend(nodes)
        shape = next(one for one in model.graph.output if one.name == name).type.tensor_type.shape
        shape.CopyFrom(helper.make_tensor_value_info(name, onnx.TensorProto.FLOAT, dims).type.tensor_type.shape)

    return change


SUM = helper.make_node("ReduceSum", ["before", "axis"], ["logits"], keepdims=0)
LESS = helper.make_node("ReduceSum", ["before", "axis"], ["weights"], keepdims=1)
TWICE = helper.make_node("Concat", ["before", "before"], ["logits"], axis=0)
WIDE = helper.make_node("Concat", ["before", "before"], ["logits"], axis=1)
INTEGERS = helper.make_node("Cast", ["before"], ["logits"], to=onnx.TensorProto.INT64)
DECLARED: dict[str, Forge] = {
    "no columns": replace_output("logits", SUM, dims=("rows",), axis=[1]),
    "another vocabulary": replace_output("logits", WIDE, dims=("rows", 7)),
    "weights of one source": replace_output("weights", LESS, dims=("rows",), axis=[3]),
}


@pytest.mark.parametrize("name", DECLARED)
def test_outputs_of_another_shape(folder: Path, name: str) -> None:
    forge(folder, DECLARED[name])
    assert "is not a graph of `regard export onnx` (its output " in refusal(folder)


@pytest.mark.parametrize("target", [None, ["le chat"] * 9])
@pytest.mark.parametrize("name", ["logits", "weights"])
def test_outputs_of_another_shape_than_the_declared_one(folder: Path, name: str, target: list[str] | None) -> None:
    vocabulary = regard.load(folder).bundle.manifest.target_vocabulary
    graphs = {
        "logits": replace_output("logits", TWICE, dims=("rows", vocabulary)),
        "weights": replace_output("weights", LESS, dims=("rows", 1, "heads", "source"), axis=[3]),
    }
    forge(folder, graphs[name])
    for texts in (["the cat"] * 9, ["the cat"]):
        with pytest.raises(InputError, match=f"decoder.onnx gave {name} of shape .*: export the bundle again"):
            regard.load(folder).translate(texts, target=target and target[: len(texts)])


def test_outputs_of_another_type(folder: Path) -> None:
    vocabulary = regard.load(folder).bundle.manifest.target_vocabulary

    def change(model: onnx.ModelProto) -> None:
        replace_output("logits", INTEGERS, dims=("rows", vocabulary))(model)
        logits = next(one for one in model.graph.output if one.name == "logits")
        logits.type.tensor_type.elem_type = onnx.TensorProto.INT64

    forge(folder, change)
    assert "(its output logits is not float32)" in refusal(folder)


def test_a_state_without_rows(folder: Path) -> None:
    keys = helper.make_node("ReduceSum", ["before"], ["keys"], keepdims=0)
    forge(folder, replace_output("keys", keys, dims=()), "encoder.onnx")
    with pytest.raises(InputError, match=r"encoder\.onnx gave keys of shape \[\], expected \[1\]: export"):
        regard.load(folder).translate("the cat")


def test_a_limit_below_one_piece(folder: Path) -> None:
    edit(folder, lambda manifest: manifest.update(longest_source=-5))
    assert "manifest.json is damaged (longest_source: Input should be greater than or equal to 1)" in refusal(folder)


def test_shared_names_outside_the_state(folder: Path) -> None:
    edit(folder, lambda manifest: manifest["onnx"].update(shared=["nothing"]))
    assert "manifest.json is damaged (onnx: shared: 'nothing' is not part of the state)" in refusal(folder)


def test_a_graph_that_asks_for_80_gigabytes(folder: Path, capfd: pytest.CaptureFixture[str]) -> None:
    def bomb(model: onnx.ModelProto) -> None:
        graph, output = model.graph, model.graph.output[0].name
        for name, number in (("first", 0), ("limit", 10**10), ("step", 1)):
            graph.initializer.append(numpy_helper.from_array(np.array(number), name))
        for node in graph.node:
            node.output[:] = ["before" if name == output else name for name in node.output]
        graph.node.extend(
            [
                helper.make_node("Range", ["first", "limit", "step"], ["many"], name="\x1b[31m"),
                helper.make_node("ReduceSum", ["many"], ["sum"], keepdims=0),
                helper.make_node("Cast", ["sum"], ["number"], to=onnx.TensorProto.FLOAT),
                helper.make_node("Add", ["before", "number"], [output]),
            ]
        )

    forge(folder, bomb)
    with pytest.raises(InputError, match="onnxruntime could not run a graph"):
        regard.load(folder).translate("the cat")
    assert "\x1b" not in capfd.readouterr().err, "the name of a node reached the terminal"


def test_more_weights_than_the_model_has(folder: Path) -> None:
    with (folder / "weights.bin").open("ab") as file:
        file.truncate(1 << 34)
    accept_size = {"bytes": 1 << 34, "sha256": "0" * 64}
    edit(folder, lambda manifest: manifest["files"].update({"weights.bin": accept_size}))
    assert "bytes, at most" in refusal(folder)


def test_a_foreign_folder(tmp_path: Path, folder: Path) -> None:
    (tmp_path / "model").mkdir()
    (tmp_path / "model" / "encoder.onnx").write_bytes((folder / "encoder.onnx").read_bytes())
    assert refusal(tmp_path / "model") == (
        f"no bundle at {tmp_path / 'model'}: it holds ONNX graphs, but not the manifest.json of `regard export onnx`: "
        "copy the whole folder again, or export with regard"
    )
    edit(folder, lambda manifest: manifest.pop("onnx"))
    assert f"{folder / 'manifest.json'} is damaged (onnx: Field required)" in refusal(folder)
    edit(folder, lambda manifest: manifest.update(format="somebody's"))
    assert "its 'format' is neither 'regard-bundle' nor 'regard-onnx'" in refusal(folder)


def test_a_manifest_that_was_changed(folder: Path) -> None:
    text = (folder / "manifest.json").read_text(encoding="utf-8")
    (folder / "manifest.json").write_text(text.replace('"int8": false', '"int8": true'), encoding="utf-8")
    assert "is not as it was saved" in refusal(folder)
    assert json.loads(text)["onnx"]["int8"] is False


def test_operations_that_need_the_bundle_raise(folder: Path) -> None:
    with pytest.raises(InputError, match="belongs to an ONNX folder, which can translate, align and plot"):
        load_bundle(folder)


def test_accepted_operators_are_those_that_the_exporter_writes() -> None:
    written = set()
    for config in EXPORTED.values():
        graphs = build_graphs(torch_model(config), Weights(int8=config in PRESETS.values()), trace=True)
        written |= {node.op_type for model in graphs.values() for node in model.graph.node}
    assert written | {"Gemm"} == OPERATORS, "Gemm is in folders of earlier versions"
