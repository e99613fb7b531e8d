"""JoeyNMT's recurrent encoder and decoder on the same batches, called directly, if the package is installed.

Its decoder feeds Luong's attentional vector back and has a smaller output layer on top of it. So only its time can be
compared with ours, not its loss, and it has less to multiply than the others.
"""

import torch.nn.functional as F
from jaxtyping import Float
from torch import Tensor, nn

from regard.data.batch import Batch
from regard.lab.bench.workload import Work


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
    """Our embeddings with JoeyNMT's encoder and decoder."""

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
