"""`additive_attention` raises for wrong shapes, which kernels on a GPU would read out of bounds."""

from collections.abc import Callable
from inspect import unwrap

import pytest
import torch
from torch import Tensor

from regard.attention import additive_attention

Given = tuple[Tensor, ...]


def given() -> Given:
    generator = torch.Generator().manual_seed(0)
    shapes = (2, 6, 9), (2, 7, 9), (9,), (2, 7, 5)
    return *(torch.randn(*shape, generator=generator) for shape in shapes), torch.ones(2, 6, 7, dtype=torch.bool)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda q, k, v, h, m: (q[..., :5], k, v, h, m), r"keys is \[2, 7, 9\] and must be \[2, 7, 5\]; v is \[9\]"),
        (lambda q, k, v, h, m: (q, k, v[:3], h, m), r"v is \[3\] and must be \[9\]"),
        (lambda q, k, v, h, m: (q, k, v, h[:, :3], m), r"values is \[2, 3, 5\] and must be \[2, 7, 5\]"),
        (lambda q, k, v, h, m: (q, k[:1], v, h, m), r"keys is \[1, 7, 9\] and must be \[2, 7, 9\]"),
        (lambda q, k, v, h, m: (q, k, v, h[0], m), r"values is \[7, 5\] and must be \[2, 7, 5\]"),
        (lambda q, k, v, h, m: (q, k, v, h, m[:, 0]), r"mask is \[2, 7\] and must be \[2, 6, 7\]"),
        (lambda q, k, v, h, m: (q, k, v, h, m[..., :1]), r"mask is \[2, 6, 1\] and must be \[2, 6, 7\]"),
        (lambda q, k, v, h, m: (q, k, v, h, m, q[..., :3]), r"gaussian is \[2, 6, 3\] and must be \[2, 6, 7\]"),
        (lambda q, k, v, h, m: (q[0, 0], k, v, h, m), r"must be \[\.\.\., target, width\]"),
    ],
)
def test_wrong_shapes_raise(change: Callable[..., Given], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        unwrap(additive_attention)(*change(*given()))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda q, k, v, h, m: (q, k, v, h, m.float()), "mask is torch.float32, but it must be torch.bool"),
        (lambda q, k, v, h, m: (q, k, v, h, None), "mask is a NoneType, but it must be a tensor"),
        (lambda q, k, v, h, m: (q.numpy(), k, v, h, m), "query_projected is a ndarray"),
    ],
)
def test_arguments_that_are_not_tensors_raise(change: Callable[..., Given], message: str) -> None:
    with pytest.raises(TypeError, match=message):
        unwrap(additive_attention)(*change(*given()))


@pytest.mark.parametrize("shape", [(2, 6, 7), (1, 6, 7), (2, 1, 7), (6, 7), (7,)])
def test_a_mask_and_a_gaussian_may_be_shared(shape: tuple[int, ...]) -> None:
    """The Gaussian in its own precision, as a window under mixed precision gives it."""
    *tensors, mask = given()
    small, fade = [x.bfloat16() for x in tensors], torch.rand(*shape, generator=torch.Generator().manual_seed(1))
    context, _ = unwrap(additive_attention)(*small, mask[0, 0].expand(shape), fade)
    wanted, _ = unwrap(additive_attention)(*tensors, mask, fade.expand(2, 6, 7))
    torch.testing.assert_close(context.float(), wanted, atol=0.1, rtol=0.1)
