"""Token-level distillation: a student learns the teachers' distribution over the next piece.

Pronunciation:

    python benchmarks/boxed_words.py ../shared/data --out benchmarks/boxed --invented 500000
    regard train benchmarks/boxed-g2p-en.toml --out runs/start                   (one step: sizes and tokenizers)
    regard train benchmarks/boxed-g2p-teacher.toml --set train.seed=S --out runs/teacher-S        (five seeds)
    python benchmarks/boxed_distil.py label runs/teacher-* --text benchmarks/boxed --out labels.pt
    python benchmarks/boxed_distil.py train labels.pt --start runs/start --text benchmarks/boxed --out runs/student

Translation (text by boxed_data.py and boxed_teach.py):

    python benchmarks/boxed_distil.py begin en-fr --recipe benchmarks/boxed-teacher.toml --out runs/begin
    regard train benchmarks/boxed-teacher.toml --set train.start_from=runs/begin --out runs/teacher
    python benchmarks/boxed_distil.py label runs/teacher en-fr --text TEXT --keep 24 --out labels.pt
    python benchmarks/boxed_distil.py train labels.pt --start en-fr --continued --text TEXT --metric bleu \\
        --multiple 8 --out runs/student

`begin` writes new weights of a recipe's model with the tokenizers of a bundle, because teachers and student must have
the same pieces. `label` writes pairs with a distribution for each target piece, the mean of the teachers', of which the
`--keep` most probable pieces are kept: the pairs of train.tsv, and for each word of words.txt, if that file exists, the
target that the teachers choose together. `train` minimises the cross-entropy with these distributions; in the pairs of
train.tsv `--gold` of the mass is the piece of the text. The student's weights are averaged with decay (`--decay`), and
the development set is scored with that average (beam 5). All text stays on the device, so a step reads nothing from the
host. Sun et al. 2019, "Token-Level Ensemble Distillation for Grapheme-to-Phoneme Conversion".
"""

import argparse
import itertools
import json
import math
import random
import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import sacrebleu
import torch
from torch import Tensor
from torch.optim.swa_utils import AveragedModel, get_ema_multi_avg_fn

from boxed_teach import beam_search
from regard.bundle.store import Bundle, load_bundle, save_bundle
from regard.data.batch import Batch
from regard.evaluation import exact_match
from regard.models.seq2seq import Seq2Seq
from regard.runtime.translator import Translator
from regard.text.special import BOS, EOS, PAD
from regard.training.recipe import load_recipe

Row = tuple[list[int], list[int]]
MULTIPLE = 4
POSITIONS = 65_536
"""Target positions, padding counted, that are labelled together."""


def entries(path: Path) -> list[tuple[str, str]]:
    rows = [line.split("\t") for line in path.read_text(encoding="utf-8").splitlines()]
    return [(word, phones) for word, phones in rows]


def begin(given: argparse.Namespace) -> None:
    recipe = load_recipe(given.recipe, given.set)
    known = load_bundle(given.tokenizers)
    model = Seq2Seq(recipe.model, len(known.target), len(known.target))
    kept = {key: getattr(known.manifest, key) for key in ("source_eos", "longest_source", "search", "recipe")}
    save_bundle(given.out, model, known.source.without_completion(), known.target, **kept)


@torch.inference_mode()
def label(given: argparse.Namespace) -> None:
    bundles = [load_bundle(one, given.device) for one in given.teachers]
    teachers = Translator([replace(one, source=one.source.without_completion()) for one in bundles])
    bundle = teachers.bundle
    pairs = entries(given.text / "train.tsv")
    gold = len(pairs)
    if (given.text / "words.txt").exists():
        words = (given.text / "words.txt").read_text(encoding="utf-8").split()[: given.most]
        found = beam_search(teachers, words, beam=1, most_rows=8192, most_pieces=200_000)
        pairs += [(word, phones[0]) for word, phones in zip(words, found, strict=True) if phones[0]]
    rows: list[Row] = []
    for source, target in pairs:
        ends = [EOS] if bundle.manifest.source_eos else []
        rows.append((bundle.source.encode_ids(source) + ends, [BOS, *bundle.target.encode_ids(target), EOS]))
    order = sorted(range(len(rows)), key=lambda i: (len(rows[i][1]), len(rows[i][0])))
    models = [one.model.eval() for one in teachers.bundles]
    keep = min(given.keep, len(bundle.target))
    begins = [0, *itertools.accumulate(len(row[1]) - 1 for row in rows)]
    shares = torch.empty(begins[-1], keep, dtype=torch.half, device=given.device)
    pieces = torch.empty(begins[-1], keep, dtype=torch.short, device=given.device)
    first = 0
    while first < len(order):
        chosen = order[first : first + max(1, POSITIONS // len(rows[order[first]][1]))]
        first += len(chosen)
        batch = padded([rows[i] for i in chosen], MULTIPLE).to(given.device)
        mean = torch.zeros((), device=given.device)
        with torch.autocast(batch.source.device.type, dtype=torch.bfloat16):
            for model in models:
                mean = mean + model.logits(model(batch, batch.target_in).features).float().softmax(-1) / len(models)
        share, piece = mean.topk(keep)
        real = torch.arange(share.shape[1], device=given.device) < batch.target_lengths[:, None]
        places = torch.tensor([begins[i] for i in chosen], device=given.device)[:, None] + real.cumsum(1) - 1
        shares[places[real]] = (share / share.sum(-1, keepdim=True))[real].half()
        pieces[places[real]] = piece[real].short()
    given.out.parent.mkdir(parents=True, exist_ok=True)
    stored = {"gold": gold, "shares": shares.cpu(), "pieces": pieces.cpu()}
    for side, name in enumerate(("source", "target")):
        ids = [piece for row in rows for piece in row[side]]
        stored[name] = torch.tensor(ids, dtype=torch.short), torch.tensor([len(row[side]) for row in rows])
    torch.save(stored, given.out)
    print(f"{gold} pairs of the text, {len(rows) - gold} written by {len(models)} teachers, {begins[-1]} positions")


def padded(rows: Sequence[Row], multiple: int) -> Batch:
    def matrix(sequences: list[list[int]], extra: int) -> Tensor:
        longest = math.ceil((max(map(len, sequences)) - extra) / multiple) * multiple + extra
        return torch.tensor([[*one, *[PAD] * (longest - len(one))] for one in sequences])

    lengths = [torch.tensor([len(row[side]) - side for row in rows]) for side in (0, 1)]
    sources, targets = matrix([row[0] for row in rows], 0), matrix([row[1] for row in rows], 1)
    return Batch(sources, lengths[0], targets, lengths[1], torch.arange(len(rows)))


class Text:
    """Batches of like length on the device, with the pieces and shares wanted at each real position."""

    def __init__(self, path: Path, positions: int, multiple: int, gold: float, device: str) -> None:
        stored = torch.load(path, weights_only=True)
        sides = [
            [one.tolist() for one in ids.split(lengths.tolist())]
            for ids, lengths in (stored["source"], stored["target"])
        ]
        self.all: list[Row] = list(zip(*sides, strict=True))
        self.gold, self.share, self.device = stored["gold"], gold, device
        self.positions, self.multiple = positions, multiple
        self.shares, self.pieces = stored["shares"].to(device), stored["pieces"].to(device)
        lengths = torch.tensor([len(row[1]) - 1 for row in self.all])
        self.begin = (lengths.cumsum(0) - lengths).to(device)

    def epochs(self, draw: random.Random) -> Iterator[tuple[Batch, Tensor]]:
        """Batches and their real positions, endlessly, in a new order each epoch; rows are divided once, by length.

        All batches of a bucket have as many rows, so that few shapes occur: the last one repeats rows of the bucket.
        """
        buckets: dict[tuple[int, int], list[int]] = {}
        for i, (source, target) in enumerate(self.all):
            key = math.ceil(len(source) / self.multiple), math.ceil((len(target) - 1) / self.multiple)
            buckets.setdefault(key, []).append(i)
        batches = []
        for key, members in buckets.items():
            draw.shuffle(members)
            size = self.positions // (max(key) * self.multiple)
            if len(members) < size // 4:
                continue
            members += draw.choices(members, k=-len(members) % size)
            for first in range(0, len(members), size):
                group = members[first : first + size]
                one = padded([self.all[i] for i in group], self.multiple)
                real = (one.target_out != PAD).flatten().nonzero().squeeze(1)
                batches.append((replace(one, indices=torch.tensor(group)).to(self.device), real.to(self.device)))
        print(f"{len(batches)} batches of {len(buckets)} lengths", flush=True)
        while True:
            draw.shuffle(batches)
            yield from batches

    def wanted(self, batch: Batch, real: Tensor) -> tuple[Tensor, Tensor]:
        """[real position, kept + 1] pieces and their shares; the last is the text's own piece."""
        row, offset = real // batch.target_out.shape[1], real % batch.target_out.shape[1]
        places = self.begin[batch.indices[row]] + offset
        share = self.share * (batch.indices[row] < self.gold).float()[:, None]
        pieces = torch.cat([self.pieces[places].long(), batch.target_out.flatten()[real][:, None]], 1)
        return pieces, torch.cat([(1 - share) * self.shares[places].float(), share], 1)


def loss_of(model: Seq2Seq, batch: Batch, real: Tensor, pieces: Tensor, shares: Tensor) -> Tensor:
    """Mean cross-entropy with the wanted shares, which sum to 1: log Σ exp(logits) - Σ share · logit."""
    logits = model.logits(model(batch, batch.target_in).features.flatten(0, 1)[real]).float()
    return (logits.logsumexp(-1) - (shares * logits.gather(1, pieces)).sum(-1)).mean()


def scored(bundle: Bundle, pairs: Sequence[tuple[str, str]], metric: str) -> float:
    """The share of sources whose output is one of the listed targets, or BLEU."""
    listed: dict[str, list[str]] = {}
    for source, target in pairs:
        listed.setdefault(source, []).append(target)
    found = [one[0] for one in beam_search(Translator(bundle), list(listed), beam=5)]
    if metric == "exact_match":
        return exact_match(found, list(listed.values()))
    return sacrebleu.corpus_bleu(found, [[targets[0] for targets in listed.values()]]).score


def rate(part: float) -> float:
    """Linear warm-up over 2 % of the training, then a cosine down to 1 % of the rate."""
    if part < 0.02:
        return (part + 1e-4) / 0.02
    return 0.01 + 0.99 * 0.5 * (1 + math.cos(math.pi * min(1.0, part)))


def train(given: argparse.Namespace) -> None:
    torch.manual_seed(given.seed)
    start = load_bundle(given.start, given.device)
    config = start.model.config.model_copy(update={"dropout": given.dropout, "embedding_dropout": given.dropout / 3})
    model = Seq2Seq(config, len(start.source), len(start.target)).to(given.device).train()
    if given.continued:
        model.load_state_dict(start.model.state_dict())
    average = AveragedModel(model, multi_avg_fn=get_ema_multi_avg_fn(given.decay)).eval()
    bundle = replace(start, model=average.module)
    text = Text(given.labels, given.positions, given.multiple, given.gold, given.device)
    dev = entries(given.text / "dev.tsv")[: given.validate]
    optimizer = torch.optim.AdamW(model.parameters(), lr=given.rate, betas=(0.9, 0.98), weight_decay=0.01, fused=True)
    began, journal = time.monotonic(), []
    for step, (batch, real) in enumerate(text.epochs(random.Random(given.seed)), start=1):
        part = max(step / given.steps, (time.monotonic() - began) / given.seconds)
        for group in optimizer.param_groups:
            group["lr"] = given.rate * rate(part)
        with torch.autocast(batch.source.device.type, dtype=torch.bfloat16):
            loss = loss_of(model, batch, real, *text.wanted(batch, real))
        optimizer.zero_grad(set_to_none=True)
        torch.autograd.backward(loss)
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        average.update_parameters(model)
        if step % given.validate_every == 0 or part >= 1:
            score = round(scored(bundle, dev, given.metric), 4)
            journal.append({"step": step, "loss": round(float(loss.detach()), 4), given.metric: score})
            print({**journal[-1], "seconds": round(time.monotonic() - began)}, flush=True)
        if part >= 1:
            break
    known = {key: getattr(start.manifest, key) for key in ("source_eos", "longest_source", "search", "recipe")}
    settings = {key: value for key, value in vars(given).items() if isinstance(value, int | float)}
    save_bundle(
        given.out,
        bundle.model,
        start.source.without_completion(),
        start.target,
        trained={"steps": step, given.metric: journal[-1][given.metric], "distilled": settings},
        **known,
    )
    (given.out.parent / f"{given.out.name}.json").write_text(json.dumps(journal, indent=1) + "\n", encoding="utf-8")


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    verbs = options.add_subparsers(required=True)
    beginning, labelling, training = (verbs.add_parser(verb) for verb in ("begin", "label", "train"))
    beginning.add_argument("tokenizers", help="a bundle")
    beginning.add_argument("--recipe", type=Path, required=True)
    beginning.add_argument("--set", action="append", default=[], help="override a key of the recipe")
    beginning.add_argument("--out", type=Path, required=True)
    beginning.set_defaults(verb=begin)
    labelling.add_argument("teachers", nargs="+")
    labelling.add_argument("--most", type=int, help="only so many words of words.txt")
    labelling.set_defaults(verb=label)
    labelling.add_argument("--keep", type=int, default=64, help="pieces of a distribution that are kept")
    training.add_argument("labels", type=Path)
    training.add_argument("--start", required=True, help="a bundle with the student's sizes and tokenizers")
    training.add_argument("--steps", type=int, default=24_000)
    training.add_argument("--continued", action="store_true", help="start with the weights of --start, too")
    training.add_argument("--positions", type=int, default=16_000, help="of the longer side of a batch, with padding")
    training.add_argument("--multiple", type=int, default=4, help="lengths are padded to a multiple of this")
    training.add_argument("--rate", type=float, default=2.5e-3)
    training.add_argument("--dropout", type=float, default=0.05)
    training.add_argument("--gold", type=float, default=0.2, help="the text's share in its own pairs")
    training.add_argument("--metric", choices=("exact_match", "bleu"), default="exact_match")
    training.add_argument("--validate", type=int, help="only so many pairs of dev.tsv")
    training.add_argument("--decay", type=float, default=0.9995, help="of the averaged weights")
    training.add_argument("--validate-every", type=int, default=4000)
    training.add_argument(
        "--seconds", type=float, default=math.inf, help="the training ends after this time at the latest"
    )
    training.add_argument("--seed", type=int, default=0)
    training.set_defaults(verb=train)
    for verb in (labelling, training):
        verb.add_argument("--text", type=Path, required=True)
        verb.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu")
        verb.add_argument("--out", type=Path, required=True)
    given = options.parse_args()
    given.verb(given)


if __name__ == "__main__":
    main()
