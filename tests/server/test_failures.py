"""A mistake of ours: the client gets the body of every error, the log the traceback, and the server goes on."""

import json
import logging
from typing import Any

import pytest

from regard.search.strategy import NothingPossible
from regard.server import answers
from regard.server.routes import decoding
from regard.server.settings import Settings

from .conftest import running


def test_a_failure_is_one_clear_body_and_a_traceback_in_the_log(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def broken(*_: Any) -> Any:
        raise RuntimeError("a bug")

    with running(Settings(bundles=("demo-en-fr",))) as (client, _, _):
        logging.getLogger("regard.server").propagate = True
        monkeypatch.setattr(decoding, "translate_answer", broken)
        answer = client.post("/api/v1/translate", json={"text": "the cat"})
        assert (answer.status_code, answer.json()["error"]["code"]) == (500, "failed")
        assert "a bug" not in answer.text
        monkeypatch.setattr(decoding, "translate_answer", answers.translate_answer)
        assert client.post("/api/v1/translate", json={"text": "the cat"}).status_code == 200
    lines = [json.loads(line) for line in caplog.messages if '"failure"' in line]
    assert "RuntimeError: a bug" in lines[0]["traceback"]


@pytest.mark.parametrize(("error", "status"), [(NothingPossible(0, 0), 422), (ValueError("a bug"), 500)])
def test_a_search_without_a_possible_token_is_a_wrong_request(
    monkeypatch: pytest.MonkeyPatch, error: ValueError, status: int
) -> None:
    """A model that forbids unknown words may leave none for a text; another ValueError is a mistake of ours."""

    def failing(*_: Any) -> Any:
        raise error

    with running(Settings(bundles=("demo-en-fr",))) as (client, _, _):
        monkeypatch.setattr(decoding, "translate_answer", failing)
        answer = client.post("/api/v1/translate", json={"text": "the cat"})
        assert answer.status_code == status
        assert ("no token is possible" in answer.text) == (status == 422)
