"""Load test of `regard serve`: many clients at once, with dynamic batching and without.

    python benchmarks/serve_load.py [--model en-fr] [--clients 64] [--seconds 60] [--out docs/results/serve_load.json]

Clients send the sources of docs/results/everyday-new.tsv one after another, without pauses, for so many seconds to
`regard serve MODEL`; clients and server share the machine. Reported: answers by status, translations a second, the
median and the 95th percentile of the time to an answer, the mean number of requests decoded together, processor time
of the server for each translation, and its resident memory after 10 seconds and at the end. Requests are for text
alone ("attention": false, "top": 0); then once more for default requests, whose answers carry attention and top words.
Last, it and a server with `--batch 1` (one request after the other) take turns of `--turn` seconds under the same
load: the ratio of their throughputs is that of the sums over all turns.
"""

import argparse
import asyncio
import json
import os
import re
import statistics
import subprocess
import sys
import time
import urllib.request
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
SOURCES = ROOT / "docs" / "results" / "everyday-new.tsv"
EARLY = 10.0
"""Seconds after which memory is measured first."""
LIGHT = {"attention": False, "top": 0}


@dataclass
class Tally:
    """The answers that the clients received."""

    statuses: Counter[int] = field(default_factory=Counter)
    seconds: list[float] = field(default_factory=list)
    texts: dict[str, str] = field(default_factory=dict)
    different: int = 0


async def client(port: int, number: int, sources: list[str], more: dict[str, Any], until: float, tally: Tally) -> None:
    """One connection, one request after the other; without an HTTP library, which would need more CPU time."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    place = number
    while time.perf_counter() < until:
        source = sources[place % len(sources)]
        body = json.dumps({"text": source, **more}).encode()
        head = f"POST /api/v1/translate HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nContent-Type: application/json\r\n"
        begun = time.perf_counter()
        writer.write(f"{head}Content-Length: {len(body)}\r\n\r\n".encode() + body)
        answer = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
        length = re.search(r"(?i)content-length: (\d+)", answer)
        content = await reader.readexactly(int(length[1])) if length else b""
        status = int(answer.split(" ", 2)[1])
        tally.statuses[status] += 1
        if status == 200:
            tally.seconds.append(time.perf_counter() - begun)
            text = json.loads(content)["hypotheses"][0]["target"]["text"] if len(content) < 20_000 else ""
            tally.different += tally.texts.setdefault(source, text) != text
            place += 1
        else:
            await asyncio.sleep(1.0)  # Retry-After
    writer.close()


async def load(server: "Server", clients: int, seconds: float, more: dict[str, Any], memory: bool) -> dict[str, Any]:
    sources = [line.split("\t")[0] for line in SOURCES.read_text(encoding="utf-8").splitlines() if line.strip()]
    tally, begun, busy = Tally(), time.perf_counter(), server.processor()
    running = [
        asyncio.create_task(client(server.port, number, sources, more, begun + seconds, tally))
        for number in range(clients)
    ]
    found: dict[str, Any] = {}
    if memory:
        await asyncio.sleep(EARLY)
        early = server.resident()
        await asyncio.sleep(seconds - EARLY)
        late = server.resident()
        found = {"memory_10s": early, "memory_end": late, "growth": round(late / early, 4)}
    await asyncio.gather(*running)
    spent, ordered = time.perf_counter() - begun, sorted(tally.seconds)
    return {
        "statuses": {str(status): count for status, count in sorted(tally.statuses.items())},
        "answers": len(ordered),
        "spent": round(spent, 2),
        "per_second": round(len(ordered) / spent, 2),
        "p50": round(statistics.median(ordered), 4),
        "p95": round(ordered[int(0.95 * (len(ordered) - 1))], 4),
        "processor_ms": round(1000 * (server.processor() - busy) / len(ordered), 2),
        "different_texts": tally.different,
        **found,
    }


class Server:
    """`regard serve` in a child process."""

    def __init__(self, model: str, *options: str) -> None:
        command = [sys.executable, "-m", "regard", "serve", model, "--port", "0", "--queue", "128", *options]
        self._process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True, bufsize=1)
        assert self._process.stderr is not None
        found = next(match for line in self._process.stderr if (match := re.search(r"127\.0\.0\.1:(\d+)", line)))
        self.port = int(found[1])
        self._log = subprocess.Popen(["cat"], stdin=self._process.stderr, stdout=subprocess.DEVNULL)
        time.sleep(3)

    def __enter__(self) -> "Server":
        return self

    def __exit__(self, *_: object) -> None:
        self._process.terminate()
        self._process.wait(60)
        self._log.wait(60)

    def resident(self) -> int:
        """Bytes, from the kernel."""
        found = re.search(r"VmRSS:\s+(\d+) kB", Path(f"/proc/{self._process.pid}/status").read_text())
        assert found is not None
        return int(found[1]) * 1024

    def processor(self) -> float:
        """Seconds of processor time so far."""
        fields = Path(f"/proc/{self._process.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def batch(self) -> float:
        """The mean number of requests that were decoded together."""
        with urllib.request.urlopen(f"http://127.0.0.1:{self.port}/metrics") as answer:
            text = answer.read().decode()
        total, count = (float(re.findall(rf"regard_batch_size_{name} (\S+)", text)[0]) for name in ("sum", "count"))
        return round(total / count, 2)


def take_turns(model: str, clients: int, seconds: float, turns: int) -> dict[str, Any]:
    with Server(model) as together, Server(model, "--batch", "1") as alone:
        found: dict[str, list[dict[str, Any]]] = {"together": [], "one by one": []}
        for _ in range(turns):
            for name, server in (("together", together), ("one by one", alone)):
                found[name].append(asyncio.run(load(server, clients, seconds, LIGHT, False)))
    totals = {
        name: {
            "per_second": round(sum(one["answers"] for one in turns_) / sum(one["spent"] for one in turns_), 2),
            "processor_ms": round(
                sum(one["processor_ms"] * one["answers"] for one in turns_) / sum(one["answers"] for one in turns_), 2
            ),
            "turns": turns_,
        }
        for name, turns_ in found.items()
    }
    ratio = totals["together"]["per_second"] / totals["one by one"]["per_second"]
    return {"seconds": seconds, "ratio": round(ratio, 2), **totals}


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--model", default="en-fr")
    options.add_argument("--clients", type=int, default=64)
    options.add_argument("--seconds", type=float, default=60.0)
    options.add_argument("--turn", type=float, default=10.0)
    options.add_argument("--turns", type=int, default=4)
    options.add_argument("--note", default="", help="what else ran on the machine")
    options.add_argument("--out", type=Path, default=ROOT / "docs" / "results" / "serve_load.json")
    given = options.parse_args()
    rows = {}
    for name, more in (("text alone", LIGHT), ("whole answers", {})):
        with Server(given.model) as server:
            before = round(os.getloadavg()[0], 2)
            rows[name] = asyncio.run(load(server, given.clients, given.seconds, dict(more), True))
            rows[name] |= {"mean_batch": server.batch(), "load_before": before}
        print(name, json.dumps(rows[name]))
    turns = take_turns(given.model, given.clients, given.turn, given.turns)
    import torch

    record = {
        "machine": f"{os.cpu_count()} cores, torch {torch.__version__}, {torch.get_num_threads()} threads",
        "note": given.note,
        "date": time.strftime("%Y-%m-%d"),
        "model": given.model,
        "clients": given.clients,
        "seconds": given.seconds,
        "cases": rows,
        "turns": turns,
    }
    given.out.write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")
    print(f"ratio {turns['ratio']}")


if __name__ == "__main__":
    main()
