"""Lines of a stream of bytes: line ends, dropped marks, and the position of an invalid byte."""

import io

import pytest

from regard.data.lines import decode_lines
from regard.text.input_error import InputError


def lines(data: bytes) -> list[str]:
    return list(decode_lines(io.BytesIO(data), "the stream"))


def test_line_feeds_alone_end_lines() -> None:
    assert lines(b"a\r\nb\x0b\x0c\xc2\x85\n\nc") == ["a", "b\x0b\x0c\x85", "", "c"]
    assert lines(b"") == []
    assert lines(b"\n") == [""]


def test_a_byte_order_mark_is_dropped_once() -> None:
    assert lines(b"\xef\xbb\xbfa\n\xef\xbb\xbfb") == ["a", "\ufeffb"]


@pytest.mark.parametrize(
    ("data", "line", "byte"), [(b"ab\xff", 1, 2), (b"a\nb\xc3\n", 2, 3), (b"\xef\xbb\xbfa\xe9\n", 1, 4)]
)
def test_a_wrong_byte_is_counted_from_the_beginning(data: bytes, line: int, byte: int) -> None:
    with pytest.raises(InputError, match=rf"the stream, line {line}: byte {byte} of the file \(0x..\) is not UTF-8"):
        lines(data)


@pytest.mark.parametrize("data", [b"\x7fELF\x02\x01\x00\xff", b"a\tb\n\x89PNG\x00\x00", b"\x98\x1d5\n"])
def test_binary_files_raise_without_advice_to_convert(data: bytes) -> None:
    with pytest.raises(
        InputError, match=r"the stream, line .*is not UTF-8; not a text file \(it holds the byte 0x[01]"
    ):
        lines(data)


def test_lines_before_a_wrong_byte_are_returned() -> None:
    stream = decode_lines(io.BytesIO(b"a\nb\n\xff\n"), "the stream")
    assert [next(stream), next(stream)] == ["a", "b"]
    with pytest.raises(InputError, match="line 3: byte 4"):
        next(stream)


def test_other_encodings_are_named() -> None:
    with pytest.raises(InputError, match="the stream is UTF-16, not UTF-8: convert it"):
        lines("abc".encode("utf-16"))


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be", "utf-32-le", "utf-32-be"])
def test_wide_text_without_its_mark_is_refused(encoding: str) -> None:
    with pytest.raises(InputError, match=r"the stream, line 1 is UTF-16 or UTF-32, not UTF-8: convert the file"):
        lines("the cat\tle chat\nthe dog\tle chien\n".encode(encoding))


def test_utf_32_is_called_by_its_name() -> None:
    for mark, encoding in ((b"\xff\xfe\0\0", "utf-32-le"), (b"\0\0\xfe\xff", "utf-32-be")):
        with pytest.raises(InputError, match=r"is UTF-32, not UTF-8: convert it, .* -f UTF-32"):
            lines(mark + "the cat\n".encode(encoding))


def test_many_nul_bytes_raise_and_a_single_one_is_read() -> None:
    with pytest.raises(InputError, match=r"the stream, line 2 holds nothing but NUL bytes: .* copy the file again"):
        lines(b"the cat\n" + bytes(4096))
    assert lines(b"the \0 cat sat\n") == ["the \0 cat sat"]
