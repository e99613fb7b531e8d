"""Token-level distillation: a student learns the teachers' distribution over the next piece.

Pronunciation:

    python benchmarks/boxed_words.py ../shared/data --out benchmarks/boxed --invented 500000
    regard train benchmarks/boxed-g2p-en.toml --out runs/start                   (one step: sizes and tokenizers)
    regard train benchmarks/boxed-g2p-teacher.toml --set train.seed=S --out runs/teacher-S        (five seeds)
    python benchmarks/boxed_distil.py label runs/teacher-* --text benchmarks/boxed --out labels.pt
    python benchmarks/boxed_distil.py train labels.pt --start runs/start --text benchmarks/boxed --out runs/student

Translation (text by boxed_data.py; own.tsv and back.tsv, whose targets or sources models wrote, by boxed_teach.py):

    python benchmarks/boxed_distil.py begin en-fr --recipe benchmarks/boxed-teacher.toml --out runs/begin
    python benchmarks/boxed_distil.py encode runs/begin --text train.tsv back.tsv --dropout 0.1 --out pairs.pt
    python benchmarks/boxed_distil.py train pairs.pt --start runs/begin --text TEXT --metric bleu --multiple 8 \\
        --positions 24000 --dropout 0.2 --rate 8e-4 --steps 9000 --out runs/teacher
    python benchmarks/boxed_distil.py label runs/teacher/last en-fr --text TEXT --more own.tsv back.tsv --keep 24 \\
        --out labels.pt
    python benchmarks/boxed_distil.py train labels.pt --start en-fr --continued --text TEXT --metric bleu \\
        --multiple 8 --out runs/student
    python benchmarks/boxed_distil.py mean en-fr runs/student/last --shares 2 3 --out en-fr-mean

`begin` writes new weights of a recipe's model with the tokenizers of a bundle, because teachers and student must have
the same pieces. `encode` writes pairs without labels, for a teacher. `label` writes pairs with a distribution for each
target piece, the mean of the teachers', of which the `--keep` most probable pieces are kept: the pairs of train.tsv and
of `--more`, and for each word of words.txt, if that file exists, the target that the teachers choose together. `train`
minimises the cross-entropy with these distributions, or with the text if there are none; in the pairs of train.tsv
`--gold` of the mass is the piece of the text. The weights are averaged with decay (`--decay`), and the development sets
(dev*.tsv) are scored with that average (beam 5), which is written to OUT/STEP each time; OUT/last is the newest. All
text stays on the device, so a step reads nothing from the host. `mean` writes the weighted mean, in int8,
of the weights of bundles that began with the same weights.
Sun et al. 2019, "Token-Level Ensemble Distillation for Grapheme-to-Phoneme Conversion".
"""

import argparse
import json
import math
import random
import time
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from itertools import repeat
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import sacrebleu
import torch
from torch import Tensor
from torch.nn.functional import cross_entropy
from torch.optim.swa_utils import AveragedModel, get_ema_multi_avg_fn

from boxed_teach import beam_search
from regard.bundle.store import Bundle, load_bundle, save_bundle, save_int8
from regard.data.batch import Batch
from regard.evaluation import exact_match
from regard.models.seq2seq import Seq2Seq
from regard.runtime.translator import Translator
from regard.text.special import BOS, EOS, PAD
from regard.text.tokenizer import Tokenizer
from regard.training.recipe import load_recipe

Row = tuple[list[int], list[int]]
LONGEST = 80
PART = 20_000
MULTIPLE = 4
POSITIONS = 65_536
"""Target positions, padding counted, that are labelled together."""


def entries(path: Path) -> list[tuple[str, str]]:
    rows = [line.split("\t") for line in path.read_text(encoding="utf-8").splitlines()]
    return [(source, target) for source, target in rows]


def begin(given: argparse.Namespace) -> None:
    recipe = load_recipe(given.recipe, given.set)
    known = load_bundle(given.tokenizers)
    torch.manual_seed(recipe.train.seed)
    model = Seq2Seq(recipe.model, len(known.target), len(known.target))
    kept = {key: getattr(known.manifest, key) for key in ("source_eos", "longest_source", "search", "recipe")}
    save_bundle(given.out, model, known.source.without_completion(), known.target, **kept)


def encoded(bundle: Bundle, pairs: Sequence[tuple[str, str]], dropout: float = 0.0) -> list[Row]:
    """The ids of each pair; with dropout, BPE leaves out merges of the source."""
    source = bundle.source.without_completion()
    if dropout:
        content = json.loads(source.data)
        content["config"]["dropout"] = dropout
        source = Tokenizer.from_data(json.dumps(content).encode())
    ends = [EOS] if bundle.manifest.source_eos else []
    parts = [pairs[first : first + PART] for first in range(0, len(pairs), PART)]
    with ProcessPoolExecutor(mp_context=get_context("spawn")) as pool:
        given = (parts, repeat(source), repeat(bundle.target), repeat(ends), repeat(dropout), range(len(parts)))
        return [row for part in pool.map(_encoded_part, *given) for row in part]


def _encoded_part(
    pairs: Sequence[tuple[str, str]], source: Tokenizer, target: Tokenizer, ends: list[int], dropout: float, seed: int
) -> list[Row]:
    draw = random.Random(seed) if dropout else None
    return [
        (source.encode_ids(one, draw)[: LONGEST - 1] + ends, [BOS, *target.encode_ids(other)[: LONGEST - 1], EOS])
        for one, other in pairs
    ]


def stored_rows(rows: Sequence[Row], **others: object) -> dict[str, object]:
    """Flat tensors: ids of all rows and the length of each."""
    for side, name in enumerate(("source", "target")):
        ids = [piece for row in rows for piece in row[side]]
        others[name] = torch.tensor(ids, dtype=torch.short), torch.tensor([len(row[side]) for row in rows])
    return others


def encode(given: argparse.Namespace) -> None:
    """Pairs without labels, for a teacher; every repetition of a line is segmented anew."""
    pairs = [pair for path in given.text for pair in entries(path)]
    rows = encoded(load_bundle(given.start), pairs, given.dropout)
    torch.save(stored_rows(rows, gold=len(rows)), given.out)
    print(f"{len(rows)} pairs", flush=True)


@torch.inference_mode()
def label(given: argparse.Namespace) -> None:
    bundles = [load_bundle(one, given.device) for one in given.teachers]
    teachers = Translator([replace(one, source=one.source.without_completion()) for one in bundles])
    pairs = entries(given.text / "train.tsv")
    gold = len(pairs)
    for path in given.more:
        pairs += entries(path)
    if (given.text / "words.txt").exists():
        words = (given.text / "words.txt").read_text(encoding="utf-8").split()[: given.most]
        found = beam_search(teachers, words, beam=1, most_rows=8192, most_pieces=200_000)
        pairs += [(word, phones[0]) for word, phones in zip(words, found, strict=True) if phones[0]]
    rows = encoded(teachers.bundle, pairs[:gold]) + encoded(teachers.bundle, pairs[gold:], given.dropout)
    print(f"{len(rows)} rows", flush=True)
    models = [one.model.eval() for one in teachers.bundles]
    keep = min(given.keep, len(teachers.bundle.target))
    text = Rows(stored_rows(rows), given.device)
    shares = torch.empty(text.places, keep, dtype=torch.half, device=given.device)
    pieces = torch.empty(text.places, keep, dtype=torch.short, device=given.device)
    order = sorted(range(len(rows)), key=lambda i: (len(rows[i][1]), len(rows[i][0])))
    first = 0
    while first < len(order):
        chosen = order[first : first + max(1, POSITIONS // len(rows[order[first]][1]))]
        first += len(chosen)
        batch, real = text.batch(torch.tensor(chosen), MULTIPLE)
        mean = torch.zeros((), device=given.device)
        with torch.autocast(batch.source.device.type, dtype=torch.bfloat16):
            for model in models:
                features = model(batch, batch.target_in).features.flatten(0, 1)[real]
                mean = mean + model.logits(features).float().softmax(-1) / len(models)
        share, piece = mean.topk(keep)
        places = text.places_of(batch, real)
        shares[places] = (share / share.sum(-1, keepdim=True)).half()
        pieces[places] = piece.short()
    given.out.parent.mkdir(parents=True, exist_ok=True)
    torch.save(stored_rows(rows, gold=gold, shares=shares.cpu(), pieces=pieces.cpu()), given.out)
    print(f"{gold} pairs of the text, {len(rows) - gold} others, {text.places} positions", flush=True)


class Rows:
    """Pairs on the device, from which batches are gathered."""

    def __init__(self, stored: Mapping[str, Any], device: str) -> None:
        self.device = device
        self.ids, self.lengths, self.begins = [], [], []
        for ids, lengths in (stored["source"], stored["target"]):
            self.ids.append(ids.to(device))
            self.lengths.append(lengths)
            self.begins.append((lengths.cumsum(0) - lengths).to(device))
        steps = self.lengths[1] - 1
        self.places = int(steps.sum())
        self.place = (steps.cumsum(0) - steps).to(device)

    def batch(self, rows: Tensor, multiple: int) -> tuple[Batch, Tensor]:
        """The rows, padded to a multiple, and the real positions of their targets."""
        on_device = rows.to(self.device)
        sides = []
        for side in (0, 1):
            lengths = self.lengths[side][rows]
            longest = math.ceil((int(lengths.max()) - side) / multiple) * multiple + side
            offsets, known = torch.arange(longest, device=self.device), lengths.to(self.device)[:, None]
            places = (self.begins[side][on_device][:, None] + offsets).clamp(max=len(self.ids[side]) - 1)
            sides.append((torch.where(offsets < known, self.ids[side][places].long(), PAD), known[:, 0] - side))
        batch = Batch(*sides[0], *sides[1], on_device)
        count, steps = int(self.lengths[1][rows].sum()) - len(rows), batch.target_lengths
        row = torch.repeat_interleave(steps, output_size=count)  # with the size, nothing is read from the device
        offset = torch.arange(count, device=self.device) - (steps.cumsum(0) - steps)[row]
        return batch, row * batch.target_out.shape[1] + offset

    def places_of(self, batch: Batch, real: Tensor) -> Tensor:
        """Where the labels of the real positions are."""
        row, offset = real // batch.target_out.shape[1], real % batch.target_out.shape[1]
        return self.place[batch.indices[row]] + offset


class Text:
    """Batches of like length on the device, with the pieces and shares wanted at each real position."""

    def __init__(self, path: Path, positions: int, multiple: int, gold: float, device: str) -> None:
        stored = torch.load(path, weights_only=True)
        self.rows = Rows(stored, device)
        self.gold, self.share = stored["gold"], gold
        self.positions, self.multiple = positions, multiple
        self.labels = [stored[name].to(device) for name in ("shares", "pieces")] if "shares" in stored else []

    def epochs(self, seed: int) -> Iterator[tuple[Batch, Tensor]]:
        """Batches and their real positions, endlessly, in a new order each epoch; rows are divided anew, by length.

        All batches of a bucket have as many rows, so that few shapes occur: the last one repeats rows of the bucket.
        """
        draw = torch.Generator().manual_seed(seed)
        source, target = (
            torch.div(lengths - side + self.multiple - 1, self.multiple, rounding_mode="floor")
            for side, lengths in enumerate(self.rows.lengths)
        )
        keys, bucket = torch.unique(source * 10_000 + target, return_inverse=True)
        while True:
            batches = []
            for number, key in enumerate(keys.tolist()):
                members = (bucket == number).nonzero()[:, 0]
                size = self.positions // (max(divmod(key, 10_000)) * self.multiple)
                if len(members) < size // 4:
                    continue
                members = members[torch.randperm(len(members), generator=draw)]
                again = torch.randint(len(members), (-len(members) % size,), generator=draw)
                batches += torch.cat([members, members[again]]).split(size)
            for place in torch.randperm(len(batches), generator=draw).tolist():
                yield self.rows.batch(batches[place], self.multiple)

    def wanted(self, batch: Batch, real: Tensor) -> tuple[Tensor, Tensor] | None:
        """[real position, kept + 1] pieces and their shares; the last is the text's own piece."""
        if not self.labels:
            return None
        shares, pieces = (one[self.rows.places_of(batch, real)] for one in self.labels)
        row = real // batch.target_out.shape[1]
        own = self.share * (batch.indices[row] < self.gold).float()[:, None]
        pieces = torch.cat([pieces.long(), batch.target_out.flatten()[real][:, None]], 1)
        return pieces, torch.cat([(1 - own) * shares.float(), own], 1)


def loss_of(model: Seq2Seq, batch: Batch, real: Tensor, wanted: tuple[Tensor, Tensor] | None) -> Tensor:
    """Mean cross-entropy with the wanted shares, which sum to 1: log Σ exp(logits) - Σ share · logit."""
    logits = model.logits(model(batch, batch.target_in).features.flatten(0, 1)[real]).float()
    if wanted is None:
        return cross_entropy(logits, batch.target_out.flatten()[real], label_smoothing=0.1)
    pieces, shares = wanted
    return (logits.logsumexp(-1) - (shares * logits.gather(1, pieces)).sum(-1)).mean()


def scored(bundle: Bundle, pairs: Sequence[tuple[str, str]], metric: str) -> float:
    """The share of sources whose output is one of the listed targets, or BLEU."""
    listed: dict[str, list[str]] = {}
    for source, target in pairs:
        listed.setdefault(source, []).append(target)
    found = [one[0] for one in beam_search(Translator(bundle), list(listed), beam=5)]
    if metric == "exact_match":
        return exact_match(found, list(listed.values()))
    outputs = dict(zip(listed, found, strict=True))
    return sacrebleu.corpus_bleu([outputs[source] for source, _ in pairs], [[target for _, target in pairs]]).score


def rate(part: float) -> float:
    """Linear warm-up over 2 % of the training, then a cosine down to 1 % of the rate."""
    if part < 0.02:
        return (part + 1e-4) / 0.02
    return 0.01 + 0.99 * 0.5 * (1 + math.cos(math.pi * min(1.0, part)))


def train(given: argparse.Namespace) -> None:
    torch.manual_seed(given.seed)
    start = load_bundle(given.start, given.device)
    dropout = {"dropout": given.dropout, "embedding_dropout": given.dropout / 3}
    config = start.model.config
    known = type(config).model_fields
    config = config.model_copy(update={key: value for key, value in dropout.items() if key in known})
    model = Seq2Seq(config, len(start.source), len(start.target)).to(given.device).train()
    if given.continued:
        model.load_state_dict(start.model.state_dict())
    average = AveragedModel(model, multi_avg_fn=get_ema_multi_avg_fn(given.decay)).eval()
    bundle = replace(start, model=average.module)
    text = Text(given.labels, given.positions, given.multiple, given.gold, given.device)
    devs = {path.stem: entries(path)[: given.validate] for path in sorted(given.text.glob("dev*.tsv"))}
    optimizer = torch.optim.AdamW(model.parameters(), lr=given.rate, betas=(0.9, 0.98), weight_decay=0.01, fused=True)
    about = {key: getattr(start.manifest, key) for key in ("source_eos", "longest_source", "search", "recipe")}
    settings = {key: value for key, value in vars(given).items() if isinstance(value, int | float)}
    given.out.mkdir(parents=True, exist_ok=True)
    began, journal = time.monotonic(), []
    for step, (batch, real) in enumerate(text.epochs(given.seed), start=1):
        part = max(step / given.steps, (time.monotonic() - began) / given.seconds)
        for group in optimizer.param_groups:
            group["lr"] = given.rate * rate(part)
        with torch.autocast(batch.source.device.type, dtype=torch.bfloat16):
            loss = loss_of(model, batch, real, text.wanted(batch, real))
        optimizer.zero_grad(set_to_none=True)
        torch.autograd.backward(loss)
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        average.update_parameters(model)
        if step % given.validate_every == 0 or part >= 1:
            scores = {name: round(scored(bundle, dev, given.metric), 4) for name, dev in devs.items()}
            journal.append({"step": step, "loss": round(float(loss.detach()), 4), given.metric: scores})
            print({**journal[-1], "seconds": round(time.monotonic() - began)}, flush=True)
            (given.out / "journal.json").write_text(json.dumps(journal, indent=1) + "\n", encoding="utf-8")
            save_bundle(
                given.out / str(step),
                average.module,
                start.source.without_completion(),
                start.target,
                trained={"steps": step, given.metric: scores["dev"], "distilled": settings},
                **about,
            )
        if part >= 1:
            (given.out / "last").symlink_to(str(step))
            break


@torch.no_grad()
def mean(given: argparse.Namespace) -> None:
    bundles = [load_bundle(one) for one in given.bundles]
    shares = [share / sum(given.shares) for share in given.shares]
    weights = [one.model.state_dict() for one in bundles]
    model = bundles[0].model
    model.load_state_dict(
        {key: sum(share * one[key] for share, one in zip(shares, weights, strict=True)) for key in weights[0]}
    )
    save_int8(given.out, replace(bundles[0], model=model, source=bundles[0].source.without_completion()))


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    verbs = options.add_subparsers(required=True)
    names = ("begin", "encode", "label", "train", "mean")
    beginning, encoding, labelling, training, averaging = (verbs.add_parser(name) for name in names)
    beginning.add_argument("tokenizers", help="a bundle")
    beginning.add_argument("--recipe", type=Path, required=True)
    beginning.add_argument("--set", action="append", default=[], help="override a key of the recipe")
    beginning.add_argument("--out", type=Path, required=True)
    beginning.set_defaults(verb=begin)
    encoding.add_argument("start", help="a bundle")
    encoding.add_argument("--text", type=Path, nargs="+", required=True)
    encoding.add_argument("--dropout", type=float, default=0.0)
    encoding.add_argument("--out", type=Path, required=True)
    encoding.set_defaults(verb=encode)
    labelling.add_argument("teachers", nargs="+")
    labelling.add_argument("--more", type=Path, nargs="*", default=[], help="pairs whose targets nobody wrote")
    labelling.add_argument("--dropout", type=float, default=0.0, help="of BPE, in the sources of --more")
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
    averaging.add_argument("bundles", nargs="+")
    averaging.add_argument("--shares", type=float, nargs="+", required=True, help="a weight for each bundle")
    averaging.add_argument("--out", type=Path, required=True)
    averaging.set_defaults(verb=mean)
    for verb in (labelling, training):
        verb.add_argument("--text", type=Path, required=True)
        verb.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu")
        verb.add_argument("--out", type=Path, required=True)
    given = options.parse_args()
    given.verb(given)


if __name__ == "__main__":
    main()
