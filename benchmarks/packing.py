"""The effect of missing packing and masks: careless encoders against ours, on short and on padded input.

    python benchmarks/packing.py run --task reverse --reader "no packing, no mask" --seeds 0 1 2 --results runs/packing
    python benchmarks/packing.py draw --results runs/packing --out docs/results

Our models have no option to read padding, so the careless ones are written here, as tutorials write them. All have the
tutorial's sizes and see the same batches of 64 shuffled pairs, padded to the longest of the batch. Each is then given
the same unseen sentences three times: alone, padded to the longest length of training, and padded to twice that, as
beside a long neighbour. What a sentence is translated to must not depend on its neighbours.
"""

import argparse
import random
import statistics
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.functional import cross_entropy

from careless import READERS, Ours, Padded, Textbook
from regard.data import phrasebook
from regard.data.pair import Pair
from regard.data.synthetic import synthetic
from regard.plot import LengthQuality, System, quality_by_length, save
from regard.text.special import BOS, EOS, PAD
from regard.text.words import split_words
from seeds import gather, leave, of_task, parser, say, spread

TASKS = {"reverse": (12, ((3, 5), (6, 8), (9, 12))), "phrasebook": (20, ((3, 6), (7, 12), (13, 20)))}


SHOWN = ("ours", "packing, no mask", "no packing, mask", "no packing, no mask")
"""The readers in the picture; the table has all."""
Ids = tuple[list[int], list[int]]


class Vocabulary:
    """Words <-> ids; the four special ids come first."""

    def __init__(self, texts: Sequence[str]) -> None:
        words = sorted({word for text in texts for word in self.split(text)})
        self.ids = {word: number for number, word in enumerate(words, start=4)}

    @staticmethod
    def split(text: str) -> list[str]:
        return split_words(text.lower())

    def encode(self, text: str) -> list[int]:
        return [self.ids.get(word, 1) for word in self.split(text)]

    def __len__(self) -> int:
        return 4 + len(self.ids)


def read(task: str, pairs: int, count: int, seed: int) -> tuple[list[Ids], list[list[Ids]], tuple[int, int]]:
    """Training pairs as ids, test pairs for each range of lengths, and the sizes of the vocabularies."""
    longest, bins = TASKS[task]

    def draw(split: str, many: int, low: int, high: int) -> list[Pair]:
        if task == "reverse":
            return synthetic("reverse", 50, low, high, many, seed if split == "train" else 1, split)  # type: ignore[arg-type]
        return phrasebook.pairs("en-fr", split, many, seed if split == "train" else 0, low, high)

    known = draw("train", pairs, bins[0][0], longest)
    sides = Vocabulary([pair.source for pair in known]), Vocabulary([pair.target for pair in known])

    def ids(some: Sequence[Pair]) -> list[Ids]:
        return [(sides[0].encode(pair.source), sides[1].encode(pair.target)) for pair in some]

    return ids(known), [ids(draw("test", count, *one)) for one in bins], (len(sides[0]), len(sides[1]))


def pad(rows: Sequence[Sequence[int]], width: int = 0) -> Tensor:
    width = max(width, *(len(row) for row in rows))
    return torch.tensor([[*row, *[PAD] * (width - len(row))] for row in rows])


def batch_of(sources: Sequence[Sequence[int]], width: int = 0) -> Padded:
    return Padded(pad(sources, width), torch.tensor([len(source) for source in sources]))


def fit(model: Textbook | Ours, known: list[Ids], steps: int, seed: int, width: int) -> float:
    """Adam on shuffled batches of 64 with all words forced; the mean loss of the last hundred steps."""
    rate = 3e-3
    optimizer = torch.optim.Adam(model.parameters(), rate)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, rate, total_steps=steps, pct_start=0.05)
    order, losses = random.Random(seed), []
    for _ in range(steps):
        some = order.sample(known, 64)
        targets = pad([[BOS, *target, EOS] for _, target in some])
        logits = model.logits(batch_of([source for source, _ in some], width), targets[:, :-1])
        loss = cross_entropy(logits.flatten(0, 1), targets[:, 1:].flatten(), ignore_index=PAD)
        optimizer.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        schedule.step()
        losses.append(float(loss.detach()))
    return statistics.mean(losses[-100:])


@torch.no_grad()
def write(
    model: Textbook | Ours, sources: Sequence[Sequence[int]], width: int, most: int
) -> tuple[list[list[int]], float]:
    """Greedy outputs for sources padded to `width` columns, and how much of attention lay on padding."""
    batch = batch_of(sources, width)
    state, tokens = model.start(batch), torch.full((len(sources),), BOS)
    padding = batch.source == PAD
    columns, wasted = [], []
    for _ in range(most):
        logits, state, weights = model.step(tokens, state)
        tokens = logits.argmax(-1)
        columns.append(tokens.tolist())
        wasted.append(float((weights * padding).sum(-1).mean()))
    rows = [list(row) for row in zip(*columns, strict=True)]
    return [row[: row.index(EOS)] if EOS in row else row for row in rows], statistics.mean(wasted)


def measure(model: Textbook | Ours, tests: list[list[Ids]], longest: int) -> list[dict[str, Any]]:
    """Exact match of each range of lengths alone, padded to the longest of training, and to twice that."""
    found = []
    for some in tests:
        lengths = sorted({len(source) for source, _ in some})
        row: dict[str, Any] = {"sentences": len(some)}
        alone: dict[int, list[int]] = {}
        for name, width in (("alone", 0), ("padded", longest), ("twice", 2 * longest)):
            right = changed = 0
            wasted = []
            for length in lengths:  # equal lengths together, so that alone there is no padding at all
                numbers = [number for number, (source, _) in enumerate(some) if len(source) == length]
                outputs, mass = write(model, [some[number][0] for number in numbers], width, 2 * longest)
                wasted.append(mass)
                for number, output in zip(numbers, outputs, strict=True):
                    right += output == some[number][1]
                    changed += output != alone.setdefault(number, output)
            row[name] = right / len(some)
            row[f"{name}_changed"] = changed / len(some)
            row[f"{name}_on_padding"] = statistics.mean(wasted)
        found.append(row)
    return found


def run(task: str, name: str, seed: int, given: argparse.Namespace) -> None:
    path = given.results / f"{task}-{list(READERS).index(name)}-{seed}.json"
    if path.exists():
        say(f"{path.name} is there")
        return
    torch.manual_seed(seed)
    started, (longest, _) = time.monotonic(), TASKS[task]
    known, tests, sizes = read(task, given.pairs, given.count, seed)
    reader = READERS[name]
    model = Ours(*sizes) if reader is None else Textbook(reader, *sizes)
    say(f"{task}, {name}, seed {seed}: training")
    loss = fit(model, known, given.steps, seed, longest if reader is not None and reader.fixed else 0)
    model.eval()
    if isinstance(model, Textbook) and model.reader.forget:
        model.reader = replace(model.reader, mask=False)
    record = {
        "task": task,
        "reader": name,
        "seed": seed,
        "steps": given.steps,
        "loss": loss,
        "bins": measure(model, tests, longest),
        "seconds": round(time.monotonic() - started, 1),
    }
    leave(path, record)
    say(f"{task}, {name}, seed {seed}: {record['seconds']} s, written")


def draw(given: argparse.Namespace) -> None:
    records = gather(given.results, given.out / "packing.json", given.machine)
    for task, (longest, bins) in TASKS.items():
        mine = of_task(records, task, "reader", READERS)
        if not mine:
            continue
        names = [f"{low}–{high}" for low, high in bins]
        print(f"\n### {task}, padded to {longest} and {2 * longest}: exact match in %, and outputs that changed\n")
        heads = [f"{bin_} {how}" for how in ("alone", f"padded to {longest}", f"to {2 * longest}") for bin_ in names]
        print(
            f"| reader | {' | '.join(heads)} | changed at {longest} | at {2 * longest} | on padding at {2 * longest} |"
        )
        print("|" + "---|" * (len(heads) + 4))
        for name, some in mine.items():
            cells = [
                spread([100 * one["bins"][place][how] for one in some])
                for how in ("alone", "padded", "twice")
                for place in range(len(bins))
            ]
            cells += [
                spread([100 * statistics.mean(part[key] for part in one["bins"]) for one in some])
                for key in ("padded_changed", "twice_changed", "twice_on_padding")
            ]
            print(f"| {name} | {' | '.join(cells)} |")
        picture(mine, names, given.out / f"packing_{task}.png", longest)


def picture(mine: dict[str, list[dict[str, Any]]], names: list[str], path: Path, longest: int) -> None:
    """Exact match of each reader with the sentence alone, the case of the claim."""
    shown = [name for name in SHOWN if name in mine]
    if not shown:
        return
    systems = tuple(
        System(
            name,
            *(
                tuple(edge([one["bins"][place]["alone"] for one in mine[name]]) for place in range(len(names)))
                for edge in (statistics.mean, min, max)
            ),
        )
        for name in shown
    )
    counts = tuple(part["sentences"] for part in mine[shown[0]][0]["bins"])
    title = f"Sentences alone, trained among longer ones (up to {longest})"
    save(quality_by_length(LengthQuality("exact match", tuple(names), counts, systems), title=title), path)


def main() -> None:
    options = parser(__doc__, TASKS, "reader", READERS)
    options.add_argument("--steps", type=int, default=1000)
    options.add_argument("--pairs", type=int, default=10_000)
    options.add_argument("--count", type=int, default=300, help="test sentences of each range of lengths")
    options.add_argument("--results", type=Path, default=Path("runs/packing"), help="one file for each run")
    given = options.parse_args()
    if given.what == "draw":
        draw(given)
        return
    torch.set_num_threads(1)
    for seed in given.seeds:
        for task in given.task:
            for name in given.variants:
                run(task, name, seed, given)


if __name__ == "__main__":
    main()
