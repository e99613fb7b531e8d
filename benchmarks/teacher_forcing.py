"""Teacher forcing against exposure bias: ratios and falling schedules, by length and by position.

    python benchmarks/teacher_forcing.py run --task reverse --forcing 0.5 --seeds 0 1 2 --results runs/forcing
    python benchmarks/teacher_forcing.py draw --results runs/forcing --out docs/results

`run` trains one variant for each seed, measures it and leaves TASK-FORCING-SEED.json; what lies there already is not
done again, and a training that was cut short goes on. `draw` merges whatever lies there into teacher_forcing.json and
a picture for each task, and prints the tables.

Two things are compared on the same unseen sentences: the best next word given the TRUE words before it, and greedy
decoding, which reads its own. Exposure bias is what the second loses against the first. It shows most cleanly after a
first mistake: at those places, how many words are right when the model goes on from its own words, and how many when it
is given the true ones?
"""

import argparse
import statistics
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch

from regard.data import phrasebook
from regard.data.batching import EpochBatcher
from regard.data.dataset import encode_pairs
from regard.data.pair import Pair
from regard.data.splits import load_split
from regard.data.synthetic import synthetic
from regard.evaluation import bleu, exact_match
from regard.models.seq2seq import Seq2Seq
from regard.plot import LengthQuality, System, quality_by_length, save
from regard.runtime.translator import load
from regard.search import SearchConfig, decode
from regard.text.special import PAD
from regard.text.words import split_words
from regard.training.journal import NAME, read_journal
from regard.training.recipe import load_recipe
from regard.training.run import train
from seeds import gather, leave, of_task, parser, say, spread

FORCING = {
    "1": (),
    "0.75": ("train.teacher_forcing=0.75",),
    "0.5": ("train.teacher_forcing=0.5",),
    "0.25": ("train.teacher_forcing=0.25",),
    "0": ("train.teacher_forcing=0",),
    "linear": ("train.teacher_forcing=1", "train.teacher_forcing_schedule=linear"),
    "inverse-sigmoid": ("train.teacher_forcing=1", "train.teacher_forcing_schedule=inverse-sigmoid"),
}
NAMES = {"linear": "1 → 0, linear", "inverse-sigmoid": "1 → 0, inverse sigmoid"}


@dataclass(frozen=True)
class Task:
    """A recipe made short, and the lengths it is tested on: those of training first, longer ones after."""

    recipe: str
    overrides: tuple[str, ...]
    bins: tuple[tuple[int, int], ...]
    measure: str = "exact_match"


TASKS = {
    "reverse": Task(
        "tutorial-lstm", ("train.threads=1", "train.teacher_forcing=1"), ((3, 7), (8, 12), (13, 14), (15, 16), (17, 20))
    ),
    "phrasebook": Task(
        "demo",
        ("train.steps=1000", "data.train=30000", "train.validate_every=250", "train.threads=1"),
        ((3, 10), (11, 20), (21, 30), (31, 40)),
    ),
    "multi30k": Task(
        "multi30k-en-de",
        ("train.steps=1500", "train.validate_every=500", "train.average=0", "train.threads=1"),
        ((1, 8), (9, 12), (13, 16), (17, 60)),
        "bleu",
    ),
}


def sentences(task: str, count: int) -> list[Pair]:
    """Unseen pairs, `count` for each bin; of Multi30k the test set of 2016 as it is."""
    if task == "multi30k":
        return load_split(load_recipe(TASKS[task].recipe, ()).data, "test").pairs[: 4 * count]
    found: list[Pair] = []
    for shortest, longest in TASKS[task].bins:
        if task == "reverse":
            found += synthetic("reverse", 50, shortest, longest, count, seed=1, split="test")
        else:
            found += phrasebook.pairs("en-fr", "test", count, shortest=shortest, longest=longest)
    return found


@dataclass(frozen=True)
class Seen:
    """One sentence: which of its places are right under the true words and under the model's own, and the texts."""

    words: int
    forced: tuple[bool, ...]
    free: tuple[bool, ...]
    forced_overlap: float
    free_overlap: float
    loss: float
    output: str
    reference: str


def overlap(found: Sequence[int], wanted: Sequence[int]) -> float:
    """The share of the reference's tokens that occur at any position."""
    return sum((Counter(found) & Counter(wanted)).values()) / len(wanted)


@torch.no_grad()
def look(folder: Path, pairs: Sequence[Pair], device: str) -> list[Seen]:
    """Both ways of reading, sentence by sentence."""
    bundle = load(folder, device).bundles[0]
    model: Seq2Seq = bundle.model
    model.eval()
    encoded = encode_pairs(pairs, bundle.source, bundle.target)
    batcher = EpochBatcher(
        encoded, sentences=50, shuffle=False, bucket=True, source_eos=bundle.manifest.source_eos
    )  # padding never changes the answer
    found: dict[int, Seen] = {}
    for items in batcher.plan():
        batch = batcher.batch(items).to(device)
        logits = model.logits(model(batch, batch.target_in).features).log_softmax(-1)
        real = batch.target_out != PAD
        losses = -logits.gather(-1, batch.target_out[..., None])[..., 0]
        guesses = logits.argmax(-1)
        written = decode(model, batch, batch.source_lengths, SearchConfig())
        for row, item in enumerate(batch.indices.tolist()):
            wanted = batch.target_out[row][real[row]].tolist()
            forced = guesses[row][real[row]].tolist()
            free = list(written[row][0].tokens)
            number = int(encoded.numbers[item])
            found[number] = Seen(
                words=len(split_words(pairs[number].source)),
                forced=tuple(a == b for a, b in zip(forced, wanted, strict=True)),
                free=tuple(place < len(free) and free[place] == token for place, token in enumerate(wanted)),
                forced_overlap=overlap(forced, wanted),
                free_overlap=overlap(free, wanted),
                loss=float(losses[row][real[row]].sum()),
                output=bundle.target.decode(free),
                reference=bundle.target.written(pairs[number].target),
            )
    return [found[number] for number in sorted(found)]


def summary(seen: Sequence[Seen]) -> dict[str, float | int | None]:
    """The figures of some sentences; `after_*` count only places after a sentence's first own mistake."""
    places = sum(len(one.forced) for one in seen)
    after = [(f, g) for one in seen if False in one.free for f, g in _after(one)]
    return {
        "sentences": len(seen),
        "exact_match": exact_match([one.output for one in seen], [one.reference for one in seen]),
        "bleu": bleu([one.output for one in seen], [one.reference for one in seen]).score,
        "loss": sum(one.loss for one in seen) / places,
        "forced_accuracy": sum(sum(one.forced) for one in seen) / places,
        "free_accuracy": sum(sum(one.free) for one in seen) / places,
        "forced_overlap": statistics.mean(one.forced_overlap for one in seen),
        "free_overlap": statistics.mean(one.free_overlap for one in seen),
        "after_places": len(after),
        "after_forced": sum(f for f, _ in after) / len(after) if after else None,
        "after_free": sum(g for _, g in after) / len(after) if after else None,
    }


def _after(one: Seen) -> list[tuple[bool, bool]]:
    first = one.free.index(False)
    return list(zip(one.forced[first + 1 :], one.free[first + 1 :], strict=True))


def by_position(seen: Sequence[Seen], most: int = 25) -> list[tuple[int, float, float]]:
    """How many sentences reach place t, and the share that is right there: true words before it, own words."""
    rows = []
    for place in range(most):
        here = [one for one in seen if len(one.forced) > place]
        if here:
            right = sum(one.forced[place] for one in here), sum(one.free[place] for one in here)
            rows.append((len(here), right[0] / len(here), right[1] / len(here)))
    return rows


def run(task: str, forcing: str, seed: int, given: argparse.Namespace) -> None:
    """Train one variant and write its figures, unless they exist."""
    path = given.results / f"{task}-{forcing}-{seed}.json"
    if path.exists():
        say(f"{path.name} is there")
        return
    plan, started = TASKS[task], time.monotonic()
    folder = given.runs / f"forcing-{task}-{forcing}-{seed}"
    overrides = [*plan.overrides, *FORCING[forcing], f"train.seed={seed}", f"train.device={given.device}", *given.set]
    say(f"{path.stem}: training")
    result = train(plan.recipe, folder, overrides=overrides, resume=(folder / "last").exists())
    if result.reason == "interrupted":
        raise SystemExit(f"{path.stem} was stopped; the same command continues")
    trained = time.monotonic() - started
    seen = look(folder, sentences(task, given.count), given.device)
    bins = [[one for one in seen if low <= one.words <= high] for low, high in plan.bins]
    record: dict[str, Any] = {
        "task": task,
        "forcing": forcing,
        "seed": seed,
        "seconds": round(trained, 1),
        "validations": [
            (one["step"], one["loss"], one["score"])
            for one in read_journal(folder / NAME)
            if one["event"] == "validated"
        ],
        "bins": [
            {"shortest": low, "longest": high, **summary(some)}
            for (low, high), some in zip(plan.bins, bins, strict=True)
            if some
        ],
        "by_position": by_position(bins[-1] or seen),
    }
    leave(path, record)
    say(f"{path.stem}: {trained:.0f} s of training, written")


def draw(given: argparse.Namespace) -> None:
    """All measurements as one record, one picture for each task, and tables."""
    records = gather(given.results, given.out / "teacher_forcing.json", given.machine)
    for task, plan in TASKS.items():
        mine = of_task(records, task, "forcing", FORCING)
        if not mine:
            continue
        print(f"\n### {task}, seeds {sorted({one['seed'] for some in mine.values() for one in some})}\n")
        print_tables(mine, plan)
        systems = tuple(
            System(NAMES.get(name, name), *(band(some, plan.measure, edge) for edge in (statistics.mean, min, max)))
            for name, some in mine.items()
        )
        first = next(iter(mine.values()))[0]["bins"]
        bins = tuple(f"{one['shortest']}–{one['longest']}" for one in first)
        counts = tuple(one["sentences"] for one in first)
        name = "BLEU" if plan.measure == "bleu" else "exact match"
        save(
            quality_by_length(
                LengthQuality(name, bins, counts, systems), title=f"{task}: share of true words read while training"
            ),
            given.out / f"teacher_forcing_{task}.png",
        )


def band(some: Sequence[dict[str, Any]], measure: str, edge: Any) -> tuple[float, ...]:
    return tuple(edge([one["bins"][place][measure] for one in some]) for place in range(len(some[0]["bins"])))


def print_tables(mine: dict[str, list[dict[str, Any]]], plan: Task) -> None:
    """Free-running quality by length; then what the last bin loses when the model reads its own words."""
    bins = next(iter(mine.values()))[0]["bins"]
    names = [f"{one['shortest']}–{one['longest']}" for one in bins]
    print(f"| true words read | {' | '.join(names)} | validation loss |\n|{'---|' * (len(names) + 2)}")
    scale = 1 if plan.measure == "bleu" else 100
    for name, some in mine.items():
        cells = [spread([scale * one["bins"][place][plan.measure] for one in some]) for place in range(len(bins))]
        loss = spread([one["validations"][-1][1] for one in some], ".3f")
        print(f"| {NAMES.get(name, name)} | {' | '.join(cells)} | {loss} |")
    columns = ("forced_accuracy", "free_accuracy", "forced_overlap", "free_overlap", "after_forced", "after_free")
    for place in (len(bins) - 2, len(bins) - 1):
        print(
            f"\nlength {names[place]}, %\n| true words read | {' | '.join(columns)} |\n|{'---|' * (len(columns) + 1)}"
        )
        for name, some in mine.items():
            known = [
                [one["bins"][place][key] for one in some if one["bins"][place][key] is not None] for key in columns
            ]
            print(f"| {NAMES.get(name, name)} | {' | '.join(spread([100 * one for one in row]) for row in known)} |")


def main() -> None:
    options = parser(__doc__, TASKS, "forcing", FORCING)
    options.add_argument("--count", type=int, default=250, help="test sentences of each length")
    options.add_argument("--set", nargs="*", default=[], help="further keys of the recipe, KEY=VALUE")
    options.add_argument("--device", default="cpu")
    options.add_argument("--runs", type=Path, default=Path("runs"))
    options.add_argument("--results", type=Path, default=Path("runs/forcing"), help="one file for each run")
    given = options.parse_args()
    if given.what == "draw":
        draw(given)
        return
    for seed in given.seeds:
        for task in given.task:
            for forcing in given.variants:
                run(task, forcing, seed, given)


if __name__ == "__main__":
    main()
