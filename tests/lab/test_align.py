"""Aligning with one model or two: links, symmetrisation, tuning, scores, valid and invalid gold files."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import regard
from regard.alignment import LinkRule, Links, product, symmetrise
from regard.lab.align_corpus import (
    Direction,
    Entropy,
    align,
    check_opposite,
    check_same_words,
    word_note,
)
from regard.lab.align_job import prepare, run
from regard.lab.align_settings import AlignOptions, AlignRequest
from regard.lab.parallel import GoldFile, ParallelText, is_naacl, read_parallel_text
from regard.runtime.aligner import Aligner
from regard.text.input_error import InputError
from regard.text.tokenizer import Tokenizer
from regard.text.tokenizer_config import TokenizerConfig
from runtime.bundles import untrained

SOURCES = ["3 4 5", "6 7 8 9", "", "10 11 3"]
TARGETS = ["5 4 3", "9 8 7 6", "3", "3 11 10"]
SIDES = ParallelText(SOURCES, TARGETS)
GOLD = [Links.of((i, n - 1 - i) for i in range(n)) for n in (3, 4, 0, 3)]


@pytest.fixture(scope="module")
def direction(reverser: regard.Translator) -> Direction:
    return Direction(Aligner(reverser.bundle))


def test_a_reverser_links_backwards(direction: Direction) -> None:
    aligned = align(SIDES, direction)
    assert aligned.links == [links.sure for links in GOLD]
    assert aligned.scores(GOLD)["forward"].aer == pytest.approx(0.0)
    assert aligned.notes == ("1 pair with a blank side: no links",)


def test_two_directions_are_symmetrised_by_every_method(direction: Direction) -> None:
    """Reversing is its own inverse: the same model serves as the other direction, with a rule that links more."""
    other = Direction(direction.aligner, LinkRule(method="threshold", threshold=0.01))
    aligned = align(SIDES, direction, other, method="union")
    hard = ["intersection", "union", "grow-diag", "grow-diag-final-and"]
    assert list(aligned.ways) == ["forward", "backward", *hard, "product"]
    for name in ("intersection", "union", "grow-diag", "grow-diag-final-and"):
        for number, links in enumerate(aligned.ways[name]):
            assert links == symmetrise(aligned.ways["forward"][number], aligned.ways["backward"][number], name)
    assert aligned.links == aligned.ways["union"]
    assert sum(map(len, aligned.ways["backward"])) > sum(map(len, aligned.ways["forward"]))


def test_the_product_joins_weights(direction: Direction) -> None:
    rule = LinkRule(method="threshold", threshold=0.3)
    alone = align(SIDES, Direction(direction.aligner, rule), Direction(direction.aligner, rule), method="product")
    only = align(
        SIDES, Direction(direction.aligner, rule), Direction(direction.aligner, rule), method="product", every=False
    )
    assert list(only.ways) == ["product"]
    assert only.links == alone.links
    forward = dict(direction.aligner.look(SOURCES, TARGETS))
    backward = dict(direction.aligner.look(TARGETS, SOURCES))
    for number, look in forward.items():
        matrices = (rule.matrix(one.between_words()) for one in (look, backward[number]))
        wanted = {(int(s), int(t)) for t, s in np.argwhere(product(*matrices, 0.3))}
        assert alone.links[number] == wanted
    assert sum(map(len, alone.links)) > 0


def test_entropy_is_kept_word_by_word() -> None:
    entropy = Entropy()
    entropy.add(["le", "chat"], [1.0, 0.0])
    entropy.add(["le", "chien"], [0.5, 0.1])
    assert entropy.mean == pytest.approx(0.4)
    assert entropy.ranked(least=2) == [("le", 2, 0.75)]
    assert [word for word, _, _ in entropy.ranked(least=1)] == ["chat", "chien", "le"]


def test_the_recipe_provides_text_and_gold(run_folder: Path) -> None:
    outcome = run(prepare(AlignRequest(run_folder, AlignOptions(entropy=True), tune=True)))
    assert len(outcome.job.text) == 60
    assert outcome.scores is not None
    assert outcome.scores["forward"].aer < 0.2
    data = outcome.json()
    assert data["rules"]["forward"]["shift"] == 0
    assert data["tuned"]["forward"]["by_shift"][1] > data["tuned"]["forward"]["aer"]
    assert data["entropy"]["mean"] >= 0
    assert data["development"] == data["tuned"]["forward"]["aer"]


def test_without_a_target_the_model_translates(run_folder: Path, tmp_path: Path) -> None:
    (tmp_path / "in").write_text("3 4 5\n\n6 7 8\n", encoding="utf-8")
    outcome = run(prepare(AlignRequest(run_folder, source=tmp_path / "in")))
    assert outcome.job.text.targets == ["5 4 3", "", "8 7 6"]
    assert outcome.aligned.links == [GOLD[0].sure, frozenset(), GOLD[0].sure]


def test_both_models_of_the_same_direction_are_refused(tmp_path: Path) -> None:
    forward = regard.load(untrained(tmp_path / "enfr")).bundle
    sides = ParallelText(["the black cat sat on the mat"], ["le chat noir était assis sur le tapis"])
    with pytest.raises(InputError, match=r"reads the same language as .*: --reverse needs"):
        check_opposite(forward, forward, sides)
    check_opposite(forward, forward, ParallelText(["x y"], ["y x"]))  # unknown words say nothing
    data = {"kind": "catalogue", "name": "multi30k", "source": "en", "target": "de"}
    german, back = (
        replace(forward, manifest=forward.manifest.model_copy(update={"recipe": {"data": one}}))
        for one in (data, {**data, "source": "de", "target": "en"})
    )
    check_opposite(german, back, ParallelText(["x y"], ["y x"]))
    with pytest.raises(InputError, match=r"reads the same language as .*: --reverse needs"):
        check_opposite(german, german, ParallelText(["x y"], ["y x"]))  # but their recipes do


def test_a_note_if_the_model_splits_words_differently_from_white_space(random_model: regard.Translator) -> None:
    sides = ParallelText(["the cat", "don't, please"], ["le chat", "non"])
    remark = word_note(sides, random_model.bundle)
    assert len(remark) == 1
    assert "1 pair of 2 has words that this model splits differently" in remark[0]
    assert "first: line 2" in remark[0]
    assert word_note(ParallelText(["the cat"], ["le chat"]), random_model.bundle) == []


def test_two_models_must_count_the_same_words(tmp_path: Path) -> None:
    bundle = regard.load(untrained(tmp_path / "enfr")).bundle
    check_same_words(bundle, bundle)
    other = Tokenizer.train(["a"], TokenizerConfig(words="spaces"))
    with pytest.raises(
        InputError, match=r'split words differently \(text.words is "marks" and "spaces"\): use --words'
    ):
        check_same_words(bundle, replace(bundle, source=other))


class TestGold:
    LENGTHS = ((3, 3), (4, 4), (0, 1), (3, 3))

    def read(self, tmp_path: Path, text: str, base: int | None = None, flip: bool = False) -> list[Links]:
        (tmp_path / "gold").write_text(text, encoding="utf-8")
        return GoldFile(tmp_path / "gold", base, flip).read(self.LENGTHS)[0]

    def test_both_formats_give_the_same_links(self, tmp_path: Path) -> None:
        pharaoh = self.read(tmp_path, "0-2 1-1 2-0\n0-3 1?2 2-1 3-0\n\n0-2 1-1 2-0\n")
        lines = [(1, 1, 3, "S"), (1, 2, 2, "S"), (1, 3, 1, "S"), (2, 1, 4, "S"), (2, 2, 3, "P"), (2, 3, 2, "S")]
        lines += [(2, 4, 1, "S"), (4, 1, 3, "S"), (4, 2, 2, "S"), (4, 3, 1, "S")]
        naacl = self.read(tmp_path, "".join(" ".join(map(str, line)) + "\n" for line in lines))
        assert pharaoh == naacl
        assert pharaoh[1].possible - pharaoh[1].sure == {(1, 2)}

    def test_a_file_that_counts_from_1_is_detected(self, tmp_path: Path) -> None:
        from_one = "1-3 2-2 3-1\n1-4\n\n1-1\n"
        with pytest.raises(
            InputError,
            match=r"sentence 1: link 1-3 lies outside .* so read them with index base 1 .*gold_base = 0",
        ):
            self.read(tmp_path, from_one)
        assert self.read(tmp_path, from_one, base=1)[0] == GOLD[0]

    def test_a_file_that_may_count_from_1_gets_a_note(self, tmp_path: Path) -> None:
        (tmp_path / "gold").write_text("1-1 2-2\n" * 12, encoding="utf-8")
        _, notes = GoldFile(tmp_path / "gold").read([(4, 4)] * 12)
        assert "no link touches a first word on either side: if it counts from 1, set gold_base = 1" in notes[0]

    def test_zero_based_links_read_as_one_based(self, tmp_path: Path) -> None:
        with pytest.raises(InputError, match=r"line 1: '0-0' lies below index base 1; .*gold_base = 1"):
            self.read(tmp_path, "0-0\n\n\n\n", base=1)
        with pytest.raises(InputError, match=r"are these links 0-based.*gold_base = 1"):
            self.read(tmp_path, "1 0 0 S\n")

    def test_swapped_sides(self, tmp_path: Path) -> None:
        (tmp_path / "gold").write_text("3-0\n", encoding="utf-8")
        with pytest.raises(InputError, match=r"fit with source and target swapped, so flip them .*flip_gold = false"):
            GoldFile(tmp_path / "gold").read([(2, 4)])
        assert GoldFile(tmp_path / "gold", flip=True).read([(2, 4)])[0] == [Links.of([(0, 3)])]

    def test_other_words(self, tmp_path: Path) -> None:
        (tmp_path / "gold").write_text("0-9\n", encoding="utf-8")
        with pytest.raises(InputError, match="need --words spaces"):
            GoldFile(tmp_path / "gold").read([(2, 4)])

    @pytest.mark.parametrize(
        ("text", "message"),
        [
            ("0-0\n", "1 lines of links for 4 sentence pairs"),
            ("0:0\n\n\n\n", "'0:0' is not a link"),
            ("5 1 1 S\n", "sentence 5, but there are only 4 sentences"),
            ("1 1 1 X\n", "'X' is neither S"),
        ],
    )
    def test_damage(self, tmp_path: Path, text: str, message: str) -> None:
        with pytest.raises(InputError, match=message):
            self.read(tmp_path, text)

    def test_formats_are_detected(self) -> None:
        assert is_naacl(["", "0001 3 4 S"])
        assert not is_naacl(["", "0-1 2-3 4-5"])
        assert not is_naacl([])


class TestParallelText:
    def test_blank_lines_stay(self, tmp_path: Path) -> None:
        (tmp_path / "a").write_text("x\n\nz\n", encoding="utf-8")
        (tmp_path / "b").write_text("X\nY\n\n", encoding="utf-8")
        assert read_parallel_text(tmp_path / "a", tmp_path / "b") == ParallelText(["x", "", "z"], ["X", "Y", ""])
        (tmp_path / "t").write_text("x\tX\n\nz\tZ\n", encoding="utf-8")
        assert read_parallel_text(tmp_path / "t") == ParallelText(["x", "", "z"], ["X", "", "Z"])

    def test_unequal_files_are_refused(self, tmp_path: Path) -> None:
        for name, text in (("a", "x\ny\n"), ("b", "X\n"), ("t", "x\n"), ("e", "")):
            (tmp_path / name).write_text(text, encoding="utf-8")
        with pytest.raises(InputError, match=r"unequal line counts: .*a has 2, .*b has 1"):
            read_parallel_text(tmp_path / "a", tmp_path / "b")
        with pytest.raises(InputError, match="line 1: no tab; expected source TAB target"):
            read_parallel_text(tmp_path / "t")
        with pytest.raises(InputError, match="e is empty: nothing to align"):
            read_parallel_text(tmp_path / "e", tmp_path / "a")


def test_without_gold_the_posterior_is_chosen_by_agreement(random_model: regard.Translator, tmp_path: Path) -> None:
    bundle = random_model.bundle.path
    (tmp_path / "a").write_text("the cat\tthe cat\n", encoding="utf-8")
    options = AlignOptions(posterior="tune", evidence="word")
    job = prepare(AlignRequest(bundle, options, data=tmp_path / "a", tune=True))
    outcome = run(replace(job, backward=job.forward))
    assert "is the best of 6 posteriors: disagreement " in outcome.notes[0]
    assert "tuned without gold: the two directions disagree on " in outcome.notes[1]
    assert outcome.posterior in options.posteriors


def test_contradictory_options_are_refused(random_model: regard.Translator, run_folder: Path, tmp_path: Path) -> None:
    bundle = random_model.bundle.path
    (tmp_path / "a").write_text("x\n", encoding="utf-8")
    a = tmp_path / "a"
    for request, message in (
        (AlignRequest(bundle, data=a, source=a), "were both given"),
        (AlignRequest(bundle, target=a), "--target needs --source"),
        (AlignRequest(run_folder, split="tset"), "there is no split 'tset': its recipe has train, dev and test"),
        (AlignRequest(bundle, AlignOptions(symmetrise="union")), "name the model of the other one with --reverse"),
        (AlignRequest(bundle, AlignOptions(gold_base=1)), "name it with --gold"),
        (AlignRequest(bundle, source=a, gold=a), "--gold needs a given translation"),
        (AlignRequest(bundle), "has no recipe: name the data to use"),
        (AlignRequest(run_folder, AlignOptions(heads="0.1")), r"--set heads=0\.1: there is no head 0\.1"),
    ):
        with pytest.raises(InputError, match=message):
            prepare(request)
    job = prepare(AlignRequest(bundle, source=a, target=a, tune=True))
    with pytest.raises(InputError, match="nothing to tune on"):
        run(job)


@pytest.mark.parametrize(
    ("pairs", "message"),
    [
        (["symmetrise"], "--set symmetrise: write KEY=VALUE"),
        (["symmetrise=grow"], "--set: symmetrise = 'grow': did you mean 'grow-diag'"),
        (["method=max"], "--set: method = 'max': did you mean 'argmax'"),
        (["head=1.0"], "--set: unknown key head: did you mean 'heads'"),
        (["dev_gold=x"], "--set: a development set needs dev_source, dev_target and dev_gold"),
        (["base=2"], "--set: base = '2': expected at most 1"),
    ],
)
def test_wrong_keys_of_set_are_refused(pairs: list[str], message: str) -> None:
    with pytest.raises(InputError, match=message):
        AlignOptions.parse(pairs)


def test_values_of_set_become_numbers_and_paths() -> None:
    options = AlignOptions.parse(
        ["heads=1.10", "null=true", "threshold=0.25", "dev_source=a", "dev_target=b", "dev_gold=c"]
    )
    assert (options.heads, options.null, options.threshold) == ("1.10", True, 0.25)
    assert options.development == (Path("a"), Path("b"), Path("c"))


def test_the_product_joins_two_directions_unless_another_method_is_chosen(direction: Direction) -> None:
    aligned = align(SIDES, direction, direction)
    assert aligned.chosen == "product"
    assert aligned.links == aligned.ways["product"] == [links.sure for links in GOLD]
