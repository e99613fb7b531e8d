"""Pretrained vectors: which pieces get them, that they are trained further, and invalid files."""

import gzip
from pathlib import Path

import numpy as np
import pytest
import torch

from regard.models.model_config import RecurrentConfig, TransformerConfig
from regard.models.seq2seq import Seq2Seq
from regard.text.input_error import InputError
from regard.text.special import EOS
from regard.text.tokenizer import Tokenizer
from regard.text.tokenizer_config import TokenizerConfig
from regard.training.journal import Started
from regard.training.run import train
from regard.training.vectors import read_vectors, start_vectors

from .tiny import tiny

WORDS = Tokenizer.train(["the cat sat", "the Mat"], TokenizerConfig())


def write(path: Path, text: str) -> Path:
    path.write_text(text, "utf-8")
    return path


@pytest.mark.parametrize("header", ["", "3 2\n"])
def test_words_are_found_by_their_spelling(header: str, tmp_path: Path) -> None:
    path = write(tmp_path / "v.txt", f"{header}the 1 2\nCat 3 4\nunheard 5 6\nmat 7 8\n")
    found = {WORDS.pieces[number]: vector.tolist() for number, vector in read_vectors(path, WORDS, 2).items()}
    assert found == {"the": [1, 2], "cat": [3, 4], "Mat": [7, 8]}


def test_the_exact_spelling_is_taken_before_another(tmp_path: Path) -> None:
    for lines in ("THE 9 9\nthe 1 2\n", "the 1 2\nThe 9 9\n"):
        found = read_vectors(write(tmp_path / "v.txt", lines), WORDS, 2)
        assert [vector.tolist() for vector in found.values()] == [[1, 2]]


def test_a_piece_that_opens_a_word_is_that_word(tmp_path: Path) -> None:
    pieces = Tokenizer.train(["ab abc"] * 9, TokenizerConfig(kind="bpe", vocabulary=20))
    assert "▁ab" in pieces.pieces
    assert "c" in pieces.pieces
    found = read_vectors(write(tmp_path / "v.txt", "ab 1\nc 2\n"), pieces, 1)
    assert [pieces.pieces[number] for number in found] == ["▁ab"]


@pytest.mark.parametrize("tie", ["none", "target"])
def test_rows_are_scaled_to_the_usual_length_and_others_are_unchanged(tie: str, tmp_path: Path) -> None:
    config = RecurrentConfig(
        embedding=2,
        encoder_units=3,
        decoder_units=3,
        tie=tie,
        readout="maxout",
        readout_width=2,  # type: ignore[arg-type]
    )
    model = Seq2Seq(config, len(WORDS), len(WORDS))
    before = model.encoder.embedding.weight.detach().clone()
    path = tmp_path / "v.gz"
    path.write_bytes(gzip.compress(b"the 30 40\nsat 0 -10\n"))
    notes = start_vectors(model, WORDS, WORDS, (str(path), None))
    assert notes == (f"2 of the source's pieces (50%) are initialised from {path}",)
    after = model.encoder.embedding.weight.detach()
    rows = [WORDS.pieces.index(word) for word in ("the", "sat")]
    others = [row for row in range(len(WORDS)) if row not in rows]
    assert torch.equal(after[others], before[others])
    torch.testing.assert_close(after[rows].norm(dim=1).mean(), before[rows].norm(dim=1).mean())
    torch.testing.assert_close(after[rows[0]] / after[rows[0]].norm(), torch.tensor([0.6, 0.8]))
    start_vectors(model, WORDS, WORDS, (None, str(path)))
    assert torch.equal(model.decoder.readout.output.weight, model.decoder.embedding.weight) == (tie == "target")
    assert torch.all(after[: EOS + 1] == before[: EOS + 1])


def test_a_transformer_accepts_vectors(tmp_path: Path) -> None:
    model = Seq2Seq(TransformerConfig(width=4, heads=2, feedforward=4), len(WORDS), len(WORDS))
    path = write(tmp_path / "v.txt", "the 0 0 0 5\n")
    assert len(start_vectors(model, WORDS, WORDS, (str(path), str(path)))) == 2
    row = model.decoder.positions.embedding.weight[WORDS.pieces.index("the")]
    assert row[3] > 0
    assert torch.all(row[:3] == 0)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "the 1 2 3\n",
            r"v.txt, line 1: a vector of 3 numbers, but the model's embedding is 2 wide; set",
        ),
        ("the 1 x\n", r"v.txt, line 1: expected a word and 2 numbers"),
        ("the\n", r"v.txt, line 1: expected a word and 2 numbers"),
        ("the 1 nan\n", r"v.txt, line 1: the vector holds a number that is not finite"),
        ("der 1 2\n", r"v.txt has a vector for none of the vocabulary's 8 pieces: is it another language\?"),
        ("", r"has a vector for none"),
    ],
)
def test_files_that_cannot_be_used(text: str, message: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=message):
        read_vectors(write(tmp_path / "v.txt", text), WORDS, 2)
    with pytest.raises(InputError, match=r"no file .*gone"):
        read_vectors(tmp_path / "gone", WORDS, 2)


def test_a_run_starts_from_vectors_and_reports_it(tmp_path: Path) -> None:
    random = np.random.RandomState(0)
    lines = [f"{word} {' '.join(f'{value:.3f}' for value in random.randn(6))}" for word in range(3, 12)]
    path = write(tmp_path / "v.txt", "\n".join(lines))
    received: list[object] = []
    train(tiny(train={"steps": 1, "source_vectors": str(path)}), tmp_path / "run", listener=received.append)
    (started,) = [event for event in received if isinstance(event, Started)]
    assert started.notes == (f"9 of the source's pieces (100%) are initialised from {path}",)
    with pytest.raises(ValueError, match="start_from brings its own embeddings"):
        tiny(train={"start_from": "x", "source_vectors": "y"})
