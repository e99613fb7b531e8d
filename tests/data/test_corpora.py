"""Files of pairs: what is read, and the messages about invalid files."""

import gzip
import lzma
import sys
from collections.abc import Callable
from pathlib import Path

import pyarrow
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from regard.alignment.links import Links
from regard.data.corpora import read_parallel, read_tsv
from regard.data.lines import read_lines
from regard.data.pair import Pair
from regard.text.input_error import InputError


def zstd(content: bytes) -> bytes:
    return pyarrow.compress(content, codec="zstd", asbytes=True)  # type: ignore[no-any-return]


PACKERS: dict[str, Callable[[bytes], bytes]] = {
    ".zst": zstd,
    "": bytes,
    ".gz": gzip.compress,
    ".xz": lzma.compress,
}


def write(path: Path, content: str | bytes) -> Path:
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


@pytest.mark.parametrize("suffix", PACKERS)
def test_plain_and_compressed_files_are_read_alike(suffix: str, tmp_path: Path) -> None:
    content = "a\tb\nl'eau\t水\n".encode()
    path = write(tmp_path / f"pairs.tsv{suffix}", PACKERS[suffix](content))
    assert list(read_tsv(path)) == [Pair("a", "b"), Pair("l'eau", "水")]
    assert list(read_tsv(tmp_path / "pairs.tsv")) == list(read_tsv(path))
    renamed = path.rename(tmp_path / "renamed")
    assert list(read_lines(renamed)) == content.decode().splitlines()


def test_lines_end_at_line_feeds_alone(tmp_path: Path) -> None:
    text = "a\u2028b\x0bc\x85d\re\u2029\r\nf\n\ng"
    assert list(read_lines(write(tmp_path / "t", text))) == ["a\u2028b\x0bc\x85d\re\u2029", "f", "", "g"]


@given(lines=st.lists(st.text(st.characters(exclude_characters="\n\r\ufeff", exclude_categories=("Cs",)))))
def test_any_lines_come_back(lines: list[str], tmp_path_factory: pytest.TempPathFactory) -> None:
    assume(all(line.count("\0") < 4 for line in lines))  # many of them are another encoding
    path = write(tmp_path_factory.mktemp("lines") / "t", "".join(f"{line}\n" for line in lines))
    assert list(read_lines(path)) == lines


def test_a_byte_order_mark_is_dropped(tmp_path: Path) -> None:
    assert list(read_tsv(write(tmp_path / "t.tsv", b"\xef\xbb\xbfa\tb\r\n"))) == [Pair("a", "b")]


def test_a_long_line_is_a_line(tmp_path: Path) -> None:
    (pair,) = read_tsv(write(tmp_path / "t.tsv", "a " * 1_000_000 + "\tb"))
    assert len(pair.source) == 2_000_000


def test_columns_are_chosen_where_there_are_more(tmp_path: Path) -> None:
    path = write(tmp_path / "t.tsv", "Go.\tVa !\tCC-BY 2.0\nHi.\tSalut.\tCC-BY 2.0\n")
    assert [pair.target for pair in read_tsv(path, (1, 2))] == ["Va !", "Salut."]
    assert next(iter(read_tsv(path, (2, 1)))) == Pair("Va !", "Go.")


def test_blank_sides_are_left_out_and_counted(tmp_path: Path) -> None:
    skipped: list[int] = []
    path = write(tmp_path / "t.tsv", "a\tb\n\n \tc\nd\t\u00a0\ne\tf\n")
    assert list(read_tsv(path, skipped=skipped)) == [Pair("a", "b"), Pair("e", "f")]
    assert skipped == [2, 3, 4]


def test_pairs_are_read_one_at_a_time(tmp_path: Path) -> None:
    pairs = read_tsv(write(tmp_path / "t.tsv", "a\tb\nno tab\n"))
    assert next(pairs) == Pair("a", "b")
    with pytest.raises(InputError, match="line 2"):
        next(pairs)


@pytest.mark.parametrize(
    ("content", "columns", "message"),
    [
        ("a\tb\nno tab\n", None, r"t.tsv, line 2: no tab; expected source TAB target"),
        (
            "a\tb\tc\n",
            None,
            r"t.tsv, line 1: 3 columns, expected 2; .* columns = \[1, 2\] in the recipe.* cut -f 1,2 t.tsv",
        ),
        ("a\tb\tc\nd\te\n", (1, 3), r"t.tsv, line 2: 2 columns, but columns = \[1, 3\]"),
        ("a\tb\n", (0, 1), r"columns = \[0, 1\]: expected two different columns, counted from 1"),
        ("a\tb\n", (2, 2), r"columns = \[2, 2\]"),
        ("", None, "t.tsv holds no pair"),
        ("\n \t \n", None, "t.tsv holds no pair"),
        (b"ok\tok\ncaf\xe9\tb\n", None, r"t.tsv, line 2: byte 9 of the file \(0xe9\) is not UTF-8; convert"),
        (b"\xef\xbb\xbf\xe9\tb\n", None, r"line 1: byte 3 of the file"),
        ("a\tb".encode("utf-16"), None, "t.tsv is UTF-16, not UTF-8: convert it"),
        (b"\x28\xb5\x2f\xfdxxx", None, "t.tsv is damaged after line 0: ZSTD"),
        (zstd(b"a\tb\n" * 100)[:-5], None, "t.tsv is damaged after line .* Truncated compressed stream"),
        (gzip.compress(b"a\tb\n" * 100, mtime=0)[:-10], None, "t.tsv is damaged after line .* fetch or pack it again"),
        (lzma.compress(b"a\tb\n" * 100)[:-30], None, "t.tsv is damaged after line"),
        (b"\x1f\x8bnot really", None, "t.tsv is damaged after line 0"),
    ],
)
def test_a_wrong_tsv_is_refused_with_its_place(
    content: str | bytes, columns: tuple[int, int] | None, message: str, tmp_path: Path
) -> None:
    path = write(tmp_path / "t.tsv", content)
    with pytest.raises(InputError, match=message):
        list(read_tsv(path, columns))


def test_a_missing_file_raises_with_the_nearest_name(tmp_path: Path) -> None:
    write(tmp_path / "train.tsv", "a\tb")
    with pytest.raises(InputError, match=r"no file .*trian.tsv: did you mean 'train.tsv'\?"):
        list(read_tsv(tmp_path / "trian.tsv"))
    with pytest.raises(InputError, match=r"no file .*zzzz: nothing like it in "):
        list(read_tsv(tmp_path / "zzzz"))
    with pytest.raises(InputError, match=r"there is no folder .*nowhere"):
        list(read_tsv(tmp_path / "nowhere" / "train.tsv"))
    with pytest.raises(InputError, match="is a folder, expected a file"):
        list(read_tsv(tmp_path))


def test_parallel_files_are_paired_line_by_line_with_their_links(tmp_path: Path) -> None:
    source = write(tmp_path / "t.en", "the cat\n\nyes\n")
    target = write(tmp_path / "t.fr", "le chat\nvide\noui\n")
    links = write(tmp_path / "t.align", "0-0 1?1\n\n0-0\n")
    skipped: list[int] = []
    assert list(read_parallel(source, target, skipped=skipped)) == [Pair("the cat", "le chat"), Pair("yes", "oui")]
    assert skipped == [2]
    linked = list(read_parallel(source, target, links))
    assert linked == [
        Pair("the cat", "le chat", Links.of([(0, 0)], [(1, 1)])),
        Pair("yes", "oui", Links.of([(0, 0)])),
    ]


@pytest.mark.parametrize(
    ("source", "target", "links", "message"),
    [
        ("a\nb\nc\n", "a\n", None, r"unequal line counts: .*t.en has 3, .*t.fr has 1; line 2 of .*t.en is the first"),
        ("a\n", "a\nb\nc\nd", None, r"t.en has 1, .*t.fr has 4; line 2 of .*t.fr is the first without a partner"),
        ("a\n", "a\n", "0-0\n0-0\n", r"t.en has 1, .*t.fr has 1, .*t.align has 2; line 2 of .*t.align"),
        ("", "", None, r"t.en and .*t.fr hold no pair"),
        ("\n", "a\n", None, r"hold no pair"),
        ("a\nb", "a\nb", "0-0\n0-x\n", r"t.align, line 2: '0-x' is not a link; expected i-j"),
        ("a b\n", "a\n", "1-1\n", r"t.align, line 1: link 1-1 lies outside the pair of 2 source and 1 target words"),
    ],
)
def test_wrong_parallel_files_are_refused_with_their_place(
    source: str, target: str, links: str | None, message: str, tmp_path: Path
) -> None:
    files = [write(tmp_path / "t.en", source), write(tmp_path / "t.fr", target)]
    if links is not None:
        files.append(write(tmp_path / "t.align", links))
    with pytest.raises(InputError, match=message):
        list(read_parallel(*files))


def test_several_zstd_frames_are_one_file(tmp_path: Path) -> None:
    path = write(tmp_path / "t", zstd(b"a\nb") + zstd(b"c\n") + zstd(b""))
    assert list(read_lines(path)) == ["a", "bc"]


def test_a_zstd_file_without_the_extra_raises_with_the_install_command(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = write(tmp_path / "t.tsv.zst", zstd(b"a\tb\n"))
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(InputError, match=r"t.tsv.zst, compressed with zstd, needs .* pip install 'regard\[data\]'"):
        list(read_tsv(path))


def test_links_of_the_other_direction_are_turned(tmp_path: Path) -> None:
    source, target = write(tmp_path / "t.fr", "le chat noir\n"), write(tmp_path / "t.en", "the cat\n")
    links = write(tmp_path / "t.align", "0-0 1?2\n")
    (pair,) = read_parallel(source, target, links, turned=True)
    assert pair.links == Links.of([(0, 0)], [(2, 1)])
    with pytest.raises(InputError, match="link 1-2 lies outside the pair of 3 source and 2 target words"):
        list(read_parallel(source, target, links))
