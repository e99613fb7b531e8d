"""Exercise 19: the weights of the whole model, and a small language to translate: number words into digits."""

import torch
from torch import Tensor, nn
from torch.nn.functional import cross_entropy

PAD, BOS, EOS = 0, 2, 3
ONES = "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen"
ONES = f"{ONES} eighteen nineteen"
TENS = "twenty thirty forty fifty sixty seventy eighty ninety"
SOURCE = ["<pad>", "<unk>", "<bos>", "<eos>", *ONES.split(), *TENS.split(), "hundred"]
TARGET = ["<pad>", "<unk>", "<bos>", "<eos>", *"0123456789"]
HIDDEN, UPDATES, ROWS = 32, 400, 48


class Parts(nn.Module):
    """Everything that has weights; what is done with them is the exercise."""

    SENT = ("source", "target", "hidden")

    def __init__(self, source: int, target: int, hidden: int) -> None:
        super().__init__()
        self.source, self.target, self.hidden = source, target, hidden
        self.source_words = nn.Embedding(source, hidden)
        self.encoder = nn.GRU(hidden, hidden, batch_first=True, bidirectional=True)
        self.bridge = nn.Linear(hidden, hidden)
        self.target_words = nn.Embedding(target, hidden)
        self.W_s = nn.Linear(hidden, hidden, bias=False)
        self.W_h = nn.Linear(2 * hidden, hidden, bias=False)
        self.v = nn.Linear(hidden, 1, bias=False)
        self.cell = nn.GRUCell(3 * hidden, hidden)
        self.readout = nn.Linear(3 * hidden, target)


def in_words(number: int) -> list[str]:
    """302 as three, hundred, two."""
    words: list[str] = []
    if number >= 100:
        words += [ONES.split()[number // 100], "hundred"]
        number %= 100
        if number == 0:
            return words
    if number < 20:
        return [*words, ONES.split()[number]]
    return [*words, TENS.split()[number // 10 - 2], *([ONES.split()[number % 10]] if number % 10 else [])]


def batch_of(numbers: list[int]) -> tuple[Tensor, Tensor, Tensor]:
    """Source ids and their lengths, target ids that end with EOS."""
    sources = [[SOURCE.index(word) for word in in_words(number)] for number in numbers]
    targets = [[*(TARGET.index(digit) for digit in str(number)), EOS] for number in numbers]
    return _padded(sources), torch.tensor([len(row) for row in sources]), _padded(targets)


def _padded(rows: list[list[int]]) -> Tensor:
    return nn.utils.rnn.pad_sequence([torch.tensor(row) for row in rows], batch_first=True, padding_value=PAD)


def numbers_for(split: str) -> list[int]:
    """About a fifth of the numbers, with every digit at every place, is kept for the exam."""
    return [number for number in range(1000) if ((number // 3 + number // 11) % 5 == 2) == (split == "exam")]


def train(attempt: object, updates: int = UPDATES) -> Parts:
    """Teacher forcing with the learner's encode and step."""
    torch.manual_seed(3)
    parts = Parts(len(SOURCE), len(TARGET), HIDDEN)
    optimizer = torch.optim.Adam(parts.parameters(), lr=8e-3)
    known = torch.tensor(numbers_for("training"))
    for update in range(updates):
        source, lengths, targets = batch_of(known[torch.randperm(len(known))[:ROWS]].tolist())
        for group in optimizer.param_groups:
            group["lr"] = 8e-3 * (1 - 0.9 * update / updates)
        states, state = attempt.encode(parts, source, lengths)  # type: ignore[attr-defined]
        real = torch.arange(source.shape[1]) < lengths[:, None]
        words, steps = torch.full_like(targets[:, 0], BOS), []
        for column in range(targets.shape[1]):
            logits, state, _ = attempt.step(parts, words, state, states, real)  # type: ignore[attr-defined]
            steps.append(logits)
            words = targets[:, column]
        optimizer.zero_grad()
        loss = cross_entropy(torch.stack(steps, dim=1).flatten(0, 1), targets.flatten(), ignore_index=PAD)
        torch.autograd.backward(loss)
        nn.utils.clip_grad_norm_(parts.parameters(), 1.0)
        optimizer.step()
    return parts


def trained_and_translated(attempt: object, numbers: list[int]) -> list[list[int]]:
    """What the trained model writes for number words; runs where the learner's code runs."""
    parts = train(attempt)
    source, lengths, _ = batch_of(numbers)
    with torch.no_grad():
        found = attempt.translate(parts, source, lengths, 6)  # type: ignore[attr-defined]
    return [[int(word) for word in row] for row in found]
