"""Alignment files: Pharaoh (one line a sentence) and NAACL (one line a link)."""

import re
from collections.abc import Iterable, Sequence

from regard.alignment.links import Link, Links
from regard.bounds import MOST, cut

_PHARAOH = re.compile(r"([0-9]{1,9})([-?])([0-9]{1,9})")
_BOUNDS = "{where}: link {source}-{target} lies outside the sentence of {sources} source and {targets} target words"
_SHOWN = 30
"""Characters of a wrong token that a message quotes."""
_ONE_BASED = "; all links fit when counted from 1, so read them with index base 1"
_SWAPPED = "; all links fit with source and target swapped, so flip them"
_BOTH = (
    "; all links fit when counted from 1 with source and target swapped, so read them with index base 1 and flip them"
)


def parse_pharaoh(line: str, *, base: int = 0, where: str = "line") -> Links:
    """`i-j` is a sure link, `i?j` a possible one; i counts source words, j target words, both from `base`.

    >>> parse_pharaoh("0-0 1?2").sure
    frozenset({(0, 0)})
    """
    sure: list[Link] = []
    possible: list[Link] = []
    for token in line.split():
        match = _PHARAOH.fullmatch(token)
        if match is None:
            raise ValueError(
                f"{where}: '{cut(token, _SHOWN)}' is not a link; expected i-j (sure) or i?j (possible), e.g. 0-0 1?2"
            )
        link = int(match[1]) - base, int(match[3]) - base
        if min(link) < 0:
            raise ValueError(f"{where}: '{token}' lies below index base {base}; these links seem to count from 0")
        (sure if match[2] == "-" else possible).append(link)
    return Links.of(sure, possible)


def format_pharaoh(links: Links, *, base: int = 0) -> str:
    """Links sorted by source, then target word."""
    return " ".join(
        f"{source + base}{'-' if (source, target) in links.sure else '?'}{target + base}"
        for source, target in sorted(links.possible)
    )


def parse_naacl(
    lines: Iterable[str], *, base: int = 1, sentences: int | None = None, where: str = "links"
) -> list[Links]:
    """Lines `sentence source target [S|P] [confidence]`; sentences count from 1, words from `base`, S is the default.

    A sentence without links has no line, so give `sentences` where the last ones may be empty.
    """
    found: dict[int, tuple[list[Link], list[Link]]] = {}
    path = where
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        where = f"{path}, line {number}"
        sentence, link, is_sure = _naacl_line(line.split(), base, where)
        if sentences is not None and sentence > sentences:
            raise ValueError(f"{where}: sentence {sentence}, but there are only {sentences} sentences")
        if sentence > MOST["sentences"]:
            raise ValueError(f"{where}: sentence {sentence:,}, at most {MOST['sentences']:,} are read")
        sure, possible = found.setdefault(sentence, ([], []))
        (sure if is_sure else possible).append(link)
    count = max(found, default=0) if sentences is None else sentences
    nothing = Links.of(())
    return [Links.of(*found[one]) if one in found else nothing for one in range(1, count + 1)]


def format_naacl(sentence: int, links: Links, *, base: int = 1) -> str:
    """The lines of one sentence (counted from 1), each ending in a line feed; nothing if it has no links."""
    return "".join(
        f"{sentence} {source + base} {target + base} {'S' if (source, target) in links.sure else 'P'}\n"
        for source, target in sorted(links.possible)
    )


def check_links(
    links: Sequence[Links], lengths: Sequence[tuple[int, int]], *, where: str = "links", base: int = 0
) -> None:
    """Raises for links outside their sentence; `lengths` are (source words, target words) of each sentence.

    The message suggests index base 1 or swapped sides if all links fit then; `base` is the index base they were
    parsed with.
    """
    if len(links) != len(lengths):
        raise ValueError(f"{where}: {len(links)} lines of links for {len(lengths)} sentence pairs")
    for number, (each, (sources, targets)) in enumerate(zip(links, lengths, strict=True), 1):
        for source, target in sorted(each.possible):
            if not (0 <= source < sources and 0 <= target < targets):
                place = f"{where}, sentence {number}"
                given = {"source": source + base, "target": target + base, "sources": sources, "targets": targets}
                raise ValueError(_BOUNDS.format(where=place, **given) + _remedy(links, lengths, base))


def seem_one_based(links: Sequence[Links]) -> bool:
    """Whether no link parsed as 0-based touches a first word in at least ten sentences with links."""
    linked = [each.possible for each in links if each.possible]
    return len(linked) >= 10 and all(source and target for each in linked for source, target in each)


def _remedy(links: Sequence[Links], lengths: Sequence[tuple[int, int]], base: int) -> str:
    turned = [(targets, sources) for sources, targets in lengths]
    if base == 0 and _fit(links, lengths, 1):
        return _ONE_BASED
    if _fit(links, turned, 0):
        return _SWAPPED
    return _BOTH if base == 0 and _fit(links, turned, 1) else ""


def _fit(links: Sequence[Links], lengths: Sequence[tuple[int, int]], first: int) -> bool:
    """Whether all lie inside their sentences when the first word is counted as `first`."""
    return all(
        first <= source < sources + first and first <= target < targets + first
        for each, (sources, targets) in zip(links, lengths, strict=True)
        for source, target in each.possible
    )


def _naacl_line(fields: list[str], base: int, where: str) -> tuple[int, Link, bool]:
    wanted = "expected: sentence source target [S|P] [confidence], for instance 1 3 4 S"
    if not 3 <= len(fields) <= 5:
        raise ValueError(f"{where}: {len(fields)} fields; {wanted}")
    for field in fields[:3]:
        if not re.fullmatch(r"[0-9]{1,9}", field):
            raise ValueError(f"{where}: '{cut(field, _SHOWN)}' is not a whole number of up to nine digits; {wanted}")
    sentence, source, target = (int(field) for field in fields[:3])
    if sentence < 1:
        raise ValueError(f"{where}: sentence {sentence}, but sentences count from 1")
    if min(source, target) < base:
        raise ValueError(f"{where}: link {source} {target} lies below index base {base}; are these links 0-based?")
    kind = fields[3] if len(fields) > 3 else "S"
    if kind not in ("S", "P"):
        raise ValueError(f"{where}: '{cut(kind, _SHOWN)}' is neither S (sure) nor P (possible); {wanted}")
    return sentence, (source - base, target - base), kind == "S"
