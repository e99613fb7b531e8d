"""The recurrent encoder: packed sentences against each sentence alone in torch's recurrence."""

from copy import deepcopy

import pytest
import torch
from torch import nn
from torch.nn.utils.rnn import PackedSequence

from regard.models.rnn.encoder import RecurrentEncoder

from ..zoo import SOURCE, recurrent, sentences, shared

shapes = pytest.mark.parametrize(
    ("cell", "layers", "bidirectional"),
    [(cell, layers, both) for cell in ("gru", "lstm", "gru-2014") for layers in (1, 2, 3) for both in (True, False)],
)
EXACT = {"atol": 1e-12, "rtol": 1e-12}


def encoder(cell: str, layers: int, bidirectional: bool) -> RecurrentEncoder:
    found = shared(recurrent(cell=cell, encoder_layers=layers, bidirectional=bidirectional)).encoder
    assert isinstance(found, RecurrentEncoder)
    return found


@shapes
def test_every_sentence_is_read_as_if_alone(cell: str, layers: int, bidirectional: bool) -> None:
    reader = encoder(cell, layers, bidirectional)
    batch = sentences(*SOURCE, seed=1)
    encoded = reader(batch.source, batch.source_lengths)
    for row, words in enumerate(SOURCE):
        outputs, final = reader.recurrence(reader.embedding(torch.tensor([words])))
        hidden, memory = final if cell == "lstm" else (final, None)
        torch.testing.assert_close(encoded.states[row, : len(words)], outputs[0], **EXACT)
        assert encoded.real[row].tolist() == [place < len(words) for place in range(5)]
        torch.testing.assert_close(encoded.hidden[:, :, row].flatten(0, 1), hidden[:, 0], **EXACT)
        if memory is not None:
            assert encoded.cell is not None
            torch.testing.assert_close(encoded.cell[:, :, row].flatten(0, 1), memory[:, 0], **EXACT)


@shapes
def test_final_states_are_the_last_word_forwards_and_the_first_backwards(
    cell: str, layers: int, bidirectional: bool
) -> None:
    reader = encoder(cell, layers, bidirectional)
    batch = sentences(*SOURCE)
    encoded = reader(batch.source, batch.source_lengths)
    for row, words in enumerate(SOURCE):
        forward, *backward = encoded.states[row].split(3, dim=-1)
        torch.testing.assert_close(encoded.hidden[-1, 0, row], forward[len(words) - 1], **EXACT)
        if bidirectional:
            torch.testing.assert_close(encoded.hidden[-1, 1, row], backward[0][0], **EXACT)


@shapes
def test_a_blank_sentence_ends_in_zeros(cell: str, layers: int, bidirectional: bool) -> None:
    """With any values in its padding, and also if all sentences of the batch are blank."""
    reader = encoder(cell, layers, bidirectional)
    for batch, row in ((sentences([5, 6], [], seed=2), 1), (sentences([], []), 0)):
        encoded = reader(batch.source, batch.source_lengths)
        assert encoded.states.shape[:2] == batch.source.shape
        assert not encoded.real[row].any()
        assert not encoded.hidden[:, :, row].any()
        assert encoded.cell is None or not encoded.cell[:, :, row].any()


@pytest.mark.parametrize("lengths", [[5, 5, 5], [5, 4, 5], [5, 2, 1]], ids=["full", "nearly full", "half empty"])
def test_an_lstm_has_the_same_gradients_padded_and_packed(lengths: list[int], monkeypatch: pytest.MonkeyPatch) -> None:
    """Padded or packed, chosen by the share of padding, and torch's own."""
    reader, found = encoder("lstm", 2, True).train(), []
    batch = sentences(*([7] * length for length in lengths))
    for plain in ("0", "1"):
        monkeypatch.setenv("REGARD_PLAIN", plain)
        encoded = reader(batch.source, batch.source_lengths)
        assert encoded.cell is not None
        parts = [encoded.states, encoded.hidden, encoded.cell]
        gradients = torch.autograd.grad(
            torch.stack([part.pow(3).sum() for part in parts]).sum(), list(reader.recurrence.parameters())
        )
        found.append([*parts, *gradients])
    for wanted, given in zip(*found, strict=True):
        torch.testing.assert_close(given, wanted, **EXACT)


class LouderGru(nn.GRU):
    def forward(self, packed: PackedSequence) -> tuple[PackedSequence, torch.Tensor]:  # type: ignore[override]
        outputs, final = super().forward(packed)
        return outputs._replace(data=2 * outputs.data), final


class LouderLstm(nn.LSTM):
    def forward(  # type: ignore[override]
        self, packed: PackedSequence
    ) -> tuple[PackedSequence, tuple[torch.Tensor, torch.Tensor]]:
        outputs, final = super().forward(packed)
        return outputs._replace(data=2 * outputs.data), final


@pytest.mark.parametrize("rows", [[[5, 6], [7, 8]], [[5, 6, 7, 8], [9]]], ids=["full", "padded"])
@pytest.mark.parametrize("kind", [LouderGru, LouderLstm])
@pytest.mark.parametrize("kernels", [False, True], ids=["no kernels", "where kernels would run"])
def test_a_users_recurrence_is_called(
    kind: type[LouderGru | LouderLstm], rows: list[list[int]], kernels: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    reader, batch = deepcopy(encoder("gru" if kind is LouderGru else "lstm", 1, True)), sentences(*rows)
    before = reader(batch.source, batch.source_lengths).states
    own = kind(4, 3, bidirectional=True, batch_first=True).double()
    own.load_state_dict(reader.recurrence.state_dict())
    reader.recurrence = own
    monkeypatch.setattr("regard.fast.recurrent.encode_entries.fusible", lambda _: kernels)
    torch.testing.assert_close(reader(batch.source, batch.source_lengths).states, 2 * before, **EXACT)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
@shapes
def test_half_precision_is_close(cell: str, layers: int, bidirectional: bool, dtype: torch.dtype) -> None:
    reader, batch = deepcopy(encoder(cell, layers, bidirectional)).float(), sentences(*SOURCE)
    wanted = reader(batch.source, batch.source_lengths).states
    with torch.autocast("cpu", dtype=dtype):
        states = reader(batch.source, batch.source_lengths).states
    torch.testing.assert_close(states.float(), wanted, atol=0.05, rtol=0.05)
    assert all(x.isfinite().all() for x in torch.autograd.grad(states.float().sum(), list(reader.parameters())))


@pytest.mark.parametrize("changes", [{"bias": False}, {"batch_first": False}], ids=str)
@pytest.mark.parametrize("rows", [[[5, 6], [7, 8]], [[5, 6, 7, 8], [9]]], ids=["full", "padded"])
def test_other_options_of_the_recurrence_are_respected(
    changes: dict[str, bool], rows: list[list[int]], monkeypatch: pytest.MonkeyPatch
) -> None:
    reader, batch, found = deepcopy(encoder("lstm", 1, True)), sentences(*rows), []
    reader.recurrence = nn.LSTM(4, 3, bidirectional=True, **changes).double()
    for plain in ("0", "1"):
        monkeypatch.setenv("REGARD_PLAIN", plain)
        found.append(reader(batch.source, batch.source_lengths).states)
    torch.testing.assert_close(*found, **EXACT)


def test_a_length_beyond_the_ids_is_refused() -> None:
    reader = encoder("gru", 1, True)
    with pytest.raises((ValueError, RuntimeError)):
        reader(torch.tensor([[5, 6]]), torch.tensor([3]))
