"""Settings of a server: models, limits, address, token."""

from dataclasses import dataclass
from pathlib import Path

from regard.server.schema.base import MOST_BEAM, MOST_CHARACTERS, MOST_LINES, MOST_MODELS, MOST_TOP
from regard.server.schema.views import Limits
from regard.text.input_error import InputError

PORT = 8765
LOOPBACK = ("127.0.0.1", "localhost", "::1")
WHY_TOKEN = "everybody who reaches this port could use the models, read the runs and load this machine"


@dataclass(frozen=True)
class Settings:
    """`studio` serves the page's further views: runs, training, the course."""

    bundles: tuple[Path | str, ...] = ()
    host: str = "127.0.0.1"
    port: int = PORT
    token: str | None = None
    studio: bool = False
    runs: Path | None = None
    attention: tuple[Path, ...] = ()
    trust: tuple[str, ...] = ()
    device: str = "cpu"
    rows: int = 160
    """Hypotheses that one step computes together; 1 decodes one request after the other."""
    queue: int = 128
    """Requests that may wait."""
    seconds: float = 30.0
    """Between a request's arrival and its answer."""
    body: int = 1_000_000
    """Bytes."""

    def __post_init__(self) -> None:
        if self.host not in LOOPBACK and not self.token:
            raise InputError(
                f"--host {self.host} opens the server to other machines: {WHY_TOKEN}; name a secret with --token or in "
                "REGARD_TOKEN, or leave --host out"
            )
        if self.token is not None and (len(self.token) < 8 or not self.token.isascii() or not self.token.isprintable()):
            raise InputError("--token needs at least 8 printable ASCII characters: it is a password")

    @property
    def limits(self) -> Limits:
        return Limits(
            characters=MOST_CHARACTERS,
            beam=MOST_BEAM,
            nbest=MOST_BEAM,
            top=MOST_TOP,
            models=MOST_MODELS,
            lines=MOST_LINES,
            body_bytes=self.body,
            queue=self.queue,
            seconds=self.seconds,
        )
