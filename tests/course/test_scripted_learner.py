"""A learner in a real terminal goes through the first five exercises with the mistakes that people make.

What they saw is kept in transcript.txt, to be read; REGARD_WRITE_TRANSCRIPT=1 writes it anew.
"""

import os
import re
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from course.terminal import Terminal, learn
from regard.course.catalogue import find

TRANSCRIPT = Path(__file__).parent / "transcript.txt"


class Learner:
    """Saves files, presses keys, and keeps what was on the screen."""

    def __init__(self, terminal: Terminal, folder: Path) -> None:
        self.terminal = terminal
        self.folder = folder
        self.pages: list[str] = []

    def sees(self, did: str, *words: str) -> None:
        picture = self.terminal.wait_for(*words, end="q quit\n")
        self.pages.append(f"──── {did}\n\n{picture.strip()}\n")

    def writes(self, number: str, body: str, *words: str, did: str) -> None:
        """Save the starter with the first TODO (or the whole function) replaced by a body."""
        path = self.folder / find(number).name / "exercise.py"
        code = re.sub(r'    raise NotImplementedError\("TODO.*"\)\n', body, find(number).starter, count=1)
        path.write_text(code, encoding="utf-8")
        shown = "\n".join(f"    {line}" for line in body.rstrip().splitlines())
        self.sees(f"{did}\n\n{shown}", *words)

    def presses(self, key: str, *words: str, did: str) -> None:
        self.terminal.press(key)
        self.sees(f"presses {key!r}: {did}", *words)


@pytest.fixture
def learner(tmp_path: Path) -> Iterator[Learner]:
    terminal = learn(tmp_path)
    terminal.bite = 64  # every page in pieces, as a busy system may bring it
    yield Learner(terminal, tmp_path / "regard-course")
    terminal.close()


def settled(text: str) -> str:
    """Without what differs between machines and between editions of the course."""
    text = re.sub(r"\d+\.\d s\b", "0.4 s", text)
    text = re.sub(r"of \d+ · ", "of 20 · ", text)
    text = re.sub(r"Progress .*?(\d+)/\d+", r"Progress ▒▒▒▒ \1/20", text)
    return re.sub(r"[ \t]+$", "", text, flags=re.MULTILINE)


STABLE = """\
    weights = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return weights / weights.sum(axis=-1, keepdims=True)
"""


def first_exercise(learner: Learner) -> None:
    learner.sees("starts `regard learn`", "Exercise 1 of", "spotlight", "TODO: write softmax", "h hint")
    learner.writes("1", "    return np.exp(scores / np.exp(scores\n", "was never closed", did="saves half a line")
    learner.writes(
        "1",
        "    return np.exp(scores) / np.exp(scores).sum()\n",
        "Weights: wrong values",
        "normalise over the wrong axis",
        did="sums over everything",
    )
    learner.writes(
        "1",
        "    return np.exp(scores) / np.exp(scores).sum(axis=-1, keepdims=True)\n",
        "unstable",
        "exp(800) is infinity",
        did="sums each row, without the maximum",
    )
    learner.presses("h", "Hint 2 of 3", did="asks for a hint")
    learner.presses("s", "shown once yours passes", did="tries to see the solution")
    learner.writes("1", STABLE, "✓ 1", "assertions", "1/", did="subtracts the maximum")
    learner.presses("s", "Our solution", "def softmax", did="compares with our solution")


def second_and_third(learner: Learner) -> None:
    learner.presses("n", "Exercise 2 of", "interpreter", did="goes on")
    learner.writes(
        "2",
        "    return (W_s @ query + states @ W_h.T) @ v\n",
        "tanh is missing",
        did="forgets the tanh",
    )
    learner.writes(
        "2",
        "    return np.tanh(W_h @ query + states @ W_s.T) @ v\n",
        "matrices are swapped",
        did="takes each matrix for the other",
    )
    learner.writes("2", "    return np.tanh(W_s @ query + states @ W_h.T) @ v\n", "✓ 2", did="puts them right")
    learner.presses("n", "Exercise 3 of", "padding", did="goes on")
    learner.writes("3", "    return softmax(scores)\n", "Nothing is masked", did="ignores the lengths")
    learner.writes(
        "3",
        "    real = np.arange(scores.shape[1]) < lengths[:, None]\n    return softmax(scores) * real\n",
        "did not renormalise",
        did="masks after the softmax",
    )
    hide = "    return softmax(np.where(real, scores, -np.inf))\n"
    too_many = "    real = np.arange(scores.shape[1]) <= lengths[:, None]\n"
    learner.writes("3", too_many + hide, "off by one", did="counts one too many")
    learner.writes("3", too_many.replace("<=", "<") + hide, "✓ 3", did="counts right")


def fourth_and_fifth(learner: Learner) -> None:
    learner.presses("n", "Exercise 4 of", "bottleneck", did="goes on")
    learner.writes("4", "    return scores @ states\n", "raw scores", did="forgets the softmax")
    learner.writes(
        "4",
        "    print('weights', softmax(scores).shape)\n    return softmax(scores).T @ states\n",
        "wrong axis",
        "your file printed:",
        did="transposes, and prints",
    )
    learner.writes("4", "    return softmax(scores) @ states\n", "✓ 4", "4/", did="multiplies")
    learner.presses("n", "Exercise 5 of", "TODO: write pad", did="goes on, to torch")
    padding = """\
    lengths = torch.tensor([len(sentence) for sentence in sentences])
    ids = torch.zeros(len(sentences), int(lengths.max()), dtype=torch.long)
    for row, sentence in enumerate(sentences):
        ids[row, : len(sentence)] = torch.tensor(sentence)
    return ids, lengths
"""
    learner.writes("5", padding, "TODO: write encode", did="writes pad")
    path = learner.folder / find("5").name / "exercise.py"
    with_pad = path.read_text(encoding="utf-8")

    def encode(body: str, *words: str, did: str) -> None:
        path.write_text(re.sub(r'    raise NotImplementedError\("TODO.*"\)\n', body, with_pad), encoding="utf-8")
        shown = "\n".join(f"    {line}" for line in body.rstrip().splitlines())
        learner.sees(f"{did}\n\n{shown}", *words)

    encode(
        "    states, last = gru(embedded)\n    return states, last[-1]\n",
        "read the state at the padding",
        did="does not pack",
    )
    encode(
        "    lengths, order = lengths.sort(descending=True)\n"
        "    packed = pack_padded_sequence(embedded[order], lengths, batch_first=True)\n"
        "    states, last = gru(packed)\n"
        "    return pad_packed_sequence(states, batch_first=True)[0], last[-1]\n",
        "did not put the answers back",
        did="sorts, and forgets to undo it",
    )
    encode(
        "    packed = pack_padded_sequence(embedded, lengths, batch_first=True, enforce_sorted=False)\n"
        "    states, last = gru(packed)\n"
        "    return pad_packed_sequence(states, batch_first=True)[0], last[-1]\n",
        "shorter than `embedded`",
        did="lets torch sort",
    )
    encode(
        "    packed = pack_padded_sequence(embedded, lengths, batch_first=True, enforce_sorted=False)\n"
        "    states, last = gru(packed)\n"
        "    states, _ = pad_packed_sequence(states, batch_first=True, total_length=embedded.shape[1])\n"
        "    return states, last[-1]\n",
        "✓ 5",
        "5/",
        did="fills the states up",
    )


def test_the_first_five_exercises(learner: Learner) -> None:
    first_exercise(learner)
    second_and_third(learner)
    fourth_and_fifth(learner)
    learner.terminal.press("q")
    assert learner.terminal.wait_for_end() == 0
    assert "Your progress is kept" in learner.terminal.output
    seen = settled("\n".join(learner.pages))
    if os.environ.get("REGARD_WRITE_TRANSCRIPT"):
        TRANSCRIPT.write_text(seen, encoding="utf-8")
    assert seen == TRANSCRIPT.read_text(encoding="utf-8")


def test_a_page_is_kept_when_all_of_it_has_come(tmp_path: Path) -> None:
    """A page comes through the terminal in pieces: one that has the words need not have its last line yet."""
    pieces = "import time; print('the words', flush=True); time.sleep(0.5); print('h hint · q quit'); input()"
    terminal = Terminal([sys.executable, "-c", pieces], tmp_path)
    terminal.bite = 1
    learner = Learner(terminal, tmp_path)
    try:
        learner.sees("looks", "the words")
    finally:
        terminal.close()
    assert learner.pages == ["──── looks\n\nthe words\nh hint · q quit\n"]
