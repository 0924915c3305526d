"""From a route to what the server calls: who asks, whether they may, their form, the journal."""

from __future__ import annotations

import logging
from binascii import a2b_qp
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from functools import partial

from python_multipart.multipart import MultipartParser, parse_options_header
from starlette.concurrency import run_in_threadpool
from starlette.datastructures import FormData, UploadFile
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import FileResponse, RedirectResponse, Response, StreamingResponse

from ppdm_flow.core.errors import PpdmError
from ppdm_flow.page.http import cookies
from ppdm_flow.page.http.call import Call
from ppdm_flow.page.http.route import ANY_FIELD, LINE, PageRoute
from ppdm_flow.page.http.server_paths import without_server_paths
from ppdm_flow.page.http.turns import (
    AT_ONCE,
    PIECE,
    STREAMS,
    STREAMS_WAITING,
    ResponseInTurn,
    busy,
    turn,
    turn_of_address,
)
from ppdm_flow.page.services.accounts.attempts import neighbourhood, network
from ppdm_flow.page.services.accounts.passwords import HASHES_AT_ONCE, new_word
from ppdm_flow.page.services.accounts.roles import User
from ppdm_flow.page.services.accounts.sessions import Visit
from ppdm_flow.page.services.places import PERSON, BusyError, WorkPlaces
from ppdm_flow.page.services.policies.policies import UnknownPolicyError
from ppdm_flow.page.services.refusal import RefusalError
from ppdm_flow.page.services.uploads.arriving import ArrivingFile, refused
from ppdm_flow.page.services.uploads.uploads import Uploads
from ppdm_flow.page.settings import Settings
from ppdm_flow.page.site import Site

SIGN_IN = "/sign-in"
TOKEN_HEADER = "x-form-token"  # noqa: S105  # the name of a header
_log = logging.getLogger("ppdm_flow.page")
_LARGE = 4 * PIECE
"""Bytes of an answer that counts among those that are held until their clients have read them."""
_UNREAD = WorkPlaces(1 << 30, 1 << 26)
"""Bytes of large answers that are held at once, in all and for one person."""


def answering(site: Site, route: PageRoute) -> Callable[[Request], Awaitable[Response]]:
    """Return what the server calls for this route."""

    async def answer(request: Request) -> Response:
        try:
            return await _answer(site, route, request)
        except BusyError:
            return busy()
        except ClientDisconnect:
            return Response(status_code=400)  # nobody reads it

    return answer


async def _answer(site: Site, route: PageRoute, request: Request) -> Response:
    """Answer in one thread, once it is the turn of this person, or of this address of somebody who is not signed in.

    What a client has to send is received before, and takes neither. A person has one turn for hashing at most, so that
    each waits only for one hash of each other.
    """
    secure = site.settings.secure
    word = cookies.word(request, cookies.VISIT, secure=secure)
    person = f"address {network(request.client.host if request.client else '')}"
    async with turn_of_address(request.client):
        visit = await run_in_threadpool(site.sessions.visit, word or new_word())
        hashes = await run_in_threadpool(_turns_of_hashes, site, request, visit) if route.hashes else []
    if visit.user is not None:
        person = f"account {visit.user.id}"
    PERSON.set(person)
    async with AsyncExitStack() as exit_stack:
        sent: ReceivedRequest | Exception = ReceivedRequest()
        if route.access.allows(visit.user) and route.method == "POST":
            sent = await exit_stack.enter_async_context(_sent(site, route, request, visit))
        turns = [(person, AT_ONCE)]
        if route.hashes:
            turns = [(f"hash of {person}", 1), *turns, *hashes, ("hash", HASHES_AT_ONCE)]
        for name, at_once in turns:
            await exit_stack.enter_async_context(turn(name, request, at_once=at_once))
        response = await run_in_threadpool(_response, site, route, request, visit, sent)
    if not word and not _keeps_visit(response):
        cookies.keep(response, visit, secure=secure)
    sending = AsyncExitStack()
    if isinstance(response, StreamingResponse | FileResponse):  # its pieces are made while it is sent
        name = f"stream for {person}"
        await sending.enter_async_context(turn(name, request, at_once=STREAMS, waiting=STREAMS_WAITING))
    elif len(response.body) > _LARGE:
        sending.enter_context(_UNREAD.taken(0, many=len(response.body)))
    else:
        return response
    return ResponseInTurn(response, sending)


def _turns_of_hashes(site: Site, request: Request, visit: Visit) -> list[tuple[str, int]]:
    """Return the turns among which somebody's hash waits: strangers take no place of people whom the server knows."""
    if visit.user is not None:
        return []
    browser = cookies.word(request, cookies.BROWSER, secure=site.settings.secure)
    account = site.people.browsers.account_of(browser)
    if account is not None:
        return [(f"hash in a browser of account {account}", 1)]
    block = neighbourhood(request.client.host if request.client else "")
    return [(f"hash of neighbourhood {block}", 1), ("hash of strangers", max(1, HASHES_AT_ONCE - 1))]


def _keeps_visit(response: Response) -> bool:
    return any(cookies.VISIT in cookie for cookie in response.headers.getlist("set-cookie"))


def _response(
    site: Site, route: PageRoute, request: Request, visit: Visit, sent: ReceivedRequest | Exception
) -> Response:
    visit = site.sessions.visit(visit.word)  # a form may have been on its way for long, and the session has ended
    call = Call(site, request, visit, FormData())
    subject = request.path_params.get(route.subject, "") if route.subject and visit.user else ""
    if not route.access.allows(visit.user):
        if route.action:
            site.journal.add(visit.user, route.action, subject, "refused")
        return _to_sign_in(site, request) if visit.user is None else call.page("errors/forbidden.html", 403)
    if route.method == "GET":
        return _called(call, route)
    begun: int | None = None
    try:
        if isinstance(sent, Exception):
            raise sent  # told as one of an endpoint is
        form = sent.form()
        check_fields(form, route.long_fields)
        call = Call(site, request, visit, form, sent.arrived)
        if not visit.sent_by_own_page(request.headers.get(TOKEN_HEADER) or call.text(TOKEN)):
            raise ForgedError
        if route.action:
            begun = site.journal.begin(visit.user, route.action, subject)
    except Exception as error:  # noqa: BLE001  # the server stays up
        response = _answer_error(call, route, error)
    else:
        response = _called(call, route)
    if not route.action:
        return response
    outcome = "done" if response.status_code < 400 else "refused" if response.status_code < 500 else "failed"
    noted = call.noted
    subject = subject if noted.subject is None else noted.subject
    site.journal.add(noted.user or visit.user, route.action, subject, outcome, begun)
    return response


def _to_sign_in(site: Site, request: Request) -> Response:
    if request.headers.get("hx-request") == "true":
        return Response(headers={"hx-redirect": SIGN_IN})  # else the form would stand where a part of a page was
    response = RedirectResponse(SIGN_IN, 303)
    if request.method == "GET":
        cookies.keep_asked(response, request.scope["path"], secure=site.settings.secure)
    return response


@asynccontextmanager
async def _sent(
    site: Site, route: PageRoute, request: Request, visit: Visit
) -> AsyncIterator[ReceivedRequest | Exception]:
    """Give the form of a request, or why there is none."""
    outcome: ReceivedRequest | Exception
    async with AsyncExitStack() as files:
        try:
            if not from_own_page(request, secure=site.settings.secure):
                raise ForgedError
            outcome = await files.enter_async_context(_form(site, route, request, visit))
        except BusyError:
            raise
        except Exception as error:  # noqa: BLE001  # told as one of an endpoint is
            outcome = error
        yield outcome


def _form(site: Site, route: PageRoute, request: Request, visit: Visit) -> AbstractAsyncContextManager[ReceivedRequest]:
    if not (route.takes_file and visit.user):
        return sent_without_file(request, most_bytes(site.settings, route, visit.user))

    def is_own(token: str) -> bool:
        return visit.sent_by_own_page(request.headers.get(TOKEN_HEADER) or token)

    return sent_with_file(request, site.uploads, visit.user, is_own)


def _called(call: Call, route: PageRoute) -> Response:
    try:
        return route.endpoint(call)
    except Exception as error:  # noqa: BLE001  # the server stays up
        return _answer_error(call, route, error)


def _answer_error(call: Call, route: PageRoute, error: Exception) -> Response:
    """Answer with what went wrong, and nothing of the text of an error that nobody expects."""
    if isinstance(error, PpdmError):
        status = 500 if error.exit_status == 3 else 400
        try:
            return call.page(
                "errors/diagnostics.html", status, diagnostics=without_server_paths(call, error.diagnostics)
            )
        except RefusalError as too_long:
            error = too_long
    if isinstance(error, RefusalError):
        return call.page("errors/refused.html", error.status, key=error.key, words=error.words)
    if isinstance(error, ForgedError):
        return call.page("errors/forged.html", 403)
    if isinstance(error, UnknownPolicyError):  # somebody has renamed or removed it since the endpoint began
        error = HTTPException(404)
    if isinstance(error, ClientDisconnect):
        return Response(status_code=400)  # nobody reads it
    if isinstance(error, HTTPException):
        known = {403: "forbidden", 404: "missing", 413: "large"}.get(error.status_code, "missing")
        return call.page(f"errors/{known}.html", error.status_code)
    _log.error("%s failed with %s", route.path, type(error).__name__)
    return call.page("errors/failed.html", 500)


# Forms: small ones are read whole; a file among the fields is written away as it comes, and never held in memory.
#
# Only forms with a file come in parts (`multipart/form-data`). What is held of bodies is limited for each person and in
# all, and the length of each field is compared with its limit before anything is done with it.


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


TOKEN = "form_token"  # noqa: S105  # the name of a field


class ForgedError(Exception):
    """A form without the token of the visit, or from another site's page."""


class MultipartForm:
    """The parts of one body. Raises ValueError for what no form of the page sends.

    ``is_own`` says whether a token is that of the visit. Forms have it before a file: ForgedError is raised for a file
    that begins without.
    """

    def __init__(self, boundary: bytes, most: int, is_own: Callable[[str], bool]) -> None:
        self.fields: list[tuple[str, str | UploadFile]] = []
        self.file_name: str | None = None
        self._most, self._is_own = most, is_own
        self._trusted = is_own("")
        self._kept = 0
        self._header, self._value = bytearray(), bytearray()
        self._disposition = b""
        self._field: str | None = None
        self._text, self._file = bytearray(), bytearray()
        self._ended = False
        self._parser = MultipartParser(
            boundary,
            {
                "on_part_begin": self._begin,
                "on_part_data": self._data,
                "on_part_end": self._end,
                "on_header_field": self._header_name,
                "on_header_value": self._header_value,
                "on_header_end": self._header_end,
                "on_headers_finished": self._headers,
                "on_end": self._mark_ended,
            },
        )

    @property
    def was_forged(self) -> bool:
        """Whether no token of the visit came."""
        return not self._trusted

    def feed(self, piece: bytes) -> bytes:
        """Take a piece of the body, and return what of it is the file's. Raises ForgedError, ValueError."""
        self._file.clear()
        self._parser.write(piece)
        return bytes(self._file)

    def end(self) -> None:
        """Say that the body is over. Raises ValueError where the form is not."""
        self._parser.finalize()
        if not self._ended:
            raise ValueError("the form is cut off")

    def _begin(self) -> None:
        self._disposition, self._field = b"", None
        self._text.clear()

    def _header_name(self, data: bytes, start: int, end: int) -> None:
        self._keep(end - start)
        self._header += data[start:end]

    def _header_value(self, data: bytes, start: int, end: int) -> None:
        self._keep(end - start)
        self._value += data[start:end]

    def _header_end(self) -> None:
        if self._header.lower() == b"content-disposition":
            self._disposition = bytes(self._value)
        self._header.clear()
        self._value.clear()

    def _headers(self) -> None:
        _, options = parse_options_header(self._disposition)
        if b"name" not in options:
            raise ValueError("a part of the form has no name")
        name = options[b"name"].decode(errors="replace")
        if b"filename" not in options:
            self._field = name
            return
        if self.file_name is not None:
            raise ValueError("the form has two files")
        if not self._trusted:
            raise ForgedError
        self.file_name = options[b"filename"].decode(errors="replace")

    def _data(self, data: bytes, start: int, end: int) -> None:
        if self._field is not None:
            self._keep(end - start)
            self._text += data[start:end]
        else:
            self._file += data[start:end]

    def _end(self) -> None:
        if self._field is None:
            return
        text = self._text.decode(errors="replace")
        self.fields.append((self._field, text))
        if self._field == TOKEN and self._is_own(text):
            self._trusted = True

    def _mark_ended(self) -> None:
        self._ended = True

    def _keep(self, many: int) -> None:
        self._kept += many
        if self._kept > self._most:
            raise ValueError("the fields of the form are too long")


def from_own_page(request: Request, *, secure: bool) -> bool:
    """Whether a browser sent this from a page of this server. Programs that say nothing need the token alone.

    ``Sec-Fetch-Site`` cannot be set by a page, and ``none`` is somebody who loads a page again. ``Origin`` is ``null``
    where a browser hides it: it is believed only beside the other.
    """
    site = request.headers.get("sec-fetch-site")
    if site not in (None, "same-origin", "none"):
        return False
    origin = request.headers.get("origin")
    if origin is None:
        return True
    if origin == "null":
        return site is not None
    own = f"{'https' if secure else 'http'}://{request.headers.get('host', '')}"
    return origin.lower() == own.lower()
