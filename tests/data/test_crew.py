"""Processes that share work: answers come in order, errors come back, and a process that dies is said."""

import os
import signal

import pytest

from regard.data.crew import Crew
from regard.text.config import TokenizerConfig
from regard.text.errors import InputError
from regard.text.tokenizer import Tokenizer

WORDS = Tokenizer.train(["a b c d e"], TokenizerConfig())


@pytest.mark.parametrize("processes", [0, 1, 3])
def test_answers_come_in_the_order_of_the_requests(processes: int) -> None:
    texts = [" ".join("abcde"[: 1 + number % 5]) for number in range(40)]
    with Crew(processes) as crew:
        assert crew.each("know", WORDS.data) == [None] * max(1, processes)
        found = list(crew.map("encode", ((([text],), None) for text in texts)))
    assert [len(side[0]) // 4 for (side,) in found] == [1 + number % 5 for number in range(40)]


@pytest.mark.parametrize("processes", [0, 2])
def test_an_error_comes_back_as_itself(processes: int) -> None:
    with Crew(processes) as crew:
        crew.each("know", WORDS.data)
        with pytest.raises(InputError, match="half of a surrogate pair"):
            list(crew.map("encode", [((["a"],), None), ((["\ud800"],), None)]))
        assert len(list(crew.map("encode", [((["a"],), None)]))) == 1


def test_a_process_that_was_killed_is_said() -> None:
    with Crew(1) as crew:
        crew.each("know", WORDS.data)
        os.kill(crew.process_ids[0], signal.SIGKILL)
        with pytest.raises(InputError, match="was killed by signal 9: is there too little memory"):
            crew.each("know", WORDS.data)


def give_up(crew: Crew) -> None:
    with crew:
        raise KeyboardInterrupt


def test_work_that_is_given_up_leaves_no_process() -> None:
    crew = Crew(2)
    with pytest.raises(KeyboardInterrupt):
        give_up(crew)
    assert len(crew.process_ids) == 2
    for number in crew.process_ids:
        with pytest.raises(ProcessLookupError):
            os.kill(number, 0)
