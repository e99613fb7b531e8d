"""Tables of speed and memory: training steps, additive attention, scores, decoding, preparing, robustness, serving."""

from typing import Any

from tables.records import markdown, percent, record

SYSTEMS = {
    "textbook loop": "textbook loop",
    "textbook loop, bf16": "textbook loop, bf16",
    "textbook loop, its step compiled": "textbook loop, its step compiled (`torch.compile`)",
    "ours": "ours",
    "ours, bf16": "ours, bf16",
    "JoeyNMT": "JoeyNMT 2.3",
    "ours with JoeyNMT's output": "ours with JoeyNMT's smaller output layer",
    "ours with JoeyNMT's output, bf16": "the same, bf16",
}


def bench(name: str) -> str:
    """Milliseconds of a training step and how many times as fast as the textbook loop that is, for each size."""
    works = record(name)["training"]
    timings = [{one["name"]: one for one in work["timings"]} for work in works]
    memory = name == "bench_gpu"
    head = [""]
    for work in works:
        size = work["work"]
        what = f"{size['name']}: {size['cell'].upper()} {size['units']}, {size['vocabulary']:,} words"
        head += [f"{what}, {size['rows']} rows of {size['source']} + {size['target']}: ms", "times as fast"]
        head.append("memory, MiB" if memory else "share of the limit")
    rows = []
    for system, label in SYSTEMS.items():
        if system in timings[0]:
            cells = [label]
            for one in (timing[system] for timing in timings):
                cells += [f"{one['milliseconds']:,.1f}", f"{one['ratio']:.2f}"]
                share = "" if one["share"] is None else percent(one["share"])
                cells.append(f"{one['mebibytes']:,.0f}" if memory else share)
            rows.append(cells)
    return markdown(head, rows)


def bench_ratio(name: str, work: str, ours: str, other: str) -> float:
    (timings,) = (one["timings"] for one in record(name)["training"] if one["work"]["name"] == work)
    times = {one["name"]: one["milliseconds"] for one in timings}
    return float(times[other] / times[ours])


def fast_entries(*names: str) -> str:
    """For each accelerated implementation the work in which it gains most, and the work in which it gains least."""
    found: dict[str, list[Any]] = {}
    for row in (row for name in names for row in record(name)["rows"]):
        found.setdefault(row["entry"], []).append(row)
    rows = []
    for entry, each in sorted(found.items()):
        best, least = max(each, key=lambda row: row["times"]), min(each, key=lambda row: row["times"])
        cells = [f"{one:,.0f}" if one >= 20 else f"{one:.1f}" for one in (best["milliseconds"], best["without"])]
        times = f"**{best['times']:.2f}** ({best['low']:.2f} to {best['high']:.2f})"
        rows.append([f"`{entry}`", best["row"], *cells, times, f"{least['times']:.2f}, {least['row']}"])
    return markdown(["entry", "work in which it gains most", "ms", "ms without", "times", "least"], rows)


def before_after(name: str) -> str:
    """Our times in two checkouts; the spread is half the distance between the quartiles."""
    rows = []
    for row, one in record(name)["rows"].items():
        times = [f"{one[side]:,.2f}" if one[side] < 100 else f"{one[side]:,.0f}" for side in ("before", "after")]
        rows.append([row, *times, f"{100 * one['change']:+.1f} %", f"{100 * one['spread']:.1f} %"])
    return markdown(["", "ms before", "ms after", "change", "spread"], rows)


def additive() -> str:
    sizes = record("additive_kernel")["sizes"]
    first = "64 × 256 × 256 × 512 (value 512)"
    rows = [
        ["64 × 256 × 256 × 512", *_fused(sizes[f"fused {first} bfloat16"], sizes[f"plain {first} bfloat16"])],
        ["the same, replayed from a CUDA graph", f"{sizes[f'fused {first} bfloat16 graph ms']:.2f}", *[""] * 4],
        ["the same, a quarter of it padding", *_fused(sizes[f"fused {first} bfloat16 a quarter padding"])],
        ["the same, deterministic", *_fused(sizes[f"fused deterministic {first} bfloat16"])],
        ["the same in float32", *_fused(sizes[f"fused {first} float32"])],
        ["the same in fp16", *_fused(sizes[f"fused {first} float16"])],
        ["16 × 1024 × 1024 × 256", *_fused(sizes["fused 16 × 1024 × 1024 × 256 (value 256) bfloat16"])],
        ["4 × 4096 × 4096 × 512", *_fused(sizes["fused 4 × 4096 × 4096 × 512 (value 512) bfloat16"])],
    ]
    small = ("80 × 50 × 50 × 1000 (value 2000)", "80 × 1 × 50 × 1000 (value 2000)", "320 × 1 × 30 × 512 (value 1024)")
    rows += [[size, *_fused(sizes[f"fused {size} bfloat16"], sizes[f"plain {size} bfloat16"])] for size in small]
    head = ["batch × queries × keys × width, bf16", "fused, ms", "plain torch, ms", "fused, MiB beyond the results"]
    return markdown([*head, "plain torch, MiB", "share of the limit"], rows)


def _fused(one: Any, plain: Any = None) -> list[str]:
    compared = [f"{plain['ms']:.2f}", _mebibytes(plain)] if plain else ["", ""]
    return [f"{one['ms']:.2f}", compared[0], _mebibytes(one), compared[1], percent(one["share of limit"])]


def _mebibytes(one: Any) -> str:
    beyond = one["peak beyond results"]
    return f"{beyond:,.0f}" if beyond >= 10 else f"{beyond:.2g}"


def score_cost() -> str:
    return _growth(record("score_cost")["growth"])


def score_cost_gpu() -> str:
    return _growth(record("score_cost_gpu")["growth"])


WORKS = {
    "step": "a step, forward",
    "learning": "a step, forward and backward",
    "all": "all queries, forward and backward",
}


def _growth(growth: list[Any]) -> str:
    """Times at the three largest lengths, and the exponents of growth with length and width."""
    found = {(one["work"], one["score"], one["axis"]): one for one in growth}
    rows = []
    for work, score, axis in found:
        if axis == "length":
            by_length, by_width = found[work, score, "length"], found[work, score, "width"]
            points = zip(by_length["milliseconds"], by_length["sizes"], strict=True)
            times = ", ".join(f"{time:.3g} ({size:,.0f})" for time, size in points)
            rows.append([WORKS[work], score, times, _exponents(by_length), _exponents(by_width)])
    head = ["work", "score", "ms at the three largest lengths", "growth with T: measured, counted, quoted", "with d"]
    return markdown(head, rows)


def _exponents(one: Any) -> str:
    return ", ".join(f"{one[key] + 0.0:g}" for key in ("measured", "counted", "quoted") if one[key] is not None)


def decoding() -> str:
    return _decoding(("decoding",))


def decoding_gpu() -> str:
    return _decoding(("decoding_gpu_64", "decoding_gpu_256"))


def _decoding(names: tuple[str, ...]) -> str:
    rows = []
    for name in names:
        found = record(name)
        for run in found["runs"]:
            ours, other = run["ours"], run["other"]
            model = "" if other["name"] == "textbook" else " on its model"
            rows.append([f"{other['name']}, beam {run['beam']}", str(found["rows"]), *_decoded(other), "", "", ""])
            ratios = [
                f"{run['ratio']:.2f}",
                f"{run['latency_ratio']:.2f}",
                f"{percent(run['agreement'])} of {run['compared']}",
            ]
            rows.append([f"ours{model}", str(found["rows"]), *_decoded(ours), *ratios])
    head = ["", "batch", "sentences/s", "tokens/s", "one sentence alone, ms", "times as fast", "latency, of theirs"]
    return markdown([*head, "same translations"], rows)


def _decoded(one: Any) -> list[str]:
    return [f"{one['sentences_per_second']:,.1f}", f"{one['tokens_per_second']:,.0f}", f"{1000 * one['latency']:.1f}"]


def decoding_peers() -> str:
    found = record("decoding_peers")
    figures = found["figures"]
    head = [
        f"one thread, {found['date']}, load {found['load']:.0f}",
        "beam 5, sentences/s",
        "greedy, sentences/s",
        "one alone, beam 5, ms",
    ]
    labels = ("beam 5", "greedy", "alone")
    rows = [
        [name, *(f"{one[label]['elapsed']:,.1f} ({one[label]['cpu']:,.1f})" for label in labels)]
        for name, one in figures.items()
    ]
    return markdown(head, rows)


def peers_ratio() -> dict[str, float]:
    """Our speed over CTranslate2's, both in int8, in elapsed time."""
    figures = record("decoding_peers")["figures"]
    ours = figures["ours, ONNX int8"]
    theirs = next(one for name, one in figures.items() if name.startswith("CTranslate2") and name.endswith("int8"))
    ratios = {label: ours[label]["elapsed"] / theirs[label]["elapsed"] for label in ("beam 5", "greedy")}
    return {**ratios, "alone": theirs["alone"]["elapsed"] / ours["alone"]["elapsed"]}


def decoding_quality() -> str:
    figures = record("decoding_quality")["figures"]
    rows = [[name, f"{one['bleu']:.2f}", f"{100 * one['same']:.1f} %"] for name, one in figures.items()]
    return markdown(["", "BLEU", "same translations as torch in float32"], rows)


def bulk() -> str:
    rows = [
        [
            str(run["workers"]),
            f"{run['rows']:,}",
            f"{run['seconds']:,.0f}",
            f"{run['sentences_per_second']:,.0f}",
            f"{run['load']:.0f}",
        ]
        for run in record("bulk")["runs"]
    ]
    return markdown(["workers", "sentences", "seconds", "sentences/s", "load of the machine"], rows)


def bulk_cost() -> str:
    speed = next(run["ours"]["sentences_per_second"] for run in record("decoding_gpu_256")["runs"])
    hours = 1e9 / speed / 3600
    rows = [[str(gpus), f"{hours / gpus:,.1f}", f"{hours:,.1f}"] for gpus in (1, 8, 64)]
    return markdown(["GPUs", "hours", "GPU hours"], rows)


def prepare() -> str:
    found = record("prepare")
    work, epoch = found["prepare"], found["epoch"]
    return markdown(
        ["", f"{work['pairs']:,} pairs"],
        [
            ["vocabularies", f"{work['tokenizers_seconds']:.0f} s"],
            ["ids", f"{work['encode_seconds']:.0f} s"],
            ["both, from an empty cache", f"**{work['seconds']:.0f} s**"],
            ["CPU time of all processes", f"{work['cpu_seconds']:.0f} s"],
            ["peak memory of the process and its two workers", f"{work['peak_mib_with_workers']:.0f} MiB"],
            ["size of the cache", f"{found['cache_mib']:.0f} MiB"],
            ["the next run, from the cache", f"{epoch['open_seconds']:.1f} s"],
            ["every batch of an epoch, from the mapped ids", f"{epoch['batches_seconds']:.1f} s"],
            [
                f"peak memory of that process, of which torch takes {epoch['imports_mib']:.0f}",
                f"{epoch['peak_mib']:.0f} MiB",
            ],
        ],
    )


def same_curve() -> str:
    rows = []
    for name, machine in (("same_curve_cpu", "CPU, one thread"), ("same_curve_cuda", "NVIDIA H200")):
        found = record(name)
        for pair, one in found["apart"].items():
            rows.append(
                [machine, str(found["steps"]), pair, *(f"{one[key]:g}" for key in ("first", "mean", "largest", "dev"))]
            )
    head = ["machine", "steps", "runs compared", "first loss", "mean difference", "largest", "loss on dev"]
    return markdown(head, rows)


def _rounds(part: str) -> list[Any]:
    """One round of a part of chaos.json, or several."""
    found = record("chaos")[part]
    return found if isinstance(found, list) else [found]


def faults() -> str:
    """Injected faults of the file system, by command, all rounds together."""
    totals: dict[str, list[int]] = {}
    for one in _rounds("faults"):
        for command, counted in one["commands"].items():
            before = totals.get(command, [0, 0])
            totals[command] = [before[0] + counted.get("refused", 0), before[1] + counted.get("went on", 0)]
    rows = [[command, *map(str, counted), ""] for command, counted in totals.items()]
    sums = [str(sum(one)) for one in zip(*totals.values(), strict=True)]
    broken = sum(len(one["broken"]) for one in _rounds("faults"))
    return markdown(
        ["command", "ended with one message", "completed", "rules broken"], [*rows, ["all", *sums, str(broken)]]
    )


def kills() -> str:
    rows = [
        ["SIGKILL", str(one["kills"]), f"{one['runs']} runs resumed to bit-equal weights"] for one in _rounds("kills")
    ]
    rows += [["power loss", str(one["images"]), f"{one['resumed']} resumed to the end"] for one in _rounds("images")]
    return markdown(["", "times", "of these"], rows)


def fuzz() -> str:
    found = record("fuzz")["targets"]
    rows = []
    for name, one in found.items():
        codes = [str(one["outcomes"].get(f"exit code {code}", 0)) for code in (0, 1, 2)]
        rows.append([name, str(one["cases"]), *codes, str(len(one["findings"])), f"{one['slowest_case']:.1f}"])
    return markdown(["file", "cases", "exit code 0", "1", "2", "findings", "slowest case, s"], rows)


def serving() -> str:
    rows = []
    for name, one in record("serve_load")["cases"].items():
        others = ", ".join(f"{count} × {status}" for status, count in one["statuses"].items() if status != "200")
        memory = f"{one['memory_10s'] / 1e6:.0f} → {one['memory_end'] / 1e6:.0f} ({one['growth']:.3f} ×)"
        times = [f"{one['per_second']:.1f}", f"{one['p50']:.2f}", f"{one['p95']:.2f}", f"{one['mean_batch']:.1f}"]
        rows.append([name, *times, str(one["answers"]), others or "none", memory])
    head = [
        "",
        "translations/s",
        "median, s",
        "p95, s",
        "decoded together",
        "answers",
        "errors",
        "memory, MB: 10 s → end",
    ]
    return markdown(head, rows)


def serving_turns() -> str:
    found = record("serve_load")["turns"]
    rows = [
        [name, f"{found[name]['per_second']:.1f}", f"{found[name]['processor_ms']:.0f}", ratio]
        for name, ratio in (("together", f"{found['ratio']:.1f}"), ("one by one", ""))
    ]
    return markdown(["", "translations/s", "processor time for each, ms", "times the throughput"], rows)


def web() -> str:
    """Downloads, time to the first translation and memory of the page without a server."""
    found = record("web")
    sizes = found["bytes"]
    rows = [
        ["runtime (compressed)", f"{sizes['runtime'] / 1e6:.2f} MB"],
        ["model (compressed)", f"{sizes['model'] / 1e6:.2f} MB"],
        ["page", f"{sizes['page'] / 1e3:.0f} kB ({sizes['page_gzip'] / 1e3:.0f} kB where the host compresses)"],
        ["first translation, from an empty browser", f"{found['first_translation_seconds']:.1f} s"],
        ["memory of the page's process", f"{found['resident_bytes'] / 1e6:.0f} MB"],
    ]
    return markdown(["", found["model"]], rows)


def web_speed() -> str:
    rows = [
        [name, f"{one['words_per_processor_second']:.0f}", f"{one['words_per_second']:.0f}"]
        for name, one in record("web")["speed"].items()
    ]
    return markdown(["", "words for each second of processor time", "words/s, wall clock"], rows)
