"""The page of `regard export web` in Chromium: download sizes, time to the first translation, words per second, memory.

    python benchmarks/web.py [--model en-fr] [--rounds 3] [--json docs/results/web.json]

A plain web server on this machine serves the folder. The first translation is timed from an empty browser: page,
runtime and model are loaded, opened, and the sentence is shown. Words per second are source words of 60 everyday
sentences, in wall-clock time and in processor time of the page's process: on a machine that does other things, the
second is the fairer one. Needs Chromium and the extras dev and onnx.
"""

import argparse
import functools
import gzip
import http.server
import json
import os
import shutil
import tempfile
import threading
import time
from pathlib import Path
from statistics import median
from typing import Any

import torch
from playwright.sync_api import sync_playwright

from regard.cli.main import run
from regard.lab.machine import describe_machine

SENTENCES = Path(__file__).parents[1] / "docs" / "results" / "everyday-new.tsv"
SENTENCE = "Where have you hidden my car keys?"
TICK = os.sysconf("SC_CLK_TCK")
PAGE = os.sysconf("SC_PAGE_SIZE")
WAYS = {"greedy, 16 sentences together": (1, 16), "greedy, one at a time": (1, 1), "beam 4, 16 together": (4, 16),
        "beam 4, one at a time": (4, 1)}  # fmt: skip


class Handler(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_: object) -> None:
        pass


def sentences(model: str) -> list[str]:
    """The English or French side of the everyday sentences."""
    rows = [line.split("\t") for line in SENTENCES.read_text(encoding="utf-8").splitlines() if line.strip()]
    return [row[0 if model.startswith("en") else 1] for row in rows]


def processes() -> dict[int, tuple[float, int]]:
    """Processor seconds and resident bytes of every page process that this program started."""
    parents, found = {}, {}
    for entry in Path("/proc").iterdir():
        if not entry.name.isdigit():
            continue
        try:
            fields = (entry / "stat").read_text().rsplit(")", 1)[1].split()
            command = (entry / "cmdline").read_bytes()
        except OSError:
            continue
        parents[int(entry.name)] = int(fields[1])
        if b"--type=renderer" in command:
            found[int(entry.name)] = (int(fields[11]) + int(fields[12])) / TICK, int(fields[21]) * PAGE

    def ours(pid: int) -> bool:
        while pid > 1 and pid != os.getpid():
            pid = parents.get(pid, 0)
        return pid == os.getpid()

    return {pid: value for pid, value in found.items() if ours(pid)}


def first_translation(browser: Any, address: str, model: str) -> float:
    """Seconds from an empty browser to the text on the screen."""
    context = browser.new_context()
    page = context.new_page()
    begun = time.perf_counter()
    page.goto(f"{address}#/translate?model={model}&text={SENTENCE.replace(' ', '%20')}&beam=1")
    page.get_by_test_id("translation").wait_for(timeout=120_000)
    seconds = time.perf_counter() - begun
    context.close()
    return seconds


def throughput(page: Any, model: str, texts: list[str], rounds: int) -> dict[str, dict[str, float]]:
    words = sum(len(text.split()) for text in texts)
    found = {}
    page.evaluate("([model, texts]) => regard.many(model, texts, 4)", [model, texts])  # the browser compiles as it runs
    for name, (beam, together) in WAYS.items():
        wall, processor = [], []
        for _ in range(rounds):
            before, begun = sum(cpu for cpu, _ in processes().values()), time.perf_counter()
            page.evaluate("([model, ...rest]) => regard.many(model, ...rest)", [model, texts, beam, together])
            wall.append(words / (time.perf_counter() - begun))
            processor.append(words / (sum(cpu for cpu, _ in processes().values()) - before))
        found[name] = {"words_per_second": median(wall), "words_per_processor_second": median(processor)}
    return found


def measure(model: str, rounds: int) -> dict[str, Any]:
    chromium = shutil.which("chromium") or shutil.which("google-chrome")
    with tempfile.TemporaryDirectory() as base:
        folder = Path(base) / "page"
        assert run(["export", "web", model, "--out", str(folder)]) == 0
        handler = functools.partial(Handler, directory=str(folder))
        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        address = f"http://127.0.0.1:{server.server_port}/"
        with sync_playwright() as playwright:
            browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
            first = [first_translation(browser, address, model) for _ in range(rounds)]
            page = browser.new_page()
            page.goto(address)
            speed = throughput(page, model, sentences(model), rounds)
            memory = max(resident for _, resident in processes().values())
            version = browser.version
            browser.close()
        server.shutdown()
        sizes = {
            path.relative_to(folder).as_posix(): path.stat().st_size for path in folder.rglob("*") if path.is_file()
        }
        small = {
            name: len(gzip.compress((folder / name).read_bytes(), 9)) for name in ("app.js", "app.css", "index.html")
        }
    return {
        "model": model,
        "browser": f"Chromium {version}",
        "bytes": {"runtime": sizes["runtime.js"], "model": sizes[f"models/{model}.js"],
                  "page": sum(sizes[name] for name in small), "page_gzip": sum(small.values())},
        "first_translation_seconds": median(first),
        "speed": speed,
        "resident_bytes": memory,
        "sentences": len(sentences(model)),
        "rounds": rounds,
    }  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", default="en-fr")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--note", default="", help="what else ran on the machine")
    parser.add_argument("--json", type=Path)
    given = parser.parse_args()
    notes = [given.note] if given.note else []
    machine = describe_machine(torch.device("cpu"), *notes)
    text = json.dumps({**measure(given.model, given.rounds), **machine}, indent=1, ensure_ascii=False)
    print(text)
    if given.json:
        given.json.write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
