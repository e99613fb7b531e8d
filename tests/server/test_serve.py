"""`regard serve` as a program: its start, its wrong uses, and its end by SIGTERM."""

import os
import signal
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import httpx
import pytest

from processes import completed, wait_until

from .conftest import REGARD, served

CAT = "the black cat sat on the mat"


def test_sigterm_finishes_what_runs_and_refuses_what_comes(tmp_path: Path) -> None:
    log = tmp_path / "log"
    with served(log, "serve", "demo-en-fr") as (process, client), ThreadPoolExecutor(16) as pool:
        # A long forced target keeps the server busy while the signal arrives.
        body = {"text": CAT, "mode": "forced", "target": "le chat noir " * 250, "top": 5}
        before = [pool.submit(client.post, "/api/v1/translate", json=body) for _ in range(8)]
        wait_until(lambda: client.get("/health").json()["running"] > 0, process, "it decoded")
        os.kill(process.pid, signal.SIGTERM)
        answers = [one.result(60) for one in before]
        assert process.wait(60) == 0
        assert {answer.status_code for answer in answers} <= {200, 503}
        done = [answer for answer in answers if answer.status_code == 200]
        assert done
        assert all(len(answer.json()["hypotheses"][0]["steps"]) == 751 for answer in done)
        with pytest.raises(httpx.ConnectError):
            client.post("/api/v1/translate", json={"text": CAT})
    assert '"event": "request"' in log.read_text()


def test_the_studio_offers_the_models_of_the_package(tmp_path: Path) -> None:
    with served(tmp_path / "log", "studio", "--no-browser", "--runs", str(tmp_path)) as (process, client):
        found = client.get("/api/v1/models").json()
        assert {"demo-en-fr", "demo-en-hi", "demo-fr-en"} <= {one["id"] for one in found["models"]}
        languages = {one["id"]: (one["source_language"], one["target_language"]) for one in found["models"]}
        del languages["g2p-en"]
        assert all(name.removeprefix("demo-").startswith("-".join(pair)) for name, pair in languages.items())
        assert not found["models"][0]["id"].startswith("demo-"), "a model of everyday text comes first"
        assert client.post("/api/v1/translate", json={"model": "demo-en-hi", "text": CAT}).status_code == 200
        os.kill(process.pid, signal.SIGINT)
        assert process.wait(60) == 0


@pytest.mark.parametrize(
    ("arguments", "part"),
    [
        (["serve"], "Missing argument"),
        (["serve", "no-such-model"], "no bundle at no-such-model"),
        (["serve", "demo-en-fr", "--host", "0.0.0.0"], "opens the server to other machines: everybody who reaches"),
        (["serve", "demo-en-fr", "--host", "not.an.address.invalid", "--token", "12345678"], "cannot listen on"),
    ],
)  # fmt: skip
def test_wrong_uses_end_with_one_message(arguments: list[str], part: str) -> None:
    ended = completed([*REGARD, *arguments])
    assert ended.returncode == 2
    assert part in ended.stderr
    assert len(ended.stderr.strip().splitlines()) == 1


def test_a_missing_extra_is_named_with_its_pip_line() -> None:
    code = (
        "import importlib.util, sys\n"
        "real = importlib.util.find_spec\n"
        "importlib.util.find_spec = lambda name, *rest: None if name in ('fastapi', 'uvicorn') else real(name, *rest)\n"
        "from regard.cli.main import run\n"
        "sys.exit(run(['serve', 'demo-en-fr']))\n"
    )
    ended = completed([sys.executable, "-c", code])
    assert ended.returncode == 2
    assert ended.stderr == (
        "regard: regard serve needs fastapi and uvicorn, not installed here: pip install 'regard[studio]'\n"
    )
