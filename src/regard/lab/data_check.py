"""`regard doctor` for data: detects the format of files and which belong together, and surveys them."""

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from regard.data.catalogue import CatalogueEntry, corpus_folder, is_here
from regard.data.corpora import read_parallel, read_tsv
from regard.data.lines import COMPRESSED, read_lines
from regard.data.pair import Pair
from regard.data.records import guess_fields, read_jsonl, read_parquet
from regard.data.splits import load_split, open_split
from regard.data.tables import CatalogueData
from regard.lab.finding import Finding
from regard.lab.side import SideStatistics
from regard.lab.survey import Survey, check_overlap
from regard.lab.table_check import TableFindings, check_table
from regard.text.input_error import InputError

Advance = Callable[[int], None]
_RECORDS = (".jsonl", ".parquet")


def check_file(path: Path, other: Path | None = None, advance: Advance | None = None) -> list[Finding]:
    """A file of pairs, one side of a parallel corpus, or both sides."""
    if other is not None:
        return _survey((path, other), advance)[1]
    if bare_suffix(path) in _RECORDS:
        source, target = guess_fields(path)
        note = f'source and target were taken from the fields "{source}" and "{target}"; name them in a recipe'
        return [*_survey((path,), advance)[1], Finding("·", note)]
    first = next((line for line in read_lines(path) if line.strip()), None)
    if first is None:
        return [Finding("✗", f"{path} is empty: expected lines of source TAB target")]
    if "\t" not in first and check_table(path).readable:
        return _check_side(path)
    return _survey((path,), advance)[1]


def _survey(paths: tuple[Path, ...], advance: Advance | None) -> tuple[Survey, list[Finding]]:
    table = _table(paths)
    if not table.readable:
        return Survey(()), list(table.findings)
    skipped: list[int] = []
    survey = Survey(located(_read(paths, skipped), skipped), advance)
    findings = [*survey.findings(), *table.findings]
    if skipped:
        lines = tuple(f"line {number}" for number in skipped[:3])
        remedy = "nothing: training leaves them out"
        findings.append(Finding("!", f"lines left out because a side is blank: {len(skipped):,}", lines, remedy))
    return survey, findings


def check_corpus(entry: CatalogueEntry, advance: Advance | None = None) -> list[Finding]:
    """A corpus of the catalogue, from its first side to each other one: training text, and overlaps of other splits."""
    folder = corpus_folder(entry)
    source, first, *others = entry.sides
    targets = [first, *(one for one in others if _is_here(entry, folder, entry.train, one))]
    return [finding for target in targets for finding in _check_direction(entry, folder, (source, target), advance)]


def _check_direction(
    entry: CatalogueEntry, folder: Path | None, sides: tuple[str, str], advance: Advance | None
) -> list[Finding]:
    source, target = sides
    part = entry.parts[0] if entry.parts else None
    table = CatalogueData(kind="catalogue", name=entry.name, source=source, target=target, part=part)
    notes: list[str] = []
    train = Survey(((f"pair {n}", pair) for n, pair in enumerate(open_split(table, "train").pairs(notes), 1)), advance)
    summary = f"{entry.name} in {folder}: {source} → {target}{f', {part}' if part else ''}; licence: {entry.licence}"
    findings = [Finding("✓", summary), *(Finding("·", note) for note in notes), *train.findings()]
    for split in ("dev", "test"):
        findings += check_overlap(train, load_split(table, split).pairs, split)
    further = set(entry.splits()) - {entry.train, entry.dev, entry.test} if not entry.parts else set()
    for split in sorted(further):
        # tok/val is another edition of val
        if "/" not in split and _is_here(entry, folder, split, target):
            pairs = load_split(table.model_copy(update={"test": split}), "test").pairs
            findings += check_overlap(train, pairs, split)
    return findings


def _is_here(entry: CatalogueEntry, folder: Path | None, split: str, target: str) -> bool:
    """Whether a copy has the files of a split; those of the published corpora need not be complete."""
    endings = (entry.sides[0], target) if entry.layout == "parallel" else ("tsv",)
    return folder is not None and all(is_here(folder / f"{split}.{ending}") for ending in endings)


def check_folder(folder: Path, advance: Advance | None = None) -> list[Finding]:
    """A folder of data files: the split that looks like training text, and overlaps of the others with it."""
    splits = find_splits(folder)
    if not splits:
        raise InputError(
            f"no bundle and no corpus in {folder}: expected a folder that `regard train` wrote, files of pairs "
            "(.tsv, .jsonl, .parquet), or parallel files such as train.en and train.fr"
        )
    sizes = {name: sum(path.stat().st_size for path in paths) for name, paths in splits.items()}
    name = next((name for name in splits if "train" in name), max(splits, key=lambda name: sizes[name]))
    train, found = _survey(splits[name], advance)
    findings = [Finding("✓", f"{name}: {' and '.join(path.name for path in splits[name])}"), *found]
    for other, paths in splits.items():
        if other != name and not (table := _table(paths)).readable:
            findings += table.findings
        elif other != name and len(train):
            findings += check_overlap(train, _read(paths, []), other)
    return findings


def find_splits(folder: Path) -> dict[str, tuple[Path, ...]]:
    """Files that belong together, by the name they share; of three or more languages, the first two."""
    tables: dict[str, tuple[Path, ...]] = {}
    sides: dict[str, list[Path]] = {}
    for path in sorted(folder.iterdir()):
        if not path.is_file() or path.name.startswith("."):
            continue
        name = _unpacked(path)
        if bare_suffix(path) in (".tsv", ".csv", *_RECORDS):
            tables[Path(name).stem] = (path,)
        elif 2 <= len(Path(name).suffix) <= 4:
            sides.setdefault(Path(name).stem, []).append(path)
    endings = {tuple(bare_suffix(path) for path in paths) for paths in sides.values() if len(paths) >= 2}
    if not tables and endings:
        chosen = min(endings, key=len)[:2]
        for name, paths in sides.items():
            both = tuple(path for path in paths if bare_suffix(path) in chosen)
            if len(both) == 2:
                tables[name] = both
    return tables


def located(pairs: Iterable[Pair], skipped: list[int]) -> Iterator[tuple[str, Pair]]:
    """Each pair with its line number; `skipped` grows while the pairs are read."""
    for number, pair in enumerate(pairs, 1):
        yield f"line {number + len(skipped)}", pair


def bare_suffix(path: Path) -> str:
    """The ending before .gz, .xz or .zst."""
    return Path(_unpacked(path)).suffix


def _unpacked(path: Path) -> str:
    return path.name.removesuffix(path.suffix) if path.suffix in COMPRESSED else path.name


def _read(paths: tuple[Path, ...], skipped: list[int]) -> Iterator[Pair]:
    if len(paths) == 2:
        return read_parallel(*paths, skipped=skipped)
    if bare_suffix(paths[0]) in _RECORDS:
        read = read_jsonl if bare_suffix(paths[0]) == ".jsonl" else read_parquet
        return read(paths[0], *guess_fields(paths[0]), skipped)
    return read_tsv(paths[0], _table(paths).columns, skipped)


def _table(paths: tuple[Path, ...]) -> TableFindings:
    """Findings about a file of columns; none for records and parallel files."""
    return TableFindings() if len(paths) == 2 or bare_suffix(paths[0]) in _RECORDS else check_table(paths[0])


def _check_side(path: Path) -> list[Finding]:
    side = SideStatistics(path.name)
    lines = list(read_lines(path))
    side.expect(lines[:1000])
    seen = [side.look(line) for line in lines]
    blank = [f"line {number}" for number, line in enumerate(lines, 1) if not line.strip()]
    findings = [
        Finding(
            "✓",
            f"{len(lines):,} line{'s' * (len(lines) > 1)} without a tab: one side of a parallel corpus?",
            remedy=f"regard doctor {path} OTHER checks both sides together",
        ),
        Finding("✓", side.describe()),
    ]
    if blank:
        what = f"blank lines, whose pairs are left out: {len(blank):,}"
        findings.append(Finding("!", what, tuple(blank[:3]), "nothing: training leaves them out"))
    damaged = [number for number, one in enumerate(seen, 1) if "damaged" in one.problems]
    if damaged:
        examples = tuple(f"line {number}: {lines[number - 1][:60]!r}" for number in damaged[:3])
        what = f"broken characters or HTML entities: {len(damaged):,}"
        findings.append(Finding("!", what, examples, "wrongly decoded text: read the original as UTF-8"))
    return findings
