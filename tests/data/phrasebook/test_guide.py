"""The guide's examples are those of the current grammar."""

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


def test_the_guides_examples_are_those_of_the_grammar(run: Callable[..., str]) -> None:
    """If this fails after an intended change: python tests/data/phrasebook/guide.py"""
    found = run("-c", SCRIPT, str(Path(__file__).parent / "guide.py"))
    assert found.split() == ["sizes", "True", "en-fr", "True", "fr-en", "True", "en-hi", "True"]
