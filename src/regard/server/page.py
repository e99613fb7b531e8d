"""The built page: files of `server/page/`, read once and compressed, served from memory."""

import gzip
from dataclasses import dataclass
from html import escape
from mimetypes import guess_type
from pathlib import Path

from starlette.requests import Request
from starlette.responses import HTMLResponse, PlainTextResponse, Response

from regard.bounds import cut
from regard.server.errors import Refusal, not_found

FOLDER = Path(__file__).parent / "page"
INDEX = "index.html"
NOT_BUILT = (
    "The page of the studio is not built: this checkout has no folder src/regard/server/page.\n"
    "Build it with make studio (needs Node 20), or install a released wheel, which has it.\n"
    "The API answers: /api/v1/models, described by /api/v1/openapi.json.\n"
)
NO_PAGE = (
    '<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width">'
    "<title>Not found</title><h1>Not found</h1><p>There is no page <code>/{}</code> here.</p>"
    '<p><a href="/">Open the studio</a></p></html>'
)
_TYPES = {".js": "text/javascript", ".mjs": "text/javascript", ".woff2": "font/woff2", ".json": "application/json"}


@dataclass(frozen=True)
class _File:
    content: bytes
    small: bytes | None
    """Compressed, where that is shorter."""
    kind: str
    hashed: bool
    """Vite puts a hash of the content into the name of everything in assets/: it never changes."""


class Page:
    """Only files that existed at the start can be requested, by name: no path leads outside."""

    def __init__(self, folder: Path = FOLDER) -> None:
        files = sorted(path for path in folder.rglob("*") if path.is_file()) if folder.is_dir() else []
        self._files = {path.relative_to(folder).as_posix(): _read(path, folder) for path in files}

    @property
    def built(self) -> bool:
        return INDEX in self._files

    def answer(self, request: Request) -> Response | Refusal:
        """A file of the page; the page itself for /."""
        if not self.built:
            return PlainTextResponse(NOT_BUILT, status_code=404)
        name = request.url.path.lstrip("/") or INDEX
        file = self._files.get(name)
        if file is None:
            if "text/html" in request.headers.get("accept", ""):  # a person with a browser
                return HTMLResponse(NO_PAGE.format(escape(cut(name))), status_code=404)
            return not_found("file", name, "the page is at /, the API below /api/v1")
        headers = {"Vary": "Accept-Encoding", "Cache-Control": "no-cache"}
        if file.hashed:
            headers["Cache-Control"] = "public, max-age=31536000, immutable"
        content = file.content
        if file.small is not None and "gzip" in request.headers.get("accept-encoding", ""):
            content, headers["Content-Encoding"] = file.small, "gzip"
        return Response(content, headers=headers, media_type=file.kind)


def _read(path: Path, folder: Path) -> _File:
    content = path.read_bytes()
    small = gzip.compress(content, 9, mtime=0)
    kind = _TYPES.get(path.suffix) or guess_type(path.name)[0] or "application/octet-stream"
    kind = f"{kind}; charset=utf-8" if kind.startswith("text/") else kind
    hashed = path.relative_to(folder).parts[0] == "assets"
    return _File(content, small if len(small) < len(content) else None, kind, hashed)
