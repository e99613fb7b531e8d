"""The work behind the API: models, the queue in front of them, and what is kept between requests."""

import asyncio
import hashlib
import time
from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterable, Sequence
from typing import Any, Generic, TypeVar

from starlette.requests import Request

from regard.runtime.batcher import Batcher, Closed, Done, Full, Ticket
from regard.runtime.traced import SentenceToTrace, TracedText, Tracing, translate_traced
from regard.server.attention_files import read_attention
from regard.server.errors import Refusal
from regard.server.metrics import Metrics
from regard.server.neighbours import Sample
from regard.server.planning import RequestPlan, plan
from regard.server.quality import Job
from regard.server.run_listing import RunListing
from regard.server.run_process import Trainer
from regard.server.schema.base import MOST_TOP
from regard.server.schema.translating import Decoding, Timings
from regard.server.served_models import Catalogue, Loaded
from regard.server.settings import Settings

KEPT_TRACES, KEPT_BEAMS, KEPT_JOBS = 32, 256, 4
T = TypeVar("T")


class Latest(Generic[T]):
    """An LRU cache: the last few values by key."""

    def __init__(self, most: int) -> None:
        self._most, self._values = most, OrderedDict[Hashable, T]()

    def get(self, key: Hashable) -> T | None:
        if key in self._values:
            self._values.move_to_end(key)
        return self._values.get(key)

    def put(self, key: Hashable, value: T) -> None:
        self._values[key] = value
        self._values.move_to_end(key)
        while len(self._values) > self._most:
            self._values.popitem(last=False)


class Service:
    """One for each server; its methods are called in the event loop, its decoding runs in the batcher's thread."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.catalogue = Catalogue(settings)
        self.batcher = Batcher(most_rows=settings.rows, most_waiting=settings.queue)
        self.started = time.monotonic()
        self.stopping: Callable[[], bool] = lambda: False
        self.connections: Callable[[], Iterable[Any]] = lambda: ()
        """The open connections of uvicorn."""
        self.traces = Latest[TracedText](KEPT_TRACES)
        self.beams = Latest[Decoding](KEPT_BEAMS)
        self.qualities = Latest[Job](KEPT_JOBS)
        self.samples = Latest[Sample](KEPT_JOBS)
        self.runs = RunListing(settings.runs)
        self.trainer = Trainer(settings.runs if settings.studio else None)
        self.streams = 0
        """Clients that follow a run."""
        self.attention = [read_attention(path) for path in settings.attention]
        self.metrics = Metrics(
            {
                "regard_queue_length": ("Requests that wait.", lambda: float(self.batcher.waiting)),
                "regard_running": ("Requests that are decoded now.", lambda: float(self.batcher.running)),
            }
        )

    def warm_up(self) -> None:
        """Load the named models and decode once, so that no client waits for imports and packed weights."""
        for name in [entry.id for entry in self.catalogue.entries()] if self.settings.bundles else []:
            translator = self.catalogue.get(name).translator
            self.batcher.call(lambda abandoned, one=translator: one.translate("a").text)  # type: ignore[misc]

    async def load(self, name: str | None) -> Loaded:
        """The model that a request means, loaded without blocking the other requests."""
        found = self.catalogue.find(name)
        loaded = self.catalogue.ready(found)
        return loaded if loaded is not None else await asyncio.to_thread(self.catalogue.get, found)

    async def decode(
        self, request: Request, loaded: Loaded, decoding: Decoding, top: int
    ) -> tuple[TracedText, Timings, RequestPlan]:
        """Decode together with other queued requests for the same model and search."""
        begun = time.perf_counter()
        planned = plan(decoding, loaded)
        forced = decoding.mode == "forced"
        kind: Hashable = object() if planned.alone else (loaded, planned.search, forced, top)

        def together(sentences: Sequence[SentenceToTrace], abandoned: Callable[[], bool]) -> list[TracedText]:
            tracing = planned.tracing(top=top, abandoned=abandoned)
            return translate_traced(loaded.translator, sentences, dict(planned.search), tracing)

        done = await self.wait(request, lambda: self.batcher.submit(kind, together, planned.sentence, planned.rows))
        text: TracedText = done.value
        self.metrics.decoded(done.batch, sum(len(one.tokens) for one in text.found))
        return text, _timings(done, begun), planned

    async def trace(self, request: Request, loaded: Loaded, decoding: Decoding) -> TracedText:
        """Decode alone with every tensor of its attention; the last few are kept, to walk through their steps."""
        key = (loaded.version, decoding.model_dump_json(include=set(Decoding.model_fields)))
        known = self.traces.get(key)
        if known is not None:
            return known
        planned = plan(decoding, loaded)

        def work(abandoned: Callable[[], bool]) -> TracedText:
            tracing = planned.tracing(top=MOST_TOP, trace=True, abandoned=abandoned)
            return translate_traced(loaded.translator, [planned.sentence], dict(planned.search), tracing)[0]

        text: TracedText = (await self.wait(request, lambda: self.batcher.call(work))).value
        self.traces.put(key, text)
        return text

    async def call(self, request: Request, work: Callable[[Callable[[], bool]], T]) -> T:
        """Run work in the batcher's thread, alone."""
        value: T = (await self.wait(request, lambda: self.batcher.call(work))).value
        return value

    async def wait(self, request: Request, submit: Callable[[], Ticket]) -> Done:
        """The result of a ticket; abandons it when the client is gone or the time is over."""
        try:
            ticket = submit()
        except Full:
            raise Refusal(
                429, "busy", f"{self.settings.queue} requests wait already", hint="retry after a second"
            ) from None
        except Closed:
            raise Refusal(503, "stopping", "the server is stopping", hint="retry later") from None
        result = asyncio.wrap_future(ticket.future)
        gone = asyncio.ensure_future(_disconnected(request))
        try:
            waited: set[asyncio.Future[Any]] = {result, gone}
            await asyncio.wait(waited, timeout=self.settings.seconds, return_when=asyncio.FIRST_COMPLETED)
            if result.done():
                return result.result()
            ticket.abandon()
            if gone.done():
                raise Refusal(499, "gone", "the client closed the connection")
            raise Refusal(
                503, "timeout", f"no answer within {self.settings.seconds:g} s", hint="send a shorter text, or retry"
            )
        finally:
            if not result.done():
                ticket.abandon()
            gone.cancel()

    def remember_beam(self, loaded: Loaded, decoding: Decoding) -> str:
        """An id under which the search can be repeated with its tree recorded."""
        kept = decoding.model_copy(update={"model": loaded.id})
        text = kept.model_dump_json(include=set(Decoding.model_fields))
        name = "b-" + hashlib.sha256(text.encode()).hexdigest()[:16]
        self.beams.put(name, kept)
        return name

    def tree_work(self, loaded: Loaded, planned: RequestPlan, tree: Any) -> Callable[[Callable[[], bool]], TracedText]:
        """The search of a plan with every candidate recorded in `tree`."""

        def work(abandoned: Callable[[], bool]) -> TracedText:
            tracing = Tracing(abandoned=abandoned, tree=tree)
            return translate_traced(loaded.translator, [planned.sentence], dict(planned.search), tracing)[0]

        return work

    def close(self) -> None:
        """Finish running and queued requests, reject new ones; a training saves its checkpoint and ends."""
        self.trainer.close()
        self.batcher.close(self.settings.seconds)


async def _disconnected(request: Request) -> None:
    """Returns when the client closes the connection; its body was read before."""
    while True:
        message = await request.receive()
        if message["type"] == "http.disconnect":
            return


def _timings(done: Done, begun: float) -> Timings:
    total = time.perf_counter() - begun
    queued, decoding = (round(1000 * value, 3) for value in (done.waited, done.worked))
    return Timings(queued=queued, decoding=decoding, total=round(1000 * total, 3), batch=done.batch)
