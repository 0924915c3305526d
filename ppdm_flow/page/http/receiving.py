"""Forms: small ones are read whole; a file among the fields is written away as it comes, and never held in memory.

The length of each field is compared with its limit before anything is done with it.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from urllib.parse import parse_qsl

from python_multipart.multipart import parse_options_header
from starlette.concurrency import run_in_threadpool
from starlette.datastructures import FormData
from starlette.exceptions import HTTPException
from starlette.requests import Request

from ppdm_flow.core.records import dataclass
from ppdm_flow.page.http.multipart import ForgedError, MultipartForm
from ppdm_flow.page.http.route import ANY_FIELD, LINE, PageRoute
from ppdm_flow.page.services.accounts.roles import User
from ppdm_flow.page.services.uploads.arriving import Arriving
from ppdm_flow.page.services.uploads.limits import refused
from ppdm_flow.page.services.uploads.uploads import Uploads
from ppdm_flow.page.settings import Settings

_FIELDS = 10_000
_STRANGERS = 1 << 14
"""Bytes of a form of somebody who is not signed in: a name and passwords."""
_SHORT = 1 << 19
"""Bytes of a form of which no field is long."""
_BESIDE = 1 << 17
"""Bytes of a form with a file that are not the file."""
_PIECE = 1 << 20


@dataclass(frozen=True, slots=True)
class Sent:
    """What a form holds: its fields, and the file where the route takes one and one came."""

    form: FormData
    arrived: Arriving | None = None


def most_bytes(settings: Settings, route: PageRoute, user: User | None) -> int:
    """Return how large a form without a file may be."""
    if user is None:
        return min(_STRANGERS, settings.form_bytes)
    return settings.form_bytes if route.long_fields else min(_SHORT, settings.form_bytes)


def check_fields(form: FormData, long_fields: Mapping[str, int]) -> None:
    """Raise HTTPException 413 where a field is longer than its limit."""
    others = long_fields.get(ANY_FIELD, LINE)
    for name, value in form.multi_items():
        if len(name) > LINE or (isinstance(value, str) and len(value) > long_fields.get(name, others)):
            raise HTTPException(413)


@asynccontextmanager
async def sent_without_file(request: Request, most: int) -> AsyncIterator[Sent]:
    """Give a form of at most so many bytes. Raises HTTPException 413, and 400 where this is no form."""
    body = bytearray()
    async for piece in request.stream():
        body += piece
        if len(body) > most:
            raise HTTPException(413)
    between = b"\r\n--" if request.headers.get("content-type", "").lower().startswith("multipart/") else b"&"
    if body.count(between) > _FIELDS:  # empty fields are not counted by the parser, which holds all others up
        raise HTTPException(413)
    yield Sent(await run_in_threadpool(_parsed, request.headers.get("content-type"), bytes(body)))


@asynccontextmanager
async def sent_with_file(
    request: Request, uploads: Uploads, user: User, is_own: Callable[[str], bool]
) -> AsyncIterator[Sent]:
    """Give a form with a file, which is gone after the block unless it was kept.

    Raises ForgedError before a byte of the file is written, where no field before it is a token that ``is_own``;
    UsageError where the file exceeds a limit (PPF994); HTTPException 400 where this is no form.
    """
    kind, options = parse_options_header(request.headers.get("content-type"))
    if kind != b"multipart/form-data":
        async with sent_without_file(request, _BESIDE) as sent:
            yield sent
        return
    length = request.headers.get("content-length", "")
    if not length.isdecimal():
        raise refused("the request does not say how large it is")
    arrived = await run_in_threadpool(uploads.arriving, user, max(0, int(length)))
    try:
        yield await _read(request, options.get(b"boundary", b""), arrived, is_own)
    finally:
        await run_in_threadpool(arrived.close)


def _parsed(content_type: str | None, body: bytes) -> FormData:
    kind, options = parse_options_header(content_type)
    try:
        if kind == b"multipart/form-data":
            form = MultipartForm(options.get(b"boundary", b""), len(body), lambda _token: True)
            form.feed(body)
            form.end()
            if form.file_name is not None or len(form.fields) > _FIELDS:
                raise HTTPException(400)
            return FormData(form.fields)
        if kind == b"application/x-www-form-urlencoded":
            text = body.decode("latin-1")
            return FormData([*parse_qsl(text, keep_blank_values=True, max_num_fields=_FIELDS)])
    except ValueError:
        raise HTTPException(400) from None
    return FormData()


async def _read(request: Request, boundary: bytes, arrived: Arriving, is_own: Callable[[str], bool]) -> Sent:
    try:
        form = MultipartForm(boundary, _BESIDE, is_own)
        pending = bytearray()
        async for piece in request.stream():
            pending += form.feed(piece)
            if len(pending) >= _PIECE:
                await run_in_threadpool(arrived.write, bytes(pending))
                pending.clear()
        await run_in_threadpool(arrived.write, bytes(pending))
        form.end()
    except ValueError:
        raise HTTPException(400) from None
    if form.was_forged:
        raise ForgedError
    arrived.name = form.file_name or ""
    return Sent(FormData(form.fields), arrived if form.file_name else None)
