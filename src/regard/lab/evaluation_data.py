"""The data of an evaluation: pairs from files or a recipe, further references, translations of other systems."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from regard.data.corpora import read_parallel, read_tsv
from regard.data.lines import read_lines
from regard.data.pair import Pair
from regard.lab.align_corpus import word_note
from regard.lab.evaluate_model import recipe_pairs
from regard.lab.parallel import GoldFile, ParallelText, check_one_input
from regard.runtime.onnx_folder import load_any
from regard.text.input_error import InputError
from regard.text.words import word_spans


@dataclass(frozen=True)
class EvaluationData:
    """Pairs, further references of each, and warnings; `numbers` are their lines in the file, from 0.

    Lines with a blank side have no pair. After grouping, only the first of several lines with the same source has one.
    """

    pairs: list[Pair]
    more: list[tuple[str, ...]]
    notes: tuple[str, ...] = ()
    numbers: tuple[int, ...] = ()
    total: int = 0
    """Lines of the file."""
    is_grouped: bool = False

    @classmethod
    def of(cls, pairs: Sequence[Pair], notes: Sequence[str] = ()) -> "EvaluationData":
        """Data without blank lines."""
        return cls(list(pairs), [()] * len(pairs), tuple(notes), tuple(range(len(pairs))), len(pairs))

    def grouped(self) -> "EvaluationData":
        """Pairs with the same source become one with several references, in the order of their first."""
        found: dict[str, tuple[Pair, list[str], int]] = {}
        for pair, others, number in zip(self.pairs, self.more, self.numbers, strict=True):
            if pair.source in found:
                found[pair.source][1].extend((pair.target, *others))
            else:
                found[pair.source] = pair, list(others), number
        pairs, more, numbers = zip(*found.values(), strict=True) if found else ((), (), ())
        return replace(self, pairs=list(pairs), more=[tuple(one) for one in more], numbers=numbers, is_grouped=True)

    def lines(self, path: Path, what: str) -> list[str]:
        """The lines of a file: one for every line of the data or, after grouping, for every different source."""
        lines = list(read_lines(path))
        if len(lines) == self.total:
            return [lines[number] for number in self.numbers]
        if self.is_grouped and len(lines) == len(self.pairs):
            return lines
        wanted = f"{self.total:,}{f' and {len(self.pairs):,} different sources' if self.is_grouped else ''}"
        raise InputError(f"{path} has {len(lines):,} lines, the test set {wanted}: {what} need one line for each")

    def with_references(self, paths: Sequence[Path]) -> "EvaluationData":
        """The data with a further reference from each file; blank lines are skipped."""
        files = [self.lines(path, "references") for path in paths]
        more = [
            (*others, *(file[number] for file in files if file[number].strip()))
            for number, others in enumerate(self.more)
        ]
        return replace(self, more=more)


def find_evaluation_data(
    system: Path,
    data: Path | None,
    split: str | None,
    source: Path | None,
    target: Path | None,
    links: GoldFile | None,
    trust: Sequence[str],
) -> EvaluationData:
    """What `regard evaluate` measures a system on; the system is a bundle or a file of translations."""
    if (source is None) != (target is None) or (links is not None and source is None):
        raise InputError("give --source and --target together; --links needs both")
    check_one_input(data, source, target, split)
    path = data or source
    if path is None and system.is_file():
        raise InputError(
            f"{system} is a file of translations: name what it translates, with DATA or --source, --target"
        )
    if path is None:
        corpus = recipe_pairs(load_any(system, trust=trust), split or "test")
        return EvaluationData.of(corpus.pairs, corpus.notes)
    found = read_evaluation_data(path, target, links)
    if links is None or system.is_file():
        return found
    bundle, remedy = load_any(system, trust=trust), "regard align --gold with --words spaces"
    return replace(found, notes=(*found.notes, *word_note(ParallelText.of(found.pairs), bundle, remedy)))


def read_evaluation_data(source: Path, target: Path | None = None, links: GoldFile | None = None) -> EvaluationData:
    """Pairs from a TSV file, or from two parallel files and their gold links."""
    skipped: list[int] = []
    pairs = list(read_tsv(source, None, skipped) if target is None else read_parallel(source, target, None, skipped))
    notes: list[str] = []
    if skipped:
        lines = "1 line was" if len(skipped) == 1 else f"{len(skipped):,} lines were"
        notes.append(f"{source}: {lines} left out, a side is blank (first: line {skipped[0]})")
    total = len(pairs) + len(skipped)
    numbers = sorted(set(range(total)) - {line - 1 for line in skipped})
    if links is not None:
        # A left-out line counts as having no words, so every link on it is refused. The counts of other lines are upper
        # limits: the model's own splitting gives no more words.
        lengths = [(0, 0)] * total
        for number, pair in zip(numbers, pairs, strict=True):
            lengths[number] = len(word_spans(pair.source)), len(word_spans(pair.target))
        gold, more = links.read(lengths)
        pairs = [replace(pair, links=gold[number]) for number, pair in zip(numbers, pairs, strict=True)]
        notes += more
    return EvaluationData(pairs, [()] * len(pairs), tuple(notes), tuple(numbers), total)
