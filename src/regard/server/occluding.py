"""The occlusion row: the effect of each source word on the target, as opposed to the attention to it."""

from collections.abc import Callable, Sequence

from regard.runtime.traced import SentenceToTrace, TracedTranslation, Tracing, drop_words, translate_traced
from regard.server.answers import floats
from regard.server.errors import invalid, unsupported
from regard.server.schema.views import Occluded, OcclusionAnswer, OcclusionRequest
from regard.server.served_models import Loaded
from regard.server.sides import source_side, target_side
from regard.text.special import EOS

MOST_WORDS = 200
"""Largest number of source words; each is dropped once."""


def occlusion_answer(request: OcclusionRequest, loaded: Loaded, abandoned: Callable[[], bool]) -> OcclusionAnswer:
    """Drop each source word in turn and force the translation of the whole, or the given target."""
    translator, about = loaded.translator, loaded.about
    sentence = SentenceToTrace(request.text, request.target)
    search = {} if request.target is not None else {"beam": 1}
    (text,) = translate_traced(translator, [sentence], search, Tracing(abandoned=abandoned))
    if not text.found:
        raise invalid("text", "it is blank: there is no word to drop")
    found = text.found[0]
    words = len(text.source.encoding.word_texts)
    if words > MOST_WORDS:
        raise unsupported(f"text: {words} words given, at most {MOST_WORDS} are dropped one by one", field="text")
    before = _by_word(found, found.log_probabilities)
    rows = []
    if words > 1:
        for word, dropped in enumerate(drop_words(translator, text.source, found.tokens)):
            after = _by_word(found, dropped)
            changes = [one - other for one, other in zip(after, before, strict=True)]
            rows.append(Occluded(word=word, log_probabilities=floats(after), changes=floats(changes)))
    return OcclusionAnswer(
        model=loaded.id,
        source=source_side(text.source.encoding, about.source_language),
        target=target_side(found.translation, found.tokens, about.target_language),
        forced=request.target is not None,
        log_probabilities=floats(before),
        rows=rows,
        warnings=list(found.translation.warnings),
    )


def _by_word(found: TracedTranslation, values: Sequence[float]) -> list[float]:
    """Sums over the pieces of each target word, then EOS if it was written."""
    sums = [0.0] * len(found.translation.target_words)
    for value, word in zip(values, found.translation.target_word_of, strict=True):
        if word is not None:
            sums[word] += value
    return [*sums, values[-1]] if found.tokens[-1:] == (EOS,) else sums
