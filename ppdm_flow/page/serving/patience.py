"""HTTP connections that clients cannot hold open by being slow: with heads, with bodies, with reading answers.

Each client is within limits of time. Where there are too many connections nevertheless, the address that has the most
of those that wait for their client loses one, so that one machine does not keep the others out.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from typing import ClassVar

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

from ppdm_flow.page.services.accounts.attempts import network
from ppdm_flow.page.settings import Settings

_MOST_UNREAD = 64 * 2**20
"""How much of a body is taken and thrown away after the answer, so that the client comes to read that."""


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
    _network = ""
    _timer: asyncio.TimerHandle | None = None
    _unread: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # as uvicorn has it
        """Take a connection; where there are too many, one goes that waits for its client."""
        super().connection_made(transport)
        self._began = self.loop.time()
        peer = transport.get_extra_info("peername")
        self._network = network(str(peer[0])) if isinstance(peer, tuple) else ""
        if len(self.connections) > self.most_connections:
            self._make_place()
        self._look_later()

    def _make_place(self) -> None:
        """Drop the slowest connection of the address that has the most of those that wait for their client."""
        waiting = [each for each in self.connections if isinstance(each, PatientProtocol) and each._waits_for_client]  # noqa: SLF001  # of the same class
        if not waiting:
            return
        many = Counter(each._network for each in waiting)  # noqa: SLF001  # as above
        now = self.loop.time()
        max(waiting, key=lambda each: (many[each._network], *each._slowness(now)))._drop()  # noqa: SLF001  # as above

    @property
    def _waits_for_client(self) -> bool:
        """Whether no whole request has come since the last answer, or the client does not read its answer."""
        return self.conn.their_state in (h11.IDLE, h11.SEND_BODY) or self._paused_at is not None

    def _slowness(self, now: float) -> tuple[float, float]:
        """Return how slow the client is, to be compared with others: seconds a byte of a body, then seconds."""
        since = self._began if self._paused_at is None else self._paused_at
        seconds = 0.0 if since is None else now - since
        body = self._received if self.conn.their_state is h11.SEND_BODY else 0
        return seconds / (body + 1), seconds

    def data_received(self, data: bytes) -> None:
        """Take bytes of a request."""
        if self._began is None:
            self._began, self._received = self.loop.time(), 0
        self._received += len(data)
        if self.conn.our_state is h11.DONE and self._received > _MOST_UNREAD:
            self.transport.abort()  # it was answered long ago, and goes on sending
            return
        super().data_received(data)

    def connection_lost(self, exc: Exception | None) -> None:
        """Forget the connection."""
        for timer in (self._timer, self._unread):
            if timer is not None:
                timer.cancel()
        self._timer = self._unread = None
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

    def _drop(self) -> None:
        self.connections.discard(self)  # it counts no more, though its end comes in the next turn of the loop
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


def patient(settings: Settings) -> type[PatientProtocol]:
    """Return the protocol with the limits of a server."""
    limits = {
        "most_connections": settings.connections,
        "head_seconds": settings.head_seconds,
        "least_bytes_a_second": settings.least_bytes_a_second,
    }
    return type("PatientProtocol", (PatientProtocol,), limits)
