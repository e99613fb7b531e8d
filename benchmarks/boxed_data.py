"""Training text for the models in the package, English and French: Tatoeba, part of Europarl, and copied names.

    python benchmarks/boxed_data.py ../shared/data --out DIR [--europarl 250000] [--repeat 3] [--copies 40000]

Writes train.tsv and its parts (everyday.tsv, copies.tsv, europarl.tsv), dev.tsv (Tatoeba's), names.tsv (300 held-out
sentences with names or numbers), held_out.txt and counts.json. English is the first column; recipes of the other
direction read the columns in the other order. A pair leaves training if its source or its target, without case and
punctuation, occurs in a development or test set of Tatoeba or Europarl, in docs/results/everyday.tsv, everyday-new.tsv
or names.tsv: held_out.txt lists those sentences, and boxed_teach.py removes them from the teachers' translations, too.
Copies are pairs of Tatoeba in which a name or number that both sides share is replaced by another one: a model that
sees only Tom and Mary learns to write them, not to copy.
"""

import argparse
import json
import lzma
import random
import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path

Pair = tuple[str, str]
ROOT = Path(__file__).parents[1]

NEW_NAMES = re.findall(
    r"\w+",
    "Agnieszka Akiko Amara Anders Anjali Astrid Bartosz Beatriz Bogdan Chidi Ciara Dmitri Eleni Emre Esra Farid Fatou "
    "Gunnar Haruto Hassan Ifeoma Ilse Imran Isadora Jorge Kamala Katarina Keanu Lakshmi Leandro Lucija Malik Mehmet "
    "Milena Nadia Nikhil Olga Oluwaseun Pavel Piotr Priya Rajesh Rosalind Ruslan Saoirse Sigrid Sunita Tariq Thabo "
    "Tomoko Ulrike Vikram Wanjiru Xavier Yasmin Yuki Zainab Zoltan",
)
"""Held out: `copies` never puts them into training, so the names in names.tsv are unseen."""

NAME = re.compile(r"[^\W\d_][\w-]*")
NUMBER = re.compile(r"\d+")
NOT_NAMES = {"I", "Oh", "OK", "CD", "CDs", "DVD", "TV", "No", "Internet", "Six", "Compare", "Non", "Mon", "Imagine"}


def bare(sentence: str) -> str:
    """Letters and digits only, without case: how sentences of training and test sets are compared."""
    kept = (one if unicodedata.category(one)[0] in "LNM" else " " for one in sentence.casefold())
    return " ".join("".join(kept).split())


def read(path: Path) -> Iterator[list[str]]:
    with lzma.open(path, "rb") if path.suffix == ".xz" else path.open("rb") as file:
        for line in file:
            yield line.decode("utf-8").rstrip("\n").split("\t")


def tatoeba(data: Path, split: str) -> list[Pair]:
    return [(row[0], row[1]) for row in read(data / "tatoeba-en-fr" / f"{split}.tsv.xz")]


def europarl(data: Path, split: str) -> Iterator[Pair]:
    folder = data / "europarl-en-fr"
    for english, french in zip(read(folder / f"{split}.en.xz"), read(folder / f"{split}.fr.xz"), strict=True):
        yield english[0], french[0]


def shared(pair: Pair) -> tuple[list[str], list[str]]:
    """Names and numbers that occur once on each side of a pair, with the same spelling."""
    found: list[list[str]] = []
    for pattern in (NAME, NUMBER):
        sides = [Counter(pattern.findall(side)) for side in pair]
        found.append([one for one, times in sides[0].items() if times == sides[1][one] == 1])
    names = [name for name in found[0] if name[0].isupper() and len(name) > 2 and name not in NOT_NAMES]
    return names, found[1]


def substitute(pair: Pair, old: str, new: str) -> Pair:
    pattern = re.compile(rf"(?<!\w){re.escape(old)}(?!\w)")
    return pattern.sub(new, pair[0]), pattern.sub(new, pair[1])


def elides(pair: Pair, name: str) -> bool:
    """Whether French writes an apostrophe before the name, or the name begins with a vowel: d'Anne, but de Tom."""
    return re.search(rf"['’]{re.escape(name)}", pair[1]) is not None or name[0] in "AEIOUYHÉÈÎÔ"


def names_and_numbers(held_out: list[Pair], draw: random.Random, count: int = 300) -> list[tuple[str, str, str]]:
    """Held-out sentences and what must be copied; in every second one the name or number is not in training."""
    candidates = [(pair, *shared(pair)) for pair in dict.fromkeys(held_out)]
    candidates = [one for one in candidates if one[1] or one[2]]
    draw.shuffle(candidates)
    # Tom and Mary are most of them: at most a third of the sentences.
    plain = [one for one in candidates if not set(one[1]) & {"Tom", "Mary"} or one[2]]
    common = [one for one in candidates if one not in plain]
    rows: list[tuple[str, str, str]] = []
    for place, (pair, names, numbers) in enumerate([*plain, *common][:count]):
        changed = pair
        items = []
        for item in [*names, *numbers]:
            new = item
            if place % 2 == 0 and not (item in names and elides(pair, item)):
                new = draw.choice(NEW_NAMES) if item in names else _another_number(item, draw)
                if new in changed[0] or (item in names and elides(changed, new)):
                    new = item
            changed = substitute(changed, item, new)
            items.append(new)
        rows.append((*changed, " ".join(items)))
    return rows


def _another_number(number: str, draw: random.Random) -> str:
    """A number with as many digits; years stay years, and 1 stays 1, because the noun after it would change."""
    if number == "1":
        return number
    if len(number) == 4:
        return str(draw.randint(1400, 2099))
    low = 2 if len(number) == 1 else 10 ** (len(number) - 1)
    return str(draw.randint(low, 10 ** len(number) - 1))


def surnames(pairs: Iterable[Pair]) -> list[str]:
    """Names after Mr or Mrs in Europarl that are spelled alike on both sides."""
    found: Counter[str] = Counter()
    for english, french in pairs:
        for name in re.findall(r"\bMrs? ([^\W\d_][^\W\d_'’-]{3,})", english):
            if name[0].isupper() and re.search(rf"\bM(?:\.|me) {name}\b", french):
                found[name] += 1
    return sorted(set(found) - set(NEW_NAMES))


def copies(pairs: list[Pair], names: list[str], count: int, draw: random.Random) -> list[Pair]:
    """Pairs with another name or number; no names that begin with a vowel, because French elides before them."""
    usable = [name for name in names if name[0] not in "AEIOUYHÉÈÎÔ"]
    candidates = [(pair, *shared(pair)) for pair in pairs]
    with_numbers = [one for one in candidates if one[2]]
    with_names = [one for one in candidates if one[1] and not any(elides(one[0], name) for name in one[1])]
    made: list[Pair] = []
    for place in range(count):
        pair, old_names, numbers = draw.choice(with_numbers if place % 3 == 0 else with_names)
        for name in old_names:
            if not elides(pair, name):
                pair = substitute(pair, name, draw.choice(usable))
        for number in numbers:
            pair = substitute(pair, number, _another_number(number, draw))
        made.append(pair)
    return made


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("data", type=Path)
    options.add_argument("--out", type=Path, required=True)
    options.add_argument("--europarl", type=int, default=250_000, help="pairs of Europarl")
    options.add_argument("--longest", type=int, default=40, help="words of a sentence of Europarl, at most")
    options.add_argument("--repeat", type=int, default=3, help="how often each pair of Tatoeba occurs")
    options.add_argument("--copies", type=int, default=40_000)
    given = options.parse_args()
    draw = random.Random(0)
    held_out = [*tatoeba(given.data, "test"), *tatoeba(given.data, "dev")]
    names = names_and_numbers(held_out, draw)
    banned = {bare(side) for pair in held_out for side in pair}
    for split in ("dev", "test", "testlen"):
        banned |= {bare(side) for pair in europarl(given.data, split) for side in pair}
    banned |= {bare(row[1]) for row in read(ROOT / "docs" / "results" / "everyday.tsv")}
    banned |= {bare(side) for row in read(ROOT / "docs" / "results" / "everyday-new.tsv") for side in row}
    banned |= {bare(side) for row in names for side in row[:2]}

    def allowed(pair: Pair) -> bool:
        return bare(pair[0]) not in banned and bare(pair[1]) not in banned

    every = tatoeba(given.data, "train")
    everyday = [pair for pair in every if allowed(pair)]
    parliament = list(europarl(given.data, "train"))
    fitting = [pair for pair in parliament if _fits(pair, given.longest) and allowed(pair)]
    draw.shuffle(fitting)
    copied = [pair for pair in copies(everyday, surnames(parliament), given.copies, draw) if allowed(pair)]
    train = [*everyday * given.repeat, *copied, *fitting[: given.europarl]]
    draw.shuffle(train)
    given.out.mkdir(parents=True, exist_ok=True)
    parts = {"everyday": everyday, "copies": copied, "europarl": fitting[: given.europarl]}
    for name, rows in {**parts, "train": train, "dev": tatoeba(given.data, "dev"), "names": names}.items():
        text = "".join("\t".join(row) + "\n" for row in rows)
        (given.out / f"{name}.tsv").write_text(text, encoding="utf-8")
    counts = {
        "tatoeba": len(everyday),
        "tatoeba left out": len(every) - len(everyday),
        "copies": len(copied),
        "europarl": min(given.europarl, len(fitting)),
        "europarl to choose from": len(fitting),
        "train lines": len(train),
        "names and numbers": len(names),
    }
    (given.out / "held_out.txt").write_text("".join(f"{one}\n" for one in sorted(banned)), encoding="utf-8")
    (given.out / "counts.json").write_text(json.dumps(counts, indent=1) + "\n", encoding="utf-8")
    print(json.dumps(counts, indent=1))


def _fits(pair: Pair, longest: int) -> bool:
    english, french = (len(side.split()) for side in pair)
    return 2 <= english <= longest and 2 <= french <= longest and 0.5 <= english / french <= 2


if __name__ == "__main__":
    main()
