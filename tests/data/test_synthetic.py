"""Copy, reverse and sort: the gold links are right, the same seed gives the same data, splits share nothing."""

import hashlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from regard.data.splits import load_split
from regard.data.synthetic import synthetic
from regard.text.input_error import InputError
from regard.training.recipe import load_recipe

TASKS = ["copy", "reverse", "sort"]


@pytest.mark.parametrize("task", TASKS)
@given(vocabulary=st.integers(10, 60), shortest=st.integers(2, 5), more=st.integers(0, 5), seed=st.integers(0, 99))
def test_linked_words_are_equal_and_all_words_are_linked_once(
    task: str, vocabulary: int, shortest: int, more: int, seed: int
) -> None:
    for pair in synthetic(task, vocabulary, shortest, shortest + more, 5, seed):  # type: ignore[arg-type]
        source, target = pair.source.split(), pair.target.split()
        assert shortest <= len(source) == len(target) <= shortest + more
        assert all(3 <= int(symbol) < vocabulary for symbol in source)
        assert pair.links is not None
        assert (
            sorted(s for s, _ in pair.links.sure) == sorted(t for _, t in pair.links.sure) == list(range(len(source)))
        )
        assert all(source[s] == target[t] for s, t in pair.links.sure)


def test_each_task_does_what_its_name_says() -> None:
    for pair in synthetic("copy", 50, 3, 12, 20):
        assert pair.target == pair.source
        assert pair.links is not None
        assert all(s == t for s, t in pair.links.sure)
    for pair in synthetic("reverse", 50, 3, 12, 20):
        words = pair.source.split()
        assert pair.target.split() == words[::-1]
        assert pair.links is not None
        assert all(s + t == len(words) - 1 for s, t in pair.links.sure)
    for pair in synthetic("sort", 8, 3, 12, 20):
        numbers = [int(word) for word in pair.source.split()]
        assert [int(word) for word in pair.target.split()] == sorted(numbers)
        assert pair.links is not None
        by_target = [s for s, _ in sorted(pair.links.sure, key=lambda link: link[1])]
        assert by_target == sorted(range(len(numbers)), key=lambda place: (numbers[place], place))


def test_the_same_seed_gives_the_same_data_on_any_machine() -> None:
    """The digest is a constant: every machine and version of Python must compute the same."""
    text = "\n".join(f"{pair.source}\t{pair.target}" for pair in synthetic("reverse", 50, 3, 12, 1000, seed=7))
    assert hashlib.sha256(text.encode()).hexdigest()[:16] == "f566c116fcc9c579"
    assert (
        synthetic("reverse", 50, 3, 12, 50, seed=1)
        == synthetic("reverse", 50, 3, 12, 50, seed=1)
        != synthetic("reverse", 50, 3, 12, 50, seed=2)
    )
    assert synthetic("reverse", 50, 3, 12, 50, seed=1) == synthetic("reverse", 50, 3, 12, 80, seed=1)[:50]


def test_splits_share_no_sequence_whatever_their_seeds() -> None:
    train = {pair.source for seed in (0, 1) for pair in synthetic("copy", 8, 1, 4, 2000, seed, "train")}
    dev = {pair.source for pair in synthetic("copy", 8, 1, 4, 300, 0, "dev")}
    test = {pair.source for pair in synthetic("copy", 8, 1, 4, 300, 1, "test")}
    assert train
    assert dev
    assert test
    assert not train & (dev | test)
    assert not dev & test


@pytest.mark.parametrize(
    ("vocabulary", "shortest", "longest", "message"),
    [
        (3, 1, 2, "vocabulary = 3 leaves no symbol"),
        (9, 0, 2, "lengths from 0 to 2"),
        (9, 3, 2, "lengths from 3 to 2"),
        (4, 1, 1, "too few different sequences of 1 to 1 words from 1 symbols .* raise vocabulary or longest"),
    ],
)
def test_impossible_tasks_raise(vocabulary: int, shortest: int, longest: int, message: str) -> None:
    with pytest.raises(InputError, match=message):
        [synthetic("copy", vocabulary, shortest, longest, 5, 0, split) for split in ("train", "dev", "test")]


@pytest.mark.parametrize("name", ["reverse", "copy", "sort"])
def test_the_recipes_learn_every_number_from_0_to_99(name: str) -> None:
    pairs = load_split(load_recipe(name).data, "train").pairs
    assert {int(word) for pair in pairs for word in pair.source.split()} == set(range(100))


def test_first_must_be_below_vocabulary() -> None:
    with pytest.raises(InputError, match="first = 50 is not less than vocabulary = 50"):
        load_recipe("reverse", ["data.first=50", "data.vocabulary=50"])
