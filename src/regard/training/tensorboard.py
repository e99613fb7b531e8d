"""Writes a run's figures for TensorBoard: an extra, imported only if train.tensorboard is true."""

from pathlib import Path
from typing import Any

from regard.text.input_error import InputError
from regard.training.journal import Averaged, Event, Finished, Started, Stepped, Validated

FOLDER = "tensorboard"


class TensorBoard:
    """A listener that writes scalars into RUN/tensorboard; show them with `tensorboard --logdir RUN`."""

    def __init__(self, folder: Path) -> None:
        try:
            from torch.utils.tensorboard import SummaryWriter
        except ImportError as error:
            raise InputError(
                "train.tensorboard = true needs a package that is not installed: pip install 'regard[tensorboard]'"
            ) from error
        self.folder = folder / FOLDER
        self.new_writer = SummaryWriter
        self.writer: Any = None

    def __call__(self, event: Event) -> None:
        match event:
            case Started():
                # Makes TensorBoard hide the events that a killed run wrote after its last checkpoint.
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
                if self.writer is not None:  # None if a finished run was resumed
                    self.writer.close()
                    self.writer = None

    def _add(self, step: int, name: str, value: float) -> None:
        self.writer.add_scalar(name, value, step)
