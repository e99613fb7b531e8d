"""Measures one checkout for before_after.py: reads the names of rows, answers with milliseconds.

    PYTHONPATH=CHECKOUT/src:CHECKOUT/benchmarks python -P before_after_child.py cpu|cuda

The first answer lists the rows. The first request of a row builds its model and warms up, each later one measures. The
modules of both checkouts are found under their old or new names.
"""

import json
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from functools import cache, partial
from importlib import import_module
from typing import Any

import torch

Run = Callable[[], object]
SECONDS = 0.25
"""A measurement repeats its call until this much time has passed."""


def find(*names: str) -> Any:
    """The attribute `module:attribute` of the first module that exists."""
    for name in names:
        module, attribute = name.split(":")
        try:
            return getattr(import_module(module), attribute)
        except ModuleNotFoundError:
            continue
    raise ModuleNotFoundError(" or ".join(names))


def training(work: str, autocast: torch.dtype | None, device: torch.device) -> Run:
    """Our training step in `regard bench`: forward and backward on a full batch."""
    from regard.lab.bench.textbook import Textbook, ours_with

    batch_loss, real_places = (
        find(f"regard.training.loss:{name}", f"regard.train.loss:{name}") for name in ("batch_loss", "real_places")
    )
    works = find("regard.lab.bench.workload:WORKS", "regard.lab.bench.work:WORKS")
    torch.manual_seed(0)
    model = ours_with(Textbook(works[work]).to(device))
    batch = works[work].batch().to(device)
    places = real_places(batch.target_out)

    def run() -> None:
        model.zero_grad(set_to_none=True)
        with torch.autocast(device.type, dtype=autocast, enabled=autocast is not None):
            loss = batch_loss(model, batch, places=places).objective
        torch.autograd.backward(loss)

    return run


def decoding(sentences: int, device: torch.device) -> Run:
    """Our beam search in `benchmarks/decoding.py`: sentences of 13 to 15 pieces, beam 5, exact float32."""
    from regard.lab.bench.measure import exact_float32
    from regard.lab.bench.textbook import Textbook, ours_with
    from regard.search import Longest, SearchConfig, decode

    wind = find("decoding_textbook:wind", "regard.lab.bench.clock:wind")
    prepare = find("regard.registry:prepare_for_decoding", "regard.models.packed:packed")
    pad = find("regard.runtime.source_text:pad", "regard.runtime.padded:pad")
    draw = find("decoding_measure:random_sentences", "regard.lab.bench.decoding:random_sentences")
    work = find("regard.lab.bench.workload:MULTI30K", "regard.lab.bench.work:MULTI30K")
    torch.manual_seed(0)
    textbook = Textbook(work).eval()
    wind(textbook, 13)
    model = prepare(ours_with(textbook.to(device)).eval())
    rows = sorted(draw(256, work.vocabulary), key=len)[100 : 100 + sentences]
    config = SearchConfig(beam=5, longest=Longest(factor=2.0, offset=10), length_penalty=1.0)

    def run() -> None:
        batch = pad(rows, device)
        with exact_float32(), torch.inference_mode():
            decode(model, batch, batch.source_lengths, config, options=replace(config.options, weights=False))

    return run


def additive(sizes: tuple[int, ...], dtype: torch.dtype, device: torch.device) -> Run:
    """Additive attention alone, forward and backward: batch, target, source, width."""
    from regard.attention import additive_attention

    batch, target, source, width = sizes
    torch.manual_seed(0)
    shapes = (batch, target, width), (batch, source, width), (width,), (batch, source, width)
    leaves = [torch.randn(shape, device=device, dtype=dtype).requires_grad_() for shape in shapes]
    mask = torch.ones(batch, target, source, dtype=torch.bool, device=device)
    gradient = torch.randn(batch, target, width, device=device, dtype=dtype)

    def run() -> None:
        context, _ = additive_attention(*leaves, mask)
        torch.autograd.grad(context, leaves, gradient)

    return run


def rows(device: torch.device) -> dict[str, Callable[[], Run]]:
    works = ("tutorial", "multi30k") if device.type == "cpu" else ("multi30k", "paper")
    found: dict[str, Callable[[], Run]] = {}
    for work in works:
        found[f"bench: {work}"] = partial(training, work, None, device)
        found[f"bench: {work}, bf16"] = partial(training, work, torch.bfloat16, device)
    found["decoding: beam 5, 64 sentences together"] = partial(decoding, 64, device)
    found["decoding: beam 5, one sentence alone"] = partial(decoding, 1, device)
    if device.type == "cpu":
        found["additive attention: 4 × 64 × 64 × 256"] = partial(additive, (4, 64, 64, 256), torch.float32, device)
        return found
    for sizes in ((64, 256, 256, 512), (64, 50, 50, 1000), (16, 1024, 1024, 256)):
        for dtype in (torch.bfloat16, torch.float32):
            name = f"additive attention: {' × '.join(map(str, sizes))}, {str(dtype).removeprefix('torch.')}"
            found[name] = partial(additive, sizes, dtype, device)
    return found


def milliseconds(run: Run, device: torch.device) -> float:
    one_thread = device.type == "cpu" and torch.get_num_threads() == 1
    clock = time.process_time if one_thread else time.perf_counter
    calls, began = 0, clock()
    while calls == 0 or clock() - began < SECONDS:
        for _ in range(25 if device.type == "cuda" else 1):  # queued without a sync, as in training
            run()
            calls += 1
        if device.type == "cuda":
            torch.cuda.synchronize(device)
    return 1e3 * (clock() - began) / calls


def main() -> None:
    device = torch.device(sys.argv[1])
    torch.set_float32_matmul_precision("high")  # as `regard bench` times float32
    known = rows(device)

    @cache
    def built(row: str) -> Run:
        run = known[row]()
        for _ in range(3):  # kernels compile in the first call, graphs are captured in the second
            run()
        milliseconds(run, device)
        return run

    import regard

    print(json.dumps({"rows": list(known), "package": regard.__file__}), flush=True)
    for line in sys.stdin:
        row = line.strip()
        print(json.dumps({"milliseconds": milliseconds(built(row), device)}), flush=True)


if __name__ == "__main__":
    main()
