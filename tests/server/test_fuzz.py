"""Generated requests, valid and invalid, against `regard studio` as a program: no 500, and answers as described."""

from collections.abc import Iterator
from typing import Any

import httpx
import pytest
import schemathesis
from hypothesis import HealthCheck, given, settings
from hypothesis.errors import Unsatisfiable
from schemathesis import GenerationMode

from .conftest import served

pytestmark = pytest.mark.filterwarnings("ignore:Do not use the `random` module inside strategies")  # schemathesis does
FEW = settings(max_examples=12, deadline=None, derandomize=True, database=None, suppress_health_check=list(HealthCheck))
MANY = settings(max_examples=300, deadline=None, suppress_health_check=list(HealthCheck))
CHECKS = [
    schemathesis.checks.not_a_server_error,
    schemathesis.checks.status_code_conformance,
    schemathesis.checks.content_type_conformance,
    schemathesis.checks.response_schema_conformance,
]


@pytest.fixture(scope="session")
def fuzzed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[httpx.Client]:
    """A studio that cannot train: its runs would lie below a file."""
    folder = tmp_path_factory.mktemp("fuzzed")
    (folder / "file").touch()
    arguments = ("studio", "demo-en-fr", "demo-en-hi", "--no-browser", "--runs", str(folder / "file" / "runs"))
    with served(folder / "log", *arguments, seconds=3600) as (_, client):
        yield client


@pytest.fixture(scope="session")
def described(fuzzed: httpx.Client) -> Any:
    return schemathesis.openapi.from_dict(fuzzed.get("/api/v1/openapi.json").json())


def _fuzz(described: Any, client: httpx.Client, effort: settings) -> None:
    """Every operation, with requests that fit its description and requests that do not."""
    operations = [found.ok() for found in described.get_all_operations()]
    assert len(operations) >= 18
    for operation in operations:
        for mode in GenerationMode:

            @effort
            @given(case=operation.as_strategy(generation_mode=mode))
            def holds(case: Any) -> None:
                answer = case.call(base_url=str(client.base_url), timeout=120)
                case.validate_response(answer, checks=CHECKS)
                assert answer.status_code < 400 or set(answer.json()) == {"error"}

            try:
                holds()
            except Unsatisfiable:
                assert mode == GenerationMode.NEGATIVE, operation.label  # nothing to get wrong


def test_no_generated_request_makes_the_server_fail(described: Any, fuzzed: httpx.Client) -> None:
    _fuzz(described, fuzzed, FEW)


@pytest.mark.long
def test_no_generated_request_makes_the_server_fail_in_the_long_run(described: Any, fuzzed: httpx.Client) -> None:
    _fuzz(described, fuzzed, MANY)


@pytest.mark.parametrize("body", [b"", b"null", b"[]", b"5", b'"x"', b"{}", b"\xff", b'{"text": "\\ud800"}',
                                  b'{"text": "x", "model": "\\u0000"}', b'{"text": NaN}', b"[" * 100_000,
                                  b'{"text": "x", "model": "\\udfff", "models": ["\\udfff"], "lines": ["\\udfff"]}',
                                  b'{"text": "x", "models": ["\\udfff"]}', b'{"lines": ["x", "\\ud800"]}',
                                  b'{"text": ' + b"1" * 5000 + b"}"])  # fmt: skip
def test_odd_bodies_are_refused_on_every_path(fuzzed: httpx.Client, body: bytes) -> None:
    described = fuzzed.get("/api/v1/openapi.json").json()
    paths = [path for path, methods in described["paths"].items() if "post" in methods]
    assert len(paths) >= 7
    for path in paths:
        answer = fuzzed.post(path, content=body, headers={"Content-Type": "application/json"})
        assert answer.status_code in (200, 400, 404, 413, 422), (path, answer.text)
