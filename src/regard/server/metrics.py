"""Counters and histograms of the server, in the text format of Prometheus."""

from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from threading import Lock

SECONDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)
ROWS = (1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0)


@dataclass
class Histogram:
    """Observations in buckets with these upper ends."""

    name: str
    about: str
    ends: Sequence[float]
    counts: list[int] = field(default_factory=list)
    total: float = 0.0

    def __post_init__(self) -> None:
        self.counts = [0] * (len(self.ends) + 1)

    def observe(self, value: float) -> None:
        self.counts[bisect_left(self.ends, value)] += 1
        self.total += value

    def lines(self) -> list[str]:
        found, below = _head(self.name, self.about, "histogram"), 0
        for end, count in zip((*map(str, self.ends), "+Inf"), self.counts, strict=True):
            below += count
            found.append(f'{self.name}_bucket{{le="{end}"}} {below}')
        return [*found, f"{self.name}_sum {self.total}", f"{self.name}_count {below}"]


class Metrics:
    """Everything that /metrics reports; `gauges` are read at that moment."""

    def __init__(self, gauges: dict[str, tuple[str, Callable[[], float]]]) -> None:
        self._gauges = gauges
        self._lock = Lock()
        self._requests: Counter[tuple[str, str, int]] = Counter()
        self._rejected: Counter[str] = Counter()
        self._seconds = Histogram("regard_request_seconds", "Time between a request and its answer.", SECONDS)
        self._batches = Histogram("regard_batch_size", "Requests that were decoded together.", ROWS)
        self._pieces = 0

    def request(self, method: str, path: str, status: int, seconds: float) -> None:
        with self._lock:
            self._requests[method, path, status] += 1
            self._seconds.observe(seconds)

    def rejected(self, reason: str) -> None:
        with self._lock:
            self._rejected[reason] += 1

    def decoded(self, batch: int, pieces: int) -> None:
        """Count one request, the size of the batch it was decoded in, and the target pieces of its answer."""
        with self._lock:
            self._batches.observe(float(batch))
            self._pieces += pieces

    def text(self) -> str:
        with self._lock:
            lines = _head("regard_requests_total", "Answered requests.", "counter")
            for (method, path, status), count in sorted(self._requests.items()):
                lines.append(
                    f'regard_requests_total{{method="{method}",path="{path}",status="{status}"}} {count}'
                )  # fmt: skip
            lines += _head("regard_rejected_total", "Refused requests, by the code of their error.", "counter")
            lines += [f'regard_rejected_total{{reason="{one}"}} {n}' for one, n in sorted(self._rejected.items())]
            lines += _head("regard_decoded_pieces_total", "Target pieces of all answers.", "counter")
            lines += [f"regard_decoded_pieces_total {self._pieces}", *self._seconds.lines(), *self._batches.lines()]
        for name, (about, read) in self._gauges.items():
            lines += [*_head(name, about, "gauge"), f"{name} {read()}"]
        return "\n".join(lines) + "\n"


def _head(name: str, about: str, kind: str) -> list[str]:
    return [f"# HELP {name} {about}", f"# TYPE {name} {kind}"]
