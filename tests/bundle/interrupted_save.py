"""Save a bundle over another one, stopped at every file operation: by a kill, or by a full disk.

Run as a program with a folder and "kill" or "fail". Each round forks a process that counts its file operations and
stops at the n-th; n grows until a round completes.
"""

import errno
import os
import signal
import sys
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

import torch

from chaos.operations import Operation, watch
from regard.bundle import load_bundle, save_bundle
from regard.models import Seq2Seq, preset
from regard.text.input_error import InputError
from regard.text.tokenizer import Tokenizer, TokenizerConfig

NEED_SPACE = ("create", "write", "fsync", "mkdir", "rename")
WENT_ON, REFUSED, UNTOUCHED, BROKEN = 0, 3, 4, 5


def stop_at(moment: int, how: str, folder: Path) -> list[str]:
    """The operations so far, a list that grows."""
    seen: list[str] = []

    def listener(operation: Operation) -> None:
        if how == "fail" and operation.kind not in NEED_SPACE:
            return
        seen.append(operation.kind)
        if len(seen) == moment + 1 and how == "kill":
            os.kill(os.getpid(), signal.SIGKILL)
        if len(seen) == moment + 1 and how == "fail":
            raise OSError(errno.ENOSPC, "No space left on device")

    watch(folder, listener)
    return seen


def attempt(folder: Path, model: Seq2Seq, tokenizer: Tokenizer, moment: int, how: str) -> int:
    """The exit status of a process that was stopped at a moment of saving; the signal that killed it if negative."""
    child = os.fork()
    if child:
        return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    status = BROKEN
    try:
        seen = stop_at(moment, how, folder.parent)
        save_bundle(folder, model, tokenizer, tokenizer, source_eos=True, longest_source=9)
        status = WENT_ON if len(seen) > moment else UNTOUCHED
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
