"""Exercise 8: a small decoder that remembers what it was given."""

from torch import Tensor, nn


class ToyDecoder(nn.Module):
    """A small decoder step that remembers what it was given."""

    SENT = ("vocabulary", "hidden")
    RETURNS = ("given",)

    def __init__(self, vocabulary: int, hidden: int) -> None:
        super().__init__()
        self.vocabulary, self.hidden = vocabulary, hidden
        self.words = nn.Embedding(vocabulary, hidden)
        self.cell = nn.GRUCell(hidden, hidden)
        self.readout = nn.Linear(hidden, vocabulary)
        self.given: list[Tensor] = []

    def forward(self, words: Tensor, state: Tensor) -> tuple[Tensor, Tensor]:
        self.given.append(words.clone())
        state = self.cell(self.words(words), state)
        return self.readout(state), state
