"""Builds vocabularies from texts, as models of the `tokenizers` library; equal texts give equal pieces."""

import json
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any

import tokenizers
from tokenizers import models, pre_tokenizers, trainers

from regard.bounds import MOST
from regard.text.input_error import InputError
from regard.text.normalise import MARK
from regard.text.special import SPECIAL, UNK
from regard.text.tokenizer_config import TokenizerConfig
from regard.text.words import word_spans

_CHUNK = 4096


def count_chunks(texts: Iterable[str], config: TokenizerConfig) -> Counter[str]:
    """How often each character occurs in the texts, or each chunk between two spaces."""
    seen: Counter[str] = Counter()
    for raw in texts:
        text = config.normalise(raw)
        seen.update(text if config.kind == "character" else text.split(" "))
    return seen


def vocabulary_from(seen: Counter[str], config: TokenizerConfig) -> tokenizers.Tokenizer:
    """A vocabulary from the summed counts of `count_chunks`.

    Ids 0 to 3 are the special ones; then words or characters by falling count, or what the library found.
    """
    counts = seen if config.kind == "character" else _count_words(seen, config)
    if not counts:
        raise InputError(f'no text to build a vocabulary of kind "{config.kind}" from: every given text is blank')
    if config.kind in ("word", "character"):
        return _listed(counts, config)
    return _subwords(counts, config)


def _count_words(seen: Counter[str], config: TokenizerConfig) -> Counter[str]:
    """How often each word or marked word was seen; words never cross a space, so each chunk is split once."""
    counts: Counter[str] = Counter()
    for chunk, count in seen.items():
        spans = word_spans(chunk, config.words)
        words = [chunk[a:b] for a, b in spans] if config.kind == "word" else marked_words(chunk, spans)
        for word in words:
            counts[word] += count
    return counts


def marked_words(text: str, spans: Iterable[tuple[int, int]]) -> Iterator[str]:
    """The words, with ▁ in front of those that follow a space or begin the text.

    >>> from regard.text.words import word_spans
    >>> list(marked_words("l'eau .", word_spans("l'eau .")))
    ["▁l'", 'eau', '▁.']
    """
    previous = -1
    for start, end in spans:
        yield text[start:end] if start == previous else MARK + text[start:end]
        previous = end


def _listed(counts: Counter[str], config: TokenizerConfig) -> tokenizers.Tokenizer:
    for name in SPECIAL:  # the raw text "</s>" (words = "spaces") must not end a sentence
        counts.pop(name, None)
    kept = sorted((piece for piece, count in counts.items() if count >= config.minimum_count), key=str)
    kept.sort(key=lambda piece: -counts[piece])
    if config.vocabulary is not None:
        kept = kept[: config.vocabulary - len(SPECIAL)]
    if len(kept) + len(SPECIAL) > MOST["vocabulary"]:
        raise InputError(
            f"the text has {len(kept):,} different pieces, a vocabulary has at most {MOST['vocabulary']:,}: "
            "set vocabulary or minimum_count in [text]"
        )
    vocabulary = {piece: number for number, piece in enumerate((*SPECIAL, *kept))}
    return tokenizers.Tokenizer(models.WordLevel(vocabulary, unk_token=SPECIAL[UNK]))


def _subwords(counts: Counter[str], config: TokenizerConfig) -> tokenizers.Tokenizer:
    alphabet = {MARK}.union(*counts)
    assert config.vocabulary is not None
    if config.vocabulary < len(alphabet) + len(SPECIAL):
        raise InputError(
            f"vocabulary = {config.vocabulary} cannot hold the {len(alphabet)} different characters of the text "
            f"and the {len(SPECIAL)} special pieces; choose {len(alphabet) + len(SPECIAL)} or more"
        )
    options: dict[str, Any] = {
        "vocab_size": config.vocabulary,
        "special_tokens": list(SPECIAL),
        "initial_alphabet": sorted(alphabet),
        "show_progress": False,
    }
    trainer: trainers.BpeTrainer | trainers.UnigramTrainer
    if config.kind == "bpe":
        library = tokenizers.Tokenizer(models.BPE(unk_token=SPECIAL[UNK]))
        trainer = trainers.BpeTrainer(min_frequency=config.minimum_count, **options)
    else:
        library = tokenizers.Tokenizer(models.Unigram())
        trainer = trainers.UnigramTrainer(unk_token=SPECIAL[UNK], **options)
    library.pre_tokenizer = pre_tokenizers.CharDelimiterSplit("\n")
    library.train_from_iterator(_lines(counts), trainer)
    return library if config.kind == "bpe" else _settled(library)


def _settled(library: tokenizers.Tokenizer) -> tokenizers.Tokenizer:
    """The same unigram pieces with reproducible scores and order.

    The library adds floating-point numbers in the order of a hash map, hence the rounding. In the same order it gives
    the characters that no segmentation needed the lowest score, + 0.0001, + 0.0002 …, hence one score for all of them.
    """
    scores: dict[str, float] = dict(json.loads(library.to_str())["model"]["vocab"])
    pieces = [piece for piece in scores if piece not in SPECIAL]
    lowest = min(scores[piece] for piece in pieces)
    spare_below = lowest + 1e-4 * sum(len(piece) == 1 for piece in pieces)
    for piece in pieces:
        spare = len(piece) == 1 and scores[piece] < spare_below
        scores[piece] = round(lowest - 1 if spare else scores[piece], 4)
    pieces.sort(key=lambda piece: (-scores[piece], piece))
    vocabulary = [(name, 0.0) for name in SPECIAL] + [(piece, scores[piece]) for piece in pieces]
    return tokenizers.Tokenizer(models.Unigram(vocabulary, unk_id=UNK, byte_fallback=False))


def _lines(counts: Counter[str]) -> Iterator[str]:
    """Each word as often as it was counted, in an order that does not depend on that of the texts."""
    for word in sorted(counts):
        for first in range(0, counts[word], _CHUNK):
            yield "\n".join([word] * min(_CHUNK, counts[word] - first))
