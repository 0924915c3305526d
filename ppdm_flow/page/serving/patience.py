"""Connections that clients cannot hold open by being slow: with handshakes, heads, bodies, with reading answers.

Each client is within limits of time. Where there are too many connections nevertheless, the address that has the most
loses one, so that one machine does not keep the others out.
"""

from __future__ import annotations

import asyncio
import re
import ssl
from collections import Counter
from collections.abc import Collection
from typing import Any, ClassVar, Protocol, cast

import h11
from uvicorn.config import Config
from uvicorn.protocols.http.h11_impl import H11Protocol
from uvicorn.server import ServerState

from ppdm_flow.page.services.accounts.attempts import network
from ppdm_flow.page.settings import Settings

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
