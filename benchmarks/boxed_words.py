"""Training text for the pronunciation model in the package: CMUdict, and words that larger models pronounce.

    python benchmarks/boxed_words.py ../shared/data --out benchmarks/boxed [--invented 500000]

Writes CMUdict as train.tsv, dev.tsv and test.tsv (word TAB phones, small letters) and words.txt: the words of the
training set, words of Europarl and Tatoeba that CMUdict lacks, and invented spellings, drawn from a model of four
letters in a row over the training words. None of the added words is in the development or test set.
`boxed_distil.py` has them pronounced.
"""

import argparse
import lzma
import random
import re
from collections import Counter, defaultdict
from pathlib import Path

CONTEXT = 4


def entries(data: Path, split: str) -> list[tuple[str, str]]:
    with lzma.open(data / "g2p-cmudict" / f"{split}.tsv.xz", "rt", encoding="utf-8") as file:
        rows = [line.rstrip("\n").split("\t") for line in file]
    return [(word.lower(), phones) for word, phones in rows]


def text(given: argparse.Namespace) -> None:
    given.out.mkdir(parents=True, exist_ok=True)
    splits = {name: entries(given.data, file) for name, file in FILES.items()}
    for name, rows in splits.items():
        (given.out / f"{name}.tsv").write_text(
            "".join(f"{word}\t{phones}\n" for word, phones in rows), encoding="utf-8"
        )
    train = sorted({word for word, _ in splits["train"]})
    held_out = {letters(word) for name in ("dev", "test") for word, _ in splits[name]}
    known = held_out | {letters(word) for word in train}
    found = [word for word in corpus_words(given.data) if letters(word) not in known]
    invented = invent(train, given.invented, known | set(found))
    (given.out / "words.txt").write_text("".join(f"{word}\n" for word in [*train, *found, *invented]), encoding="utf-8")
    print(len(train), "words of CMUdict,", len(found), "of the corpora,", len(invented), "invented")


FILES = {"train": "train", "dev": "dev.unseen", "test": "test"}


def letters(word: str) -> str:
    return re.sub("[^a-z]", "", word)


def corpus_words(data: Path) -> list[str]:
    counts: Counter[str] = Counter()
    for path in (data / "europarl-en-fr" / "train.en.xz", data / "tatoeba-en-fr" / "train.tsv.xz"):
        with lzma.open(path, "rt", encoding="utf-8") as file:
            for line in file:
                counts.update(re.findall(r"[a-z][a-z']*[a-z]", line.split("\t")[0].lower()))
    return sorted(word for word, count in counts.items() if count > 1 and 3 <= len(word) <= 20 and word[-2:] != "'s")


def invent(words: list[str], count: int, known: set[str]) -> list[str]:
    """New spellings: each letter is drawn given the four before it, as often as the words have it there."""
    following: defaultdict[str, list[str]] = defaultdict(list)
    for word in words:
        for place in range(len(word) + 1):
            following[word[max(0, place - CONTEXT) : place]].append(word[place] if place < len(word) else "")
    draw = random.Random(0)
    made: dict[str, None] = {}
    while len(made) < count:
        word = ""
        while len(word) < 20 and (letter := draw.choice(following[word[-CONTEXT:]])):
            word += letter
        if 3 <= len(word) < 20 and letters(word) not in known:
            made[word] = None
    return list(made)


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("data", type=Path)
    options.add_argument("--invented", type=int, default=500_000)
    options.add_argument("--out", type=Path, required=True)
    text(options.parse_args())


if __name__ == "__main__":
    main()
