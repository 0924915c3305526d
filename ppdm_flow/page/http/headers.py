"""Headers of answers: what browsers may load and from where, also in a frame, and what they keep as a file."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from urllib.parse import quote

from starlette.datastructures import MutableHeaders
from starlette.responses import Response, StreamingResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

CONTENT_SECURITY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; font-src 'self'; connect-src 'self';"
    " frame-src 'self'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'"
)
"""Nothing inline, nothing from elsewhere."""

HEADERS: Mapping[str, str] = {
    "content-security-policy": CONTENT_SECURITY,
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "same-origin",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(), microphone=(), geolocation=()",
    "cache-control": "no-store",
}
STATIC = "/static/"
_STRICT_TRANSPORT = {"strict-transport-security": "max-age=31536000"}
_ASKED_AGAIN = {"cache-control": "no-cache"}
"""What holds for scripts and styles: kept by the browser, and used after it asked whether they changed."""


class SecurityHeaders:
    """Adds the headers to each answer that does not have one of its own.

    ``secure``: browsers have to come by HTTPS from now on, for as long as a year.
    """

    def __init__(self, app: ASGIApp, *, secure: bool = False) -> None:
        self._app = app
        self._headers = {**HEADERS, **(_STRICT_TRANSPORT if secure else {})}
        self._static = {**self._headers, **_ASKED_AGAIN}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        chosen = self._static if str(scope.get("path", "")).startswith(STATIC) else self._headers

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in chosen.items():
                    headers.setdefault(name, value)
            await send(message)

        await self._app(scope, receive, send_with_headers)


# Documents of the product as answers: a page of its own in a frame without rights, and files to keep.


FRAMED = {
    "content-security-policy": (
        "sandbox; default-src 'none'; style-src 'unsafe-inline'; img-src data:; font-src data:; form-action 'none';"
        " base-uri 'none'; frame-ancestors 'self'"
    ),
    "x-frame-options": "SAMEORIGIN",
}
"""A document of one file brings its own style. It may show that, and do nothing: no script, no form, no request."""


def framed(html: str | bytes) -> Response:
    """Answer with a document that a page of ours shows in a frame."""
    return Response(html, media_type="text/html; charset=utf-8", headers=FRAMED)


def kept(pieces: Iterable[bytes], name: str, size: int | None = None) -> StreamingResponse:
    """Answer with a file that browsers keep and never open, in pieces; ``name`` is what they call it."""
    headers = {"content-disposition": f"attachment; filename*=utf-8''{quote(name, safe='')}"}
    headers |= {} if size is None else {"content-length": str(size)}
    return StreamingResponse(iter(pieces), media_type="application/octet-stream", headers=headers)
