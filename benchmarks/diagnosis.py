"""How often the course names a learner's mistake: grades the files of tests/course/corpus and counts.

    python benchmarks/diagnosis.py [--half seen|held-out|later|all|second] [--list-held-out] [--out FILE] [NUMBER ...]

Each file of the corpus starts with three comments: its verdict (wrong, unstable or right), what the mistake really is,
and a regular expression that a sufficient diagnosis matches. The grader receives the file without these comments, in a
fresh process, as `regard learn run` grades it. A mistake is diagnosed if the file does not pass and the expression
matches what the grader says: headline, advice, notes and the law that was broken. The shown input, the answers and the
learner's own lines of code do not count. The corpus is split by a hash of each file's name. Improve the diagnoses with
the seen half only: the held-out half is counted, its files are named only with --list-held-out. Files of exercises 18
to 20 belong to no half and are counted as later. A second corpus, tests/course/corpus2, was written without a look at
the grader; --half second grades it alone, and its files are named like those of the held-out half.
The exit code is 1 if a wrong file passed or a right one was refused.
"""

import argparse
import hashlib
import json
import platform
import re
import sys
import tempfile
from collections import Counter
from collections.abc import Iterable
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Any

from regard.course.catalogue import entries
from regard.course.process import Grader
from regard.course.verdict import Verdict

CORPUS = Path(__file__).parents[1] / "tests" / "course" / "corpus"
SECOND = CORPUS.with_name("corpus2")
ENDING = ".py.txt"
HALVES = ("seen", "held-out")
UNNAMED = ("held-out", "second")
"""Faults of these are counted, but named only on demand: who improves the grader should not have seen them."""
LATER = ("e18_forcing_ratio", "e19_whole_model", "e20_bottleneck")
"""Exercises that are younger than the halves; their files were written after reading the grader's list of mistakes."""
HEADER = re.compile(r"# verdict: (wrong|unstable|right)\n# mistake: (.+)\n# sufficient: (.+)\n\n")
LABEL = re.compile(r"^[^:.?(]*: (?=wrong|shape|dtype|an? )")
"""The name of the value that differs, as in "The new state: wrong values."; it names no cause."""
OUTCOMES = ("diagnosed", "missed", "accepted", "passed", "refused")
"""A mistake is diagnosed, missed (refused without its cause) or accepted; a right answer is passed or refused."""


@dataclass(frozen=True)
class Sample:
    """One learner's file with its true verdict and mistake."""

    exercise: str
    name: str
    verdict: str
    mistake: str
    sufficient: str
    code: str
    second: bool = False

    @property
    def half(self) -> str:
        """Which half of the corpus it belongs to, by its name; or later, or second."""
        if self.second:
            return "second"
        if self.exercise in LATER:
            return "later"
        return HALVES[hashlib.sha256(f"{self.exercise}/{self.name}".encode()).digest()[0] % 2]


def read_corpus(folder: Path = CORPUS) -> list[Sample]:
    """All files of the corpus, in the order of the course."""
    return [read_sample(path) for path in sorted(folder.glob(f"*/*{ENDING}"))]


def read_sample(path: Path) -> Sample:
    """Header and code of one file."""
    text = path.read_text(encoding="utf-8")
    header = HEADER.match(text)
    if header is None:
        raise ValueError(f"{path} must start with the comments verdict, mistake and sufficient, then an empty line")
    second = path.parents[1] == SECOND
    name = path.name.removesuffix(ENDING)
    return Sample(path.parent.name, name, *header.groups(), code=text[header.end() :], second=second)


def grade(sample: Sample) -> Verdict:
    """The verdict of the real grader on a copy without the header."""
    entry = next(entry for entry in entries() if entry.home.name == sample.exercise)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "exercise.py"
        path.write_text(sample.code, encoding="utf-8")
        with Grader(entry) as grader:
            return grader.grade(path)


def statements(verdict: Verdict) -> str:
    """The grader's own text, without the input, the answers and the learner's code."""
    laws = [line for line in verdict.details if line.startswith("law:")]
    return "\n".join([LABEL.sub("", verdict.headline), verdict.advice, *verdict.notes, *laws])


def outcome(sample: Sample, verdict: Verdict) -> str:
    """One of OUTCOMES."""
    if sample.verdict == "right":
        return "passed" if verdict.passed else "refused"
    if verdict.passed:
        return "accepted"
    return "diagnosed" if re.search(sample.sufficient, statements(verdict), re.IGNORECASE) else "missed"


def record(sample: Sample, verdict: Verdict) -> dict[str, Any]:
    """One file's line in the report."""
    return {
        "exercise": sample.exercise,
        "name": sample.name,
        "half": sample.half,
        "outcome": outcome(sample, verdict),
        "mistake": sample.mistake,
        "status": verdict.status,
        "recognised": verdict.mistake,
        "says": statements(verdict).strip(),
    }


def count(records: Iterable[dict[str, Any]]) -> dict[str, Any]:
    """How many of each outcome, and the share of mistakes that were diagnosed."""
    counts = Counter(one["outcome"] for one in records)
    mistakes = sum(counts[name] for name in ("diagnosed", "missed", "accepted"))
    share = round(counts["diagnosed"] / mistakes, 3) if mistakes else None
    return {"mistakes": mistakes, "share": share, **{name: counts[name] for name in OUTCOMES}}


def report(records: list[dict[str, Any]], list_held_out: bool) -> dict[str, Any]:
    """Counts for each half and exercise, and every file with a wrong outcome."""
    faults = [one for one in records if one["outcome"] in ("missed", "accepted", "refused")]
    halves = {half: [one for one in records if one["half"] == half] for half in (*HALVES, "later", "second")}
    return {
        "date": date.today().isoformat(),
        "machine": f"{platform.machine()}, Python {platform.python_version()}",
        "all": count(records),
        "halves": {
            half: {
                **count(some),
                "exercises": {
                    name: count(one for one in some if one["exercise"] == name)
                    for name in sorted({one["exercise"] for one in some})
                },
            }
            for half, some in halves.items()
            if some
        },
        "faults": [one for one in faults if list_held_out or one["half"] not in UNNAMED],
    }


def print_report(result: dict[str, Any]) -> None:
    """A table for each half, then the faults."""
    for half, counts in result["halves"].items():
        print(f"\n{half:20} {'mistakes':>8} {'share':>6} " + " ".join(f"{name:>9}" for name in OUTCOMES))
        for name, row in [*counts["exercises"].items(), ("all", counts)]:
            share = "" if row["share"] is None else f"{row['share']:.0%}"
            print(f"{name:20} {row['mistakes']:8} {share:>6} " + " ".join(f"{row[one]:9}" for one in OUTCOMES))
    for one in result["faults"]:
        print(f"\n{one['outcome']}: {one['exercise']}/{one['name']} ({one['half']}): {one['mistake']}")
        print(f"    {one['status']}: {one['says']!r}")


def main() -> int:
    """Grade, print, write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("numbers", nargs="*", type=int, help="exercises (default: all)")
    parser.add_argument("--half", choices=(*HALVES, "later", "all", "second"), default="seen")
    parser.add_argument("--list-held-out", action="store_true", help="name the faults that are kept back, too")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    chosen = [
        sample
        for sample in read_corpus(SECOND if options.half == "second" else CORPUS)
        if options.half in ("all", sample.half)
        and (not options.numbers or int(sample.exercise[1:3]) in options.numbers)
    ]
    records = []
    with ProcessPoolExecutor(options.jobs) as pool:
        for number, (sample, verdict) in enumerate(zip(chosen, pool.map(grade, chosen), strict=True), 1):
            records.append(record(sample, verdict))
            print(f"\r{number} of {len(chosen)}", end="", file=sys.stderr, flush=True)
    result = report(records, options.list_held_out)
    print_report(result)
    if options.out is not None:
        options.out.write_text(json.dumps(result, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    return int(any(one["outcome"] in ("accepted", "refused") for one in records))


if __name__ == "__main__":
    sys.exit(main())
