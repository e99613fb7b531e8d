"""The tutorial run, ours beside the textbook loop: same sizes, same batches, one thread each, in one process.

    python benchmarks/tutorial_lstm.py [--steps 30] [--json FILE]

The textbook loop is written from the equations as tutorials write it: torch's own LSTM called once for every decoder
step, keys projected and the output layer applied at every step, gradients by autograd. Agreement comes first: with the
textbook's weights copied into our model both give the same loss and the same gradients, or no time is printed.
"""

import argparse
import json
import platform
import statistics
import time
from datetime import date
from pathlib import Path

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from regard.data.batch import Batch
from regard.data.batching import Batcher
from regard.data.dataset import encode_pairs
from regard.data.synthetic import reverse
from regard.models.presets import preset
from regard.models.seq2seq import Seq2Seq
from regard.text.config import TokenizerConfig
from regard.text.tokenizer import Tokenizer
from regard.train.loss import batch_loss

VOCABULARY, EMBEDDING, UNITS, WIDTH, ROWS = 51, 64, 128, 64, 64


class Textbook(nn.Module):
    """e = v·tanh(W_h h + W_s s), α = softmax(e), c = Σ α h, s = LSTM([y; c], s), logits = W [s; c]."""

    def __init__(self) -> None:
        super().__init__()
        self.source = nn.Embedding(VOCABULARY, EMBEDDING, padding_idx=0)
        self.encoder = nn.LSTM(EMBEDDING, UNITS, batch_first=True, bidirectional=True)
        self.target = nn.Embedding(VOCABULARY, EMBEDDING, padding_idx=0)
        self.keys = nn.Linear(2 * UNITS, WIDTH, bias=False)
        self.query = nn.Linear(UNITS, WIDTH, bias=False)
        self.energy = nn.Linear(WIDTH, 1, bias=False)
        self.decoder = nn.LSTM(EMBEDDING + 2 * UNITS, UNITS, batch_first=True)
        self.output = nn.Linear(UNITS + 2 * UNITS, VOCABULARY)

    def forward(self, batch: Batch) -> Tensor:
        packed = pack_padded_sequence(
            self.source(batch.source), batch.source_lengths, batch_first=True, enforce_sorted=False
        )
        states, _ = pad_packed_sequence(self.encoder(packed)[0], batch_first=True)
        rows = batch.source.size(0)
        hidden = (states.new_zeros(1, rows, UNITS), states.new_zeros(1, rows, UNITS))
        logits = []
        for t in range(batch.target_in.size(1)):
            energy = self.energy(torch.tanh(self.keys(states) + self.query(hidden[0][0])[:, None]))[..., 0]
            weights = torch.softmax(energy.masked_fill(~batch.source_real, float("-inf")), dim=-1)
            context = torch.bmm(weights[:, None], states)[:, 0]
            word = self.target(batch.target_in[:, t])
            state, hidden = self.decoder(torch.cat([word, context], dim=-1)[:, None], hidden)
            logits.append(self.output(torch.cat([state[:, 0], context], dim=-1)))
        wanted = batch.target_out
        return F.cross_entropy(
            torch.stack(logits, dim=1).flatten(0, 1), wanted.flatten(), ignore_index=0, reduction="sum"
        )


def ours_with(weights: Textbook) -> Seq2Seq:
    """Our model with the textbook's numbers in it."""
    model = Seq2Seq(preset("tutorial-lstm", dropout=0.0), VOCABULARY, VOCABULARY)
    decoder = model.decoder
    pairs = [
        (model.encoder.embedding.weight, weights.source.weight),
        (decoder.embedding.weight, weights.target.weight),
        (decoder.attention.W_h, weights.keys.weight),
        (decoder.attention.W_s, weights.query.weight),
        (decoder.attention.v, weights.energy.weight[0]),
        (decoder.readout.output.weight, weights.output.weight),
        (decoder.readout.output.bias, weights.output.bias),
        *zip(model.encoder.recurrence.parameters(), weights.encoder.parameters(), strict=True),
        *zip(decoder.recurrence.parameters(), weights.decoder.parameters(), strict=True),
    ]
    with torch.no_grad():
        for own, other in pairs:
            own.copy_(other)
    return model


def step(model: nn.Module, loss: Tensor, optimizer: torch.optim.Optimizer) -> None:
    optimizer.zero_grad()
    loss.backward()
    torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()


def agree(textbook: Textbook, ours: Seq2Seq, batch: Batch) -> float:
    """The largest relative difference of loss and of two gradients far apart in the model."""
    textbook.zero_grad()
    ours.zero_grad()
    losses = textbook(batch), batch_loss(ours, batch)
    for loss in losses:
        loss.backward()
    pairs = [
        (losses[0].detach(), losses[1].detach()),
        (textbook.encoder.weight_ih_l0.grad, ours.encoder.recurrence.weight_ih_l0.grad),
        (textbook.keys.weight.grad, ours.decoder.attention.W_h.grad),
    ]
    return max(float((a - b).abs().max() / a.abs().max()) for a, b in pairs)


def products(batches: list[Batch]) -> float:
    """Seconds for the matrix products of one step alone, forward and backward, with nothing in between."""
    source, target = batches[0].source.size(1), batches[0].target_in.size(1)
    shapes = [(source * ROWS, EMBEDDING, 8 * UNITS)] + [(ROWS, UNITS, 4 * UNITS)] * (2 * source)
    shapes += [(source * ROWS, 2 * UNITS, WIDTH), (target * ROWS, EMBEDDING, 4 * UNITS)]
    shapes += [(ROWS, UNITS, WIDTH), (ROWS, 2 * UNITS, 4 * UNITS), (ROWS, UNITS, 4 * UNITS)] * target
    shapes += [(target * ROWS, 3 * UNITS, VOCABULARY)]
    matrices = [(torch.randn(m, k), torch.randn(k, n), torch.randn(m, n)) for m, k, n in shapes]

    def run() -> None:
        for left, right, gradient in matrices:
            left @ right, gradient @ right.t(), left.t() @ gradient

    run()
    return min(_seconds(run) for _ in range(5))


def _seconds(run: object) -> float:
    start = time.perf_counter()
    run()  # type: ignore[operator]
    return time.perf_counter() - start


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--steps", type=int, default=30)
    options.add_argument("--json", type=Path)
    given = options.parse_args()
    torch.set_num_threads(1)
    torch.manual_seed(0)
    pairs = reverse(50, 12, 12, ROWS * given.steps)
    tokenizer = Tokenizer.train((pair.source for pair in pairs), TokenizerConfig())
    batcher = Batcher(encode_pairs(pairs, tokenizer, tokenizer), sentences=ROWS, source_eos=False)
    batches = list(batcher.batches())
    textbook = Textbook()
    ours = ours_with(textbook)
    difference = agree(textbook, ours, batches[0])
    if difference > 1e-4:
        raise SystemExit(f"the two models disagree by {difference:.1e}: no time is printed")
    optimizers = [torch.optim.Adam(model.parameters(), lr=1e-3) for model in (textbook, ours)]
    times: dict[str, list[float]] = {"textbook": [], "ours": []}
    for batch in batches:  # taking turns, so that a busy moment of the machine hits both
        tokens = float(batch.target_lengths.sum())
        times["textbook"].append(_seconds(lambda b=batch, n=tokens: step(textbook, textbook(b) / n, optimizers[0])))
        times["ours"].append(_seconds(lambda b=batch, n=tokens: step(ours, batch_loss(ours, b) / n, optimizers[1])))
    medians = {name: statistics.median(values) * 1e3 for name, values in times.items()}
    record = {
        "date": date.today().isoformat(), "machine": platform.processor() or platform.machine(), "threads": 1,
        "disagreement": difference, "milliseconds": medians, "speedup": medians["textbook"] / medians["ours"],
        "products_alone": products(batches) * 1e3,
    }  # fmt: skip
    print(f"loss and gradients agree to {difference:.0e}")
    print(f"textbook loop {medians['textbook']:7.1f} ms a step")
    print(f"ours          {medians['ours']:7.1f} ms a step   {record['speedup']:.2f} times as fast")
    print(f"its matrix products alone {record['products_alone']:.1f} ms")
    if given.json:
        given.json.write_text(json.dumps(record, indent=1), encoding="utf-8")


if __name__ == "__main__":
    main()
