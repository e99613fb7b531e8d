"""The table in fast/README.md names every operation and entry, in the order of the registry."""

import re
from importlib import import_module
from pathlib import Path

from regard import registry

README = Path(__file__).parents[2] / "src" / "regard" / "fast" / "README.md"


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
