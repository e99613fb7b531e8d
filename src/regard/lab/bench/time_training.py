"""One training step, forward and backward: ours against the textbook loop, its compiled form and JoeyNMT."""

from collections.abc import Callable, Collection
from dataclasses import dataclass
from functools import partial

import torch
import torch.nn.functional as F
from jaxtyping import Float
from torch import Tensor, nn

from regard.data.batch import Batch
from regard.lab.bench.measure import Run, Timing, exact_float32, extra_memory, products_alone, rows, take_turns
from regard.lab.bench.textbook import Textbook, disagreement, ours_with
from regard.lab.bench.workload import Work
from regard.models.model_config import RecurrentConfig
from regard.models.seq2seq import Seq2Seq
from regard.registry import recorded, without
from regard.training.loss import batch_loss, real_places

AGREE = 1e-4
"""The largest relative difference of loss and gradients in float32 that is accepted."""


class Disagreement(RuntimeError):
    """Two systems that should compute the same do not: they are not timed."""


@dataclass(frozen=True)
class TrainingTimes:
    """Timings, the largest difference from the textbook's gradients, and notes."""

    work: Work
    disagreement: float
    timings: list[Timing]
    notes: list[str]


@dataclass(frozen=True)
class _System:
    """One training step, and the dtype of its matrix products; None if they are other products than the textbook's."""

    step: Run
    products: torch.dtype | None


def measure_training(work: Work, device: torch.device, *, repeats: int = 5, compiled: bool = False) -> TrainingTimes:
    """Everything on the same batch, from the same weights where the systems compute the same."""
    torch.manual_seed(0)
    textbook = Textbook(work).to(device)
    ours, batch = ours_with(textbook), work.batch().to(device)
    places = real_places(batch.target_out)
    with exact_float32():  # TF32 products are used for the timing only
        losses = _step(textbook, textbook, batch, None), _our_step(ours, batch, places, None)
        difference = _within("ours", disagreement(textbook, ours, losses), work)
    whole, half = torch.float32, torch.bfloat16
    systems = {
        "textbook loop": _System(partial(_step, textbook, textbook, batch, None), whole),
        "textbook loop, bf16": _System(partial(_step, textbook, textbook, batch, half), half),
        "ours": _System(partial(_our_step, ours, batch, places, None), whole),
        "ours, bf16": _System(partial(_our_step, ours, batch, places, half), half),
    }
    absent = why_not_joey()
    if absent is None:
        joey, alike = Joey(work).to(device), _with_joeys_output(work).to(device)
        systems["JoeyNMT"] = _System(partial(_step, joey, joey, batch, None), None)
        systems["ours with JoeyNMT's output"] = _System(partial(_our_step, alike, batch, places, None), None)
        systems["ours with JoeyNMT's output, bf16"] = _System(partial(_our_step, alike, batch, places, half), None)
    notes = [] if absent is None else [absent]
    if compiled:
        try:
            call = _compiled(textbook, batch)
            systems["textbook loop, its step compiled"] = _System(partial(_step, textbook, call, batch, None), whole)
        except Disagreement:
            raise
        except RuntimeError as error:  # torch's compiler needs a C++ compiler on a CPU
            notes.append(f"torch.compile does not work here, left out: {str(error).splitlines()[0]}")
    steps = {name: system.step for name, system in systems.items()}
    memory = {name: extra_memory(step, device) for name, step in steps.items()}
    times = take_turns(steps, repeats, device)
    limits = {dtype: products_alone(work.products, dtype, device) for dtype in (whole, half)}
    shares = {name: None if system.products is None else limits[system.products] for name, system in systems.items()}
    table = rows(times, int(batch.target_lengths.sum()), memory, shares)
    if any(timing.share is not None and timing.share > 1 for timing in table):
        notes.append("more than the limit: the limit runs the textbook's products one by one, ours merges many of them")
    return TrainingTimes(work, difference, table, notes)


def entries_that_run(entries: Collection[str], work: Work, device: torch.device) -> set[str]:
    """Those of these entries that run in our training step where the other ones are switched off."""
    ours, batch = ours_with(Textbook(work).to(device)), work.batch().to(device)
    places, found = real_places(batch.target_out), set[str]()
    for entry in entries:
        with without(*set(entries) - {entry}), recorded() as names:
            for autocast in (None, torch.bfloat16):
                _our_step(ours, batch, places, autocast)
        found |= {entry} & set(names)
    return found


def _compiled(textbook: Textbook, batch: Batch) -> Callable[[Batch], Tensor]:
    """One step through torch.compile, called in a loop: unrolled, fifty steps would compile for minutes.

    torch's compiler leaves its own GRU and LSTM as they are and compiles the operations before and after.
    """
    torch.compiler.reset()  # compilations for other sizes count towards torch's recompile limit
    call = partial(textbook, step=torch.compile(textbook.step, dynamic=False))
    with exact_float32():
        losses = [float(_step(textbook, each, batch, None)) for each in (textbook, call)]
    _within("the compiled step", abs(losses[1] / losses[0] - 1), textbook.work)
    return call


def _with_joeys_output(work: Work) -> Seq2Seq:
    """Our model with the output layer that JoeyNMT has: as many words, on an attentional vector as wide as a state."""
    config = RecurrentConfig.model_validate({**work.config.model_dump(), "readout": "attentional"})
    return Seq2Seq(config, work.vocabulary, work.vocabulary)


def _within(name: str, difference: float, work: Work) -> float:
    if not difference <= AGREE:
        raise Disagreement(
            f"{name} and the textbook loop differ by {difference:.1e} in loss or gradients ({work.name}); "
            f"{AGREE:.0e} is allowed: systems that do not agree are not timed"
        )
    return difference


def _step(model: nn.Module, call: Callable[[Batch], Tensor], batch: Batch, autocast: torch.dtype | None) -> Tensor:
    model.zero_grad(set_to_none=True)
    with torch.autocast(batch.source.device.type, dtype=autocast, enabled=autocast is not None):
        loss = call(batch)
    torch.autograd.backward(loss)
    return loss.detach()


def _our_step(model: Seq2Seq, batch: Batch, places: Tensor, autocast: torch.dtype | None) -> Tensor:
    """One step as in training: the positions of real words are computed before the batch is moved to the GPU."""
    return _step(model, lambda each: batch_loss(model, each, places=places).objective, batch, autocast)


def why_not_joey() -> str | None:
    """Why JoeyNMT cannot be measured here; None if it can."""
    try:
        import joeynmt.decoders  # type: ignore[import-not-found,unused-ignore]  # noqa: F401
    except ModuleNotFoundError as error:
        if error.name == "joeynmt":
            return "JoeyNMT is not installed: left out"
        return f"JoeyNMT is installed, but the package '{error.name}' that it needs is not: left out"
    return None


class Joey(nn.Module):
    """Our embeddings with JoeyNMT's encoder and decoder, called directly.

    Its decoder feeds Luong's attentional vector back and has a smaller output layer on top of it. So only its time can
    be compared with ours, not its loss, and it has less to multiply than the others.
    """

    def __init__(self, work: Work) -> None:
        super().__init__()
        from joeynmt.decoders import RecurrentDecoder  # type: ignore[import-not-found,unused-ignore]
        from joeynmt.encoders import RecurrentEncoder  # type: ignore[import-not-found,unused-ignore]

        self.source = nn.Embedding(work.vocabulary, work.embedding, padding_idx=0)
        self.target = nn.Embedding(work.vocabulary, work.embedding, padding_idx=0)
        self.encoder = RecurrentEncoder(work.cell, work.units, work.embedding, bidirectional=True)
        self.decoder = RecurrentDecoder(
            work.cell,
            work.embedding,
            work.units,
            encoder=self.encoder,
            attention="bahdanau",
            vocab_size=work.vocabulary,
            init_hidden="zero",
            input_feeding=True,
        )

    def forward(self, batch: Batch) -> Float[Tensor, ""]:
        """The loss summed over all real target words, teacher forced."""
        mask = batch.source_real[:, None]
        # Its encoder packs without sorting, so the longest sentence must be first.
        states, last = self.encoder(self.source(batch.source), batch.source_lengths, mask)
        logits, *_ = self.decoder(
            trg_embed=self.target(batch.target_in),
            encoder_output=states,
            encoder_hidden=last,
            src_mask=mask,
            unroll_steps=batch.target_in.size(1),
        )
        return F.cross_entropy(
            logits.flatten(0, 1).float(), batch.target_out.flatten(), ignore_index=0, reduction="sum"
        )
