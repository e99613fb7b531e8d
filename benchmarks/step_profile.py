"""Where a training step spends its time on a GPU: by phases in the order of time, and by kernels.

    python benchmarks/step_profile.py [--work paper] [--float32]

The third of four steps in a row, as training has them; a phase ends where the next loop's first kernel begins, so that
the gaps between kernels are in it. "busy" is the kernels' own time.
"""

import argparse
import re
from collections.abc import Iterator, Sequence
from functools import partial
from itertools import groupby
from typing import NamedTuple

import torch
from torch.profiler import ProfilerActivity, profile

from regard.lab.bench.measure import take_turns
from regard.lab.bench.textbook import Textbook, ours_with
from regard.lab.bench.time_training import _our_step
from regard.lab.bench.workload import WORKS
from regard.training.loss import real_places

LOOPS = {
    "read_kernel": "encoder loop",
    "score_kernel": "decoder loop",
    "mix_kernel": "decoder loop",
    "cross_entropy_kernel": "cross-entropy",
    "cell_backward_kernel": "decoder backward loop",
    "mix_backward_kernel": "decoder backward loop",
    "query_backward_kernel": "decoder backward loop",
    "read_backward_kernel": "encoder backward loop",
}
"""Kernels that mark the phases of a step."""


class Kernel(NamedTuple):
    start: float
    end: float
    name: str

    @property
    def loop(self) -> str | None:
        return LOOPS.get(self.name)

    @property
    def short(self) -> str:
        """Without namespaces and template arguments, but for what distinguishes elementwise kernels."""
        name = re.sub(r"^void |at::native::|\(anonymous namespace\)::|cub::\w+::", "", self.name)
        inner = re.search(r"\w+Functor\w*|\w+_kernel_cuda\w*|\w+_kernel_impl\w*", name.partition("<")[2])
        return " ".join([re.split(r"[<(]", name)[0], *([inner[0]] if inner else [])])[:60]


def kernels(prof: profile) -> list[Kernel]:
    events = [one for one in prof.events() or [] if str(one.device_type).endswith("CUDA")]
    return sorted(Kernel(one.time_range.start, one.time_range.end, one.name) for one in events)


def third(found: Sequence[Kernel]) -> tuple[int, int]:
    """Where the third step's encoder begins, and where the fourth's does."""
    loops = [(place, one.loop) for place, one in enumerate(found) if one.loop]
    firsts = [next(group)[0] for name, group in groupby(loops, key=lambda one: one[1]) if name == "encoder loop"]
    return firsts[2], firsts[3]


def phases(found: Sequence[Kernel], begin: int, end: int) -> Iterator[tuple[str, int, int]]:
    """Name, first kernel and the one after the last."""
    loops = [(place, one.loop) for place, one in enumerate(found[:end]) if one.loop and place >= begin]
    done = begin
    for name, group in groupby(loops, key=lambda one: one[1]):
        places = [place for place, _ in group]
        yield f"before the {name}", done, places[0]
        yield str(name), places[0], places[-1] + 1
        done = places[-1] + 1
    yield "then, to the next step's encoder", done, end


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--work", default="paper", choices=[*WORKS])
    parser.add_argument("--float32", action="store_true", help="not in bf16")
    options = parser.parse_args()
    work, device = WORKS[options.work], torch.device("cuda")
    torch.manual_seed(0)
    model, batch = ours_with(Textbook(work).to(device)), work.batch().to(device)
    dtype = None if options.float32 else torch.bfloat16
    run = partial(_our_step, model, batch, real_places(batch.target_out), dtype)
    milliseconds = take_turns({"": run}, 9, device)[""]
    with profile(activities=[ProfilerActivity.CUDA]) as prof:
        for _ in range(4):
            run()
        torch.cuda.synchronize()
    found = kernels(prof)
    begin, end = third(found)
    step = found[begin:end]
    busy = sum(one.end - one.start for one in step)
    took = found[end].start - step[0].start
    print(f"{work.name}: {milliseconds:.2f} ms a step; under the profiler {took / 1e3:.2f}", end=", ")
    print(f"kernels {busy / 1e3:.2f}, {len(step)} of them")
    print(f"\n{'phase':<44}{'ms':>8}{'busy':>8}{'kernels':>9}")
    for name, first, last in phases(found, begin, end):
        if last > first:
            part = found[first:last]
            took, own = found[last].start - part[0].start, sum(one.end - one.start for one in part)
            print(f"{name:<44}{took / 1e3:8.3f}{own / 1e3:8.3f}{len(part):9}")
    print(f"\n{'kernel':<60}{'calls':>7}{'us':>8}{'share':>7}{'each':>7}")
    for name in sorted({one.short for one in step}, key=lambda name: -sum(_times(step, name)))[:30]:
        times = _times(step, name)
        print(f"{name:<60}{len(times):7}{sum(times):8.0f}{sum(times) / busy:7.1%}{sum(times) / len(times):7.1f}")


def _times(step: Sequence[Kernel], name: str) -> list[float]:
    return [one.end - one.start for one in step if one.short == name]


if __name__ == "__main__":
    main()
