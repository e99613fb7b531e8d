"""Exported graphs compute what the torch model computes, for everything that can be trained."""

import numpy as np
import pytest
import torch

from models.zoo import MECHANISMS, PRESETS, SECOND_HALF, Config, Sentences, recurrent, transformer
from regard.export.graph_weights import Weights, quantise
from regard.export.write_folder import build_graphs

from .graphs import (
    EXPORTED,
    PADDING,
    ReferenceModel,
    batches,
    onnx_model,
    product,
    steps,
    sums_to_one,
    torch_model,
)

every = pytest.mark.parametrize("config", EXPORTED.values(), ids=EXPORTED.keys())
combinations = pytest.mark.parametrize(
    "config",
    [
        *(pytest.param(config, id=name) for name, config in EXPORTED.items()),
        *(pytest.param(config, id=name, marks=pytest.mark.long) for name, config in SECOND_HALF.items()),
    ],
)
mechanisms = pytest.mark.parametrize(
    "config",
    [config for name, config in MECHANISMS.items() if name in EXPORTED],
    ids=[name for name in MECHANISMS if name in EXPORTED],
)
SOME: dict[str, Config] = {
    **PRESETS,
    "local-m, three layers": recurrent(
        score="general", window="local-m", placement="output", encoder_layers=3, cell="lstm"
    ),
    "local-p, concat": recurrent(score="concat", window="local-p", initial="sum"),
    "multi-head, fed": recurrent(score="multi-head", input_feeding=True, readout="attentional", cell="lstm"),
    "tied": recurrent(readout="attentional", readout_width=4, tie="all", score="scaled-dot", initial="last"),
    "learned positions": transformer(positions="learned", longest=9, tie="all"),
}
some = pytest.mark.parametrize("config", SOME.values(), ids=SOME.keys())


@combinations
def test_onnxruntime_agrees_with_torch(config: Config) -> None:
    model = torch_model(config)
    exported = onnx_model(model)
    for source in batches():
        logits, weights = steps(exported, source)
        wanted, looked = steps(model, source)
        assert torch.equal(logits.argmax(dim=-1), wanted.argmax(dim=-1))
        torch.testing.assert_close(logits, wanted, atol=1e-5, rtol=1e-5)
        assert (weights is None) == (looked is None)
        if weights is None or looked is None:
            continue
        torch.testing.assert_close(weights, looked, atol=1e-5, rtol=0)
        assert not weights[..., -PADDING:].any(), "padding is exactly zero"
        if sums_to_one(config):
            torch.testing.assert_close(weights.sum(dim=-1), torch.ones(weights.shape[:-1]), atol=1e-6, rtol=0)


@every
def test_int8_is_close_and_does_not_depend_on_the_batch(config: Config) -> None:
    model, source = torch_model(config), batches()[-1]
    exported = onnx_model(model, int8=True)
    logits, _ = steps(exported, source)
    wanted, _ = steps(model, source)
    assert (logits - wanted).norm() < 0.03 * wanted.norm()
    for row in range(len(source.source)):
        alone = Sentences(source.source[row : row + 1], source.source_lengths[row : row + 1])
        assert torch.equal(steps(exported, alone)[0][:, 0], logits[:, row])


@some
def test_hypotheses_of_a_sentence_share_its_memory(config: Config) -> None:
    """Equally many for each sentence, and not; the torch model copies the memory for each."""
    model, source = torch_model(config), batches()[3]
    exported = onnx_model(model)
    ours, theirs = exported.start(source), model.start(source)
    for rows, shared in (([0, 0, 1, 1, 2, 2, 3, 3, 4, 4], 5), ([3, 2, 9, 8], 2), ([0, 2, 3, 3], 4), ([3, 0], 2)):
        picked, tokens = torch.tensor(rows), torch.arange(len(rows)) % 5 + 4
        ours, theirs = ours.select(picked), theirs.select(picked)
        assert all(len(tensor) == shared for tensor in ours.shared.values())
        one, other = exported.step(tokens, ours), model.step(tokens, theirs)
        torch.testing.assert_close(one.logits, other.logits, atol=1e-5, rtol=1e-5)
        ours, theirs = one.state, other.state


@pytest.mark.parametrize("shape", [(5, 8), (2, 3, 8)], ids=["rows", "sequences"])
def test_an_int8_product_is_a_product_of_integers(shape: tuple[int, ...]) -> None:
    random = np.random.default_rng(0)
    x, weight = random.normal(size=shape).astype(np.float32), torch.randn(7, 8)
    x[0] = 0
    found, operators = product(x, weight)
    integers, scale = quantise(weight.numpy())
    size = np.maximum(np.abs(x).max(axis=-1, keepdims=True), 1e-30)
    levels = np.rint(x / size * np.float32(127))
    np.testing.assert_allclose(found, levels @ integers.T * scale * size / 127, rtol=1e-5, atol=1e-6)
    assert "MatMulIntegerToFloat" in operators
    assert "MatMul" not in operators


@some
@pytest.mark.parametrize("int8", [False, True], ids=["float32", "int8"])
def test_the_reference_runtime_agrees(config: Config, int8: bool) -> None:
    model = torch_model(config)
    exported, reference = onnx_model(model, int8=int8), ReferenceModel(model, int8=int8)
    for source in batches():
        logits, weights = steps(exported, source)
        again, looked = reference.steps(source)
        np.testing.assert_allclose(again, logits.numpy(), atol=1e-5, rtol=1e-5)
        if weights is not None:
            np.testing.assert_allclose(looked, weights.numpy(), atol=1e-5, rtol=0)


@some
def test_a_blank_sentence_equals_torchs(config: Config) -> None:
    model, source = torch_model(config), batches()[3]
    source.source_lengths[2] = 0
    for one, other in zip(steps(onnx_model(model), source), steps(model, source), strict=True):
        torch.testing.assert_close(one, other, atol=1e-5, rtol=1e-5)


@some
def test_given_weights_replace_the_computed_ones(config: Config) -> None:
    model, source = torch_model(config), batches()[1]
    exported = onnx_model(model)
    _, looked = steps(model, source)
    if looked is None:
        with pytest.raises(ValueError, match="this model has no attention"):
            steps(exported, source, torch.ones(5, 1, 1, 3))
        return
    given = torch.rand(looked.shape[1:], generator=torch.Generator().manual_seed(0))
    for one, other in zip(steps(exported, source, given), steps(model, source, given), strict=True):
        torch.testing.assert_close(one, other, atol=1e-5, rtol=1e-5)
    partly = given.clone()
    partly[1:] = -1
    assert torch.equal(steps(exported, source, partly)[0][:, 0], steps(exported, source, given)[0][:, 0])
    torch.testing.assert_close(steps(exported, source, partly)[1][:, 1:], looked[:, 1:], atol=1e-5, rtol=0)
    with pytest.raises(ValueError, match=r"given weights have shape .* but \[rows, layer, head, source\] is"):
        steps(exported, source, given[:, :, :, 1:])


@some
def test_the_trace_is_what_torch_reports(config: Config) -> None:
    model, source = torch_model(config), batches()[3]
    reference = ReferenceModel(model, trace=True)
    state = reference.run(
        "encoder.onnx", {"source": source.source.numpy(), "source_lengths": source.source_lengths.numpy()}
    )
    found = reference.run("decoder.onnx", {"tokens": np.full(5, 2), **state})
    traced = model.step(torch.full((5,), 2), model.start(source), trace=True).trace
    if traced[0] is None:
        assert not {"query", "scores", "context"} & set(found)
        return
    for layer, one in enumerate(traced):
        real = one.mask.expand(one.scores.shape).numpy()[:, :, 0]
        np.testing.assert_allclose(found["query"][:, layer], one.query[:, 0].detach().numpy(), atol=1e-5)
        np.testing.assert_allclose(
            found["scores"][:, layer][real], one.scores.detach().numpy()[:, :, 0][real], atol=1e-5
        )
    assert found["context"].shape[:2] == (5, len(traced))


@mechanisms
def test_no_weight_is_stored_twice(config: Config) -> None:
    """All graphs together hold what the model holds, in one file; tied parameters are one."""
    model = torch_model(config)
    weights = Weights()
    build_graphs(model, weights)
    assert sum(array.size for array in weights.arrays.values()) <= model.parameters_count
    int8 = Weights(int8=True)
    build_graphs(model, int8)
    matrices = [one for one in model.parameters() if one.ndim == 2]
    most = sum(one.numel() + 4 * max(one.shape) for one in matrices)
    assert sum(array.nbytes for array in int8.arrays.values() if array.dtype == np.int8) <= most


def test_rounding_is_off_by_at_most_half_a_scale() -> None:
    matrix = np.random.default_rng(0).normal(size=(5, 40)).astype(np.float32)
    matrix[2] = 0
    integers, scale = quantise(matrix)
    assert np.abs(integers).max(axis=1).tolist() == [127, 127, 0, 127, 127]
    assert (np.abs(integers * scale[:, None] - matrix) <= scale[:, None] * 0.5001).all()
