"""The tables of the results are what the JSON records say; a number is published where its record is."""

import json
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
RESULTS = ROOT / "docs" / "results"
SCRIPT = RESULTS / "make_tables.py"
PAGES = [ROOT / "docs" / "results.md", *sorted(RESULTS.glob("*.md"))]


def test_tables_equal_the_records() -> None:
    checked = subprocess.run([sys.executable, str(SCRIPT), "--check"], capture_output=True, text=True, check=False)
    assert checked.returncode == 0, f"{checked.stderr}run python {SCRIPT.relative_to(ROOT)}"


def test_the_check_notices_a_changed_figure(tmp_path: Path) -> None:
    """On a copy of the pages and records, where one figure of a record is changed."""
    results = tmp_path / "docs" / "results"
    for path in [*RESULTS.rglob("*.json"), *RESULTS.rglob("*.py"), *(ROOT / "docs").rglob("*.md")]:
        copy = tmp_path / path.relative_to(ROOT)
        copy.parent.mkdir(parents=True, exist_ok=True)
        copy.write_bytes(path.read_bytes())
    record = json.loads((results / "prepare.json").read_text(encoding="utf-8"))
    record["prepare"]["seconds"] += 10
    (results / "prepare.json").write_text(json.dumps(record), encoding="utf-8")
    command = [sys.executable, str(results / "make_tables.py")]
    checked = subprocess.run([*command, "--check"], capture_output=True, text=True, check=False)
    assert checked.returncode == 1
    assert "docs/results/preparing.md: differs" in checked.stderr
    assert "docs/results.md: differs" in checked.stderr, "the headline quotes it"
    assert subprocess.run(command, check=False).returncode == 0
    assert subprocess.run([*command, "--check"], check=False).returncode == 0


def test_every_table_of_the_results_is_generated() -> None:
    for page in PAGES:
        text = re.sub(
            r"<!-- table: [\w-]+ -->.*?<!-- /table -->", "", page.read_text(encoding="utf-8"), flags=re.DOTALL
        )
        assert not re.search(r"^\|", text, flags=re.MULTILINE), f"{page.name} has a table without a record"


def test_the_page_of_headlines_fits_one_screen() -> None:
    text = PAGES[0].read_text(encoding="utf-8")
    assert len(text.splitlines()) <= 40
    linked = set(re.findall(r"\(results/([\w-]+\.md)\)", text))
    assert linked == {page.name for page in PAGES[1:]}, "every topic has a link"


def test_the_readme_links_to_the_scores_of_the_demo_instead_of_repeating_them() -> None:
    """They differ from machine to machine, so two pages would soon disagree."""
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    assert "docs/results/demo.md" in text
    assert not re.search(r"exact match\s+\d|alignment error rate\s+\d", text)


def test_the_readme_quotes_the_headlines() -> None:
    readme = " ".join((ROOT / "README.md").read_text(encoding="utf-8").split())
    rows = [line.strip("| ").split(" | ") for line in PAGES[0].read_text(encoding="utf-8").splitlines() if "|" in line]
    aligned = next(row for row in rows if row[0].startswith("[Word alignment]"))
    assert f"[{aligned[1].removesuffix(' AER')} error](docs/results/hansards.md)" in readme
    assert f"eflomal has {aligned[2].partition(' eflomal')[0]} %" in readme
    step = next(row for row in rows if row[0].startswith("Training step, H200, the paper's size"))
    times = float(step[2].partition(" textbook loop")[0]) / float(step[1].removesuffix(" ms"))
    assert f"[{times:.0f} times the speed](docs/results/training-speed.md)" in readme
    assert f"{times:.0f} times as fast on a GPU" in (ROOT / "docs" / "claims.md").read_text(encoding="utf-8")


def test_every_record_and_picture_is_on_a_page() -> None:
    pages = [*(ROOT / "docs").rglob("*.md"), ROOT / "README.md"]
    text = "\n".join(page.read_text(encoding="utf-8") for page in pages)
    missing = [path.name for path in RESULTS.iterdir() if path.suffix in (".json", ".png") and path.name not in text]
    assert not missing
