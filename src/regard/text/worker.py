"""Work on large corpora that worker processes share: counting words and encoding texts.

`python -m regard.text.worker` runs one worker; `regard.data.worker_pool` starts it.
"""

import pickle
import signal
import sys
from array import array
from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from random import Random

from regard.text.tokenizer import Tokenizer
from regard.text.tokenizer_config import TokenizerConfig
from regard.text.vocabulary import count_chunks

Texts = tuple[list[str], list[str]]
"""Source and target texts of the same pairs."""
Encoded = tuple[bytes, bytes]
"""The ids of some texts, concatenated, and the number of ids of each text; both as 32-bit integers."""


def count_words(configs: tuple[TokenizerConfig, TokenizerConfig], texts: Texts) -> tuple[int, list[Counter[str]]]:
    """The number of pairs and, for each side, how often each character or chunk occurs."""
    return len(texts[0]), [count_chunks(lines, config) for lines, config in zip(texts, configs, strict=True)]


def encode_texts(tokenizers: tuple[Tokenizer, Tokenizer], texts: Texts, seed: str | None) -> list[Encoded]:
    """The ids of each side; a seed enables BPE dropout."""
    random = None if seed is None else Random(seed)
    return [_encode(tokenizer, lines, random) for tokenizer, lines in zip(tokenizers, texts, strict=True)]


def _encode(tokenizer: Tokenizer, texts: Sequence[str], random: Random | None) -> Encoded:
    ids, lengths = array("i"), array("i")
    for text in texts:
        found = tokenizer.encode_ids(text, random)
        ids.extend(found)
        lengths.append(len(found))
    return ids.tobytes(), lengths.tobytes()


def main() -> None:
    """Read a task, then call it with each request until there are no more; an exception is sent back as the answer."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is handled by the parent
    requests, answers = sys.stdin.buffer, sys.stdout.buffer
    sys.stdout = sys.stderr
    with suppress(EOFError):
        task = pickle.load(requests)
        while True:
            arguments = pickle.load(requests)
            try:
                answer = False, task(*arguments)
            except Exception as error:
                answer = True, error
            pickle.dump(answer, answers, protocol=pickle.HIGHEST_PROTOCOL)
            answers.flush()


if __name__ == "__main__":
    main()
