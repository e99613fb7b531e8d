"""From a traced decode to the answers of /translate and /step."""

from collections.abc import Sequence

import numpy as np
from jaxtyping import Float
from torch import Tensor

from regard.alignment import WordAttention, attention_entropy, combine_heads
from regard.runtime.recorder import LayerTrace
from regard.runtime.traced import TracedText, TracedTranslation
from regard.runtime.translation import Translation
from regard.server.errors import invalid
from regard.server.schema.translating import (
    Attention,
    Hypothesis,
    Matrix,
    StepSummary,
    Timings,
    TranslateAnswer,
    TranslateRequest,
)
from regard.server.schema.views import LayerStep, Model, StepAnswer, StepRequest, Window
from regard.server.served_models import Loaded
from regard.server.sides import candidate, source_side, special_piece, target_side
from regard.text.special import BOS

MOST_CELLS = 250_000
"""Attention weights of one answer; of more, only the first layer is returned."""
NO_ATTENTION = "one fixed vector, no alignment exists"


def floats(values: Sequence[float] | Float[np.ndarray, "..."]) -> list[float]:
    """Nine digits restore a float32 to the bit, and are half as long as the exact double."""
    return [float(f"{value:.9g}") for value in np.asarray(values).ravel().tolist()]


def rows(values: Float[np.ndarray, "*axes"]) -> list[list[float]]:
    return [floats(row) for row in values]


def translate_answer(
    request: TranslateRequest, loaded: Loaded, found: TracedText, timings: Timings, beam_id: str | None
) -> TranslateAnswer:
    about = loaded.about
    warnings = list(found.found[0].translation.warnings if found.found else found.source.warnings)
    hypotheses = [hypothesis(one, loaded, request, warnings) for one in found.found]
    edit = request.attention_edit
    if edit is not None and found.found and edit.step >= (steps := len(found.found[0].tokens)):
        warnings.append(f"attention_edit: step {edit.step} was not reached, the translation has {steps} steps")
    return TranslateAnswer(
        model=loaded.id,
        mode=request.mode,
        source=source_side(found.source.encoding, about.source_language),
        hypotheses=hypotheses,
        no_attention=None if about.has_attention else NO_ATTENTION,
        gold=None,
        beam_id=beam_id if found.found else None,
        timings=timings,
        warnings=warnings,
    )


def hypothesis(found: TracedTranslation, loaded: Loaded, request: TranslateRequest, warnings: list[str]) -> Hypothesis:
    translation = found.translation
    entropies: list[float | None] = [None] * len(found.tokens)
    if translation.attention is not None:
        spread = attention_entropy(translation.attention).mean(axis=(0, 1))
        entropies = list(floats(spread))
    shown = request.attention and translation.attention is not None
    return Hypothesis(
        target=target_side(translation, found.tokens, loaded.about.target_language),
        score=translation.score,
        normalised_score=translation.normalised_score,
        finished=translation.finished,
        forced=translation.forced,
        steps=[_summary(found, step, entropies[step], loaded) for step in range(len(found.tokens))],
        attention=_attention(translation, request, warnings) if shown else None,
        word_attention=word_matrix(translation) if shown else None,
        alignment=sorted(translation.alignment),
    )


def _summary(found: TracedTranslation, step: int, spread: float | None, loaded: Loaded) -> StepSummary:
    record = found.records[step] if found.records else None
    return StepSummary(
        probability=found.translation.probabilities[step],
        log_probability=found.log_probabilities[step],
        forced=step < found.given,
        entropy=None if record is None else record.entropy,
        attention_entropy=spread,
        top=[] if record is None else [candidate(number, share, loaded.names) for number, share in record.top],
    )


def _attention(translation: Translation, request: TranslateRequest, warnings: list[str]) -> Attention:
    weights = translation.attention
    assert weights is not None
    layers, heads, target, source = weights.shape
    chosen = list(range(layers))
    if request.layer is not None:
        if request.layer >= layers:
            raise invalid("layer", f"{request.layer} given, this model has layers 0 to {layers - 1}")
        chosen = [request.layer]
    elif weights.size > MOST_CELLS:
        chosen = [0]
        warnings.append(f"only layer 0 of {layers} is shown, {weights.size:,} weights are many: request one layer each")
    data = [[rows(head) for head in weights[layer]] for layer in chosen]
    return Attention(shape=(layers, heads, target, source), layers=chosen, data=data)


def word_matrix(translation: Translation) -> Matrix | None:
    """Attention between words, with the mass that lies elsewhere and the mass that is missing."""
    if translation.attention is None:
        return None
    words = WordAttention.of(
        combine_heads(translation.attention, *(translation.head or (None, None)))[None, None],
        translation.source_word_of,
        translation.target_word_of,
        counts=(len(translation.source_words), len(translation.target_words)),
        shift=translation.shift,
    )
    data, elsewhere = words.words[0, 0], words.nothing[0, 0]
    missing = np.maximum(1 - data.sum(axis=1) - elsewhere, 0.0)
    missing[missing < 1e-6] = 0.0  # a rounding, not mass that a local window takes away
    shape = (data.shape[0], data.shape[1])
    return Matrix(shape=shape, data=rows(data), elsewhere=floats(elsewhere), missing=floats(missing))


def find_step(text: TracedText, step: int, hypothesis: int = 0) -> TracedTranslation:
    """The hypothesis; raises if the text is blank, or has no such hypothesis or step."""
    if not text.found:
        raise invalid("text", "it is blank, so there is no step to look at")
    if hypothesis >= len(text.found):
        raise invalid("hypothesis", f"{hypothesis} given, there are {len(text.found)}, counted from 0")
    found = text.found[hypothesis]
    if step >= len(found.tokens):
        raise invalid("step", f"{step} given, this translation has {len(found.tokens)} steps, counted from 0")
    return found


def step_answer(request: StepRequest, loaded: Loaded, text: TracedText) -> StepAnswer:
    """The six stages of one step of one hypothesis."""
    found = find_step(text, request.step, request.hypothesis)
    about, record, step = loaded.about, found.records[request.step], request.step
    target = target_side(found.translation, found.tokens, about.target_language)
    edit = request.attention_edit
    entropy = record.entropy
    assert entropy is not None
    return StepAnswer(
        model=loaded.id,
        source=source_side(text.source.encoding, about.source_language),
        target=target,
        step=step,
        steps=len(found.tokens),
        query_name={"input": "s_{t-1}", "output": "s_t", None: "x_t"}[about.placement],  # type: ignore[arg-type]
        reads=target.pieces[step - 1] if step else special_piece(BOS),
        writes=target.pieces[step],
        probability=found.translation.probabilities[step],
        forced=step < found.given,
        edited=edit is not None and edit.step == step,
        layers=[_layer(layer, about, len(text.source.encoding.ids)) for layer in record.layers],
        no_attention=None if about.has_attention else NO_ATTENTION,
        entropy=entropy,
        top=[candidate(number, share, loaded.names) for number, share in record.top[: request.top]],
        warnings=list(found.translation.warnings),
    )


def _layer(trace: LayerTrace, about: Model, length: int) -> LayerStep:
    window = None
    if trace.center is not None and about.window != "global":
        gaussian = None if trace.gaussian is None else floats(_array(trace.gaussian)[:length])
        window = Window(kind=about.window, center=trace.center, reach=about.reach or 0, gaussian=gaussian)
    return LayerStep(
        query=floats(_array(trace.query)),
        scores=rows(_array(trace.scores)[:, :length]),
        mask=trace.mask[:, :length].tolist(),
        weights=rows(_array(trace.weights)[:, :length]),
        window=window,
        context=[] if trace.context is None else floats(_array(trace.context)),
    )


def _array(tensor: Tensor) -> Float[np.ndarray, "..."]:
    return np.asarray(tensor.cpu().numpy())
