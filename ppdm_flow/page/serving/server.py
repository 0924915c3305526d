"""The server of the page: uvicorn with limits, until it is told to stop."""

from __future__ import annotations

import asyncio
import fcntl
import ipaddress
import logging
import os
import re
import signal
import socket
import ssl
import sys
import threading
from collections import Counter
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager, suppress
from itertools import permutations
from types import FrameType
from typing import Any, ClassVar, Protocol, cast

import h11
import uvicorn
from starlette.types import ASGIApp
from uvicorn.config import Config
from uvicorn.protocols.http.h11_impl import H11Protocol
from uvicorn.server import ServerState

from ppdm_flow.core.diagnostics import Diagnostic
from ppdm_flow.core.errors import UsageError
from ppdm_flow.engine.buckets.store import BUCKETS
from ppdm_flow.page.app import application
from ppdm_flow.page.services import bounded
from ppdm_flow.page.services.accounts.attempts import network
from ppdm_flow.page.services.tables.shown_tables import keep_shown
from ppdm_flow.page.serving.tls import check_tls, with_own_certificate
from ppdm_flow.page.settings import Settings
from ppdm_flow.page.site import Site, opened_site
from ppdm_flow.page.views.accounts import ADDRESS
from ppdm_flow.policy.params import ALLOWED
from ppdm_flow.sdk.databases.faults import DATABASES

Ready = Callable[[str, str | None], None]
"""Is told the address, and the link that makes an administrator where there is none, once browsers may come."""
_NEW_AT_ONCE = 32
"""Connections that are taken before something is done for those that there are; as many more wait in the system."""
_SWITCH_SECONDS = 0.0005
"""How long a thread may hold the interpreter while others wait: a large page must not hold up many small steps."""


def serve(settings: Settings, ready: Ready) -> None:
    """Answer browsers until the process is interrupted or told to stop.

    Raises UsageError where it cannot be started as asked (PPF988 to PPF993).
    """
    sys.setswitchinterval(_SWITCH_SECONDS)
    check_folders(settings)
    check_tls(settings)
    check_address(settings)
    with state_held(settings), listening(settings) as place:
        settings = with_own_certificate(settings)
        os.environ[ALLOWED] = ",".join(settings.param_variables)  # for checks here, and for jobs, which inherit them
        os.environ[DATABASES] = ",".join(settings.databases)
        os.environ[BUCKETS] = ",".join(settings.buckets)
        bounded.begin()
        site = opened_site(settings)
        site.journal.recover()
        server = uvicorn.Server(configured(settings, application(site)))
        _stop_without_an_error(server)
        address = address_of(settings, place)
        links = site.people.links
        word = links.another_administrator() if settings.new_administrator else links.first_administrator()
        ready(address, None if word is None else address + ADDRESS.format(word=word))
        with upkeep(site):
            server.run(sockets=[place])


def configured(settings: Settings, app: ASGIApp) -> uvicorn.Config:
    """Return how uvicorn serves: no version in answers, no log of addresses, limits for slow and many clients.

    The certificate is with these limits (``patient``): uvicorn would count no connection before its handshake.
    """
    quote_no_values()
    return uvicorn.Config(
        app,
        loop="asyncio",
        http=patient(settings),
        ws="none",
        interface="asgi3",
        lifespan="off",
        log_config=None,
        access_log=False,
        server_header=False,
        date_header=False,
        proxy_headers=bool(settings.proxy),
        forwarded_allow_ips=settings.proxy or "",
        backlog=_NEW_AT_ONCE,
        limit_concurrency=2 * settings.connections,
        timeout_keep_alive=int(settings.head_seconds),
        timeout_graceful_shutdown=settings.stop_seconds,
    )


def _stop_without_an_error(server: uvicorn.Server) -> None:
    """Let the signals that stop the server end it well, also before it begins to answer.

    uvicorn takes them while it answers, and raises them once more when it has stopped.
    """

    def stop(_number: int, _frame: FrameType | None) -> None:
        server.should_exit = True

    if threading.current_thread() is threading.main_thread():
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, stop)


_LOCK = "server.lock"


def check_folders(settings: Settings) -> None:
    """Raise UsageError where a folder is missing, or one is or lies in another (PPF988).

    Somebody who may write into one would reach files of the other: uploads below ``runs`` would be listed as runs.
    """
    named = {"--policies": settings.policies, "--runs": settings.runs, "--state": settings.state}
    for option, folder in named.items():
        if option != "--state" and not folder.is_dir():
            text = f"`{option} {folder}` is no folder"
            raise UsageError(Diagnostic("PPF988", text, help="make it first, or name another"))
    real = {option: folder.resolve() for option, folder in named.items()}
    for (inner, folder), (outer, around) in permutations(real.items(), 2):
        if folder.is_relative_to(around):
            text = f"the folder of `{inner}` is or lies in that of `{outer}`"
            raise UsageError(Diagnostic("PPF988", text, help="give each a folder of its own, beside the others"))


@contextmanager
def state_held(settings: Settings) -> Iterator[None]:
    """Hold the state of a server until the block ends; the lock goes with the process, however that ends.

    Raises UsageError where another server has it (PPF990), or it cannot be made or others may read it (PPF988).
    """
    state = settings.state
    try:
        state.mkdir(parents=True, exist_ok=True, mode=0o700)
        if state.stat().st_mode & 0o077:
            text = f"other users of this machine may enter `--state {state}`"
            raise UsageError(Diagnostic("PPF988", text, help=f"chmod 700 {state}"))
        handle = os.open(state / _LOCK, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
    except OSError as error:
        text = f"`--state {state}` cannot be used: {os.strerror(error.errno or 0)}"
        raise UsageError(Diagnostic("PPF988", text)) from None
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        yield
    except BlockingIOError:
        text = f"another server uses `--state {state}`"
        raise UsageError(Diagnostic("PPF990", text, help="stop it, or give this one a state of its own")) from None
    finally:
        os.close(handle)


# Where the server listens, and by which names browsers may ask for it.


def check_address(settings: Settings) -> None:
    """Raise UsageError where what is sent could be read on its way (PPF989), or no name would be answered (PPF993)."""
    encrypted = settings.tls_cert or settings.own_certificate or settings.proxy
    if not (is_loopback(settings.host) or encrypted):
        text = f"`--host {settings.host}` is reached by other machines, and nothing encrypts what they send"
        help_ = (
            "give `--tls-cert` and `--tls-key`, or `--tls`;"
            " or `--behind-proxy ADDRESS` where a proxy there talks HTTPS to browsers"
        )
        raise UsageError(Diagnostic("PPF989", text, help=help_))
    if settings.proxy and not _is_network(settings.proxy):
        text = f"`--behind-proxy {settings.proxy}` is no address"
        raise UsageError(Diagnostic("PPF989", text, help="give the proxy's own address, as 127.0.0.1 or 10.0.0.0/28"))
    if not settings.names and (settings.proxy or _is_everywhere(settings.host)):
        text = "nothing says by which name browsers reach the server"
        raise UsageError(Diagnostic("PPF993", text, help="say it, as `--name release.example.org`; repeatable"))


def is_loopback(host: str) -> bool:
    """Whether only this machine reaches an address."""
    if host == "localhost":
        return True
    with suppress(ValueError):
        return ipaddress.ip_address(host).is_loopback
    return False


def listening(settings: Settings) -> socket.socket:
    """Return a socket that takes connections. Raises UsageError where the address is wrong or taken (PPF991)."""
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(
            settings.host, settings.port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
        made = socket.socket(family, kind, protocol)
    except OSError as error:
        text = f"`--host {settings.host}` is no address of this machine"
        raise UsageError(Diagnostic("PPF991", text)) from error
    try:
        made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        made.bind(address)
        made.listen(settings.connections)
    except OSError as error:
        made.close()
        text = f"cannot listen at {settings.host}, port {settings.port}: {os.strerror(error.errno or 0)}"
        help_ = "another program may have the port: choose one by `--port`; 0 takes any that is free"
        raise UsageError(Diagnostic("PPF991", text, help=help_)) from None
    made.set_inheritable(False)
    return made


def address_of(settings: Settings, listening_at: socket.socket) -> str:
    """Return what a browser is told, as http://127.0.0.1:8471."""
    port = listening_at.getsockname()[1]
    if settings.proxy and settings.names:
        return f"https://{settings.names[0]}"
    host = settings.names[0] if settings.names else settings.host
    shown = f"[{host}]" if ":" in host else host
    return f"{'https' if settings.tls_cert else 'http'}://{shown}:{port}"


def _is_network(text: str) -> bool:
    with suppress(ValueError):
        return ipaddress.ip_network(text, strict=False).prefixlen > 0
    return False


def _is_everywhere(host: str) -> bool:
    with suppress(ValueError):
        return ipaddress.ip_address(host).is_unspecified
    return False


_SECONDS = 60.0
_log = logging.getLogger("ppdm_flow.page")


@contextmanager
def upkeep(site: Site, seconds: float = _SECONDS) -> Iterator[None]:
    """Tidy up at once, and then every so many seconds until the block ends."""
    stopped = threading.Event()
    removed = lambda: site.uploads.forget_policies_but(site.policies.files())  # noqa: E731  # by Git
    tasks = (site.jobs.tidy, site.uploads.tidy, removed, site.hierarchies.tidy, site.journal.tidy)
    _carry_out(tasks)

    def go_on() -> None:
        while not stopped.wait(seconds):
            _carry_out((*tasks, lambda: keep_shown(site.tables, site.shown.releases())))

    thread = threading.Thread(target=go_on, name="upkeep", daemon=True)
    thread.start()
    try:
        yield
    finally:
        stopped.set()
        thread.join()
        site.journal.tidy(all_spans=True)


def _carry_out(tasks: tuple[Callable[[], None], ...]) -> None:
    for task in tasks:
        try:
            task()
        except Exception as error:  # noqa: BLE001  # the next minute is another try
            _log.error("tidying up failed with %s", type(error).__name__)


class _KindAlone(logging.Filter):
    """Leaves the kind of an error, without its text and its traceback, which may quote values."""

    def filter(self, record: logging.LogRecord) -> bool:
        """Keep every record but warnings: hundreds of bad requests a second would fill the disk with them."""
        if record.exc_info and record.exc_info[0]:
            record.msg, record.args = "a request failed with %s", (record.exc_info[0].__name__,)
            record.exc_info = record.exc_text = None
        return record.levelno != logging.WARNING


def quote_no_values() -> None:
    """Have uvicorn's log without texts of errors."""
    logger = logging.getLogger("uvicorn.error")
    if not any(isinstance(each, _KindAlone) for each in logger.filters):
        logger.addFilter(_KindAlone())


# Connections that clients cannot hold open by being slow: with handshakes, heads, bodies, with reading answers.
#
# Each client is within limits of time. Where there are too many connections nevertheless, the address that has the most
# loses one, so that one machine does not keep the others out.


_MOST_UNREAD = 64 * 2**20
"""How much of a body is taken and thrown away after the answer, so that the client comes to read that."""
_HEAD_BYTES = 32 * 2**10
_HEAD_LINES = 200
"""Each is matched, and each look at a header goes through all of them; browsers and proxies send some dozens."""
_PATH_BYTES = 4_000
"""Of an address in front of its question mark: it is held against the address of each route."""
_END_OF_HEAD = re.compile(rb"\n\r?\n")


class DroppableConnection(Protocol):
    """A connection that may be dropped where there are too many."""

    @property
    def network(self) -> str:
        """What is counted of its client's address."""

    @property
    def waits_for_client(self) -> bool:
        """Whether the server has nothing to do until the client sends or reads something."""

    def slowness(self, now: float) -> tuple[float, float]:
        """Return how slow the client is, to be compared with others: seconds a byte of a body, then seconds."""

    def drop(self) -> None:
        """End it, and count it no more."""


def drop_slowest(connections: Collection[DroppableConnection], now: float) -> None:
    """Drop a connection of the address that has the most: the slowest that waits for its client, else any."""
    many = Counter(each.network for each in connections)
    max(connections, key=lambda each: (many[each.network], each.waits_for_client, *each.slowness(now))).drop()


def _network_of(client: object) -> str:
    return network(str(client[0])) if isinstance(client, tuple) else ""


class _LimitedConnection(h11.Connection):
    """h11's connection that refuses what would occupy the event loop: large heads, long paths, and bodies in chunks.

    h11 limits only the bytes of heads that have not ended yet. It parses each chunk of a body, which may be a single
    byte; browsers send forms and files with a ``Content-Length``.
    """

    def __init__(self) -> None:
        super().__init__(h11.SERVER, _HEAD_BYTES)

    def next_event(self) -> type[h11.NEED_DATA | h11.PAUSED] | h11.Event:
        """Return what comes next. Raises RemoteProtocolError, which uvicorn answers with 400 and the end."""
        if self.their_state is h11.IDLE:
            begin = self.trailing_data[0]
            if len(begin) > _HEAD_BYTES or begin.count(b"\n", 0, _HEAD_BYTES) > _HEAD_LINES:
                end = _END_OF_HEAD.search(begin, 0, _HEAD_BYTES)
                if end is None or begin.count(b"\n", 0, end.end()) > _HEAD_LINES:
                    raise h11.RemoteProtocolError("the head is too large", error_status_hint=431)
        event = super().next_event()
        if isinstance(event, h11.Request):
            if any(name == b"transfer-encoding" for name, _ in event.headers):
                raise h11.RemoteProtocolError("the body has no length", error_status_hint=411)
            if len(event.target.partition(b"?")[0]) > _PATH_BYTES:
                raise h11.RemoteProtocolError("the path is too long", error_status_hint=414)
        return event


class PatientProtocol(H11Protocol):
    """uvicorn's connection with limits of time. uvicorn has one only for the pause between two requests."""

    most_connections: ClassVar[int]
    head_seconds: ClassVar[float]
    least_bytes_a_second: ClassVar[int]
    _began: float | None = None
    """When the client could begin with what is awaited from it; None while the server has the whole request."""
    _received = 0
    _paused_at: float | None = None
    """Since when the client does not read its answer."""
    _timer: asyncio.TimerHandle | None = None
    _unread: asyncio.TimerHandle | None = None
    _is_made = False
    _early = b""
    """What came with the end of a TLS handshake, before the connection was made."""

    def __init__(
        self,
        config: Config,
        server_state: ServerState,
        app_state: dict[str, Any],
        _loop: asyncio.AbstractEventLoop | None = None,
    ) -> None:
        super().__init__(config, server_state, app_state, _loop)
        self.conn = _LimitedConnection()

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # as uvicorn has it
        """Take a connection; where there are too many, one goes."""
        super().connection_made(transport)
        self._is_made = True
        self._began = self.loop.time()
        if len(self.connections) > self.most_connections:
            drop_slowest(cast("Collection[DroppableConnection]", self.connections), self._began)
        self._look_later()
        if self._early:
            early, self._early = self._early, b""
            self.data_received(early)

    @property
    def network(self) -> str:
        """What is counted of the address of who asks here; behind a proxy, of who asked last."""
        return _network_of(self.scope["client"] if self.scope else self.client)

    @property
    def waits_for_client(self) -> bool:
        """Whether no whole request has come since the last answer, or the client does not read its answer."""
        return self.conn.their_state in (h11.IDLE, h11.SEND_BODY) or self._paused_at is not None

    def slowness(self, now: float) -> tuple[float, float]:
        """Return seconds a byte of a body, then seconds."""
        since = self._began if self._paused_at is None else self._paused_at
        seconds = 0.0 if since is None else now - since
        body = self._received if self.conn.their_state is h11.SEND_BODY else 0
        return seconds / (body + 1), seconds

    def data_received(self, data: bytes) -> None:
        """Take bytes of a request."""
        if not self._is_made:
            self._early += data
            return
        if self.transport.is_closing():
            return  # TLS hands over what it has read already
        if self._began is None:
            self._began, self._received = self.loop.time(), 0
        self._received += len(data)
        if self.conn.our_state is h11.DONE and self._received > _MOST_UNREAD:
            self.transport.abort()  # it was answered long ago, and goes on sending
            return
        super().data_received(data)
        if self.conn.their_state is h11.DONE and (early := self.conn.trailing_data[0]):
            if len(_END_OF_HEAD.findall(early)) > 1:
                self.cycle.keep_alive = False  # many requests before an answer, as no browser sends: not answered
            if len(early) > _HEAD_BYTES:
                self.transport.abort()

    def on_response_complete(self) -> None:
        """Wait for the next request from now on: a connection that is used again and again is not slow."""
        super().on_response_complete()
        if self.conn.their_state is h11.IDLE:
            self._began, self._received = self.loop.time(), 0

    def connection_lost(self, exc: Exception | None) -> None:
        """Forget the connection."""
        for timer in (self._timer, self._unread):
            if timer is not None:
                timer.cancel()
        self._timer = self._unread = None
        if self._is_made:
            super().connection_lost(exc)

    def pause_writing(self) -> None:
        """Begin to wait for a client that does not read what it asked for."""
        super().pause_writing()
        self._paused_at = self.loop.time()
        if self._unread is None:
            seconds = self.transport.get_write_buffer_size() / self.least_bytes_a_second
            self._unread = self.loop.call_later(self.head_seconds + seconds, self.transport.abort)

    def resume_writing(self) -> None:
        """Go on: the client has read."""
        self._paused_at = None
        if self._unread is not None:
            self._unread.cancel()
            self._unread = None
        super().resume_writing()

    def drop(self) -> None:
        """End it; it counts no more, though its end comes in the next turn of the loop."""
        self.connections.discard(self)
        self.transport.abort()

    def _look_later(self) -> None:
        self._timer = self.loop.call_later(min(1.0, self.head_seconds / 4), self._look)

    def _look(self) -> None:
        state = self.conn.their_state
        if state is h11.SEND_BODY and self.flow.read_paused:
            self._began, self._received = self.loop.time(), 0  # the server has not taken yet what there is
        elif state not in (h11.IDLE, h11.SEND_BODY):
            self._began = None
        elif self._began is not None:
            body = self._received / self.least_bytes_a_second if state is h11.SEND_BODY else 0.0
            if self.loop.time() - self._began > self.head_seconds + body:
                self.transport.abort()
                return
        self._look_later()


class HandshakeProtocol(asyncio.Protocol):
    """A connection until its TLS handshake is done: counted, dropped and limited in time as others are.

    asyncio would let each wait a minute, uncounted, before uvicorn hears of it. ``inner`` takes it afterwards.
    """

    context: ClassVar[ssl.SSLContext]
    inner: ClassVar[type[PatientProtocol]]
    network = ""
    waits_for_client = True

    def __init__(
        self,
        config: Config,
        server_state: ServerState,
        app_state: dict[str, Any],
        _loop: asyncio.AbstractEventLoop | None = None,
    ) -> None:
        self._inner = self.inner(config, server_state, app_state, _loop)
        self._loop = _loop or asyncio.get_running_loop()
        self._connections: set[Any] = server_state.connections
        self._began = 0.0
        self._task: asyncio.Task[None] | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # as above
        """Begin the handshake; where there are too many connections, one goes that waits for its client."""
        self._transport, self._began = transport, self._loop.time()
        self.network = _network_of(transport.get_extra_info("peername"))
        transport.pause_reading()  # what comes is for the handshake
        self._connections.add(self)
        if len(self._connections) > self.inner.most_connections:
            drop_slowest(self._connections, self._began)
        self._task = self._loop.create_task(self._shake_hands())

    def slowness(self, now: float) -> tuple[float, float]:
        """Return the seconds since it was made."""
        return now - self._began, now - self._began

    def drop(self) -> None:
        """End it."""
        self._connections.discard(self)
        self._transport.abort()

    def shutdown(self) -> None:
        """End it, as the server ends."""
        self._transport.abort()

    async def _shake_hands(self) -> None:
        seconds = self.inner.head_seconds
        try:
            encrypted = await self._loop.start_tls(
                self._transport, self._inner, self.context, server_side=True, ssl_handshake_timeout=seconds
            )
        except OSError:  # of the client: SSLError, ConnectionError and TimeoutError are such
            encrypted = None
        finally:
            self._connections.discard(self)
        if encrypted is None or encrypted.is_closing() or self._transport.is_closing():
            self._transport.abort()
        else:
            self._inner.connection_made(encrypted)


def patient(settings: Settings) -> type[asyncio.Protocol]:
    """Return the protocol with the limits of a server, and with its certificate where it has one."""
    limits = {
        "most_connections": settings.connections,
        "head_seconds": settings.head_seconds,
        "least_bytes_a_second": settings.least_bytes_a_second,
    }
    made = type("PatientProtocol", (PatientProtocol,), limits)
    if settings.tls_cert is None:
        return made
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(settings.tls_cert, settings.tls_key)
    return type("HandshakeProtocol", (HandshakeProtocol,), {"inner": made, "context": context})
