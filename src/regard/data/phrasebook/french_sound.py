"""What French does to words that meet: le + école gives l'école, de + le gives du, à + les gives aux."""

from typing import Final

from regard.data.phrasebook.line import ForeignLine

VOWELS: Final = frozenset("aeiouhéèêàâîôœ")
"""Letters that elide what comes before; every h of our French words is mute."""

ELIDED: Final = {
    "le": "l'",
    "la": "l'",
    "de": "d'",
    "ne": "n'",
    "que": "qu'",
    "je": "j'",
    "me": "m'",
    "te": "t'",
}
CONTRACTED: Final = {("à", "le"): "au", ("à", "les"): "aux", ("de", "le"): "du", ("de", "les"): "des"}


def meet(line: ForeignLine) -> ForeignLine:
    """The same line as it is written. A contraction stands for its preposition and leans on the rest."""
    words = line.words
    result = ForeignLine()
    last = len(words) - 1
    position = 0
    while position <= last:
        word, sure, possible = words[position], line.sure[position], line.possible[position]
        if position < last:
            following = words[position + 1]
            if word in ELIDED and following[0] in VOWELS:
                word = ELIDED[word]
            elif word in ("à", "de") and (word, following) in CONTRACTED:
                vowel = following == "le" and words[position + 2][0] in VOWELS
                if not vowel:
                    word = CONTRACTED[word, following]
                    position += 1
                    article = line.sure[position]
                    possible = (*possible, *line.possible[position], *([article] if article else []))
        result.say(word, sure, *possible)
        position += 1
    return result
