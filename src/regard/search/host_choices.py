"""The choices of a beam search that ran on a GPU or in ONNX, read back once, and the hypotheses they lead to."""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float, Int

from regard.search.search_options import Options
from regard.search.strategy import Ended, NothingPossible, not_a_number


@dataclass(frozen=True)
class HostChoices:
    """What each step chose for every slot of the sentences, best first, and which hypotheses ended."""

    parent: Int[np.ndarray, "step sentence slot"]
    token: Int[np.ndarray, "step sentence slot"]
    value: Float[np.ndarray, "step sentence slot"]
    score: Float[np.ndarray, "step sentence slot"]
    over: Bool[np.ndarray, "step sentence slot"]
    wrong: Int[np.ndarray, "step sentence"]
    """1: not a number, 2: no token was possible."""


def follow(choices: HostChoices, nbest: int, options: Options) -> list[list[Ended]]:
    """The hypotheses of each sentence that ended, ranked as `beam_search` ranks them."""
    for number, sentence in np.argwhere(choices.wrong).tolist():
        complaint = not_a_number if choices.wrong[number, sentence] == 1 else NothingPossible
        raise complaint(number, sentence)
    _, sentences, beam = choices.token.shape
    found: list[list[tuple[bool, float, int, int]]] = [[] for _ in range(sentences)]
    for number, sentence, slot in np.argwhere(choices.over).tolist():
        done = bool(choices.token[number, sentence, slot] == options.eos)
        merit = options.penalty.normalise(float(choices.score[number, sentence, slot]), number + 1)
        found[sentence].append((done, merit, number, slot))

    def whole(sentence: int, done: bool, number: int, slot: int) -> Ended:
        score = float(choices.score[number, sentence, slot])
        words, logs, path = [], [], []
        for step in range(number, -1, -1):
            words.append(int(choices.token[step, sentence, slot]))
            logs.append(float(choices.value[step, sentence, slot]))
            slot = int(choices.parent[step, sentence, slot])
            path.append((step * sentences + sentence) * beam + slot)
        return Ended(sentence, score, tuple(words[::-1]), tuple(logs[::-1]), np.array(path[::-1]), finished=done)

    ranked = [sorted(group, key=lambda one: one[:2], reverse=True)[:nbest] for group in found]
    return [
        [whole(sentence, done, number, slot) for done, _, number, slot in group]
        for sentence, group in enumerate(ranked)
    ]
