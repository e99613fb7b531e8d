"""From logits to candidates: log-probabilities, forbidden tokens, forced prefixes, the highest scores of each row."""

from collections.abc import Sequence

import numpy as np
import torch
from jaxtyping import Float, Int
from torch import Tensor

from regard.registry import replaceable
from regard.search.search_options import Options

Prefixes = Sequence[Sequence[int]]
"""The tokens that each output must begin with."""


def log_probabilities(logits: Float[Tensor, "rows vocabulary"]) -> Float[Tensor, "rows vocabulary"]:
    """log softmax, in float32 at least: in bfloat16 close candidates would get equal scores."""
    return torch.log_softmax(logits.to(torch.promote_types(logits.dtype, torch.float32)), dim=-1)


def repeated(history: Sequence[int], size: int) -> set[int]:
    """The tokens that would complete an n-gram of this size for the second time.

    >>> repeated([5, 6, 7, 5, 6], size=3)
    {7}
    """
    if len(history) < size:
        return set()
    tail = tuple(history[len(history) - size + 1 :])
    starts = range(len(history) - size + 1)
    return {history[start + size - 1] for start in starts if tuple(history[start : start + size - 1]) == tail}


class PrefixTooLong(ValueError):
    """The prefix of a sentence (counted from 0 in its batch) has more tokens than its output may have."""

    def __init__(self, sentence: int, tokens: int, limit: int) -> None:
        super().__init__(f"the prefix of sentence {sentence} has {tokens} tokens, its limit is {limit}")
        self.sentence, self.tokens, self.limit = sentence, tokens, limit


def check_prefixes(prefixes: Prefixes | None, longest: Int[np.ndarray, "sentence"], options: Options) -> None:
    """Raise unless every sentence has a prefix of token ids that fits into its limit."""
    if prefixes is None:
        return
    if len(prefixes) != len(longest):
        raise ValueError(f"{len(prefixes)} prefixes for {len(longest)} sentences; give each one, () where it is free")
    for sentence, (prefix, limit) in enumerate(zip(prefixes, longest.tolist(), strict=True)):
        if len(prefix) > limit:
            raise PrefixTooLong(sentence, len(prefix), limit)
        for position, token in enumerate(prefix):
            if token < 0 or token in (options.pad, options.bos):
                raise ValueError(
                    f"the prefix of sentence {sentence} holds {token} at position {position}; "
                    "give token ids alone, without BOS and padding"
                )
            if token == options.eos and position < len(prefix) - 1:
                raise ValueError(f"the prefix of sentence {sentence} goes on after EOS at position {position}")


def forced_tokens(prefixes: Prefixes | None, sentences: Int[np.ndarray, "rows"], step: int) -> list[int | None]:
    """The token that each row must take at this step; None if it is free."""
    if prefixes is None:
        return [None] * len(sentences)
    return [prefixes[one][step] if step < len(prefixes[one]) else None for one in sentences.tolist()]


def restrict(
    scores: Float[Tensor, "rows vocabulary"],
    histories: Int[np.ndarray, "rows step"],
    forced: Sequence[int | None],
    options: Options,
) -> Float[Tensor, "rows vocabulary"]:
    """Set the scores of tokens that may not come next to -inf, in place, without renormalising; returns the tensor.

    `forced[row]` is the only token that row may take, even one that is otherwise forbidden; None leaves it free.
    """
    device = scores.device
    rows = [row for row, token in enumerate(forced) if token is not None]
    if rows:
        tokens = [token for token in forced if token is not None]
        if max(tokens) >= scores.shape[1]:
            raise ValueError(f"forced token {max(tokens)} lies outside the model's vocabulary of {scores.shape[1]}")
        at = torch.tensor([rows, tokens], device=device).unbind()
        kept = scores[at]
    for token in options.forbidden:
        if token < scores.shape[1]:
            scores[:, token] = -torch.inf
    if options.no_repeat_ngram:
        bans = [
            (row, token)
            for row, history in enumerate(histories.tolist())
            for token in repeated(history, options.no_repeat_ngram)
        ]
        if bans:
            scores[torch.tensor(bans, device=device).unbind(1)] = -torch.inf
    if rows:
        scores[at[0]] = -torch.inf
        scores[at] = kept
    return scores


def best(
    scores: Float[Tensor, "rows vocabulary"], count: int
) -> tuple[Float[np.ndarray, "rows count"], Int[np.ndarray, "rows count"]]:
    """The `count` highest of each row, on the host: values falling, equal ones by rising id.

    `topk` chooses freely between equal values, so one more than wanted is fetched: a row whose last wanted value
    equals the first unwanted one is sorted in full. Copying the result to the host is a device sync in every step.
    """
    vocabulary = scores.shape[1]
    count = min(count, vocabulary)
    if count == 1:
        value, index = top(scores, 1)
        return value.double().cpu().numpy(), index.cpu().numpy()
    values, ids = (part.cpu().numpy() for part in top(scores, min(count + 1, vocabulary)))
    values = values.astype(np.float64)
    if (values[:, 1:] < values[:, :-1]).all():  # no two are equal
        return values[:, :count], ids[:, :count]
    if count < vocabulary:
        tied = (values[:, count - 1] == values[:, count]) & (values[:, count] > -np.inf)
        values, ids = values[:, :count].copy(), ids[:, :count].copy()
        if tied.any():
            rows = torch.as_tensor(np.flatnonzero(tied), device=scores.device)
            exact = scores[rows].sort(dim=1, descending=True, stable=True)
            values[tied] = exact.values[:, :count].double().cpu().numpy()
            ids[tied] = exact.indices[:, :count].cpu().numpy()
    order = np.lexsort((ids, -values), axis=1)
    return np.take_along_axis(values, order, 1), np.take_along_axis(ids, order, 1)


@replaceable
def top(
    scores: Float[Tensor, "rows vocabulary"], count: int
) -> tuple[Float[Tensor, "rows count"], Int[Tensor, "rows count"]]:
    """The `count` highest of each row and their ids, in `topk`'s order; if `count` is 1, ties give the lowest id."""
    if count == 1:  # argmax is documented to return the first of equal values
        index = scores.argmax(dim=1, keepdim=True)
        return scores.gather(1, index), index
    found = scores.topk(count, dim=1)
    return found.values, found.indices
