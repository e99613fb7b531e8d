"""French elision and contraction: le + école gives l'école, de + le gives du, à + les gives aux."""

from typing import Final

from regard.data.phrasebook.line import Line

VOWELS: Final = tuple("aeiouhéèêàâîôœ")
"""First letters that elide the word before; every h of our French words is mute."""
ELIDED: Final = frozenset(["le", "la", "de", "ne", "que", "je", "me", "te"])
CONTRACTED: Final = {("à", "le"): "au", ("à", "les"): "aux", ("de", "le"): "du", ("de", "les"): "des"}


def elide_and_contract(line: Line) -> Line:
    """The line as it is written. A contraction translates its preposition and depends on the article's words."""
    result = Line()
    words = line.words
    rows = zip(words, [*words[1:], ""], [*words[2:], "", ""], line.keys, strict=False)
    for word, following, after, (sure, possible) in rows:
        if word in ELIDED and following.startswith(VOWELS):
            word = word[:-1] + "'"
        elif (word, following) in CONTRACTED and not (following == "le" and after.startswith(VOWELS)):
            word = CONTRACTED[word, following]
            _, _, _, (article, others) = next(rows)
            possible += (*others, *([article] if article else []))
        result.add(word, sure, *possible)
    return result
