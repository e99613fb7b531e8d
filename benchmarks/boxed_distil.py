"""Token-level distillation of the pronunciation model: the student learns the teachers' distribution over phones.

    python benchmarks/boxed_words.py ../shared/data --out benchmarks/boxed --invented 500000
    regard train benchmarks/boxed-g2p-en.toml --out runs/start                   (one step: sizes and tokenizers)
    regard train benchmarks/boxed-g2p-teacher.toml --set train.seed=S --out runs/teacher-S        (five seeds)
    python benchmarks/boxed_distil.py label runs/teacher-* --text benchmarks/boxed --out labels.pt
    python benchmarks/boxed_distil.py train labels.pt --start runs/start --text benchmarks/boxed --out runs/student

`label` writes pronunciations with a distribution for each phone, the mean of the teachers': the entries of CMUdict, and
for each word of words.txt the phones that the teachers choose together. `train` minimises the cross-entropy with these
distributions; in CMUdict's entries `--gold` of the mass is the phone of the dictionary. The student's weights are
averaged with decay (`--decay`), and the development set is scored with that average (share of words right, beam 5). All
text stays on the device, so a step reads nothing from the host. Sun et al. 2019, "Token-Level Ensemble Distillation for
Grapheme-to-Phoneme Conversion".
"""

import argparse
import json
import math
import random
import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import torch
from torch import Tensor
from torch.optim.swa_utils import AveragedModel, get_ema_multi_avg_fn

from boxed_teach import beam_search
from regard.bundle.store import Bundle, load_bundle, save_bundle
from regard.data.batch import Batch
from regard.evaluation import exact_match
from regard.models.seq2seq import Seq2Seq
from regard.runtime.translator import Translator, load
from regard.text.special import BOS, EOS, PAD

Row = tuple[list[int], list[int]]
MULTIPLE = 4
"""Lengths are padded to a multiple of this, so that few shapes occur."""


def entries(path: Path) -> list[tuple[str, str]]:
    rows = [line.split("\t") for line in path.read_text(encoding="utf-8").splitlines()]
    return [(word, phones) for word, phones in rows]


def label(given: argparse.Namespace) -> None:
    teachers = load(given.teachers, given.device)
    bundle = teachers.bundle
    gold = entries(given.text / "train.tsv")
    words = (given.text / "words.txt").read_text(encoding="utf-8").split()[: given.most]
    found = beam_search(teachers, words, beam=1, most_rows=8192, most_pieces=200_000)
    pronounced = [(word, phones[0]) for word, phones in zip(words, found, strict=True) if phones[0]]
    rows: list[Row] = []
    for word, phones in gold + pronounced:
        source = bundle.source.encode(word, eos=bundle.manifest.source_eos).ids
        rows.append((list(source), [BOS, *bundle.target.encode(phones).ids, EOS]))
    order = sorted(range(len(rows)), key=lambda i: (len(rows[i][1]), len(rows[i][0])))
    distributions: list[Tensor] = [torch.empty(0)] * len(rows)
    models = [one.model.eval() for one in teachers.bundles]
    for first in range(0, len(order), 4096):
        chosen = order[first : first + 4096]
        batch = padded([rows[i] for i in chosen]).to(given.device)
        with torch.inference_mode():
            each = [model.logits(model(batch, batch.target_in).features).float().softmax(-1) for model in models]
            mean = torch.stack(each).mean(0).half().cpu()
        for i, one in zip(chosen, mean, strict=True):
            distributions[i] = one[: len(rows[i][1]) - 1].clone()
    given.out.parent.mkdir(parents=True, exist_ok=True)
    torch.save({"rows": rows, "gold": len(gold), "distributions": torch.cat(distributions)}, given.out)
    print(f"{len(gold)} entries of the dictionary, {len(pronounced)} words pronounced by {len(models)} teachers")


def padded(rows: Sequence[Row]) -> Batch:
    def matrix(sequences: list[list[int]], extra: int) -> Tensor:
        longest = math.ceil((max(map(len, sequences)) - extra) / MULTIPLE) * MULTIPLE + extra
        return torch.tensor([[*one, *[PAD] * (longest - len(one))] for one in sequences])

    lengths = [torch.tensor([len(row[side]) - side for row in rows]) for side in (0, 1)]
    sources, targets = matrix([row[0] for row in rows], 0), matrix([row[1] for row in rows], 1)
    return Batch(sources, lengths[0], targets, lengths[1], torch.arange(len(rows)))


class Text:
    """Batches of like length on the device, with the distribution wanted at each position."""

    def __init__(self, path: Path, rows: int, gold: float, device: str) -> None:
        stored = torch.load(path, weights_only=True)
        self.all: list[Row] = stored["rows"]
        self.gold, self.share, self.size, self.device = stored["gold"], gold, rows, device
        self.distributions = stored["distributions"].to(device)
        lengths = torch.tensor([len(row[1]) - 1 for row in self.all])
        self.begin = (lengths.cumsum(0) - lengths).to(device)
        self.known: dict[int, Batch] = {}

    def epochs(self, draw: random.Random) -> Iterator[tuple[Batch, Tensor]]:
        """Endlessly; rows are divided into batches once, by length, and the batches come in a new order each epoch."""
        order = list(range(len(self.all)))
        draw.shuffle(order)
        order.sort(key=lambda i: [math.ceil(len(side) / MULTIPLE) for side in self.all[i]])
        groups = [order[first : first + self.size] for first in range(0, len(order), self.size)]
        batches = []
        for group in groups:
            one = padded([self.all[i] for i in group])
            batches.append(replace(one, indices=torch.tensor(group)).to(self.device))
        while True:
            draw.shuffle(batches)
            for batch in batches:
                yield batch, self.wanted(batch)

    def wanted(self, batch: Batch) -> Tensor:
        """[batch, target, phone]; zeros at padded positions."""
        steps = batch.target_out.shape[1]
        offset = torch.arange(steps, device=self.device)
        real = offset < batch.target_lengths[:, None]
        places = torch.where(real, self.begin[batch.indices][:, None] + offset, 0)
        found = self.distributions[places].float()
        listed = torch.nn.functional.one_hot(batch.target_out, found.shape[-1]).float()
        share = self.share * (batch.indices < self.gold).float()[:, None, None]
        return ((1 - share) * found + share * listed) * real[..., None]


def loss_of(model: Seq2Seq, batch: Batch, wanted: Tensor) -> Tensor:
    logits = model.logits(model(batch, batch.target_in).features).float()
    return -(wanted * logits.log_softmax(-1)).sum() / batch.target_lengths.sum()


def right(bundle: Bundle, words: Sequence[tuple[str, str]], beam: int = 5) -> float:
    """The share of words whose phones are one of the listed pronunciations."""
    listed: dict[str, list[str]] = {}
    for word, phones in words:
        listed.setdefault(word, []).append(phones)
    found = beam_search(Translator(bundle), list(listed), beam)
    return exact_match([one[0] for one in found], list(listed.values()))


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
    average = AveragedModel(model, multi_avg_fn=get_ema_multi_avg_fn(given.decay)).eval()
    bundle = replace(start, model=average.module)
    text = Text(given.labels, given.rows, given.gold, given.device)
    dev = entries(given.text / "dev.tsv")
    optimizer = torch.optim.AdamW(model.parameters(), lr=given.rate, betas=(0.9, 0.98), weight_decay=0.01, fused=True)
    began, journal = time.monotonic(), []
    for step, (batch, wanted) in enumerate(text.epochs(random.Random(given.seed)), start=1):
        part = max(step / given.steps, (time.monotonic() - began) / given.seconds)
        for group in optimizer.param_groups:
            group["lr"] = given.rate * rate(part)
        with torch.autocast(batch.source.device.type, dtype=torch.bfloat16):
            loss = loss_of(model, batch, wanted)
        optimizer.zero_grad(set_to_none=True)
        torch.autograd.backward(loss)
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        average.update_parameters(model)
        if step % given.validate_every == 0 or part >= 1:
            share = right(bundle, dev)
            journal.append({"step": step, "loss": round(float(loss.detach()), 4), "dev words right": round(share, 4)})
            print({**journal[-1], "seconds": round(time.monotonic() - began)}, flush=True)
        if part >= 1:
            break
    known = {key: getattr(start.manifest, key) for key in ("source_eos", "longest_source", "search", "recipe")}
    settings = {key: value for key, value in vars(given).items() if isinstance(value, int | float)}
    save_bundle(
        given.out,
        bundle.model,
        start.source,
        start.target,
        trained={"steps": step, "exact_match": journal[-1]["dev words right"], "distilled": settings},
        **known,
    )
    (given.out.parent / f"{given.out.name}.json").write_text(json.dumps(journal, indent=1) + "\n", encoding="utf-8")


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    verbs = options.add_subparsers(required=True)
    labelling, training = verbs.add_parser("label"), verbs.add_parser("train")
    labelling.add_argument("teachers", nargs="+")
    labelling.add_argument("--most", type=int, help="only so many words of words.txt")
    labelling.set_defaults(verb=label)
    training.add_argument("labels", type=Path)
    training.add_argument("--start", type=Path, required=True, help="a bundle with the student's sizes and tokenizers")
    training.add_argument("--steps", type=int, default=24_000)
    training.add_argument("--rows", type=int, default=1024)
    training.add_argument("--rate", type=float, default=2.5e-3)
    training.add_argument("--dropout", type=float, default=0.05)
    training.add_argument("--gold", type=float, default=0.2, help="the dictionary's share in its own entries")
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
