"""Decodes texts with one model and records each step: token ids, character spans, top words, attention tensors."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor

from regard.bundle.store import Bundle
from regard.runtime.build_translation import build_translation
from regard.runtime.guided import guided_head, guided_shift
from regard.runtime.recorder import Recorder, StepRecord
from regard.runtime.search_size import SearchSize
from regard.runtime.source_text import Padded, SourceText, check_target, pad
from regard.runtime.spoken_words import read_text
from regard.runtime.translation import Translation, different_texts
from regard.runtime.translator import Translator
from regard.search import Hypothesis, PrefixTooLong, SearchConfig, SearchTree, beam_search, decode, forced_search
from regard.text.encoding import Encoding
from regard.text.input_error import InputError
from regard.text.special import BOS, EOS, PAD
from regard.text.tokenizer import Tokenizer


@dataclass(frozen=True)
class SentenceToTrace:
    """A text to decode; `target` is forced, or `prefix` begins the translation: a text, or token ids."""

    text: str
    target: str | None = None
    prefix: str | tuple[int, ...] | None = None


@dataclass(frozen=True, eq=False)
class TracedTranslation:
    """One hypothesis: tokens, log-probabilities, `given` tokens at its beginning, and what each step computed."""

    translation: Translation
    tokens: tuple[int, ...]
    log_probabilities: tuple[float, ...]
    given: int
    records: tuple[StepRecord, ...]


@dataclass(frozen=True, eq=False)
class TracedText:
    """A text and its translations, best first (samples: as drawn); none for a blank text."""

    source: SourceText
    found: tuple[TracedTranslation, ...]


@dataclass(frozen=True, eq=False)
class Tracing:
    """What is recorded and edited: see `Recorder`; `tree` records a beam search of one sentence."""

    top: int = 0
    trace: bool = False
    edit: tuple[int, Sequence[float]] | None = None
    """(step, weight of each source piece), in every layer and head."""
    abandoned: Callable[[], bool] = lambda: False
    tree: SearchTree | None = None


def translate_traced(
    translator: Translator, sentences: Sequence[SentenceToTrace], search: Mapping[str, Any], tracing: Tracing
) -> list[TracedText]:
    """Decode sentences together, in one batch if memory allows it; all of them are forced or none is."""
    bundle = translator.bundle
    config = translator.search_config(dict(search))
    forced = any(one.target is not None for one in sentences)
    if forced and any(one.target is None for one in sentences):
        raise ValueError("some sentences have a target and some have none: decode them separately")
    sources = [read_text(one.text, bundle, translator.longest_source) for one in sentences]
    given = [_given(one, bundle) for one in sentences]
    rows = [i for i, source in enumerate(sources) if not source.blank]
    done = [TracedText(source, ()) for source in sources]
    if not rows:
        return done
    batch = pad([sources[i].encoding.ids for i in rows], translator.device)
    longest = max((len(one.ids) for one in given if one is not None), default=0) if forced else None
    shape = bundle.manifest.model
    size = SearchSize(config, translator.most_pieces, shape.attention_shape, longest, shape.encoder_heads)
    if len(sentences) > (most := size.together(batch.source.shape[1])):
        parts = [sentences[first : first + most] for first in range(0, len(sentences), most)]
        return [one for part in parts for one in translate_traced(translator, part, search, tracing)]
    recorder = Recorder(
        translator.stepper, top=tracing.top, trace=tracing.trace, edits=_edits(tracing, batch, bundle),
        abandoned=tracing.abandoned,
    )  # fmt: skip
    prefixes = [list(found.ids) if (found := given[i]) is not None else [] for i in rows]
    hypotheses = _decode(recorder, batch, config, prefixes, forced, translator, tracing.tree)
    for row, i in enumerate(rows):
        built = [_built(sources[i], one, given[i], forced, bundle, recorder, row) for one in hypotheses[row]]
        if not config.sampler:
            built = different_texts(built, config.nbest, lambda one: one.translation.text)
        done[i] = TracedText(sources[i], tuple(built))
    return done


@torch.inference_mode()
def drop_words(translator: Translator, source: SourceText, target: Sequence[int]) -> list[tuple[float, ...]]:
    """The log-probability of each target token while it is forced, without source word 0, without word 1, and so on.

    Words are dropped by their pieces: the rest of the source is cut into the same pieces as before.
    """
    encoding = source.encoding
    words = range(len(encoding.word_texts))
    left = [[number for number, word in zip(encoding.ids, encoding.words, strict=True) if word != w] for w in words]
    batch = pad(left, translator.device)
    found = forced_search(translator.stepper, batch, [target] * len(left), device=translator.device)
    return [one.log_probabilities for one in found]


def _given(sentence: SentenceToTrace, bundle: Bundle[Any]) -> Encoding | None:
    """The tokens of the prefix or of the forced target."""
    if sentence.target is not None:
        given = bundle.target.encode(sentence.target, eos=True)
    elif isinstance(sentence.prefix, str):
        given = bundle.target.encode(sentence.prefix)
    elif sentence.prefix is not None:
        given = _encoding(sentence.prefix, bundle.target)
    else:
        return None
    check_target(len(given.ids), bundle)
    return given


def _encoding(ids: tuple[int, ...], tokenizer: Tokenizer) -> Encoding:
    wrong = [i for i, one in enumerate(ids) if not 0 <= one < len(tokenizer) or one in (PAD, BOS) or
             (one == EOS and i < len(ids) - 1)]  # fmt: skip
    if wrong:
        raise InputError(
            f"{ids[wrong[0]]} at position {wrong[0]} is not valid: expected ids of this model's target vocabulary "
            f"(0 to {len(tokenizer) - 1}), without padding and BOS, EOS only at the end",
            field="prefix_ids",
        )
    written = tokenizer.decode_pieces(ids)
    return Encoding(written.text, ids, written.pieces, ((0, 0),) * len(ids), written.words, written.word_texts)


def _edits(tracing: Tracing, batch: Padded, bundle: Bundle[Any]) -> dict[int, Float[Tensor, "layer head source"]]:
    if tracing.edit is None:
        return {}
    step, weights = tracing.edit
    pieces, width = int(batch.source_lengths[0]), batch.source.shape[1]
    if len(weights) != pieces:
        raise InputError(
            f"{len(weights)} given, but the source has {pieces} pieces: give one for each",
            field="attention_edit.weights",
        )
    row = torch.zeros(width, device=batch.source.device, dtype=_precision(bundle))
    row[:pieces] = torch.tensor(list(weights), dtype=row.dtype, device=row.device)
    layers, heads = bundle.manifest.model.attention_shape
    return {step: row.expand(layers, heads, width)}


def _precision(bundle: Bundle[Any]) -> torch.dtype:
    parameters = getattr(bundle.model, "parameters", None)
    return torch.float32 if parameters is None else next(parameters()).dtype


@torch.inference_mode()
def _decode(
    recorder: Recorder,
    batch: Padded,
    config: SearchConfig,
    prefixes: Sequence[Sequence[int]],
    forced: bool,
    translator: Translator,
    tree: SearchTree | None,
) -> list[list[Hypothesis]]:
    if forced:
        return [[one] for one in forced_search(recorder, batch, prefixes, device=translator.device)]
    if config.nbest > 1 and not config.sampler:  # different pieces may give one text: more candidates fill the list
        config = config.model_copy(update={"nbest": config.beam})
    generator = torch.Generator(device=translator.device).manual_seed(config.seed) if config.sampler else None
    try:
        if tree is not None:
            limits = config.limits(batch.source_lengths, translator.most_pieces)
            return beam_search(
                recorder, batch, limits, beam=config.beam, nbest=config.nbest, options=config.options,
                prefixes=prefixes, record=tree, lengths=batch.source_lengths,
            )  # fmt: skip
        return decode(
            recorder, batch, batch.source_lengths, config, most=translator.most_pieces, prefixes=prefixes,
            generator=generator,
        )  # fmt: skip
    except PrefixTooLong as error:
        raise InputError(
            f"{error.tokens:,} pieces given, a translation of this text has at most {error.limit:,}", field="prefix"
        ) from None


def _built(
    source: SourceText,
    hypothesis: Hypothesis,
    given: Encoding | None,
    forced: bool,
    bundle: Bundle[Any],
    recorder: Recorder,
    row: int,
) -> TracedTranslation:
    translation = build_translation(
        source, hypothesis, bundle.target, given=given, forced=forced, head=guided_head(bundle),
        shift=guided_shift(bundle),
    )  # fmt: skip
    tokens = hypothesis.tokens
    records = recorder.records(row, tokens, BOS)
    count = 0 if given is None else min(len(given.ids), len(tokens))
    return TracedTranslation(translation, tokens, hypothesis.log_probabilities, count, records)
