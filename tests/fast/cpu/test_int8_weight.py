"""Products in 8-bit integers: within the rounding error of both factors, and each row on its own."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

import regard
from regard.fast.cpu.int8_weight import LEVELS, Int8Weight
from regard.runtime.decoding_precision import check_precision
from regard.text.input_error import InputError
from regard.torch_private import has_int8_product

TEXTS = ["The museum is closed on Mondays.", "How much does this bicycle cost?", "Do you want some more cheese?"]

pytestmark = pytest.mark.skipif(not has_int8_product(), reason="this torch has no 8-bit products on this CPU")


@given(
    shape=st.tuples(st.integers(1, 9), st.integers(2, 70), st.integers(1, 40)),
    size=st.sampled_from([0.0, 1e-6, 1.0, 1e4]),
    seed=st.integers(0, 9),
)
def test_the_error_is_that_of_rounding_both_factors(shape: tuple[int, int, int], size: float, seed: int) -> None:
    rows, width, out = shape
    draw = torch.Generator().manual_seed(seed)
    x, weight = torch.randn(rows, width, generator=draw) * size, torch.randn(out, width, generator=draw)
    bias = torch.randn(out, generator=draw)
    found = Int8Weight(weight).product(x, bias)
    a, b = x.abs().amax(1, keepdim=True) / LEVELS, weight.abs().amax(1)[None] / LEVELS
    most = a / 2 * weight.abs().sum(1)[None] + b / 2 * x.abs().sum(1, keepdim=True) + a * b * width / 4
    right = x.double() @ weight.double().t() + bias
    assert ((found - right).abs() <= most * 1.001 + 1e-5).all()


def test_a_row_does_not_depend_on_the_rows_beside_it() -> None:
    x, weight = torch.randn(7, 64), Int8Weight(torch.randn(33, 64))
    together = weight.product(x * torch.logspace(-3, 3, 7)[:, None], None)
    for row, one in enumerate(x):
        alone = weight.product(one[None] * torch.logspace(-3, 3, 7)[row], None)
        assert torch.equal(together[row : row + 1], alone)


def test_the_package_translates_in_int8_as_in_float32() -> None:
    exact, quick = regard.load("en-fr"), regard.load("en-fr", precision="int8")
    assert [one.text for one in quick.translate(TEXTS)] == [one.text for one in exact.translate(TEXTS)]
    scores = zip(quick.translate(TEXTS), exact.translate(TEXTS), strict=True)
    assert any(one.score != other.score for one, other in scores), "int8 was not used"
    assert quick.translate(TEXTS[0]).text == quick.translate(TEXTS)[0].text


def test_other_names_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(InputError, match="precision 'int4' does not exist: valid choices are float32, int8"):
        check_precision("int4")
    monkeypatch.setenv("REGARD_PLAIN", "1")
    with pytest.raises(InputError, match="no REGARD_PLAIN"):
        check_precision("int8")
