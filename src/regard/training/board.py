"""A run's figures for TensorBoard: an extra, loaded only where a recipe asks for it."""

from pathlib import Path
from typing import Any

from regard.text.errors import InputError
from regard.training.journal import Averaged, Event, Finished, Started, Stepped, Validated

FOLDER = "tensorboard"


def find_writer() -> Any:
    """The class that writes TensorBoard's files, or the line that installs it."""
    try:
        from torch.utils.tensorboard import SummaryWriter
    except ImportError as error:
        raise InputError(
            "train.tensorboard = true needs a package that is not installed: pip install 'regard[tensorboard]'"
        ) from error
    return SummaryWriter


class Board:
    """A listener that writes scalars into RUN/tensorboard; look at them with `tensorboard --logdir RUN`."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder / FOLDER
        self.new_writer = find_writer()
        self.writer: Any = None

    def __call__(self, event: Event) -> None:
        match event:
            case Started():
                # What a killed run wrote beyond its checkpoint is hidden by what is written now.
                self.writer = self.new_writer(str(self.folder), purge_step=event.first_step)
            case Stepped():
                self._add(event.step, "loss/training", event.loss)
                self._add(event.step, "learning rate", event.rate)
                self._add(event.step, "gradient norm", event.gradient_norm)
                self._add(event.step, "tokens per second", event.tokens_per_second)
            case Validated():
                self._add(event.step, "loss/validation", event.loss)
                self._add(event.step, f"score/{event.metric}", event.score)
                self.writer.flush()
            case Averaged():
                self._add(event.step, f"score/averaged {event.metric}", event.score)
            case Finished():
                self.close()

    def close(self) -> None:
        if self.writer is not None:
            self.writer.close()
            self.writer = None

    def _add(self, step: int, name: str, value: float) -> None:
        self.writer.add_scalar(name, value, step)
