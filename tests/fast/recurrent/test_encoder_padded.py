"""The LSTM over padded sentences against torch's own over packed sentences."""

import pytest
import torch
from torch import Tensor, nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from regard.attention.masking import lengths_to_mask
from regard.fast.recurrent.encoder_padded import run_padded

EXACT = {"atol": 1e-12, "rtol": 1e-10}


def by_torch(recurrence: nn.LSTM, inputs: Tensor, lengths: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    packed = pack_padded_sequence(inputs, lengths, batch_first=True, enforce_sorted=False)
    outputs, (hidden, cell) = recurrence(packed)
    return pad_packed_sequence(outputs, batch_first=True, total_length=inputs.size(1))[0], hidden, cell


def over_padding(recurrence: nn.LSTM, inputs: Tensor, lengths: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    return run_padded(recurrence, inputs, lengths, lengths_to_mask(lengths, inputs.size(1)))


@pytest.mark.parametrize("lengths", [[4, 4, 4], [1, 5, 3, 5, 2], [1], [1, 1], [7, 1]], ids=str)
@pytest.mark.parametrize("layers", [1, 2])
@pytest.mark.parametrize("both", [False, True])
@pytest.mark.parametrize("dtype", [torch.float64, torch.float32])
def test_states_and_gradients_equal_packed_sentences(
    lengths: list[int], layers: int, both: bool, dtype: torch.dtype
) -> None:
    """In float64 by torch's own loop, in float32 by oneDNN's kernel."""
    torch.manual_seed(len(lengths))
    recurrence = nn.LSTM(3, 5, num_layers=layers, bidirectional=both, batch_first=True).to(dtype)
    inputs = torch.randn(len(lengths), max(lengths), 3, dtype=dtype, requires_grad=True)
    results = []
    for run in (by_torch, over_padding):
        found = run(recurrence, inputs, torch.tensor(lengths))
        total = torch.stack([(part.pow(2 + power) + part).sum() for power, part in enumerate(found)]).sum()
        results.append([*found, *torch.autograd.grad(total, [inputs, *recurrence.parameters()])])
    for wanted, found in zip(*results, strict=True):
        torch.testing.assert_close(found, wanted, **(EXACT if dtype == torch.float64 else {"atol": 1e-5, "rtol": 1e-4}))


def test_nan_at_padding_changes_nothing() -> None:
    torch.manual_seed(0)
    recurrence, inputs, lengths = nn.LSTM(3, 5, bidirectional=True), torch.randn(3, 6, 3), torch.tensor([6, 2, 0])
    clean = over_padding(recurrence, inputs, lengths)
    dirty = inputs.masked_fill(~lengths_to_mask(lengths, 6)[..., None], float("nan")).requires_grad_()
    found = over_padding(recurrence, dirty, lengths)
    for wanted, given in zip(clean, found, strict=True):
        assert torch.equal(given, wanted)
    torch.stack([part.square().sum() for part in found]).sum().backward()
    assert all(one.grad is not None and one.grad.isfinite().all() for one in (dirty, *recurrence.parameters()))
    for part in (found[0][2], found[1][:, 2], found[2][:, 2]):
        assert not part.any()


def test_half_precision_stays_close() -> None:
    torch.manual_seed(0)
    recurrence, inputs, lengths = nn.LSTM(8, 16, bidirectional=True), torch.randn(4, 6, 8), torch.tensor([6, 2, 5, 4])
    exact = over_padding(recurrence, inputs, lengths)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        close = over_padding(recurrence, inputs, lengths)
    for wanted, given in zip(exact, close, strict=True):
        torch.testing.assert_close(given.float(), wanted, atol=0.03, rtol=0.03)


def test_a_seed_drops_the_same_numbers_as_in_torch() -> None:
    recurrence = nn.LSTM(3, 5, num_layers=2, dropout=0.5, batch_first=True).double()
    inputs, lengths, results = torch.randn(3, 4, 3, dtype=torch.float64), torch.tensor([3, 4, 2]), []
    for run in (by_torch, over_padding):
        torch.manual_seed(0)
        results.append(run(recurrence, inputs, lengths))
        assert not torch.equal(results[-1][1], run(recurrence, inputs, lengths)[1])
    for wanted, found in zip(*results, strict=True):
        torch.testing.assert_close(found, wanted, **EXACT)
    recurrence.eval()
    one, other = (over_padding(recurrence, inputs, lengths)[1] for _ in range(2))
    assert torch.equal(one, other)
