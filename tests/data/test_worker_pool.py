"""Worker processes: answers keep the order of the requests, errors are raised, and a killed process is reported."""

import os
import signal
from functools import partial

import pytest

from regard.data.worker_pool import WorkerPool
from regard.text.input_error import InputError
from regard.text.tokenizer import Tokenizer
from regard.text.tokenizer_config import TokenizerConfig
from regard.text.worker import Encoded, encode_texts

WORDS = Tokenizer.train(["a b c d e"], TokenizerConfig())


def encoders(processes: int) -> WorkerPool[list[Encoded]]:
    return WorkerPool(partial(encode_texts, (WORDS, WORDS)), processes)


@pytest.mark.parametrize("processes", [0, 1, 3])
def test_answers_keep_the_order_of_the_requests(processes: int) -> None:
    texts = [" ".join("abcde"[: 1 + number % 5]) for number in range(40)]
    with encoders(processes) as pool:
        found = list(pool.map((([text], ["a"]), None) for text in texts))
    assert [len(source[0]) // 4 for source, _ in found] == [1 + number % 5 for number in range(40)]


@pytest.mark.parametrize("processes", [0, 2])
def test_an_error_is_raised_in_the_parent(processes: int) -> None:
    with encoders(processes) as pool:
        with pytest.raises(InputError, match="half of a surrogate pair"):
            list(pool.map([((["a"], ["a"]), None), ((["\ud800"], ["a"]), None)]))
        assert len(list(pool.map([((["a"], ["a"]), None)]))) == 1


def test_a_killed_process_is_reported() -> None:
    with encoders(1) as pool:
        os.kill(pool._workers[0].pid, signal.SIGKILL)
        with pytest.raises(InputError, match="was killed by signal 9: is there too little memory"):
            list(pool.map([((["a"], ["a"]), None)]))


def interrupt(pool: WorkerPool[list[Encoded]]) -> None:
    with pool:
        raise KeyboardInterrupt


def test_an_interrupted_pool_leaves_no_process() -> None:
    pool = encoders(2)
    with pytest.raises(KeyboardInterrupt):
        interrupt(pool)
    assert len(pool._workers) == 2
    for worker in pool._workers:
        with pytest.raises(ProcessLookupError):
            os.kill(worker.pid, 0)


def test_workers_do_not_import_torch() -> None:
    with WorkerPool(eval, 1) as pool:
        assert list(pool.map([("'torch' in __import__('sys').modules",)])) == [False]
