"""Training text for the pronunciation model in the package: CMUdict, and words that large models pronounce.

    python benchmarks/boxed_words.py text ../shared/data --out DIR [--invented 150000]
    python benchmarks/boxed_words.py pronounce TEACHER … --text DIR --shard 0/4 --out DIR/taught.0.tsv
    python benchmarks/boxed_words.py mix DIR --out DIR/student.tsv

`text` writes CMUdict as train.tsv, dev.tsv and test.tsv (word TAB phones, small letters) and words.txt: the words of
the training set, words of Europarl and Tatoeba that CMUdict lacks, and invented spellings, drawn from a model of four
letters in a row over the training words. None of the added words is in the development or test set. `pronounce` writes
the best phones of the teachers, which vote, for each word of words.txt. `mix` puts the student's text together: CMUdict
twice and every taught word once.
"""

import argparse
import lzma
import random
import re
from collections import Counter, defaultdict
from pathlib import Path

import torch

from boxed_teach import beam_search
from regard.runtime.translator import load

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


def pronounce(given: argparse.Namespace) -> None:
    translator = load(given.teachers, device=given.device)
    words = (given.text / "words.txt").read_text(encoding="utf-8").split()
    index, shards = map(int, given.shard.split("/"))
    mine = words[index::shards]
    found = beam_search(translator, mine, given.beam)
    lines = [f"{word}\t{phones[0]}\n" for word, phones in zip(mine, found, strict=True) if phones[0]]
    given.out.write_text("".join(lines), encoding="utf-8")


def mix(given: argparse.Namespace) -> None:
    lines = (given.text / "train.tsv").read_text(encoding="utf-8").splitlines() * 2
    for path in sorted(given.text.glob("taught.*.tsv")):
        lines += path.read_text(encoding="utf-8").splitlines()
    random.Random(0).shuffle(lines)
    given.out.write_text("\n".join(lines) + "\n", encoding="utf-8")
    print(len(lines), "lines")


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    verbs = options.add_subparsers(required=True)
    writing, pronouncing, mixing = (verbs.add_parser(name) for name in ("text", "pronounce", "mix"))
    writing.add_argument("data", type=Path)
    writing.add_argument("--invented", type=int, default=150_000)
    writing.set_defaults(verb=text)
    pronouncing.add_argument("teachers", nargs="+")
    pronouncing.add_argument("--text", type=Path, required=True)
    pronouncing.add_argument("--shard", default="0/1")
    pronouncing.add_argument("--beam", type=int, default=4)
    pronouncing.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu")
    pronouncing.set_defaults(verb=pronounce)
    mixing.add_argument("text", type=Path)
    mixing.set_defaults(verb=mix)
    for verb in (writing, pronouncing, mixing):
        verb.add_argument("--out", type=Path, required=True)
    given = options.parse_args()
    given.verb(given)


if __name__ == "__main__":
    main()
