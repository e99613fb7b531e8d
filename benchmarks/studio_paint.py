"""How long the studio's heat-map takes to paint in Chromium: from the click on a sentence to the frame that shows it.

    python benchmarks/studio_paint.py [--tokens 120] [--rounds 20] [--json FILE]

A self-contained page has a sentence of 2 × 2 and one of N × N tokens; each round goes to the second and back. The time
ends with the second frame after the click: by then the overview, the 30 × 30 detail window and its keyboard grid are
painted. Needs Chromium and the extra dev.
"""

import argparse
import json
import shutil
import tempfile
from pathlib import Path
from statistics import median

import numpy as np
import torch
from playwright.sync_api import sync_playwright

from regard.lab.machine import describe_machine
from regard.plot import AttentionMap, alignment_html

CLICK = """async (name) => {
    const button = [...document.querySelectorAll('button')].find((one) => one.textContent.includes(name));
    const frame = () => new Promise(requestAnimationFrame);
    const begun = performance.now();
    button.click();
    await frame();
    await frame();
    return performance.now() - begun;
}"""


def sentence(tokens: int) -> AttentionMap:
    weights = np.random.default_rng(0).dirichlet(np.full(tokens, 0.1), size=tokens)
    words = [f"word{number}" for number in range(tokens)]
    return AttentionMap(weights, words, words)


def measure(tokens: int, rounds: int) -> list[float]:
    """Milliseconds of each round."""
    chromium = shutil.which("chromium") or shutil.which("google-chrome")
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        path = Path(folder) / "page.html"
        path.write_text(alignment_html([sentence(2), sentence(tokens)]), encoding="utf-8")
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": 1200, "height": 900})
        page.goto(path.as_uri())
        page.locator("[role=gridcell]").first.wait_for()
        found = []
        for _ in range(rounds):
            found.append(page.evaluate(CLICK, "Next"))
            painted = page.evaluate("() => [...document.querySelectorAll('canvas')].map((one) => one.width)")
            assert tokens in painted, f"the overview has {painted} columns, not {tokens}"
            page.evaluate(CLICK, "Previous")
        browser.close()
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tokens", type=int, default=120)
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--json", type=Path)
    given = parser.parse_args()
    times = measure(given.tokens, given.rounds)
    figures = {
        "tokens": given.tokens,
        "rounds": given.rounds,
        "median_ms": round(median(times), 1),
        "slowest_ms": round(max(times), 1),
        "machine": describe_machine(torch.device("cpu")),
    }
    print(json.dumps(figures, indent=1, ensure_ascii=False))
    if given.json:
        given.json.write_text(json.dumps(figures, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
