"""Fetching a corpus: copied, or downloaded from a test server that drops connections, changes files and loses them."""

import gzip
import hashlib
import lzma
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from bundle.conftest import small_files
from regard.data.catalogue import CatalogueEntry
from regard.data.fetch import damaged, get
from regard.files import locked
from regard.text.input_error import InputError

TEXTS = {"train.en": "one\n" * 20_000, "train.fr": "un\n" * 20_000, "LICENSE": "free\n"}


@dataclass
class Server:
    """The served files, the bytes sent before each connection is dropped (one entry a request), and the requests."""

    files: dict[str, bytes]
    breaks: list[int] = field(default_factory=list)
    ranges: bool = True
    status: int | None = None
    length: str | None = None
    whole: bool = True
    """Whether it sends Content-Length."""
    requested: list[tuple[str, str | None]] = field(default_factory=list)
    address: str = ""


@pytest.fixture
def server() -> Iterator[Server]:
    state = Server({f"/{name}.gz": gzip.compress(text.encode(), mtime=0) for name, text in TEXTS.items()})

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            wanted = self.headers.get("Range")
            state.requested.append((self.path, wanted))
            content = state.files.get(self.path)
            if state.status is not None or content is None:
                self.send_error(state.status or 404)
                return
            first = int(wanted.removeprefix("bytes=").removesuffix("-")) if wanted and state.ranges else 0
            if first >= len(content):
                self.send_response(416)
                self.send_header("Content-Range", f"bytes */{len(content)}")
                self.end_headers()
                return
            self.send_response(206 if first else 200)
            if state.whole:
                self.send_header("Content-Length", state.length or str(len(content) - first))
            self.end_headers()
            end = first + state.breaks.pop(0) if state.breaks else len(content)
            self.wfile.write(content[first:end])

        def log_message(self, *arguments: object) -> None:
            pass

    web = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    state.address = f"http://127.0.0.1:{web.server_port}"
    thread = threading.Thread(target=web.serve_forever)
    thread.start()
    yield state
    web.shutdown()
    thread.join()
    web.server_close()


def entry(address: str | None = None) -> CatalogueEntry:
    def file(name: str) -> dict[str, object]:
        text = TEXTS[name]
        digest = hashlib.sha256(text.encode()).hexdigest()
        known = {} if address is None else {"address": f"{address}/{name}.gz"}
        return {"sha256": digest, "lines": text.count("\n"), "bytes": len(text.encode()), **known}

    return CatalogueEntry.model_validate(
        {
            "name": "tiny", "title": "t", "origin": "o", "licence": "l", "use": "u", "layout": "parallel",
            "sides": ["en", "fr"], "train": "train", "also": {"LICENSE": file("LICENSE")},
            "files": {name: file(name) for name in ("train.en", "train.fr")},
        }
    )  # fmt: skip


def test_a_corpus_is_downloaded_checked_and_then_kept(server: Server, tmp_path: Path) -> None:
    reported: list[tuple[str, int, int | None]] = []
    got = get(entry(server.address), home=tmp_path, watch=lambda *one: reported.append(one))
    assert got.folder == tmp_path / "tiny"
    assert set(got.files.values()) == {"downloaded"}
    assert sorted(path.name for path in got.folder.iterdir()) == ["LICENSE.gz", "train.en.gz", "train.fr.gz"]
    assert damaged(entry(), got.folder) == []
    sizes = {name: len(server.files[f"/{name}.gz"]) for name in TEXTS}
    assert {(name, total) for name, _, total in reported} == set(sizes.items())
    assert all((name, size, size) in reported for name, size in sizes.items())
    again = get(entry(server.address), home=tmp_path)
    assert set(again.files.values()) == {"kept"}
    assert len(server.requested) == 3


def test_a_broken_connection_is_resumed(server: Server, tmp_path: Path) -> None:
    server.breaks = [10, 5]
    get(entry(server.address), home=tmp_path)
    assert server.requested[:3] == [
        ("/train.en.gz", None),
        ("/train.en.gz", "bytes=10-"),
        ("/train.en.gz", "bytes=15-"),
    ]
    assert damaged(entry(), tmp_path / "tiny") == []


def test_received_bytes_are_kept_for_the_next_attempt(server: Server, tmp_path: Path) -> None:
    server.breaks = [10, 5, 5]
    with pytest.raises(InputError, match=r"train.en.gz failed 3 times \(.*\); 20 bytes are kept: run the same command"):
        get(entry(server.address), home=tmp_path)
    assert [path.name for path in (tmp_path / "tiny").iterdir()] == [".train.en.gz.part"]
    get(entry(server.address), home=tmp_path)
    assert server.requested[3] == ("/train.en.gz", "bytes=20-")
    assert damaged(entry(), tmp_path / "tiny") == []


def test_a_server_that_ignores_ranges(server: Server, tmp_path: Path) -> None:
    server.breaks, server.ranges = [10], False
    get(entry(server.address), home=tmp_path)
    assert damaged(entry(), tmp_path / "tiny") == []


@pytest.mark.parametrize("part", [lambda whole: whole, lambda whole: b"x" * 9, lambda whole: whole + b"x"])
def test_any_part_of_an_earlier_attempt_is_handled(
    part: Callable[[bytes], bytes], server: Server, tmp_path: Path
) -> None:
    (tmp_path / "tiny").mkdir()
    (tmp_path / "tiny" / ".train.en.gz.part").write_bytes(part(server.files["/train.en.gz"]))
    get(entry(server.address), home=tmp_path)
    assert damaged(entry(), tmp_path / "tiny") == []


def test_a_link_in_the_place_of_an_earlier_attempt_is_not_followed(server: Server, tmp_path: Path) -> None:
    (tmp_path / "tiny").mkdir()
    (tmp_path / "mine").write_bytes(b"mine")
    (tmp_path / "tiny" / ".train.en.gz.part").symlink_to(tmp_path / "mine")
    get(entry(server.address), home=tmp_path)
    assert (tmp_path / "mine").read_bytes() == b"mine"
    assert not (tmp_path / "tiny" / "train.en.gz").is_symlink()
    assert damaged(entry(), tmp_path / "tiny") == []


def test_a_file_with_another_checksum_is_not_kept(server: Server, tmp_path: Path) -> None:
    server.files["/train.fr.gz"] = gzip.compress(b"autre\n")
    with pytest.raises(InputError, match=r"train.fr.gz differs from the file in the catalogue .* is not kept"):
        get(entry(server.address), home=tmp_path)
    assert sorted(path.name for path in (tmp_path / "tiny").iterdir()) == ["train.en.gz"]
    assert damaged(entry(), tmp_path / "tiny") == ["train.fr", "LICENSE"]


@pytest.mark.parametrize("length", [None, "99999999"], ids=["sent", "announced"])
def test_a_download_stops_at_the_catalogues_size(length: str | None, server: Server, tmp_path: Path) -> None:
    server.files["/train.fr.gz"], server.length = bytes(10_000_000), length
    if length is None:
        server.whole = False
    with pytest.raises(InputError) as caught:
        get(entry(server.address), home=tmp_path)
    wanted = "train.en.gz" if length else "train.fr.gz"
    assert f"{wanted} is larger than in the catalogue (" in str(caught.value)
    assert "nothing of it is kept" in str(caught.value)
    assert not [path.name for path in (tmp_path / "tiny").iterdir() if "part" in path.name or "fr" in path.name]


def test_a_part_that_is_too_large_is_not_resumed(server: Server, tmp_path: Path) -> None:
    (tmp_path / "tiny").mkdir()
    with (tmp_path / "tiny" / ".train.en.gz.part").open("wb") as part:
        part.truncate(1 << 40)
    get(entry(server.address), home=tmp_path)
    assert damaged(entry(), tmp_path / "tiny") == []


@pytest.mark.parametrize("pack", [gzip.compress, lzma.compress], ids=["gz", "xz"])
def test_a_file_that_unpacks_to_more_than_expected_is_not_kept(
    pack: Callable[[bytes], bytes], server: Server, tmp_path: Path
) -> None:
    server.files["/train.fr.gz"] = pack(bytes(30_000_000))
    with pytest.raises(InputError, match=r"train.fr.gz differs from the file in the catalogue .* is not kept"):
        get(entry(server.address), home=tmp_path)
    assert sorted(path.name for path in (tmp_path / "tiny").iterdir()) == ["train.en.gz"]


def test_a_file_that_is_gone(server: Server, tmp_path: Path) -> None:
    del server.files["/train.en.gz"]
    with pytest.raises(InputError, match=r"train.en.gz cannot be downloaded: the server answered 404 Not Found; take"):
        get(entry(server.address), home=tmp_path)


def test_a_server_error_raises(server: Server, tmp_path: Path) -> None:
    server.status = 503
    with pytest.raises(InputError, match=r"failed 3 times \(the server answered 503"):
        get(entry(server.address), home=tmp_path)


def test_an_unreachable_server_raises(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"cannot be reached \(.*refused.*\): is there a network\?"):
        get(entry("http://127.0.0.1:9"), home=tmp_path)


def test_a_disk_that_fills_while_downloading(server: Server, tmp_path: Path) -> None:
    with small_files(20), pytest.raises(InputError, match=r"cannot write .*train.en: .* free some space"):
        get(entry(server.address), home=tmp_path)
    get(entry(server.address), home=tmp_path)
    assert damaged(entry(), tmp_path / "tiny") == []


def test_a_folder_that_cannot_be_written(server: Server, tmp_path: Path) -> None:
    (tmp_path / "tiny").write_text("in the way")
    with pytest.raises(InputError, match=r"cannot write .*: (File exists|Not a directory); name another folder with"):
        get(entry(server.address), home=tmp_path)


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    """A local copy, each file packed in its own way."""
    folder = tmp_path / "corpora" / "tiny"
    folder.mkdir(parents=True)
    (folder / "train.en").write_text(TEXTS["train.en"])
    (folder / "train.fr.xz").write_bytes(lzma.compress(TEXTS["train.fr"].encode()))
    (folder / "LICENSE.gz").write_bytes(gzip.compress(TEXTS["LICENSE"].encode()))
    return folder


def test_a_local_copy_is_checked_and_copied(copy: Path, tmp_path: Path) -> None:
    for origin, home in ((copy.parent, tmp_path / "one"), (copy, tmp_path / "two")):
        got = get(entry(), origin, home)
        assert set(got.files.values()) == {"copied"}
        assert sorted(path.name for path in got.folder.iterdir()) == ["LICENSE.gz", "train.en", "train.fr.xz"]
        assert damaged(entry(), got.folder) == []
        assert set(get(entry(), None, home).files.values()) == {"kept"}


def test_a_damaged_file_here_is_replaced(copy: Path, tmp_path: Path) -> None:
    folder = get(entry(), copy, tmp_path / "one").folder
    (folder / "train.fr.xz").write_bytes(b"\xfd7zXZ\x00 no more")
    assert damaged(entry(), folder) == ["train.fr"]
    assert get(entry(), copy, tmp_path / "one").files == {"train.en": "kept", "train.fr": "copied", "LICENSE": "kept"}


def test_a_damaged_file_with_another_compression_is_removed(copy: Path, tmp_path: Path) -> None:
    folder = tmp_path / "home" / "tiny"
    folder.mkdir(parents=True)
    (folder / "train.fr").write_text("damaged\n")  # is found before train.fr.xz
    got = get(entry(), copy, tmp_path / "home")
    assert got.files["train.fr"] == "copied"
    assert damaged(entry(), folder) == []
    assert not (folder / "train.fr").exists()


def test_two_processes_fetch_a_corpus_once(server: Server, copy: Path, tmp_path: Path) -> None:
    for origin, address in ((None, server.address), (copy, None)):
        home, found = tmp_path / f"home {address is None}", list[set[str]]()

        def fetch(home: Path = home, found: list[set[str]] = found, origin: Path | None = origin) -> None:
            found.append(set(get(entry(server.address), origin, home).files.values()))

        threads = [threading.Thread(target=fetch) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert sorted(found, key=str)[1:] == [{"kept"}] * 3
        assert damaged(entry(), home / "tiny") == []


def test_waiting_for_another_process_is_reported(copy: Path, tmp_path: Path) -> None:
    (tmp_path / "home").mkdir()
    reported: list[str] = []
    with ExitStack() as other:
        other.enter_context(locked(tmp_path / "home" / ".tiny.lock"))

        def watch(name: str, done: int, total: int | None) -> None:
            reported.append(name)
            other.close()

        get(entry(), copy, tmp_path / "home", watch)
    assert reported[0] == "waiting for another process that fetches tiny"
    reported.clear()
    get(entry(), copy, tmp_path / "second home", lambda name, done, total: reported.append(name))
    assert not [name for name in reported if "waiting" in name]


@pytest.mark.parametrize("length", ["many", "-5"])
def test_an_invalid_content_length_is_ignored(server: Server, tmp_path: Path, length: str) -> None:
    server.length = length
    assert set(get(entry(server.address), home=tmp_path).files.values()) == {"downloaded"}


def test_a_copy_of_another_edition_is_refused(copy: Path, tmp_path: Path) -> None:
    (copy / "train.en").write_text("other\n")
    with pytest.raises(InputError, match=r"train.en differs from the file in the catalogue: .* 20,000 lines"):
        get(entry(), copy, tmp_path / "home")


def test_an_incomplete_copy_raises(copy: Path, tmp_path: Path) -> None:
    (copy / "train.en").unlink()
    with pytest.raises(InputError, match=r"no complete copy of tiny in it .* missing: train.en$"):
        get(entry(), copy.parent, tmp_path / "home")
    with pytest.raises(InputError, match=r"--from .*nowhere: there is no such folder"):
        get(entry(), tmp_path / "nowhere", tmp_path / "home")


def test_a_corpus_without_a_public_address_raises(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"tiny has no public address for train.en and others \(o\): give the folder"):
        get(entry(), home=tmp_path)
