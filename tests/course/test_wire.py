"""Modules that are sent to a learner's process: torch's own layers, and an author's modules by their `SENT`."""

import pytest
import torch
from torch import Tensor, nn

from regard.course.wire import Reader, Writer


class Linear(nn.Module):
    """An author's layer with the name of one of torch's, but other arguments."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.in_features = self.out_features = width
        self.bias = nn.Parameter(torch.zeros(width))

    def forward(self, states: Tensor) -> Tensor:
        return states + self.bias


def received(value: object) -> object:
    message = Writer(objects=True).message({"value": value})
    head, _, rest = message.partition(b"\n")
    reader = Reader(rest[: int(head)], objects=True)
    reader.take(rest[int(head) :])
    return reader.value("value")


@pytest.mark.parametrize("layer", [nn.Linear(2, 3), nn.Linear(2, 3, bias=False), nn.GRU(2, 3), nn.Embedding(4, 2)])
def test_layers_of_torch_arrive_with_their_weights(layer: nn.Module) -> None:
    found = received(layer)
    assert type(found) is type(layer)
    assert isinstance(found, nn.Module)
    assert all(torch.equal(one, other) for one, other in zip(found.parameters(), layer.parameters(), strict=True))


def test_an_author_s_layer_is_not_taken_for_torch_s_of_the_same_name() -> None:
    with pytest.raises(TypeError, match="Linear cannot be sent to a learner's process: list its arguments in SENT"):
        Writer(objects=True).message({"value": Linear(2)})
