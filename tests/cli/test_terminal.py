"""Issue 13, item 4: on a terminal, control characters from bundles, recipes and servers are escaped."""

import io
import json
import os
import pty
import re
import socket
import sys
import threading
from collections.abc import Callable
from pathlib import Path

import pytest
import torch

from regard.bundle import save_bundle
from regard.cli.escape import bare, escaped, terminal_console, warn
from regard.cli.main import run
from regard.cli.screen import progress
from regard.cli.training_display import TrainingDisplay
from regard.data import catalogue
from regard.data.catalogue import CatalogueEntry
from regard.models import Seq2Seq, preset
from regard.text.tokenizer import Tokenizer
from regard.training.journal import Warned
from runtime.bundles import LONGEST, MODELS, tokenizers

from .conftest import Command

HOSTILE = "\x1b[2J\x1b]0;owned\x07\x9b31m\rgone\u202e"
SHOWN = r"\u001b[2J\u001b]0;owned\u0007\u009b31m\u000dgone\u202e"
OBEYED = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]|\r(?!\n)")
"""Bytes that must not reach a terminal; the terminal itself adds a carriage return before each line feed."""
COLOURS = re.compile("\x1b\\[[0-9;]*m")


@pytest.fixture
def hostile(tmp_path: Path) -> Path:
    """A bundle with control characters in its description and in every word of its vocabulary."""
    source, target = tokenizers()
    content = json.loads(target.data)
    vocabulary = content["tokenizer"]["model"]["vocab"]
    content["tokenizer"]["model"]["vocab"] = {
        word if word[:1] == "<" else f"{word}{HOSTILE}": number for word, number in vocabulary.items()
    }
    target = Tokenizer.from_data(json.dumps(content).encode())
    torch.manual_seed(0)
    model = Seq2Seq(preset("bahdanau", "tiny", **MODELS["bahdanau"]), len(source), len(target))
    recipe = {"description": f"nice{HOSTILE}\nmodel       forged"}
    save_bundle(
        tmp_path / "bundle", model, source, target, source_eos=True, longest_source=LONGEST, recipe=recipe,
        trained={f"key{HOSTILE}": 1},
    )  # fmt: skip
    return tmp_path / "bundle"


Terminal = Callable[..., str]


@pytest.fixture
def terminal(monkeypatch: pytest.MonkeyPatch) -> Terminal:
    """terminal("info", bundle): what `regard info bundle`, or a function, writes to a terminal."""

    def call(*arguments: object, encoding: str = "utf-8") -> str:
        master, slave = pty.openpty()
        received: list[bytes] = []
        listener = threading.Thread(target=_listen, args=(master, received))
        listener.start()
        with open(slave, "w", encoding=encoding, closefd=False) as stream:
            with monkeypatch.context() as patch:
                patch.setattr(sys, "stdout", stream)
                patch.setattr(sys, "stderr", stream)
                patch.setenv("TERM", "xterm-256color")
                patch.setenv("COLUMNS", "100")
                if callable(arguments[0]):
                    arguments[0]()
                else:
                    run([str(argument) for argument in arguments])
            stream.flush()
        os.close(slave)
        listener.join()
        os.close(master)
        return b"".join(received).decode(encoding)

    return call


def _listen(master: int, received: list[bytes]) -> None:
    try:
        while block := os.read(master, 4096):
            received.append(block)
    except OSError:  # the other end is closed
        return


@pytest.mark.parametrize(
    "arguments",
    [
        ["info", "BUNDLE"],
        ["info", "BUNDLE", "--json"],
        ["doctor", "BUNDLE"],
        ["translate", "BUNDLE", "the cat"],
        ["translate", "BUNDLE", "the cat", "--json"],
        ["translate", "BUNDLE", "the cat", "--nbest", "2", "--beam", "2", "--alignment"],
        ["translate", "BUNDLE", "the cat", "--walk"],
        ["plot", "BUNDLE", "the cat", "--out", "PICTURE"],
        ["align", "BUNDLE", "--source", "SOURCE"],
        ["train", "RECIPE", "--out", "OUT"],
        ["doctor", "RECIPE"],
    ],
    ids=" ".join,
)
def test_verbs_escape_control_characters_on_a_terminal(
    arguments: list[str], terminal: Terminal, hostile: Path, tmp_path: Path
) -> None:
    (tmp_path / "SOURCE").write_text("the cat\n", encoding="utf-8")
    (tmp_path / "RECIPE.toml").write_text(
        f'description = {json.dumps(HOSTILE)}\n[data]\nkind = "tsv"\ntrain = {json.dumps(HOSTILE)}\n'
        '[model]\npreset = "bahdanau"\n[train]\nsteps = 1\nbatch_sentences = 2\n',
        encoding="utf-8",
    )
    places = {"BUNDLE": hostile, "PICTURE": tmp_path / "picture.html", "RECIPE": tmp_path / "RECIPE.toml"}
    places |= {name: tmp_path / name for name in ("SOURCE", "OUT")}
    out = COLOURS.sub("", terminal(*(places.get(word, word) for word in arguments)))
    out = out.replace("\x1b[?25l", "").replace("\x1b[?25h", "").replace("\r\x1b[1A\x1b[2K", "").replace("\r\x1b[2K", "")
    assert not OBEYED.search(out), ascii(out)


def test_escaped_output_can_be_read(terminal: Terminal, hostile: Path) -> None:
    assert SHOWN in terminal("info", hostile)
    assert SHOWN in terminal("translate", hostile, "the cat")
    manifest = json.loads(terminal("info", hostile, "--json"))
    assert manifest["recipe"]["description"].startswith(f"nice{HOSTILE}"), "JSON stays the same JSON"


def test_a_description_forges_no_line(terminal: Terminal, hostile: Path) -> None:
    for verb in ("info", "doctor"):
        assert "\nmodel       forged" not in terminal(verb, hostile).replace("\r\n", "\n")


def test_data_in_a_file_or_pipe_stays_as_it_is(command: Command, hostile: Path, tmp_path: Path) -> None:
    assert HOSTILE in command("translate", hostile, "the cat").out
    command("translate", hostile, "the cat", "--output", tmp_path / "out.txt")
    with open(tmp_path / "out.txt", encoding="utf-8", newline="\n") as file:
        assert HOSTILE in file.read()


def test_messages_are_always_escaped(command: Command, tmp_path: Path) -> None:
    outcome = command("info", tmp_path / HOSTILE)
    assert outcome.code == 2
    assert not OBEYED.search(outcome.err)
    assert r"\u001b[2J" in outcome.err


def test_another_terminal_encoding_is_escaped_too(terminal: Terminal, hostile: Path) -> None:
    assert not OBEYED.search(terminal("info", hostile, encoding="ascii"))


def test_a_servers_reason_is_escaped(command: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:

        def answer() -> None:
            connection, _ = server.accept()
            with connection:
                connection.recv(65536)
                connection.sendall(b"HTTP/1.1 404 No\x1b[2J\x9b1mt Found\r\nContent-Length: 0\r\n\r\n")

        thread = threading.Thread(target=answer)
        thread.start()
        address = f"http://127.0.0.1:{server.getsockname()[1]}/train.tsv"
        about = dict.fromkeys(("title", "origin", "licence", "use", "acknowledge"), "x")
        files = {"train.tsv": {"sha256": "0" * 64, "bytes": 4, "lines": 1, "address": address}}
        entry = CatalogueEntry.model_validate(
            {**about, "name": "little", "layout": "tsv", "sides": ["en", "fr"], "train": "train", "files": files}
        )
        monkeypatch.setattr(catalogue, "catalogue", lambda: {"little": entry})
        outcome = command("data", "get", "little")
        thread.join()
    assert r"the server answered 404 No\u001b[2J\u009b1mt Found" in outcome.complaint


def test_our_own_colours_stay_and_text_gets_none() -> None:
    stream = io.StringIO()
    screen = terminal_console(stream, force_terminal=True, color_system="standard")
    screen.print(f"a{HOSTILE}", style="bold")
    painted = stream.getvalue()
    assert painted.startswith("\x1b[1ma\\u001b[2J")
    assert not OBEYED.search(COLOURS.sub("", painted))


def test_a_bar_lets_no_escape_sequence_through(terminal: Terminal) -> None:
    """While rich draws a bar it replaces the streams, and would turn escape sequences into colours and links."""
    link = "\x1b]8;;http://evil\x1b\\here\x1b]8;;\x1b\\"

    def work() -> None:
        with escaped(), progress(f"measuring [/x]{link}", 3) as advance:
            advance(1)
            warn(link)
        with escaped(), TrainingDisplay() as display:
            display(Warned(1, link))
            warn(link)

    out = terminal(work)
    assert "measuring [/x]" in out
    assert "\x1b]8" not in out
    assert out.count(r"\u001b]8;;http://evil") >= 4


def test_streams_are_restored(capsys: pytest.CaptureFixture[str]) -> None:
    before = sys.stdout, sys.stderr
    with escaped():
        assert sys.stdout is before[0], "a pipe: data"
        assert sys.stderr is not before[1]
        assert bare(sys.stderr) is before[1]
        with escaped():
            assert bare(sys.stderr) is before[1]
            sys.stderr.writelines(["\x1b", "[2J\n"])
    assert (sys.stdout, sys.stderr) == before
    assert capsys.readouterr().err == "\\u001b[2J\n"
