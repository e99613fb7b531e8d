"""The work on whole corpora that several processes share: count words, train a tokenizer, turn texts into ids.

`python -m regard.text.labour` answers such requests on its standard input and output; see `regard.data.crew`.
"""

import pickle
import signal
import sys
from array import array
from collections import Counter
from collections.abc import Sequence
from random import Random

from regard.text.config import TokenizerConfig
from regard.text.tokenizer import Tokenizer
from regard.text.vocabulary import count_chunks

Encoded = tuple[bytes, bytes]
"""The ids of some texts, one after the other, and how many each text has; both as 32-bit integers."""


class Labourer:
    """What one process does and keeps between two requests."""

    def __init__(self) -> None:
        self._counts: dict[int, Counter[str]] = {}
        self._tokenizers: dict[str, Tokenizer] = {}
        self._known: list[Tokenizer] = []

    def count(self, texts: Sequence[Sequence[str]], configs: Sequence[TokenizerConfig]) -> int:
        """Count what the texts of each side consist of; `counted` gives the sums."""
        for side, (lines, config) in enumerate(zip(texts, configs, strict=True)):
            count_chunks(lines, config, self._counts.setdefault(side, Counter()))
        return len(texts[0])

    def counted(self) -> dict[int, Counter[str]]:
        """What was counted, by side; and counting begins anew."""
        counts, self._counts = self._counts, {}
        return counts

    def train(self, counts: Counter[str], config: TokenizerConfig) -> bytes:
        """The file of a tokenizer trained on counted words."""
        return Tokenizer.from_counts(counts, config).data

    def know(self, *given: bytes | Tokenizer) -> None:
        """Take tokenizers, or read them; `encode` names them by their places here."""
        self._known = [one if isinstance(one, Tokenizer) else self._tokenizer(one) for one in given]

    def _tokenizer(self, data: bytes) -> Tokenizer:
        tokenizer = Tokenizer.from_data(data)
        return self._tokenizers.setdefault(tokenizer.fingerprint, tokenizer)

    def encode(self, texts: Sequence[Sequence[str]], seed: str | None) -> list[Encoded]:
        """The ids of each side's texts; a seed switches BPE dropout on."""
        random = None if seed is None else Random(seed)
        sides = []
        for tokenizer, lines in zip(self._known, texts, strict=True):
            ids, lengths = array("i"), array("i")
            for line in lines:
                found = tokenizer.encode_ids(line, random)
                ids.extend(found)
                lengths.append(len(found))
            sides.append((ids.tobytes(), lengths.tobytes()))
        return sides


def answer() -> None:
    """Answer requests (method, arguments) until there are no more; an error is an answer too."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for whoever asked
    requests, answers = sys.stdin.buffer, sys.stdout.buffer
    sys.stdout = sys.stderr
    labourer = Labourer()
    while True:
        try:
            method, arguments = pickle.load(requests)
        except EOFError:
            return
        try:
            done: object = getattr(labourer, method)(*arguments)
            failed = False
        except Exception as error:
            done, failed = error, True
        pickle.dump((failed, done), answers, protocol=pickle.HIGHEST_PROTOCOL)
        answers.flush()


if __name__ == "__main__":
    answer()
