"""The table in fast/README.md names every operation and entry, in the order of the registry, with its measured gain."""

import json
import re
from importlib import import_module
from pathlib import Path

from regard import registry

ROOT = Path(__file__).parents[2]
README = ROOT / "src" / "regard" / "fast" / "README.md"


def test_the_table_lists_every_entry_in_order() -> None:
    import_module("regard.fast")
    listed: dict[str, list[str]] = {}
    operation = ""
    for named, entry in re.findall(
        r"^\| (?:`([\w.]+)`)? ?\| `(\w+)` \|", README.read_text(encoding="utf-8"), re.MULTILINE
    ):
        operation = named or operation
        listed.setdefault(operation, []).append(entry)
    registered = {
        name: [entry.name for entry in one.entries]
        for name, one in registry.operations.items()
        if one.entries and one.plain.__module__.startswith("regard.")
    }
    assert listed == registered


def test_the_table_has_the_largest_gain_of_the_records() -> None:
    gains: dict[tuple[str, str], float] = {}
    for device, pattern in (("", "fast_entries_cpu*.json"), ("GPU ", "fast_entries_gpu.json")):
        for path in (ROOT / "docs" / "results").glob(pattern):
            for row in json.loads(path.read_text(encoding="utf-8"))["rows"]:
                key = device, row["entry"]
                gains[key] = max(gains.get(key, 0.0), row["times"])
    listed = re.findall(r"^\|.*\| `(\w+)` \|.*\| ([^|]+) \|$", README.read_text(encoding="utf-8"), re.MULTILINE)
    assert len(listed) > 20
    for entry, cell in listed:
        for device, gain in re.findall(r"(GPU )?([\d.]+)", cell):
            assert gain == f"{gains[device, entry]:.{len(gain.partition('.')[2])}f}", f"{entry}, {device or 'CPU'}"
