"""torch.func and forward-mode differentiation of a decoder: entries with hand-written gradients do not apply."""

from collections.abc import Callable

import pytest
import torch
from torch import Tensor
from torch.autograd import forward_ad

from models.zoo import EVERY, SOURCE, TOKENS, build, recurrent, sentences
from regard.fast.recurrent import weight_swap
from regard.models import RecurrentConfig, Seq2Seq

MODELS = {
    "gru": recurrent(),
    "lstm": recurrent(cell="lstm"),
    "two layers": recurrent(decoder_layers=2, initial="zero"),
    "fed": recurrent(score="general", placement="output", input_feeding=True, readout="attentional", cell="lstm"),
    "somebody's own": EVERY["somebody's own"],
}
every = pytest.mark.parametrize("config", MODELS.values(), ids=MODELS.keys())
Parameters = dict[str, Tensor]


def of_decoder(model: Seq2Seq) -> tuple[Callable[[Parameters], Tensor], Parameters]:
    """A number as a function of the decoder's parameters; what was read is given."""
    with torch.no_grad():
        state = model.start(sentences(*SOURCE, []))
    tokens = torch.cat([TOKENS, TOKENS[:1]])
    parameters = {
        name: x.detach().clone()
        for name, x in model.decoder.named_parameters()
        if name.startswith(("attention", "recurrence"))
        and name not in ("attention.W_h", "attention.W_a")  # `start` has multiplied with these
    }

    def total(given: Parameters) -> Tensor:
        return torch.func.functional_call(model.decoder, given, (tokens, state)).features.pow(3).sum()

    return total, parameters


def wanted(total: Callable[[Parameters], Tensor], parameters: Parameters) -> Parameters:
    leaves = {name: x.clone().requires_grad_() for name, x in parameters.items()}
    return dict(zip(leaves, torch.autograd.grad(total(leaves), list(leaves.values())), strict=True))


@every
def test_gradients_by_torch_func(config: RecurrentConfig) -> None:
    total, parameters = of_decoder(build(config).train())
    right, found = wanted(total, parameters), torch.func.grad(total)(parameters)
    for name, gradient in right.items():
        torch.testing.assert_close(found[name], gradient, msg=name)


@every
def test_several_gradients_at_a_time_are_refused_or_plain(
    config: RecurrentConfig, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(weight_swap, "DEFERRED", 0)  # no accelerated loop is left out for the model's size
    total, parameters = of_decoder(build(config).train())
    right = wanted(total, parameters)
    leaves = {name: x.clone().requires_grad_() for name, x in parameters.items()}

    def batched() -> tuple[Tensor, ...]:
        several = torch.tensor([1.0, 3.0], dtype=torch.float64)
        return torch.autograd.grad(total(leaves), list(leaves.values()), several, is_grads_batched=True)

    with pytest.raises(RuntimeError, match=r"is_grads_batched=True.* REGARD_PLAIN=1"):
        batched()
    monkeypatch.setenv("REGARD_PLAIN", "1")
    for found, gradient in zip(batched(), right.values(), strict=True):
        torch.testing.assert_close(found, torch.stack([gradient, 3 * gradient]))


@every
@pytest.mark.filterwarnings("ignore:.torch.jit.script:DeprecationWarning")  # of torch, on itself
def test_forward_mode(config: RecurrentConfig) -> None:
    total, parameters = of_decoder(build(config).train())
    torch.manual_seed(0)
    direction = {name: torch.randn_like(x) for name, x in parameters.items()}
    gradients = wanted(total, parameters)
    right = torch.stack([(gradients[name] * direction[name]).sum() for name in gradients]).sum()
    torch.testing.assert_close(torch.func.jvp(total, (parameters,), (direction,))[1], right)
    with forward_ad.dual_level():
        duals = {name: forward_ad.make_dual(x, direction[name]) for name, x in parameters.items()}
        torch.testing.assert_close(forward_ad.unpack_dual(total(duals)).tangent, right)
