"""Untrained models that read Arabic and write English, and the other way round, for right-to-left columns and rows."""

from pathlib import Path

import torch

from regard.bundle import save_bundle
from regard.models import Seq2Seq, preset
from regard.text.tokenizer import Tokenizer
from regard.text.tokenizer_config import TokenizerConfig

ARABIC = "القطة السوداء جلست على الحصيرة"
ENGLISH = "the black cat sat on the mat"


def arabic_bundle(folder: Path, text: str = ARABIC, other: str = ENGLISH) -> Path:
    config = TokenizerConfig(kind="word")
    source, target = Tokenizer.train([text], config), Tokenizer.train([other], config)
    with torch.random.fork_rng():
        torch.manual_seed(0)
        sizes = {"embedding": 8, "encoder_units": 8, "decoder_units": 8}
        model = Seq2Seq(preset("bahdanau", "tiny", **sizes), len(source), len(target))
    save_bundle(folder, model, source, target, source_eos=True, longest_source=12, search={})
    return folder
