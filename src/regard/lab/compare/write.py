"""report.html and report.json in a comparison's folder."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from regard.bundle.folder import write_whole
from regard.lab.compare.plan import Plan
from regard.lab.compare.report import comparison_page
from regard.lab.compare.results import Row, to_json


def write_report(plan: Plan, rows: Sequence[Row], machine: dict[str, str], folder: Path) -> dict[str, Any]:
    """Both forms of the report; the plain data is returned."""
    found = to_json(plan, rows, machine)
    write_whole(folder / "report.json", json.dumps(found, ensure_ascii=False, indent=2) + "\n")
    write_whole(folder / "report.html", comparison_page(plan, rows, machine))
    return found
