"""The examples in docs/guides/phrasebook.md; run this file to update them after a change of the grammar."""

from pathlib import Path

from regard.data import phrasebook
from regard.data.pair import Pair
from regard.data.phrasebook import lexicon
from regard.text.words import split_words

GUIDE = Path(__file__).parents[3] / "docs" / "guides" / "phrasebook.md"
LANGUAGES = {"en": "English", "fr": "French", "hi": "Hindi"}


def linked(pair: Pair) -> str:
    """`chat=cat était~sat`: each target word with the source words it links to, sure = and possible ~."""
    assert pair.links is not None
    source, target = (split_words(text) for text in (pair.source, pair.target))
    shown = []
    for position, word in enumerate(target):
        sure = [source[s] for s, t in sorted(pair.links.sure) if t == position]
        possible = [source[s] for s, t in sorted(pair.links.possible - pair.links.sure) if t == position]
        shown.append(word + "".join(f"={other}" for other in sure) + "".join(f"~{other}" for other in possible))
    return " ".join(shown)


def examples(pair: str) -> str:
    """Ten sentences: the showcase, then the first of the test split."""
    shown = phrasebook.showcase(pair)
    items = shown + phrasebook.pairs(pair, "test", 10 - len(shown), shortest=8, longest=12)
    first, second = (LANGUAGES[code] for code in pair.split("-"))
    lines = [f"### {first} to {second}", ""]
    for item in items:
        lines += ["```", item.source, item.target, linked(item), "```", ""]
    return "\n".join(lines)


def sizes() -> str:
    """The size of each lexicon as a table."""
    rows = ["| language | nouns | adjectives | verbs |", "|---|---|---|---|"]
    for name, words in (("French", lexicon.french()), ("Hindi", lexicon.hindi())):
        rows.append(f"| {name} | {len(words.nouns)} | {len(words.adjectives)} | {len(words.verbs)} |")
    return "\n".join(rows) + "\n"


def blocks() -> dict[str, str]:
    return {"sizes": sizes(), **{pair: examples(pair) for pair in phrasebook.PAIRS}}


def marks(name: str) -> tuple[str, str]:
    return f"<!-- {name} -->\n", f"<!-- end of {name} -->"


if __name__ == "__main__":
    text = GUIDE.read_text(encoding="utf-8")
    for name, block in blocks().items():
        begin, end = marks(name)
        head, rest = text.split(begin)
        text = head + begin + block + end + rest.split(end)[1]
    GUIDE.write_text(text, encoding="utf-8")
