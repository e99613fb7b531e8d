"""Bundles that name a class from outside regard, and a module that leaves a mark when it is imported."""

import json
from pathlib import Path

import torch

from regard.bundle import save_bundle
from regard.models import Seq2Seq, preset
from runtime.bundles import LONGEST, MODELS, tokenizers

MINE = "strange_mechanism:Mine"
MODULE = """
from pathlib import Path
from regard.attention import BahdanauAttention

(Path(__file__).parent / "imported").touch()


class Mine(BahdanauAttention):
    pass


def call(**given):
    (Path(__file__).parent / "called").touch()
"""
RECIPE = {
    "data": {"kind": "reverse", "vocabulary": 12, "shortest": 2, "longest": 5, "train": 48, "dev": 6, "test": 4},
    "text": {},
    "model": {"architecture": "rnn", **MODELS["bahdanau"], "score": MINE},
    "train": {"steps": 2, "batch_sentences": 8},
    "search": {},
}
OWN = """
[data]
kind = "reverse"
vocabulary = 12
shortest = 2
longest = 5
train = 48
dev = 6
test = 4
[model]
preset = "bahdanau"
size = "tiny"
embedding = 8
encoder_units = 8
decoder_units = 8
score = "strange_mechanism:Mine"
[train]
steps = 2
batch_sentences = 8
threads = 1
device = "cpu"
"""
"""A user's own recipe file that names the class."""


def write_module(folder: Path) -> Path:
    """The module, in a folder that the caller puts on the path."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "strange_mechanism.py").write_text(MODULE, encoding="utf-8")
    return folder


def forge(folder: Path, score: str = MINE, *, turned: bool = False) -> Path:
    """A sound bundle of ours but for the class that it wants; its recipe can be evaluated on."""
    source, target = reversed(tokenizers()) if turned else tokenizers()
    with torch.random.fork_rng():
        torch.manual_seed(0)
        model = Seq2Seq(preset("bahdanau", "tiny", **MODELS["bahdanau"]), len(source), len(target))
    model.config = model.config.model_copy(update={"score": score})
    recipe = json.loads(json.dumps(RECIPE))
    save_bundle(folder, model, source, target, source_eos=True, longest_source=LONGEST, recipe=recipe)
    return folder
