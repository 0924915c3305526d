"""Documents of the product as answers: a page of its own in a frame without rights, and files to keep."""

from __future__ import annotations

from collections.abc import Iterable
from urllib.parse import quote

from starlette.responses import Response, StreamingResponse

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
