"""The in-place tanh of the CPU equals torch's."""

import pytest
import torch

from regard.fast.cpu.quick_tanh import quick_tanh_


def test_large_and_small_arguments() -> None:
    x = torch.linspace(-30, 30, 4001)
    torch.testing.assert_close(quick_tanh_(x.clone()), torch.tanh(x), rtol=0, atol=3e-7)


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32, torch.bfloat16, torch.float16])
def test_error_is_near_the_rounding_of_the_dtype(dtype: torch.dtype) -> None:
    """Small numbers too: an untrained model has them."""
    x = torch.cat([torch.linspace(-9, 9, 1001), torch.logspace(-4, 0, 101)]).to(dtype)
    wanted = torch.tanh(x.double())
    error = (quick_tanh_(x.clone()).double() - wanted).abs()
    rounding, inside = (torch.finfo(kind).eps for kind in (dtype, torch.promote_types(dtype, torch.float32)))
    assert (error <= 2 * rounding * wanted.abs() + 3 * inside).all()
