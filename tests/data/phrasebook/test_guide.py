"""The guide shows what the grammar says today."""

from collections.abc import Callable
from pathlib import Path

GUIDE = Path(__file__).parents[3] / "docs" / "guides" / "phrasebook.md"
SCRIPT = (
    "import runpy, sys\n"
    "guide = runpy.run_path(sys.argv[1])\n"
    "text = guide['GUIDE'].read_text(encoding='utf-8')\n"
    "for name, block in guide['blocks']().items():\n"
    "    begin, end = guide['marks'](name)\n"
    "    print(name, begin + block + end in text)\n"
)


def test_examples_are_what_the_grammar_says(run: Callable[..., str]) -> None:
    """If this fails after a change that was meant: python tests/data/phrasebook/guide.py"""
    found = run("-c", SCRIPT, str(Path(__file__).parent / "guide.py"))
    assert found.split() == ["sizes", "True", "en-fr", "True", "fr-en", "True", "en-hi", "True"]
