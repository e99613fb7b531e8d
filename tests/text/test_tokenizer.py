"""Tokenizers of every kind: text survives the round trip, every piece has its characters and its word."""

import hashlib
import json
import subprocess
import sys
from functools import cache
from pathlib import Path
from random import Random

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from pydantic import ValidationError

from regard.text.input_error import InputError
from regard.text.normalise import Normaliser
from regard.text.special import BOS, EOS, PAD, UNK
from regard.text.subwords import WAYS
from regard.text.tokenizer import Tokenizer
from regard.text.tokenizer_config import TokenizerConfig
from regard.text.words import join_words, split_words, word_spans

KINDS = ["word", "character", "bpe", "unigram"]
CORPUS = [
    "the black cat sat on the mat .",
    "jane visite l'afrique en septembre.",
    "qu'il n'est pas là, c'est l'été d'aujourd'hui !",
    "लाइट बंद करो। बिल्ली चटाई पर बैठी",
    "مرحبا، كيف حالك؟ می‌خواهم",
    "don't (stop) 3.5 😀 我爱你。",
] * 5


@cache
def tokenizer(kind: str, **choices: object) -> Tokenizer:
    limit = 200 if kind in ("bpe", "unigram") else None
    return Tokenizer.train(CORPUS, TokenizerConfig.model_validate({"kind": kind, "vocabulary": limit, **choices}))


KNOWN = st.text(alphabet=st.sampled_from(sorted(set("".join(CORPUS)))), max_size=40)
ANY = st.one_of(KNOWN, st.text(max_size=40))
kinds = pytest.mark.parametrize("kind", KINDS)


@kinds
@pytest.mark.parametrize("text", CORPUS[:6])
def test_the_corpus_survives_the_round_trip(kind: str, text: str) -> None:
    encoding = tokenizer(kind).encode(text, eos=True)
    assert UNK not in encoding.ids
    written = tokenizer(kind).decode(encoding.ids)
    assert written == (join_words(split_words(text)) if kind == "word" else text)


@kinds
@pytest.mark.parametrize("text", [*CORPUS[:6], "the mat !", " the  mat ,the mat"])
def test_written_equals_the_round_trip(kind: str, text: str) -> None:
    ids = tokenizer(kind).encode(text).ids
    if UNK not in ids:
        assert tokenizer(kind).written(text) == tokenizer(kind).decode(ids)


@pytest.mark.parametrize("kind", KINDS[1:])
@given(text=KNOWN)
def test_any_text_of_known_characters_survives_the_round_trip(kind: str, text: str) -> None:
    normalised = Normaliser()(text)
    assert tokenizer(kind).decode(tokenizer(kind).encode(text).ids) == normalised


@given(words=st.lists(st.sampled_from([word for text in CORPUS for word in split_words(text)]), max_size=15))
def test_known_words_in_any_order_survive_the_round_trip(words: list[str]) -> None:
    by_word = tokenizer("word")
    text = join_words(words)
    decoded = by_word.decode_pieces(by_word.encode(text).ids)
    assert decoded.text == text
    assert decoded.word_texts == tuple(words)


@kinds
@given(text=ANY, eos=st.booleans())
def test_every_piece_knows_its_characters_and_its_word(kind: str, text: str, eos: bool) -> None:
    encoding = tokenizer(kind).encode(text, eos=eos)
    words = word_spans(encoding.text, tokenizer(kind).config.unit)
    assert encoding.word_texts == tuple(encoding.text[slice(*span)] for span in words)
    assert len(encoding.ids) == len(encoding.pieces) == len(encoding.spans) == len(encoding.words)
    covered = ""
    for number, piece, (start, end), word in zip(
        encoding.ids, encoding.pieces, encoding.spans, encoding.words, strict=True
    ):
        assert number not in (PAD, BOS)
        if number == EOS:
            assert (start, end, word, piece) == (len(encoding.text), len(encoding.text), None, "</s>")
            continue
        covered += encoding.text[start:end]
        assert encoding.text[start:end] == piece.removeprefix("▁")
        if word is None:
            assert (kind, piece) == ("character", " ")
        else:
            assert words[word][0] <= start <= end <= words[word][1]
        if kind in ("bpe", "unigram") and piece.startswith("▁"):
            assert start == 0 or encoding.text[start - 1] == " "
    assert (encoding.ids[-1:] == (EOS,)) or not eos
    assert covered == encoding.text if kind == "character" else covered == "".join(encoding.word_texts)


@kinds
@given(text=ANY)
def test_fast_ids_are_the_ids(kind: str, text: str) -> None:
    assert tuple(tokenizer(kind).encode_ids(text)) == tokenizer(kind).encode(text).ids


@kinds
@given(text=ANY)
def test_ids_with_their_words_are_those_of_the_full_encoding(kind: str, text: str) -> None:
    found, encoding = tokenizer(kind).encode_words(text), tokenizer(kind).encode(text)
    expected = (encoding.ids, encoding.words, len(encoding.word_texts))
    assert (tuple(found.ids), tuple(found.words), found.count) == expected


@kinds
@given(text=ANY)
@example(text="one \u00ad two")
@example(text="one\u200btwo three .")
def test_words_at_white_space_are_those_of_the_text_as_it_is_given(kind: str, text: str) -> None:
    found, encoding = tokenizer(kind).encode_words(text, spaces=True), tokenizer(kind).encode(text)
    assert tuple(found.ids) == encoding.ids
    given, plain = text.split(), tokenizer(kind).config.normalise.model_copy(update={"drop_final_stop": False})
    assert found.count <= len(given)
    seen = dict.fromkeys(range(found.count), "")
    for word, (start, end) in zip(found.words, encoding.spans, strict=True):
        if word is not None:
            seen[word] += encoding.text[start:end]
    for number, characters in seen.items():
        assert "".join(plain(given[number]).split()).startswith(characters)
        assert characters == "".join(plain(given[number]).split()) or number == found.count - 1


@kinds
@given(text=ANY)
def test_unknown_pieces_replaced_by_their_own_text_give_the_text_and_its_words(kind: str, text: str) -> None:
    encoding = tokenizer(kind).encode(text, eos=True)
    unknowns = [encoding.text[start:end] for start, end in encoding.spans]
    decoded = tokenizer(kind).decode_pieces(encoding.ids, unknowns)
    runs = any(
        a == b == UNK and x == y
        for a, b, x, y in zip(encoding.ids, encoding.ids[1:], unknowns, unknowns[1:], strict=False)
    )
    if not runs:  # see test_a_word_copied_for_several_unknown_pieces_is_written_once
        assert decoded.word_texts == encoding.word_texts
        assert decoded.words == encoding.words
        if kind != "word":
            assert decoded.text == encoding.text


@kinds
@given(data=st.data())
def test_any_ids_decode_to_text_with_a_word_for_each_piece(kind: str, data: st.DataObject) -> None:
    chosen = tokenizer(kind)
    ids = data.draw(st.lists(st.integers(0, len(chosen) - 1), max_size=20))
    decoded = chosen.decode_pieces(ids)
    assert len(decoded.pieces) == len(decoded.words) == len(ids)
    real = [word for word in decoded.words if word is not None]
    assert real == sorted(real)
    assert set(real) <= set(range(len(decoded.word_texts)))
    assert all(word is None for number, word in zip(ids, decoded.words, strict=True) if number in (PAD, BOS, EOS))
    if kind != "word":
        assert tuple(split_words(decoded.text, chosen.config.unit)) == decoded.word_texts
    if kind in ("word", "bpe", "unigram"):
        assert all(
            word is not None for number, word in zip(ids, decoded.words, strict=True) if number > EOS
        ) or "▁" in [chosen.pieces[number] for number in ids]


def test_an_unknown_word_keeps_its_text_and_can_be_copied() -> None:
    by_word = tokenizer("word")
    source = by_word.encode("jane visite Zanzibar.", eos=True)
    assert source.ids[2] == UNK
    assert source.pieces[2] == source.word_texts[2] == "Zanzibar"
    assert by_word.decode(source.ids) == "jane visite ⁇."
    copied = by_word.decode_pieces(source.ids, [None, None, source.word_texts[2], None, None])
    assert copied.text == "jane visite Zanzibar."
    assert copied.words == (0, 1, 2, 3, None)


def test_a_word_copied_for_several_unknown_pieces_is_written_once() -> None:
    by_piece = tokenizer("bpe")
    ids = by_piece.encode("жж mat").ids
    assert ids.count(UNK) == 2
    decoded = by_piece.decode_pieces(ids, ["Москва" if number == UNK else None for number in ids])
    assert decoded.text == "Москва mat"
    assert decoded.words == (0, 0, 0, 1)


def test_replacements_must_be_as_many_as_pieces() -> None:
    with pytest.raises(ValueError, match="1 replacements for 2 pieces"):
        tokenizer("word").decode_pieces([4, 5], ["a"])


@pytest.mark.parametrize("number", [-1, 10**6])
def test_ids_of_another_tokenizer_are_refused(number: int) -> None:
    with pytest.raises(ValueError, match=r"not in this vocabulary of .* another tokenizer's ids"):
        tokenizer("word").decode([4, number])


@kinds
def test_text_that_looks_special_never_becomes_special(kind: str) -> None:
    texts = ["<s> </s> <pad> <unk> a"] * 50
    config = TokenizerConfig(kind=kind, vocabulary=40, words="spaces")  # type: ignore[arg-type]
    ids = Tokenizer.train(texts, config).encode(texts[0]).ids
    assert not {PAD, BOS, EOS} & set(ids)


def test_words_by_count_then_alphabet_within_limits() -> None:
    texts = ["b b b a a c c d"]
    assert Tokenizer.train(texts, TokenizerConfig()).pieces[4:] == ("b", "a", "c", "d")
    assert Tokenizer.train(texts, TokenizerConfig(minimum_count=2)).pieces[4:] == ("b", "a", "c")
    assert Tokenizer.train(texts, TokenizerConfig(vocabulary=6)).pieces[4:] == ("b", "a")


def test_tokenised_text_is_unchanged() -> None:
    phones = Tokenizer.train(["t͡ʃ iː z"], TokenizerConfig(words="spaces"))
    assert phones.encode("z t͡ʃ").pieces == ("z", "t͡ʃ")
    assert phones.decode(phones.encode("iː z").ids) == "iː z"


NONSENSE = ["", "   ", "\x00", "\x00\x01", "\ufeff", "a" * 20_000, "ab " * 5_000, "👩\u200d👩\u200d👧\u200f", "\u0301"]


@kinds
@pytest.mark.parametrize("text", NONSENSE)
def test_arbitrary_text_is_encoded_and_decoded(kind: str, text: str) -> None:
    encoding = tokenizer(kind).encode(text, eos=True)
    assert encoding.text == Normaliser()(text)
    assert tokenizer(kind).encode_ids(text, Random(0)) == list(encoding.ids[:-1])
    tokenizer(kind).decode(encoding.ids)


@kinds
def test_a_megabyte_is_encoded(kind: str) -> None:
    assert len(tokenizer(kind).encode_ids("cat " * 250_000)) >= 250_000
    assert len(tokenizer(kind).encode_ids("a" * 1_000_000)) > 0


def test_bpe_dropout_splits_more_and_is_decided_by_its_generator() -> None:
    text = CORPUS[0]
    without = tokenizer("bpe").encode_ids(text)
    dropping = Tokenizer.train(CORPUS, TokenizerConfig(kind="bpe", vocabulary=200, dropout=0.5))
    assert dropping.encode_ids(text) == without
    drawn = [dropping.encode_ids(text, Random(seed)) for seed in (1, 1, 2)]
    assert drawn[0] == drawn[1] != drawn[2]
    assert all(len(ids) > len(without) and dropping.decode(ids) == text for ids in drawn)
    random = Random(0)
    assert dropping.encode_ids("x" * 200, random) == dropping.encode_ids("x" * 200)


def test_bpe_dropout_does_not_depend_on_earlier_calls() -> None:
    """A resumed run starts with an empty cache and must get the same segmentations."""
    config = TokenizerConfig(kind="bpe", vocabulary=200, dropout=0.3)
    fresh, used = (Tokenizer.train(CORPUS, config) for _ in range(2))
    for seed in range(20):
        for text in reversed(CORPUS):
            used.encode_ids(text, Random(seed))
    for seed in (3, 77):
        one, other = Random(seed), Random(seed)
        assert [fresh.encode_ids(text, one) for text in CORPUS] == [used.encode_ids(text, other) for text in CORPUS]


def test_bpe_dropout_gives_many_segmentations() -> None:
    dropping = Tokenizer.train(CORPUS, TokenizerConfig(kind="bpe", vocabulary=200, dropout=0.3))
    word, random = "septembre", Random(0)
    assert 4 < len({tuple(dropping.encode_ids(word, random)) for _ in range(300)}) <= WAYS


def test_merges_without_dropout_are_the_library_s() -> None:
    subwords = tokenizer("bpe")._subwords
    assert subwords is not None
    for word in {word for text in CORPUS for word in split_words(text)}:
        assert subwords.with_dropout("▁" + word, 0.0, Random(0)) == subwords("▁" + word)


@kinds
def test_saved_and_loaded_it_is_the_same(kind: str, tmp_path: Path) -> None:
    path = tmp_path / "tokenizer.json"
    tokenizer(kind).save(path)
    loaded = Tokenizer.load(path)
    assert loaded.fingerprint == tokenizer(kind).fingerprint == hashlib.sha256(path.read_bytes()).hexdigest()
    assert loaded.config == tokenizer(kind).config
    assert loaded.pieces == tokenizer(kind).pieces
    assert len(loaded) == len(loaded.pieces)
    for text in [*CORPUS, "something else 🤷"]:
        assert loaded.encode(text) == tokenizer(kind).encode(text)
    assert [file.name for file in tmp_path.iterdir()] == ["tokenizer.json"]


def test_the_same_texts_give_the_same_tokenizer_in_another_process() -> None:
    """Hash seeds differ between processes; the library's own unigram training depends on them."""
    script = (
        "import sys, json; from regard.text.tokenizer import Tokenizer, TokenizerConfig\n"
        "texts = json.loads(sys.stdin.buffer.read())\n"
        "for kind in sys.argv[1:]:\n"
        "    config = TokenizerConfig(kind=kind, vocabulary=200)\n"
        "    print(Tokenizer.train(texts, config).fingerprint, Tokenizer.train(texts[::-1], config).fingerprint)\n"
        "assert 'torch' not in sys.modules\n"
    )
    ran = subprocess.run(
        [sys.executable, "-c", script, *KINDS], input=json.dumps(CORPUS).encode(), capture_output=True, check=True
    )
    for kind, line in zip(KINDS, ran.stdout.decode().splitlines(), strict=True):
        here = Tokenizer.train(CORPUS, TokenizerConfig(kind=kind, vocabulary=200)).fingerprint  # type: ignore[arg-type]
        assert line.split() == [here, here], kind


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"{", "not JSON.*truncated"),
        (b"[]", "format is None, expected 'regard-tokenizer-1'"),
        (b'{"format": "regard-tokenizer-9"}', "format is 'regard-tokenizer-9'"),
        (b'{"format": "regard-tokenizer-1"}', "'config' is missing"),
        (b'{"format": "regard-tokenizer-1", "config": {"kinds": 1}}', "kinds: Extra inputs.*newer version"),
        (b'{"format": "regard-tokenizer-1", "config": {}, "tokenizer": {}}', "its model is None, expected 'WordLevel'"),
    ],
)
def test_foreign_and_damaged_files_are_refused(content: bytes, message: str, tmp_path: Path) -> None:
    path = tmp_path / "tokenizer.json"
    path.write_bytes(content)
    with pytest.raises(InputError, match=f"tokenizer.json.*{message}"):
        Tokenizer.load(path)


def test_a_vocabulary_with_other_special_pieces_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "tokenizer.json"
    tokenizer("word").save(path)
    path.write_bytes(path.read_bytes().replace(b'"</s>"', b'"<eos>"'))
    with pytest.raises(InputError, match=r"tokenizer.json: a vocabulary must begin with <pad> <unk> <s> </s>"):
        Tokenizer.load(path)


def test_a_missing_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"cannot read the tokenizer file .*none.json: No such file"):
        Tokenizer.load(tmp_path / "none.json")


@kinds
def test_blank_texts_raise(kind: str) -> None:
    with pytest.raises(InputError, match="no text to build a vocabulary"):
        Tokenizer.train(["", "  "], TokenizerConfig(kind=kind, vocabulary=50))  # type: ignore[arg-type]


@pytest.mark.parametrize("kind", ["bpe", "unigram"])
def test_a_vocabulary_smaller_than_the_alphabet_is_refused(kind: str) -> None:
    with pytest.raises(InputError, match=r"vocabulary = 8 cannot hold the 6 different characters .* choose 10 or more"):
        Tokenizer.train(["abcde"], TokenizerConfig(kind=kind, vocabulary=8))  # type: ignore[arg-type]


@pytest.mark.parametrize("kind", ["bpe", "unigram"])
@pytest.mark.parametrize("text", ["a", "a b", "aaaa", "😀"])
def test_the_smallest_corpora_suffice(kind: str, text: str) -> None:
    small = Tokenizer.train([text], TokenizerConfig(kind=kind, vocabulary=50))  # type: ignore[arg-type]
    assert small.decode(small.encode(text).ids) == text


@pytest.mark.parametrize(
    ("choices", "message"),
    [
        ({"kind": "bpe"}, "needs the number of pieces, e.g. vocabulary = 8000"),
        ({"kind": "unigram", "vocabulary": 90, "minimum_count": 2}, "takes no minimum_count"),
        ({"kind": "word", "dropout": 0.1}, 'kind = "word" has none'),
        ({"kind": "sentencepiece"}, "'word', 'character', 'bpe' or 'unigram'"),
        ({"vocabulary": 4}, "greater than 4"),
        ({"vocab": 40}, "vocab"),
    ],
)
def test_invalid_settings_raise(choices: dict[str, object], message: str) -> None:
    with pytest.raises(ValidationError, match=message):
        TokenizerConfig.model_validate(choices)


def test_words_of_a_character_tokenizer_are_its_characters() -> None:
    tokenizer = Tokenizer.train(["the cat sat"], TokenizerConfig(kind="character"))
    encoding = tokenizer.encode("a cat", eos=True)
    assert encoding.word_texts == ("a", "c", "a", "t")
    assert encoding.words == (0, None, 1, 2, 3, None)
    assert tokenizer.encode_words("a cat").count == 4
    assert tokenizer.encode_words("a cat", characters=False).words == [0, None, 1, 1, 1]
    assert tokenizer.encode_words("a cat", spaces=True).count == 2
    decoded = tokenizer.decode_pieces(encoding.ids)
    assert (decoded.words, decoded.word_texts) == (encoding.words, encoding.word_texts)
    spaced = Tokenizer.train(["the cat sat"], TokenizerConfig(kind="character", words="spaces"))
    assert spaced.encode("a cat").word_texts == ("a", "cat")
