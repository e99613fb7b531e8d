"""Alignment files: round trips, the real gold files, and messages about invalid files."""

import os
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from regard.alignment import (
    Links,
    check_links,
    format_naacl,
    format_pharaoh,
    parse_naacl,
    parse_pharaoh,
)

from .random_links import corpora, corpus_of, sure_and_possible


@given(sure_and_possible, st.sampled_from([0, 1]))
def test_a_pharaoh_line_survives_the_round_trip(drawn, base: int) -> None:
    (each,) = corpus_of([drawn])
    assert parse_pharaoh(format_pharaoh(each, base=base), base=base) == each


@given(corpora, st.sampled_from([0, 1]))
@settings(max_examples=30)
def test_naacl_lines_survive_the_round_trip(drawn, base: int) -> None:
    corpus = corpus_of(drawn)
    text = "".join(format_naacl(number, each, base=base) for number, each in enumerate(corpus, 1))
    assert parse_naacl(text.split("\n"), base=base, sentences=len(corpus)) == corpus


def test_lines_are_parsed_and_formatted() -> None:
    assert format_pharaoh(Links.of([(2, 0), (0, 1)], [(1, 1)])) == "0-1 1?1 2-0"
    first, second, third = parse_naacl(["1 1 2 S", "0001 2 2 P", "3 1 1", "3 2 1 P 0.5", ""])
    assert first == Links.of([(0, 1)], [(1, 1)])
    assert second == Links.of([])
    assert third == Links.of([(0, 0)], [(1, 0)])
    assert parse_pharaoh("1-1\x0c 2-2\r") == Links.of([(1, 1), (2, 2)])


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("0-0 1=1\n", r"file, line 1: '1=1' is not a link; expected i-j \(sure\) or i\?j \(possible\)"),
        ("0-0 -1-2\n", r"line 1: '-1-2' is not a link"),
        ("0-²\n", r"line 1: '0-²' is not a link"),
        ("0-0-0\n", r"line 1: '0-0-0' is not a link"),
    ],
)
def test_wrong_pharaoh_lines_are_named(text: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        parse_pharaoh(text, where="file, line 1")


def test_a_0_in_a_1_based_file_is_named() -> None:
    with pytest.raises(ValueError, match="line: '0-3' lies below index base 1; these links seem to count from 0"):
        parse_pharaoh("1-1 0-3", base=1)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("1 1\n", r"file, line 1: 2 fields; expected: sentence source target"),
        ("1 1 1 S 1 1\n", r"line 1: 6 fields"),
        ("1 1 1 S\n1 x 1 S\n", r"line 2: 'x' is not a whole number"),
        ("1 1 1 Q\n", r"line 1: 'Q' is neither S \(sure\) nor P \(possible\)"),
        ("0 1 1 S\n", r"line 1: sentence 0, but sentences count from 1"),
        ("1 0 1 S\n", r"line 1: link 0 1 lies below index base 1; are these links 0-based\?"),
        ("9 1 1 S\n", r"line 1: sentence 9, but there are only 5 sentences"),
    ],
)
def test_wrong_naacl_lines_are_named(text: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        parse_naacl(text.splitlines(), sentences=5, where="file")


def test_links_outside_their_sentence_are_named() -> None:
    check_links([Links.of([(0, 0)], [(2, 1)])], [(3, 2)])
    with pytest.raises(ValueError, match="gold, sentence 2: link 3-0 lies outside the sentence of 3 source") as error:
        check_links([Links.of([(0, 0)]), Links.of([(3, 0)])], [(3, 2), (3, 2)], where="gold")
    assert "base 1" not in str(error.value)
    with pytest.raises(ValueError, match="all links fit when counted from 1, so read them with index base 1"):
        check_links([Links.of([(1, 1)]), Links.of([(3, 2)])], [(3, 2), (3, 2)])
    with pytest.raises(ValueError, match="with source and target swapped, so flip them"):
        check_links([Links.of([(0, 2)]), Links.of([(1, 0)])], [(3, 2), (3, 2)])
    with pytest.raises(ValueError, match="from 1 with source and target swapped, so read them with index base 1 and"):
        check_links([Links.of([(1, 3)]), Links.of([(2, 1)])], [(3, 2), (3, 2)])
    with pytest.raises(ValueError, match="1 lines of links for 2 sentence pairs"):
        check_links([Links.of([])], [(1, 1), (1, 1)])


def test_a_remedy_that_is_already_applied_is_not_suggested() -> None:
    with pytest.raises(ValueError, match=r"link 3-3 lies outside the sentence of 2 source and 2 target words$"):
        check_links([Links.of([(1, 1), (2, 2)])], [(2, 2)], base=1)


@pytest.mark.parametrize("split", ["trial", "test"])
def test_the_two_gold_files_of_the_hansards_agree(split: str) -> None:
    root = os.environ.get("REGARD_DATA")
    if not root or not (Path(root) / "hansards-en-fr").is_dir():
        pytest.skip("REGARD_DATA names no directory that holds hansards-en-fr")
    folder = Path(root) / "hansards-en-fr"
    sources, targets = (
        [len(line.split()) for line in (folder / f"{split}.{side}").read_text("utf-8").splitlines()]
        for side in ("en", "fr")
    )
    pharaoh = [parse_pharaoh(line) for line in (folder / f"{split}.align").read_text("utf-8").splitlines()]
    naacl = (folder / f"{split}.naacl").read_text("utf-8").splitlines()
    assert len(pharaoh) == {"trial": 37, "test": 447}[split]
    assert parse_naacl(naacl, sentences=len(pharaoh)) == pharaoh
    check_links(pharaoh, list(zip(sources, targets, strict=True)))
    with pytest.raises(ValueError, match="index base 1"):
        check_links(parse_naacl(naacl, base=0), list(zip(sources, targets, strict=True)))


def test_very_long_numbers_and_tokens_raise_one_short_message() -> None:
    endless = "9" * 5000
    for token in ("x" * 1_000_000, f"0-{endless}", f"{endless}?1"):
        with pytest.raises(ValueError, match=r"line: '.{29}…' is not a link; expected i-j") as caught:
            parse_pharaoh(token)
        assert len(str(caught.value)) < 200
    with pytest.raises(ValueError, match=r"'9{29}…' is not a whole number of up to nine digits"):
        parse_naacl([f"1 1 {endless} S"])
