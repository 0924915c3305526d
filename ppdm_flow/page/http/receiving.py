"""Forms: small ones are read whole; a file among the fields is written away as it comes, and never held in memory.

Only forms with a file come in parts (``multipart/form-data``). What is held of bodies is limited for each person and in
all, and the length of each field is compared with its limit before anything is done with it.
"""

from __future__ import annotations

from binascii import a2b_qp
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import partial

from python_multipart.multipart import parse_options_header
from starlette.concurrency import run_in_threadpool
from starlette.datastructures import FormData
from starlette.exceptions import HTTPException
from starlette.requests import Request

from ppdm_flow.page.http.multipart import ForgedError, MultipartForm
from ppdm_flow.page.http.route import ANY_FIELD, LINE, PageRoute
from ppdm_flow.page.http.turns import turn
from ppdm_flow.page.services.accounts.roles import User
from ppdm_flow.page.services.places import PERSON, WorkPlaces
from ppdm_flow.page.services.uploads.arriving import ArrivingFile
from ppdm_flow.page.services.uploads.limits import refused
from ppdm_flow.page.services.uploads.uploads import Uploads
from ppdm_flow.page.settings import Settings

_FIELDS = 10_000
_STRANGERS = 1 << 14
"""Bytes of a form of somebody who is not signed in: a name and passwords."""
_SHORT = 1 << 19
"""Bytes of a form of which no field is long."""
_BESIDE = 1 << 14
"""Bytes of a form with a file that are not the file."""
_PIECE = 1 << 18
"""Bytes of a file that are written at once."""
_BODIES = WorkPlaces(1 << 27, 1 << 23)
"""Bytes of bodies that are held at once, in all and for one person."""


@dataclass(frozen=True, slots=True)
class ReceivedRequest:
    """What came with a request: its form, which is still to be parsed, and the file where the route takes one."""

    form: Callable[[], FormData] = FormData
    arrived: ArrivingFile | None = None


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
async def sent_without_file(request: Request, most: int) -> AsyncIterator[ReceivedRequest]:
    """Give a form of at most so many bytes, to be parsed by a thread: Raises HTTPException 413 and 400, BusyError."""
    announced = request.headers.get("content-length", "")
    size = int(announced) if announced.isdecimal() else most
    if size > most:
        raise HTTPException(413)
    with _BODIES.taken(0, many=size):
        body = bytearray()
        async for piece in request.stream():
            body += piece
            if len(body) > size:
                raise HTTPException(413)
        if body.count(b"&") > _FIELDS:  # the parser splits all of them
            raise HTTPException(413)
        yield ReceivedRequest(partial(_parsed, request.headers.get("content-type", ""), body))


@asynccontextmanager
async def sent_with_file(
    request: Request, uploads: Uploads, user: User, is_own: Callable[[str], bool]
) -> AsyncIterator[ReceivedRequest]:
    """Give a form with a file, which is gone after the block unless it was kept.

    Raises ForgedError before a byte of the file is written, where no field before it is a token that ``is_own``;
    UsageError where the file exceeds a limit (PPF994); HTTPException 400 where this is no form.
    """
    content_type = request.headers.get("content-type", "")
    kind, options = parse_options_header(content_type[:LINE])  # in time quadratic in its length
    if kind != b"multipart/form-data":
        async with sent_without_file(request, _BESIDE) as sent:
            yield sent
        return
    length = request.headers.get("content-length", "")
    if not length.isdecimal():
        raise refused("the request does not say how large it is")
    with _BODIES.taken(0, many=2 * _PIECE):
        arrived = await run_in_threadpool(uploads.arriving, user, max(0, int(length)))
        try:
            yield await _read(request, options.get(b"boundary", b""), arrived, is_own)
        finally:
            await run_in_threadpool(arrived.close)


def _parsed(content_type: str, body: bytearray) -> FormData:
    """Parse the fields of a form. Raises HTTPException 400 where this is no form without a file."""
    if not body:
        return FormData()
    if content_type.partition(";")[0].strip().lower() != "application/x-www-form-urlencoded":
        raise HTTPException(400)
    pairs = (field.partition(b"=") for field in body.split(b"&") if field)
    return FormData([(_unquoted(name), _unquoted(value)) for name, _, value in pairs])


def _unquoted(text: bytearray) -> str:
    """Return a name or a value as text. Raises HTTPException 400 for a percent sign without two digits.

    Escapes are those of quoted-printable with another sign, which ``binascii`` decodes a hundred times faster than
    ``urllib`` those of forms, and in little memory: letters of a form may be nothing but escapes.
    """
    written = text.replace(b"+", b" ").replace(b"=", b"%3D").replace(b"%", b"=")
    read = a2b_qp(written)
    if b"=\r" in written or b"=\n" in written or len(written) - len(read) != 2 * written.count(b"="):
        raise HTTPException(400)
    return read.decode(errors="replace")


async def _read(
    request: Request, boundary: bytes, arrived: ArrivingFile, is_own: Callable[[str], bool]
) -> ReceivedRequest:
    try:
        form = MultipartForm(boundary, _BESIDE, is_own)
        pending = bytearray()

        async def write_away() -> None:
            async with turn(PERSON.get()):
                await run_in_threadpool(lambda: arrived.write(form.feed(bytes(pending))))
            pending.clear()

        async for piece in request.stream():
            pending += piece
            if len(pending) >= _PIECE:
                await write_away()
        await write_away()
        form.end()
    except ValueError:
        raise HTTPException(400) from None
    if form.was_forged:
        raise ForgedError
    arrived.name = form.file_name or ""
    return ReceivedRequest(partial(FormData, form.fields), arrived if form.file_name else None)
