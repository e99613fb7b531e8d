"""Several models on one sentence: what is reported about each, and whether two of them can be subtracted."""

from regard.alignment import Links, score_alignment
from regard.runtime.source_text import name_pieces
from regard.server.answers import NO_ATTENTION
from regard.server.schema.translating import Mode, TranslateAnswer
from regard.server.schema.views import Compared, Difference, Model


def compared(about: Model, answer: TranslateAnswer | None, problem: str | None, milliseconds: float | None) -> Compared:
    """One model's row."""
    best = answer.hypotheses[0] if answer is not None and answer.hypotheses else None
    entropies = [step.attention_entropy for step in best.steps if step.attention_entropy is not None] if best else []
    aer = None
    if answer is not None and answer.gold is not None and best is not None and about.has_attention:
        links = frozenset(answer.gold)
        aer = score_alignment([frozenset(best.alignment)], [Links(sure=links, possible=links)]).aer
    return Compared(
        model=about.id,
        translation=answer,
        problem=problem,
        log_probability=None if best is None else best.score,
        mean_log_probability=None if best is None or not best.steps else best.score / len(best.steps),
        attention_entropy=sum(entropies) / len(entropies) if entropies else None,
        aer=aer,
        parameters=about.parameters,
        milliseconds=None if milliseconds is None else round(milliseconds, 3),
    )


def difference(one: Compared, other: Compared, mode: Mode) -> Difference:
    """Word attention can be subtracted where both models read the same words and are forced to write equal pieces."""
    reason = _why_not(one, other, mode)
    return Difference(first=one.model, second=other.model, possible=reason is None, reason=reason)


def _why_not(one: Compared, other: Compared, mode: Mode) -> str | None:
    for each in (one, other):
        if each.translation is None:
            return f"{each.model} failed: {each.problem}"
        if each.translation.no_attention is not None:
            return f"{each.model} has no attention: {NO_ATTENTION}"
        if not each.translation.hypotheses:
            return "the text is blank"
    if mode == "free":
        return "free mode: each model wrote a translation of its own; force one target to compare them"
    first, second = one.translation, other.translation
    assert first is not None
    assert second is not None
    if [word.text for word in first.source.words] != [word.text for word in second.source.words]:
        return "the models see other source words"
    targets = [each.hypotheses[0].target.pieces for each in (first, second)]
    for each, pieces in zip((one, other), targets, strict=True):
        if unknown := [piece.text for piece in pieces if piece.special == "UNK"]:
            return f"{each.model} does not know {name_pieces(list(dict.fromkeys(unknown)))}"
    if [piece.text for piece in targets[0]] != [piece.text for piece in targets[1]]:
        return "the models cut the target into different pieces"
    return None
