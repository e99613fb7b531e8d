"""GRU and LSTM over packed sentences with hand-written gradients against torch's own."""

import pytest
import torch
from torch import Tensor, nn
from torch.nn.utils.rnn import PackedSequence, pack_padded_sequence

from regard.fast.recurrent.encoder_packed import run_packed

EXACT = {"atol": 1e-12, "rtol": 1e-10}


def packed(lengths: list[int], inputs: Tensor) -> PackedSequence:
    return pack_padded_sequence(inputs, torch.tensor(lengths), batch_first=True, enforce_sorted=False)


@pytest.mark.parametrize("kind", [nn.GRU, nn.LSTM])
@pytest.mark.parametrize("lengths", [[4, 4, 4], [1, 5, 3, 5, 2], [1], [1, 1], [7, 1]], ids=str)
@pytest.mark.parametrize("layers", [1, 2])
@pytest.mark.parametrize("both", [False, True])
def test_states_and_gradients_equal_torch(
    kind: type[nn.GRU | nn.LSTM], lengths: list[int], layers: int, both: bool
) -> None:
    torch.manual_seed(len(lengths))
    recurrence = kind(3, 5, num_layers=layers, bidirectional=both, batch_first=True).double()
    inputs = torch.randn(len(lengths), max(lengths), 3, dtype=torch.float64, requires_grad=True)
    results = []
    for run in (recurrence, lambda sequence: run_packed(recurrence, sequence)):
        outputs, final = run(packed(lengths, inputs))
        ended = list(final) if isinstance(final, tuple) else [final]
        total = (outputs.data.square() * torch.arange(1, len(outputs.data) + 1)[:, None]).sum()
        for power, state in enumerate(ended, start=3):
            total = total + state.pow(power).sum()
        gradients = torch.autograd.grad(total, [inputs, *recurrence.parameters()])
        results.append([outputs.data, *ended, *gradients])
        assert outputs.batch_sizes.sum() == sum(lengths)
    for wanted, found in zip(*results, strict=True):
        torch.testing.assert_close(found, wanted, **EXACT)


kinds = pytest.mark.parametrize("kind", [nn.GRU, nn.LSTM])


def last_states(final: Tensor | tuple[Tensor, Tensor]) -> Tensor:
    return final[0] if isinstance(final, tuple) else final


@kinds
def test_half_precision_stays_close(kind: type[nn.GRU | nn.LSTM]) -> None:
    torch.manual_seed(0)
    recurrence, inputs = kind(8, 16, bidirectional=True, batch_first=True), torch.randn(4, 6, 8)
    exact, _ = run_packed(recurrence, packed([6, 2, 5, 4], inputs))
    with torch.autocast("cpu", dtype=torch.bfloat16):
        close, _ = run_packed(recurrence, packed([6, 2, 5, 4], inputs))
    assert close.data.dtype == torch.bfloat16
    torch.testing.assert_close(close.data.float(), exact.data, atol=0.02, rtol=0.02)
    close.data.float().sum().backward()
    assert all(
        parameter.grad is not None and parameter.grad.dtype == torch.float32 for parameter in recurrence.parameters()
    )


@kinds
def test_dropout_acts_between_layers_in_training(kind: type[nn.GRU | nn.LSTM]) -> None:
    torch.manual_seed(0)
    recurrence, inputs = kind(3, 5, num_layers=2, dropout=0.5, batch_first=True), torch.randn(2, 4, 3)
    one, other = (last_states(run_packed(recurrence, packed([4, 3], inputs))[1]) for _ in range(2))
    assert torch.equal(one[0], other[0])
    assert not torch.equal(one[1], other[1])
    recurrence.eval()
    one, other = (last_states(run_packed(recurrence, packed([4, 3], inputs))[1]) for _ in range(2))
    assert torch.equal(one, other)


@kinds
def test_gradients_of_the_final_states_alone(kind: type[nn.GRU | nn.LSTM]) -> None:
    """Inputs without gradients, and a loss of the final states, or of the final cells if there are any."""
    recurrence, inputs = kind(3, 5, bidirectional=True, batch_first=True).double(), torch.randn(3, 4, 3).double()
    found = []
    for run in (recurrence, lambda sequence: run_packed(recurrence, sequence)):
        _, final = run(packed([2, 4, 1], inputs))
        ended = final[1] if isinstance(final, tuple) else final
        found.append(torch.autograd.grad(ended.pow(3).sum(), list(recurrence.parameters())))
    for wanted, given in zip(*found, strict=True):
        torch.testing.assert_close(given, wanted, **EXACT)


@kinds
def test_gradients_of_gradients_are_refused(kind: type[nn.GRU | nn.LSTM]) -> None:
    recurrence, inputs = kind(3, 5, batch_first=True), torch.randn(2, 4, 3, requires_grad=True)
    outputs, _ = run_packed(recurrence, packed([4, 3], inputs))
    with pytest.raises(RuntimeError, match="REGARD_PLAIN=1"):
        torch.autograd.grad(outputs.data.square().sum(), inputs, create_graph=True)
