"""Commands in the guides exist: the verb, its options, the recipes and corpora that they name."""

import re
from itertools import pairwise
from pathlib import Path

import pytest

from regard.cli.main import VERBS, run
from regard.data.catalogue import catalogue
from regard.training.recipe import load_recipe, recipe_names

GUIDES = sorted((Path(__file__).parents[2] / "docs" / "guides").glob("*.md"))
ROOT = Path(__file__).parents[2]


def commands(text: str) -> list[list[str]]:
    """What follows a prompt in a code block, and `regard …` in running text."""
    text = text.replace("\\\n", " ")
    found = re.findall(r"^(?:\$ )(regard [^\n]*)", text, flags=re.MULTILINE) + re.findall(r"`(regard [^`\n]*)`", text)
    return [one.split() for one in found]


@pytest.mark.parametrize("guide", GUIDES, ids=lambda path: path.stem)
def test_commands_are_spelt_right(guide: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for _, *words in commands(guide.read_text(encoding="utf-8")):
        verb = words[0] if words else ""
        if verb not in VERBS:
            assert not verb[:1].islower(), f"{guide.name}: regard {' '.join(words)}"
            continue
        run([verb, "--help"])
        printed = capsys.readouterr().out
        for option in [word.partition("=")[0] for word in words if word.startswith("--") and len(word) > 2]:
            assert re.search(rf"{re.escape(option)}\b", printed), f"{guide.name}: regard {' '.join(words)}"


def test_the_guide_to_real_text_lists_existing_recipes() -> None:
    text = (ROOT / "docs" / "guides" / "real-text.md").read_text(encoding="utf-8")
    (table,) = re.findall(r"\| recipe \|.*?\n\n", text, flags=re.DOTALL)
    stored = {name for name in recipe_names() if load_recipe(name).data.kind == "catalogue"}
    assert set(re.findall(r"`([a-z0-9]+-[a-z0-9-]+)`", table)) == stored
    for words in commands(text):
        if words[1] == "train":
            load_recipe(words[2], [change for key, change in pairwise(words) if key == "--set"])
        if words[1] == "data" and len(words) > 3:
            assert words[3] in catalogue() or words[3].isupper()
