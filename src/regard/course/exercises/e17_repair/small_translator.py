"""Exercise 17: an English to French translator, trained once in about a minute and kept in the user's cache folder."""

import hashlib
import os
import shutil
import tempfile
import time
from functools import partial
from pathlib import Path

from regard.bundle.manifest import BundleError
from regard.bundle.store import Bundle, load_bundle
from regard.course.course_folder import spare_place
from regard.course.waiting import Waiting, busy
from regard.files import locked
from regard.text.input_error import InputError
from regard.training.journal import Event, Started, Stepped
from regard.training.recipe import Recipe, load_recipe
from regard.training.run import train

CHANGES = (
    "data.train=30000",
    "data.longest=10",
    "model.encoder_units=96",
    "model.decoder_units=96",
    "train.steps=1000",
    "train.validate_every=500",
    "train.validate_sentences=50",
    "train.checkpoint_every=100",
)
"""What makes the demo's recipe a smaller one: short sentences, about 35 seconds on one idle core."""
WHAT = "training the translator, once"
NEWS_SECONDS = 0.25


def translator(tell: Waiting = busy) -> Bundle:
    """The trained bundle, from the cache or made now; `tell` hears how far the training is."""
    recipe = load_recipe("demo", CHANGES)
    place = cache_home() / f"course-translator-{_mark(recipe)}"
    waits = partial(tell, "waiting for another training of the translator", 0, 1)
    with locked(place.with_suffix(".lock"), waits, repeat=True):  # two graders at once train one model
        try:
            return _load(place)
        except BundleError:  # not there yet, or damaged
            shutil.rmtree(place, ignore_errors=True)
        _train(recipe, place, tell)
        return _load(place)


def _load(place: Path) -> Bundle:
    """The bundle, which reads sentences longer than those of its training, too."""
    bundle = load_bundle(place)
    return bundle.with_longest_source(bundle.most_source)


def cache_home() -> Path:
    """$XDG_CACHE_HOME/regard or ~/.cache/regard; a private temporary folder where that cannot be written."""
    try:
        home = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "regard"
        home.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=home):
            return home
    except (OSError, RuntimeError):  # RuntimeError: there is no home at all
        return spare_place()


def _train(recipe: Recipe, place: Path, tell: Waiting) -> None:
    """Train beside the place and move the best model there; a training that was stopped is gone on with."""
    building = place.with_suffix(".building")
    listener = _Teller(tell)
    try:
        result = train(recipe, building, resume=True, listener=listener)
    except InputError:  # nothing to resume, or nothing that can be
        shutil.rmtree(building, ignore_errors=True)
        result = train(recipe, building, listener=listener)
    if result.reason == "interrupted":
        raise KeyboardInterrupt
    (building / "best").rename(place)
    shutil.rmtree(building, ignore_errors=True)


class _Teller:
    """Turns the events of a training into news, a few each second."""

    def __init__(self, tell: Waiting) -> None:
        self.tell, self.total, self.told = tell, 1, 0.0

    def __call__(self, event: Event) -> None:
        if isinstance(event, Started):
            self.total = event.total_steps
        if isinstance(event, Stepped):
            now = time.monotonic()
            if now - self.told > NEWS_SECONDS or event.step == self.total:
                self.tell(WHAT, event.step, self.total)
                self.told = now


def _mark(recipe: Recipe) -> str:
    return hashlib.sha256(recipe.model_dump_json().encode()).hexdigest()[:10]
