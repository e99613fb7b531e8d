"""The laws of `Translator.translate`: order, batches, forced targets, prefixes, n-best lists, samples, ensembles."""

import random
from collections.abc import Callable
from math import exp, log
from pathlib import Path

import numpy as np
import pytest
import torch
from torch import Tensor

import regard
from regard.bundle import load_bundle, save_bundle
from regard.runtime.aligner import Aligner
from regard.runtime.search_size import SearchSize
from regard.runtime.source_text import pad, read_source
from regard.runtime.translator import WIDER
from regard.search import SearchConfig
from regard.text.input_error import InputError
from regard.text.special import BOS
from regard.text.tokenizer import Tokenizer

from .bundles import KINDS, LONGEST, MODELS, untrained

Make = Callable[..., regard.Translator]
TEXTS = ["The black cat sat.", "jane", "", "the lights, please!", "don't visit africa in may", "the mat on the mat"]


def many_texts(count: int) -> list[str]:
    draw = random.Random(1)
    words = ["the", "black", "cat", "sat", "on", "mat", "jane", "visits", "africa", "in", "september", "lights"]
    return [" ".join(draw.choices(words, k=draw.randint(1, LONGEST))) for _ in range(count)]


def assert_same(left: regard.Translation, right: regard.Translation, tolerance: float = 1e-8) -> None:
    assert (left.text, left.warnings, left.alignment) == (right.text, right.warnings, right.alignment)
    assert left.score == pytest.approx(right.score, abs=tolerance)
    assert (left.attention is None) == (right.attention is None)
    if left.attention is not None and right.attention is not None:
        np.testing.assert_allclose(left.attention, right.attention, atol=tolerance)


def test_a_trained_model_reverses_and_looks_where_it_copies_from(reverser: regard.Translator) -> None:
    translation = reverser.translate("5 9 4 7")
    assert translation.text == str(translation) == "7 4 9 5"
    assert translation.alignment == {(0, 3), (1, 2), (2, 1), (3, 0)}
    assert translation.target_words == ("7", "4", "9", "5")
    assert translation.finished
    assert not translation.forced
    assert translation.warnings == ()
    assert "7 4 9 5" in repr(translation)


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("search", [{}, {"beam": 3, "nbest": 2}], ids=["greedy", "beam"])
def test_a_batch_says_what_one_by_one_says_in_the_same_order(
    random_model: Make, name: str, search: dict[str, int]
) -> None:
    model = random_model(name)
    texts = [*TEXTS, *many_texts(70)]
    together = model.translate(texts, longest=6, **search)
    assert len(together) == len(texts)
    for text, translation in list(zip(texts, together, strict=True))[::9]:
        alone = model.translate(text, longest=6, **search)
        assert_same(translation, alone)
        assert len(translation.alternatives) == len(alone.alternatives)
        for left, right in zip(translation.alternatives, alone.alternatives, strict=True):
            assert_same(left, right)


@pytest.mark.parametrize("eos", [True, False], ids=["source EOS", "no source EOS"])
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", MODELS)
def test_attention_has_a_row_for_each_piece_written_and_a_column_for_each_read(
    random_model: Make, name: str, kind: str, eos: bool
) -> None:
    translation = random_model(name, kind, eos=eos).translate("The black cat.")
    assert translation.source_pieces[-1] == "</s>" if eos else "</s>" not in translation.source_pieces
    read = ("the", "black", "cat") if kind != "character" else tuple("theblackca")  # the first twelve pieces
    assert translation.source_words == read
    assert len(translation.source_pieces) == len(translation.source_word_of)
    assert len(translation.target_pieces) == len(translation.target_word_of) == len(translation.probabilities)
    if name == "vanilla":
        assert translation.attention is None
        return
    layers, heads = (2, 2) if name == "transformer" else (1, 1)
    assert translation.attention is not None
    assert translation.attention.shape == (
        layers, heads, len(translation.target_pieces), len(translation.source_pieces)
    )  # fmt: skip
    np.testing.assert_allclose(translation.attention.sum(axis=-1), 1, atol=1e-5)
    words = translation.word_attention
    assert words is not None
    assert words.shape == (len(translation.target_words), len(read))
    for source, target in translation.alignment:
        assert translation.source_words[source]
        assert translation.target_words[target]
        assert words[target, source] == words[target].max()


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", MODELS)
def test_a_forced_target_is_scored_as_the_same_prefix_is(random_model: Make, name: str, kind: str) -> None:
    model = random_model(name, kind)
    texts, targets = ["the black cat", "jane in africa, please"], ["le chat était noir", "l'afrique!"]
    forced = model.translate(texts, target=targets)
    for text, target, one in zip(texts, targets, forced, strict=True):
        rows = len(one.target_pieces) - 1
        begun = model.translate(text, prefix=target, longest=rows)
        assert one.text == begun.text == target
        assert one.target_words == begun.target_words
        assert begun.probabilities == pytest.approx(one.probabilities[:rows], abs=1e-8)
        if one.attention is not None and begun.attention is not None:
            np.testing.assert_allclose(begun.attention, one.attention[:, :, :rows], atol=1e-8)


def test_forcing_the_models_own_translation_changes_nothing(reverser: regard.Translator) -> None:
    for free in reverser.translate(["3 4 5", "11 10 9 8 7"]):
        forced = reverser.translate(free.source, target=free.text)
        assert_same(forced, free, tolerance=1e-4)
        assert forced.forced


def test_a_forced_target_keeps_its_unknown_words_and_its_end(random_model: Make) -> None:
    translation = random_model().translate("the cat", target="Le Zèbre, là!")
    assert translation.text == "le zèbre, là!"
    assert translation.target_words == ("le", "zèbre", ",", "là", "!")
    assert translation.target_pieces[-1] == "</s>"
    assert translation.score == pytest.approx(sum(log(p) for p in translation.probabilities))
    assert translation.finished
    assert random_model().translate("the cat", target="").target_pieces == ("</s>",)


def test_a_prefix_is_kept_and_its_own_beginning_changes_nothing(random_model: Make) -> None:
    model = random_model()
    free = model.translate("the black cat sat", longest=9, copy=False)
    begun = model.translate("the black cat sat", prefix=" ".join(free.target_words[:3]), longest=9, copy=False)
    assert begun.text == free.text
    assert begun.score == pytest.approx(free.score, abs=1e-8)
    other = model.translate(["the cat", "the mat"], prefix=["le zèbre", ""], beam=2)
    assert other[0].text.startswith("le zèbre")
    assert_same(other[1], model.translate("the mat", beam=2))


def test_nbest_lists_are_sorted_and_distinct_and_imply_a_beam(random_model: Make) -> None:
    best = random_model().translate("the black cat sat", nbest=4)
    all_of_them = [best, *best.alternatives]
    assert len(all_of_them) == 4
    finished_first = [(not one.finished, -one.normalised_score) for one in all_of_them]
    assert finished_first == sorted(finished_first)
    assert len({one.target_pieces for one in all_of_them}) == 4
    assert best.alternatives[0].alternatives == ()


@pytest.mark.parametrize("kind", KINDS)
def test_an_nbest_list_has_each_text_once(random_model: Make, kind: str) -> None:
    """A random model over characters or subwords writes the same text in different pieces, and spaces at the end."""
    model = random_model("bahdanau", kind)
    found = model.translate(TEXTS, beam=24, nbest=12, longest=6)
    for best in found:
        texts = [one.text for one in (best, *best.alternatives)]
        assert len(texts) == len(set(texts)) <= 12
        if best.source_words:
            assert best.text == model.translate(best.source, beam=24, longest=6).text
    assert any(len(best.alternatives) == 11 for best in found)
    samples = model.translate(["the cat"], beam=1, temperature=1e-4, nbest=3)[0]
    assert [one.text for one in samples.alternatives] == [samples.text] * 2  # samples stay as they were drawn


def test_beam_one_is_greedy(random_model: Make) -> None:
    model = random_model("luong")
    for text in TEXTS:
        assert_same(model.translate(text, beam=1), model.translate(text))


def test_samples_repeat_with_their_seed_and_differ_without(random_model: Make) -> None:
    model = random_model()
    first = model.translate(TEXTS, temperature=1.5, nbest=3, seed=1)
    again = model.translate(TEXTS, temperature=1.5, nbest=3, seed=1)
    other = model.translate(TEXTS, temperature=1.5, nbest=3, seed=2)
    assert [one.text for one in first] == [one.text for one in again] != [one.text for one in other]
    assert all(len(one.alternatives) == 2 for one in first if one.source_words)
    cold = model.translate(TEXTS, temperature=1e-4, top_k=1)
    assert [one.text for one in cold] == [one.text for one in model.translate(TEXTS)]


def test_groups_of_a_sampled_list_do_not_repeat_the_same_draws(random_model: Make) -> None:
    samples = random_model().translate(["the black cat sat"] * 130, temperature=2.0, longest=8)
    drawn = [one.target_pieces for one in samples]
    assert drawn[:64] != drawn[64:128]


def test_options_of_a_call_override_the_bundles_settings(tmp_path: Path) -> None:
    beam = regard.load(untrained(tmp_path / "beam", beam=4, nbest=2))
    assert len(beam.translate("the cat").alternatives) == 1
    assert beam.translate("the cat", beam=1).alternatives == ()
    assert len(beam.translate("the cat", nbest=6).alternatives) == 5
    assert beam.translate("the cat", temperature=1.0, nbest=1).text
    warm = regard.load(untrained(tmp_path / "warm", temperature=1.0, top_k=5))
    assert_same(warm.translate("the cat", beam=4), beam.translate("the cat", beam=4, nbest=1))


def test_an_ensemble_of_copies_equals_the_model(tmp_path: Path) -> None:
    one, two = untrained(tmp_path / "one"), untrained(tmp_path / "two", seed=3)
    alone = regard.load(one).translate("the black cat sat")
    assert_same(regard.load([one, one]).translate("the black cat sat"), alone)
    assert regard.load([one, two]).translate("the black cat sat").score != pytest.approx(alone.score)


def test_members_of_any_architecture_have_equal_weight(tmp_path: Path) -> None:
    paths = [untrained(tmp_path / name, name) for name in MODELS]
    together, alone = regard.load(paths), [regard.load(path) for path in paths]

    def likely(translator: regard.Translator) -> Tensor:
        batch = pad([translator.bundle.source.encode("the black cat").ids], translator.device)
        step = translator.stepper.step(torch.tensor([BOS]), translator.stepper.start(batch))
        return step.logits.softmax(-1)

    torch.testing.assert_close(likely(together), torch.stack([likely(one) for one in alone]).mean(0))
    found = together.translate(["the black cat", "jane"], beam=3)
    assert [one.attention is not None and one.attention.shape[:2] for one in found] == [(1, 1), (1, 1)]


def test_an_ensemble_shows_the_attention_of_the_members_that_have_it(tmp_path: Path) -> None:
    both = regard.load([untrained(tmp_path / "one"), untrained(tmp_path / "two", "vanilla")])
    attention = both.translate("the black cat").attention
    assert attention is not None
    assert attention.shape[:2] == (1, 1)


@pytest.mark.parametrize("blank", ["", "   ", "\t\u200b\n", "\x00\x07", "\ufeff"])
def test_blank_text_is_translated_to_blank_text(random_model: Make, blank: str) -> None:
    alone = random_model().translate(blank)
    assert alone.text == ""
    assert alone.warnings == ("blank: nothing to translate",)
    assert alone.alignment == frozenset()
    assert alone.steps == ()
    assert [one.text == "" for one in random_model().translate(["the cat", blank, "mat"])] == [False, True, False]
    with pytest.raises(ValueError, match="a blank text was not translated"):
        alone.plot()


@pytest.mark.parametrize("kind", KINDS)
def test_a_text_that_is_too_long_is_cut_with_one_warning(random_model: Make, kind: str) -> None:
    model = random_model("bahdanau", kind)
    long = " ".join(["cat mat"] * 40)
    translation = model.translate(long, longest=5)
    warnings = [warning for warning in translation.warnings if warning.startswith("too long: only the first 12 of")]
    assert len(warnings) == 1
    assert len(translation.source_pieces) == LONGEST + 1
    assert translation.source_pieces[-1] == "</s>"
    assert translation.word_attention is not None
    assert translation.word_attention.shape[1] == len(translation.source_words)
    if kind == "word":
        short = model.translate(" ".join(long.split()[:LONGEST]), longest=5)
        assert short.text == translation.text
        assert not any(warning.startswith("too long") for warning in short.warnings)


def test_longest_source_allows_longer_texts_than_training(tmp_path: Path) -> None:
    folder, long = untrained(tmp_path / "word"), " ".join(["cat mat"] * 40)
    whole = regard.load(folder, longest_source=80).translate(long, longest=5)
    assert len(whole.source_pieces) == 81
    assert not any(warning.startswith("too long") for warning in whole.warnings)
    (warning,) = [one for one in regard.load(folder, longest_source=79).translate(long).warnings if "too long" in one]
    assert warning == "too long: only the first 79 of 80 pieces were read"
    with pytest.raises(InputError, match="longest_source = 0: expected 1 to 100,000 pieces"):
        regard.load(folder, longest_source=0)


def test_no_more_than_the_learned_positions_can_be_read(nine: regard.Translator) -> None:
    with pytest.raises(InputError, match=r"longest_source = 9, but .* learned 9 positions: 8 pieces are the most"):
        regard.load(nine.bundle.path, longest_source=9)
    assert regard.load(nine.bundle.path, longest_source=8).longest_source == 8


def test_a_translation_that_reaches_its_limit_has_a_warning(random_model: Make) -> None:
    translation = random_model().translate("the cat", longest=3)
    assert not translation.finished
    assert translation.warnings == ("the translation was cut after 3 pieces, before its end",)


def test_an_empty_list_gives_an_empty_list_and_generators_are_accepted(random_model: Make) -> None:
    assert random_model().translate([]) == []
    assert len(random_model().translate(text for text in TEXTS)) == len(TEXTS)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"bem": 3}, "translate has no option 'bem': did you mean 'beam'?"),
        ({"quality": 1}, "translate has no option 'quality': valid options are beam, nbest"),
        ({"beam": 0}, "beam = 0: expected at least 1"),
        ({"beam": "many"}, "beam = 'many': expected a whole number"),
        ({"nbest": "3x"}, "nbest = '3x': expected a whole number"),
        ({"beam": 2, "nbest": 3}, "nbest 3 is more than beam 2 can find; raise beam to 3"),
        ({"temperature": 1.0, "beam": 2}, "leave one of them out"),
        ({"top_k": 3}, "top_k and top_p need a temperature"),
        ({"target": "a", "prefix": "b"}, "give a prefix or a target, not both"),
        ({"target": ["a", "b"]}, "1 texts but 2 of 'target': give one for each"),
        ({"prefix": "le " * 5, "longest": 4}, "a prefix of 5 pieces is more than the 4 its translation may have"),
    ],
    ids=lambda value: "-".join(value) if isinstance(value, dict) else "",
)
def test_wrong_options_are_refused_with_what_was_given(
    random_model: Make, options: dict[str, object], message: str
) -> None:
    with pytest.raises(InputError) as caught:
        random_model().translate("the cat", **options)
    assert message in str(caught.value)


def test_inputs_that_are_not_text_raise(random_model: Make) -> None:
    with pytest.raises(InputError, match=r"text 1 \(0-based\) is bytes, expected str"):
        random_model().translate(iter(["a", b"b"]))  # type: ignore[list-item]
    with pytest.raises(InputError, match="half of a surrogate pair"):
        random_model().translate("caf\udce9")


def test_an_ensemble_needs_equal_pieces_not_only_equal_sizes(tmp_path: Path) -> None:
    """The message names the first difference."""
    first = load_bundle(untrained(tmp_path / "first"))
    texts = [" ".join(first.target.pieces[4:]).replace("tapis", "zzz"), *[f"{one} " * 9 for one in ("noir", "jane")]]
    other = Tokenizer.train(texts, first.target.config)
    assert len(other) == len(first.target)
    about = {"source_eos": first.manifest.source_eos, "longest_source": 9}
    save_bundle(tmp_path / "other", first.model, first.source, other, **about)
    number = next(i for i, pair in enumerate(zip(first.target.pieces, other.pieces, strict=True)) if len({*pair}) > 1)
    difference = (
        f"of the targets, piece {number} is {other.pieces[number]!r} in {tmp_path / 'other'} and "
        f"{first.target.pieces[number]!r} in {tmp_path / 'first'}"
    )
    with pytest.raises(InputError) as it:
        regard.load([tmp_path / "first", tmp_path / "other"])
    assert "have different vocabularies: an ensemble needs models" in str(it.value)
    assert str(it.value).endswith(difference)
    save_bundle(tmp_path / "eos", first.model, first.source, first.target, **{**about, "source_eos": True})
    save_bundle(tmp_path / "none", first.model, first.source, first.target, **{**about, "source_eos": False})
    with pytest.raises(InputError, match=r"source_eos = true in .*eos and false in .*none$"):
        regard.load([tmp_path / "none", tmp_path / "eos"])


def test_impossible_loads_are_refused(tmp_path: Path) -> None:
    word, character = untrained(tmp_path / "word"), untrained(tmp_path / "character", kind="character")
    with pytest.raises(InputError, match="have different vocabularies: an ensemble needs models"):
        regard.load([word, character])
    with pytest.raises(InputError, match="at least one bundle, got none"):
        regard.load([])
    for device, reason in (("gpu", "there is no such kind"), ("gpu7", "Invalid device string: 'gpu7'")):
        with pytest.raises(InputError) as caught:
            regard.load(word, device=device)
        assert str(caught.value) == (
            f"device '{device}' cannot be used here ({reason}): use cpu, or on a machine with a GPU cuda, cuda:1 or mps"
        )


def test_probabilities_are_those_of_the_score(reverser: regard.Translator) -> None:
    translation = reverser.translate("3 4 5")
    assert translation.score == pytest.approx(sum(log(p) for p in translation.probabilities))
    assert exp(translation.normalised_score) <= max(translation.probabilities)


@pytest.mark.gpu
@pytest.mark.skipif(not torch.cuda.is_available(), reason="no GPU here")
@pytest.mark.parametrize("name", MODELS)
def test_gpu_and_cpu_translate_the_same(tmp_path: Path, name: str) -> None:
    folder = untrained(tmp_path / "bundle", name)
    slow, fast = regard.load(folder), regard.load(folder, device="cuda")
    for search in ({}, {"beam": 3}):
        for left, right in zip(slow.translate(TEXTS, **search), fast.translate(TEXTS, **search), strict=True):
            assert_same(left, right, tolerance=1e-6)
    assert fast.translate(TEXTS, temperature=1.0)[0].text


@pytest.fixture(scope="module")
def nine(tmp_path_factory: pytest.TempPathFactory) -> regard.Translator:
    """A Transformer that learned nine positions, and whose manifest says that it reads twelve pieces."""
    return regard.load(
        untrained(tmp_path_factory.mktemp("nine"), "transformer", model={"positions": "learned", "longest": 9})
    )


def test_a_model_with_learned_positions_reads_and_writes_within_them(nine: regard.Translator) -> None:
    long, short = nine.translate(["the black cat sat on the mat in may in may", "the cat"], beam=2)
    assert long.warnings[0] == "too long: only the first 8 of 11 pieces were read"
    assert not any("too long" in warning for warning in short.warnings)
    assert len(nine.translate("the cat", longest=9).steps) <= 9
    assert nine.most_pieces == 9


def test_targets_longer_than_learned_positions_raise_before_decoding(nine: regard.Translator) -> None:
    with pytest.raises(
        InputError, match=r"^longest = 10, but this model learned 9 positions .*: set longest to 9 or less"
    ):
        nine.translate("the cat", longest=10)
    for name in ("target", "prefix"):
        with pytest.raises(
            InputError, match=r"^a given translation of 1\d pieces .*learned 9 positions and writes no mo"
        ):
            nine.translate("the cat", **{name: "le chat noir le chat noir le chat noir le"})
    assert nine.translate("the cat", target="le chat noir le chat noir le chat").text.count("chat") == 3
    with pytest.raises(InputError, match=r"^a given translation of 11 pieces"):
        list(Aligner(nine.bundle).look(["the cat"], ["le chat noir le chat noir le chat noir le"]))


def test_a_gpu_decodes_more_together(random_model: Callable[..., regard.Translator]) -> None:
    bundle, size = random_model().bundle, SearchSize(SearchConfig(), None, (1, 1))
    readings = [read_source("the cat", bundle.source, eos=True, longest=10)] * 300
    assert [len(rows) for rows in size.groups(readings)] == [64, 64, 64, 64, 44]
    assert [len(rows) for rows in size.groups(readings, WIDER)] == [256, 44]
    long = [read_source("the cat " * 40, bundle.source, eos=True, longest=63)] * 300
    assert {len(rows) for rows in size.groups(long, WIDER)} == {256, 44}
    assert max(len(rows) * len(long[0].encoding.ids) for rows in size.groups(long)) <= 4096
