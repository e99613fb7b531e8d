"""Training on a stored corpus: the cache changes no bit, and resuming with a changed corpus is refused."""

from pathlib import Path
from typing import Any

import pytest

from regard.text.input_error import InputError
from regard.training.run import train

from .tiny import equal, stopped, tiny, weights


@pytest.fixture
def corpus(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("REGARD_CACHE", str(tmp_path / "cache"))
    path = tmp_path / "pairs.tsv"
    path.write_text("".join(f"{i % 7} {i % 5} {i % 3}\t{i % 3} {i % 5} {i % 7}\n" for i in range(105)), "utf-8")
    return path


def data(path: Path) -> dict[str, Any]:
    """Only the keys of a file: those of the made-up data are gone."""
    return {"kind": "tsv", "train": str(path), "held_out": 0.1}


def recipe(path: Path, **train_keys: Any) -> Any:
    base = tiny(train=train_keys).model_dump()
    return type(tiny()).model_validate({**base, "data": data(path)})


def test_a_run_from_the_cache_equals_the_run_that_built_it(corpus: Path, tmp_path: Path) -> None:
    train(recipe(corpus), tmp_path / "builds")
    assert list((tmp_path / "cache" / "pairs").iterdir())
    train(recipe(corpus), tmp_path / "finds")
    assert equal(weights(tmp_path / "builds"), weights(tmp_path / "finds"))
    for file in (tmp_path / "cache").rglob("*.ids"):
        file.write_bytes(b"")
    train(recipe(corpus), tmp_path / "rebuilds")
    assert equal(weights(tmp_path / "builds"), weights(tmp_path / "rebuilds"))


def test_resuming_with_a_changed_corpus_is_refused(corpus: Path, tmp_path: Path) -> None:
    whole = recipe(corpus, checkpoint_every=2)
    train(whole, tmp_path / "whole")
    stopped(whole, tmp_path / "run", 3)
    text = corpus.read_text("utf-8")
    corpus.write_text("".join(reversed(text.splitlines(keepends=True))), "utf-8")
    both = "the training pairs and the development pairs"  # which were held out from them
    with pytest.raises(InputError, match=rf"{both} are not those that .* was started with: put the old data back"):
        train(whole, tmp_path / "run", resume=True)
    corpus.write_text(text, "utf-8")
    train(whole, tmp_path / "run", resume=True)
    assert equal(weights(tmp_path / "run"), weights(tmp_path / "whole"))
