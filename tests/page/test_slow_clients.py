"""Clients that send slowly, read slowly, or only hold connections: they are let go, and others are answered."""

from __future__ import annotations

import asyncio
import ssl
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import replace

import pytest
from serving import answer, connected, in_thread, is_held, rest
from sites import PATIENCE, Server
from starlette.responses import Response
from uvicorn.server import ServerState

from ppdm_flow.page.app import ROUTES, application
from ppdm_flow.page.http.access import PUBLIC
from ppdm_flow.page.http.route import reads
from ppdm_flow.page.serving.server import configured
from ppdm_flow.page.serving.tls import with_own_certificate

pytestmark = pytest.mark.server
GOOD = b"GET /sign-in HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n"
LARGE = 32 * 2**20


@contextmanager
def served(server: Server, **limits) -> Iterator[int]:
    quick = {"port": 0, "head_seconds": 1.0, "least_bytes_a_second": 100_000, "stop_seconds": 1}
    settings = replace(server.site.settings, **{**quick, **limits})
    large = reads("/large", lambda call: Response(b"0" * LARGE), PUBLIC)
    with in_thread(settings, application(server.site, (*ROUTES, large))) as port:
        yield port


def is_answered(port: int) -> bool:
    """Whether others are answered; a request that a busy machine sent too late is sent again."""
    for _ in range(20):
        with connected(port) as client, suppress(OSError):
            if answer(client, GOOD).startswith(b"HTTP/1.1 200 "):
                return True
    return False


@pytest.mark.server
def test_a_client_that_sends_nothing_is_let_go(server):
    with served(server) as port, connected(port) as client:
        assert is_answered(port)
        assert rest(client) == b""
        assert is_answered(port)


@pytest.mark.parametrize("begin", [b"G", b"GET /sign-in HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Slow: "])
def test_a_head_that_never_ends_is_let_go(server, begin):
    with served(server) as port, connected(port) as client:
        client.sendall(begin)
        stopped = threading.Event()

        def trickle() -> None:
            while not stopped.wait(0.05):
                try:
                    client.sendall(b"a")
                except OSError:
                    return

        thread = threading.Thread(target=trickle)
        thread.start()
        try:
            assert b"200" not in rest(client)
        finally:
            stopped.set()
            thread.join()
        assert is_answered(port)


@pytest.mark.parametrize("path", ["/sign-in", "/uploads"])
def test_a_body_that_comes_too_slowly_is_let_go(server, path):
    browser = server.browser()
    token = browser.token()
    cookie = "; ".join(f"{name}={value}" for name, value in browser.client.cookies.items())
    head = (
        f"POST {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nCookie: {cookie}\r\nContent-Length: 100000\r\n"
        f"Content-Type: application/x-www-form-urlencoded\r\nX-Form-Token: {token}\r\n\r\nname="
    )
    with served(server) as port, connected(port) as client:
        client.sendall(head.encode())
        got = rest(client)
        assert b"HTTP/1.1 200" not in got
        assert is_answered(port)


def test_a_body_in_pieces_is_read(server):
    browser = server.browser()
    token = browser.token()
    cookie = "; ".join(f"{name}={value}" for name, value in browser.client.cookies.items())
    body = f"form_token={token}&name=steward&password=wrong".encode()
    head = (
        f"POST /sign-in HTTP/1.1\r\nHost: 127.0.0.1\r\nCookie: {cookie}\r\nContent-Length: {len(body)}\r\n"
        "Content-Type: application/x-www-form-urlencoded\r\nConnection: close\r\n\r\n"
    ).encode()
    with served(server, head_seconds=30.0) as port, connected(port) as client:
        for at in range(0, len(head), 40):
            client.sendall(head[at : at + 40])
        client.sendall(body[:10])
        assert is_answered(port)
        assert answer(client, body[10:]).startswith(b"HTTP/1.1 401 ")


def test_a_client_that_does_not_read_is_let_go(server):
    with served(server) as port, connected(port, SO_RCVBUF=4096) as client:
        client.sendall(b"GET /large HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
        assert is_answered(port)
        until = time.monotonic() + PATIENCE
        while is_held(client, port) and time.monotonic() < until:
            time.sleep(0.05)
        got = rest(client)
        assert len(got) < LARGE
    with served(server) as port, connected(port) as client:
        request = b"GET /large HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n"
        assert len(answer(client, request)) > LARGE


def test_many_idle_connections_do_not_keep_others_out(server):
    with served(server, connections=8, head_seconds=60.0) as port:
        idle = [connected(port) for _ in range(40)]
        try:
            for _ in range(5):
                assert is_answered(port)
        finally:
            for client in idle:
                client.close()


@contextmanager
def held_by_one_address(server: Server, port: int, many: int, send: bytes) -> Iterator[None]:
    """Let one address hold connections that have sent this, and send a byte more now and then."""
    clients = [connected(port, source="127.0.0.2") for _ in range(many)]
    stopped = threading.Event()

    def go_on() -> None:
        while not stopped.wait(0.05):
            for client in clients:
                with suppress(OSError):
                    client.sendall(b"a" * 10)

    for client in clients:
        client.sendall(send)
    thread = threading.Thread(target=go_on)
    thread.start()
    try:
        yield
    finally:
        stopped.set()
        thread.join()
        for client in clients:
            client.close()


def test_bodies_that_one_address_sends_slowly_do_not_keep_other_addresses_out(server):
    head = (
        b"POST /sign-in HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 10000\r\n"
        b"Content-Type: application/x-www-form-urlencoded\r\n\r\nname="
    )
    with (
        served(server, connections=8, head_seconds=60.0, least_bytes_a_second=1) as port,
        held_by_one_address(server, port, 20, head),
    ):
        assert is_answered(port)  # those that are too many have been let go
        for _ in range(10):
            with connected(port) as client:
                assert answer(client, GOOD).startswith(b"HTTP/1.1 200 ")


def test_answers_that_one_address_does_not_read_do_not_keep_other_addresses_out(server):
    with served(server, connections=8, head_seconds=2 * PATIENCE) as port:
        clients = [connected(port, source="127.0.0.2", SO_RCVBUF=4096) for _ in range(12)]
        try:
            for client in clients:
                with suppress(OSError):
                    client.sendall(b"GET /large HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
            until = time.monotonic() + PATIENCE
            while not is_answered(port):  # as soon as the answers have begun
                assert time.monotonic() < until
        finally:
            for client in clients:
                client.close()


@contextmanager
def served_encrypted(server: Server, **limits) -> Iterator[tuple[int, ssl.SSLContext]]:
    """Serve HTTPS, and give the port and what clients trust."""
    own = with_own_certificate(replace(server.site.settings, own_certificate=True))
    files = {"tls_cert": own.tls_cert, "tls_key": own.tls_key}
    with served(server, **files, **limits) as port:
        yield port, ssl.create_default_context(cafile=own.tls_cert)


def encrypted(port: int, context: ssl.SSLContext) -> bytes:
    with connected(port) as plain, context.wrap_socket(plain, server_hostname="127.0.0.1") as client:
        return answer(client, GOOD)


def test_handshakes_that_one_address_does_not_begin_are_counted_and_keep_nobody_out(server):
    with served_encrypted(server, connections=8, head_seconds=2 * PATIENCE) as (port, context):
        clients = [connected(port, source="127.0.0.2") for _ in range(30)]
        try:
            for _ in range(20):
                assert encrypted(port, context).startswith(b"HTTP/1.1 200 ")
            assert sum(is_held(client, port) for client in clients) <= 8
        finally:
            for client in clients:
                client.close()


def test_a_handshake_that_does_not_end_is_let_go(server):
    with served_encrypted(server) as (port, context), connected(port) as silent, connected(port) as odd:
        odd.sendall(b"GET /sign-in HTTP/1.1\r\n\r\n")
        assert b"HTTP" not in rest(odd)
        assert rest(silent) == b""
        assert encrypted(port, context).startswith(b"HTTP/1.1 200 ")


def test_encrypted_bodies_that_come_too_slowly_are_let_go(server):
    head = b"POST /sign-in HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 100000\r\n\r\nname="
    with (
        served_encrypted(server) as (port, context),
        connected(port) as plain,
        context.wrap_socket(plain, server_hostname="127.0.0.1", suppress_ragged_eofs=True) as client,
    ):
        client.sendall(head)
        assert b"HTTP/1.1 200" not in rest(client)
        assert encrypted(port, context).startswith(b"HTTP/1.1 200 ")


def test_a_body_that_comes_steadily_is_read_while_another_address_holds_all_places(server):
    browser = server.browser()
    token = browser.token()
    cookie = "; ".join(f"{name}={value}" for name, value in browser.client.cookies.items())
    body = f"form_token={token}&name=steward&password=wrong".encode()
    head = (
        f"POST /sign-in HTTP/1.1\r\nHost: 127.0.0.1\r\nCookie: {cookie}\r\nContent-Length: {len(body)}\r\n"
        "Content-Type: application/x-www-form-urlencoded\r\nConnection: close\r\n\r\n"
    ).encode()
    idle = b"GET /sign-in HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Slow: "
    with served(server, connections=8, head_seconds=60.0) as port, connected(port) as client:
        client.sendall(head + body[:10])
        with held_by_one_address(server, port, 20, idle):
            assert answer(client, body[10:]).startswith(b"HTTP/1.1 401 ")


@pytest.mark.parametrize(
    "request_",
    [
        b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nX: " + b"a" * 100_000 + b"\r\n\r\n",
        b"GET /" + b"a" * 100_000 + b" HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n",
        b"\x16\x03\x01\x02\x00\x01\x00\x01",
        b"POST /sign-in HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: -1\r\n\r\n",
        b"POST /sign-in HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n",
    ],
)
def test_what_is_no_request_is_refused(server, request_):
    with served(server) as port, connected(port) as client:
        with suppress(OSError):  # closed before all was sent
            client.sendall(request_)
        got = rest(client)
        assert got[:12] in (b"", b"HTTP/1.1 400")
        assert b"Traceback" not in got
        assert is_answered(port)


class _Client(asyncio.Transport):
    """What a connection has written to its client."""

    def __init__(self) -> None:
        super().__init__({"peername": ("127.0.0.1", 50_000), "sockname": ("127.0.0.1", 8471)})
        self.written, self.closed = b"", False

    def write(self, data: bytes) -> None:
        self.written += data

    def is_closing(self) -> bool:
        return self.closed

    def close(self) -> None:
        self.closed = True

    abort = close

    def pause_reading(self) -> None:
        pass

    resume_reading = pause_reading


def in_reads(server: Server, *reads: bytes) -> tuple[_Client, list[bytes]]:
    """Hand a connection what came in these reads, and return its client and the bodies that the application got."""
    bodies: list[bytes] = []

    async def app(_scope, receive, send) -> None:
        body, more = b"", True
        while more:
            message = await receive()
            body, more = body + message.get("body", b""), message.get("more_body", False)
        bodies.append(body)
        await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"0")]})
        await send({"type": "http.response.body"})

    async def connection() -> _Client:
        config, client = configured(server.site.settings, app), _Client()
        config.load()
        made = config.http_protocol_class(config, ServerState(), {})
        made.connection_made(client)
        for each in reads:
            made.data_received(each)
            for _ in range(5):
                await asyncio.sleep(0)
        made.connection_lost(OSError())
        return client

    with ThreadPoolExecutor(1) as thread:  # a browser may have left its loop in this one
        return thread.submit(asyncio.run, connection()).result(), bodies


POST = b"POST /sign-in HTTP/1.1\r\nHost: 127.0.0.1\r\n"


@pytest.mark.parametrize("before", [b"", POST + b"Content-Length: 1\r\n\r\na"])
@pytest.mark.parametrize("size", [40_000, 120_000])
def test_a_whole_head_above_the_limit_is_refused(server, before, size):
    head = b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nX: " + b"a" * size + b"\r\n\r\n"
    client, bodies = in_reads(server, before + head)
    assert client.closed
    assert b"HTTP/1.1 400 " in client.written
    assert len(bodies) == bool(before)


def test_a_large_body_in_the_read_of_its_head_is_taken(server):
    body = b"a" * 200_000
    head = POST + b"X: " + b"a" * 30_000 + b"\r\nContent-Length: 200000\r\n\r\n"
    client, bodies = in_reads(server, head + body[:150_000], body[150_000:] + head, body)
    assert bodies == [body, body]
    assert client.written.count(b"HTTP/1.1 200 ") == 2
    assert not client.closed


@pytest.mark.parametrize("version", [b"1.0", b"1.1"])
@pytest.mark.parametrize("name", [b"Transfer-Encoding: chunked", b"transfer-encoding:  Chunked"])
def test_chunks_are_not_parsed(server, version, name):
    """h11 parses each of them in the event loop, also after the answer, and a chunk may be a single byte."""
    head = POST.replace(b"1.1", version) + name + b"\r\n\r\n"
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr("h11._readers.ChunkedReader.__call__", lambda *_words: pytest.fail("a chunk was parsed"))
        client, bodies = in_reads(server, head + b"1\r\na\r\n" * 1_000, b"1\r\na\r\n" * 1_000, b"0\r\n\r\n")
    assert client.written.startswith(b"HTTP/1.1 400 ")
    assert client.written.count(b"HTTP/1.1 ") == 1
    assert client.closed
    assert bodies == []
