"""Requests of many clients are decoded together, and nobody sees a difference."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from threading import Event
from typing import Any

import httpx
import numpy as np
import uvicorn

from regard.data import phrasebook
from regard.server.service import Service

Serving = tuple[httpx.Client, Service, uvicorn.Server]


def test_together_and_alone_give_the_same_tokens_and_numbers(serving: Serving) -> None:
    client, service, _ = serving
    texts = [pair.source for pair in phrasebook.pairs("en-fr", "test", 24)]
    bodies: list[dict[str, Any]] = [{"text": text, "beam": 1 + 2 * (i % 2)} for i, text in enumerate(texts)]
    alone = [client.post("/api/v1/translate", json=body).json() for body in bodies]
    begun, over = Event(), Event()

    def wait(abandoned: Callable[[], bool]) -> bool:
        begun.set()
        return over.wait(60)

    service.batcher.call(wait)
    assert begun.wait(60)
    with ThreadPoolExecutor(24) as pool:
        sent = [pool.submit(client.post, "/api/v1/translate", json=body) for body in bodies]
        while service.batcher.waiting < len(bodies):
            assert not any(one.done() for one in sent)
        over.set()
        together = [one.result(60).json() for one in sent]
    assert {answer["timings"]["batch"] for answer in together} == {12}
    assert {answer["timings"]["batch"] for answer in alone} == {1}
    for one, other in zip(alone, together, strict=True):
        (mine,), (yours,) = one["hypotheses"], other["hypotheses"]
        assert mine["target"] == yours["target"]
        assert mine["alignment"] == yours["alignment"]
        assert one["source"] == other["source"]
        assert np.isclose(mine["score"], yours["score"], atol=1e-4)
        assert np.allclose(mine["attention"]["data"], yours["attention"]["data"], atol=1e-5)
        for step, its in zip(mine["steps"], yours["steps"], strict=True):
            assert np.isclose(step["entropy"], its["entropy"], atol=1e-4)
            assert [each["id"] for each in step["top"]][:1] == [each["id"] for each in its["top"]][:1]
