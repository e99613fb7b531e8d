"""Save a bundle over another one, and be stopped at every moment of it: by a kill, or by a disk that is full.

Run as a program with a folder and "kill" or "fail". Each round forks a process that counts what Python asks of the
system (its audit events) and stops at the n-th; n grows until a round gets through untouched.
"""

import errno
import os
import signal
import sys
from collections import Counter
from pathlib import Path

import torch

from regard.bundle import load_bundle, save_bundle
from regard.models import Seq2Seq, preset
from regard.text.errors import InputError
from regard.text.tokenizer import Tokenizer, TokenizerConfig

WRITES = os.O_WRONLY | os.O_RDWR | os.O_CREAT
WENT_ON, REFUSED, UNTOUCHED, BROKEN = 0, 3, 4, 5


def stop_at(moment: int, how: str) -> list[str]:
    """What has been asked so far, a list that grows."""
    asked: list[str] = []

    def hook(event: str, arguments: tuple[object, ...]) -> None:
        writes = event in ("os.mkdir", "os.rename") or (event == "open" and arguments[2] & WRITES)
        asks = event == "open" or (event.startswith("os.") and event != "os.kill")
        if not (writes if how == "fail" else asks):
            return
        asked.append(event)
        if len(asked) == moment + 1 and how == "kill":
            os.kill(os.getpid(), signal.SIGKILL)
        if len(asked) == moment + 1 and how == "fail":
            raise OSError(errno.ENOSPC, "No space left on device")

    sys.addaudithook(hook)
    return asked


def attempt(folder: Path, model: Seq2Seq, tokenizer: Tokenizer, moment: int, how: str) -> int:
    """The exit status of a process that was stopped at a moment of saving; the signal that killed it if negative."""
    child = os.fork()
    if child:
        return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    status = BROKEN
    try:
        asked = stop_at(moment, how)
        save_bundle(folder, model, tokenizer, tokenizer, source_eos=True, longest_source=9)
        status = WENT_ON if len(asked) > moment else UNTOUCHED
    except InputError as error:
        status = REFUSED if "the disk is full" in str(error) else BROKEN
    finally:
        os._exit(status)


def filled(model: Seq2Seq, value: float) -> Seq2Seq:
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.fill_(value)
    return model


def contents(folder: Path) -> set[float]:
    weights = [parameter.detach().flatten() for parameter in load_bundle(folder).model.parameters()]
    return set(torch.cat(weights).tolist())


def main(folder: Path, how: str) -> None:
    tokenizer = Tokenizer.train(["one two three"], TokenizerConfig())
    config = preset("bahdanau", "tiny", embedding=2, encoder_units=2, decoder_units=2)
    model = Seq2Seq(config, len(tokenizer), len(tokenizer))
    save_bundle(folder, filled(model, 0.0), tokenizer, tokenizer, source_eos=True, longest_source=9)
    outcomes, moment = [], 0
    while UNTOUCHED not in outcomes:
        was = contents(folder).pop()
        outcomes.append(attempt(folder, filled(model, was + 1), tokenizer, moment, how))
        rest = sorted(path.name for path in folder.parent.iterdir() if path != folder)
        assert how == "kill" or not rest, f"moment {moment}: {rest} left behind"
        values = contents(folder)
        assert values in ({was}, {was + 1}), f"moment {moment}: {values} after {was}"
        assert outcomes[-1] != REFUSED or values == {was}, f"moment {moment}: refused, and yet the new one is there"
        moment += 1
    save_bundle(folder, model, tokenizer, tokenizer, source_eos=True, longest_source=9)
    assert [path.name for path in folder.parent.iterdir()] == [folder.name], "drafts of the dead were not removed"
    print(f"{moment} moments: {dict(Counter(outcomes))}")  # noqa: T201
    expected = {UNTOUCHED, -signal.SIGKILL} if how == "kill" else {UNTOUCHED, REFUSED, WENT_ON}
    assert set(outcomes) == expected, outcomes


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2])
