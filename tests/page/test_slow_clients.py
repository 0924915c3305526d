"""Clients that send slowly, read slowly, or only hold connections: they are let go, and others are answered."""

from __future__ import annotations

import asyncio
import selectors
import socket
import ssl
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import replace
from urllib.parse import urlencode

import pytest
from serving import answer, connected, in_thread, is_held, rest
from sites import PATIENCE, Server
from starlette.responses import Response
from uvicorn.server import ServerState

from ppdm_flow.page.app import ROUTES, application
from ppdm_flow.page.http import answering, turns
from ppdm_flow.page.http.cookies import VISIT
from ppdm_flow.page.http.route import PUBLIC, reads
from ppdm_flow.page.http.turns import AT_ONCE
from ppdm_flow.page.services.accounts.roles import PageRole
from ppdm_flow.page.services.accounts.sessions import Visit
from ppdm_flow.page.services.policies.policies import FRAME
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


def test_a_connection_that_is_used_again_and_again_stays(server):
    request = b"GET /nowhere HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"
    with served(server, head_seconds=2.0) as port, connected(port) as client:
        until = time.monotonic() + 5
        while time.monotonic() < until:
            client.sendall(request)
            got = client.recv(1 << 16)
            while got and b"</html>" not in got:
                got += client.recv(1 << 16)
            assert got.startswith(b"HTTP/1.1 404 ")
            time.sleep(0.1)
        assert rest(client) == b"", "it goes once nothing comes"


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


def test_connections_that_are_begun_and_closed_at_once_do_not_keep_others_waiting(server):
    """Each was compared with all others, and all that the system held were taken before one request was read."""
    with served(server, head_seconds=60.0) as port, connected(port, source="127.0.0.3") as client:
        stopped, answers = threading.Event(), 0

        def go_on() -> None:
            while not stopped.is_set():
                with suppress(OSError):
                    connected(port, source="127.0.0.2").close()

        thread = threading.Thread(target=go_on)
        thread.start()
        try:
            until = time.monotonic() + 6.0
            while time.monotonic() < until:
                client.sendall(b"GET /nowhere HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
                got = client.recv(1 << 16)
                while got and b"</html>" not in got:
                    got += client.recv(1 << 16)
                answers += got.startswith(b"HTTP/1.1 404 ")
                time.sleep(0.02)
        finally:
            stopped.set()
            thread.join()
        assert answers > 20


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


class _WaitingRoute:
    """A page that is answered once the test says so, and how many requests are being answered."""

    def __init__(self) -> None:
        self.begun: list[str] = []
        self.go_on = threading.Event()
        self.route = reads("/wait", self._wait, PUBLIC)

    def _wait(self, call) -> Response:
        self.begun.append(call.request.client.host)
        self.go_on.wait(PATIENCE)
        return Response(b"done")

    def wait_for(self, many: int) -> None:
        until = time.monotonic() + PATIENCE
        while len(self.begun) < many:
            assert time.monotonic() < until
            time.sleep(0.01)


@contextmanager
def served_with_waiting(server: Server, **more) -> Iterator[tuple[int, _WaitingRoute]]:
    waiting = _WaitingRoute()
    settings = replace(server.site.settings, port=0, stop_seconds=1, **more)
    with in_thread(settings, application(server.site, (*ROUTES, waiting.route))) as port:
        try:
            yield port, waiting
        finally:
            waiting.go_on.set()


@contextmanager
def asking(port: int, many: int, source: str, more: bytes = b"") -> Iterator[list[socket.socket]]:
    """Have this many clients ask for the page that is answered later."""
    clients = [connected(port, source) for _ in range(many)]
    try:
        for client in clients:
            with suppress(OSError):
                client.sendall(b"GET /wait HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n" + more + b"\r\n")
        yield clients
    finally:
        for client in clients:
            client.close()


def test_requests_of_one_address_that_are_worked_on_do_not_keep_other_addresses_out(server):
    with (
        served_with_waiting(server, connections=8) as (port, waiting),
        asking(port, 1, "127.0.0.3") as (other,),
        asking(port, 12, "127.0.0.2") as clients,
    ):
        waiting.wait_for(1 + AT_ONCE)
        for _ in range(10):
            with connected(port) as client:
                assert answer(client, GOOD).startswith(b"HTTP/1.1 200 ")
        waiting.go_on.set()
        assert rest(other).endswith(b"done"), "an address with one connection keeps it"
        assert any(rest(client).endswith(b"done") for client in clients), "others of the address are answered"


def test_behind_a_proxy_connections_count_for_who_asks_by_it(server):
    asked = b"X-Forwarded-For: 203.0.113.1\r\n"
    with (
        served_with_waiting(server, connections=8, proxy="127.0.0.1") as (port, waiting),
        asking(port, 8, "127.0.0.1", asked),
    ):
        waiting.wait_for(AT_ONCE)
        for _ in range(5):
            with connected(port) as client:
                request = GOOD.replace(b"\r\n\r\n", b"\r\nX-Forwarded-For: 203.0.113.2\r\n\r\n")
                assert answer(client, request).startswith(b"HTTP/1.1 200 ")


def answered(clients):
    """Wait until somebody is answered, and return who is."""
    with selectors.DefaultSelector() as waiting:
        for client in clients:
            waiting.register(client, selectors.EVENT_READ)
        return [key.fileobj for key, _ in waiting.select(PATIENCE)]


def test_more_requests_of_one_address_than_may_wait_are_refused(server):
    with (
        served_with_waiting(server) as (port, waiting),
        asking(port, AT_ONCE + turns.WAITING + 5, "127.0.0.2") as clients,
    ):
        waiting.wait_for(AT_ONCE)
        assert is_answered(port)
        refused, ready = [], clients
        while len(refused) < 5:
            ready = answered([each for each in clients if each not in refused])
            assert ready
            assert rest(ready[0]).startswith(b"HTTP/1.1 429 ")
            refused.append(ready[0])
        waiting.go_on.set()
        assert all(rest(client).endswith(b"done") for client in clients if client not in refused)


def test_a_client_that_goes_while_it_waits_is_not_answered(server):
    with served_with_waiting(server) as (port, waiting), asking(port, AT_ONCE, "127.0.0.2") as first:
        waiting.wait_for(AT_ONCE)
        with asking(port, 5, "127.0.0.2") as gone, asking(port, 2, "127.0.0.2") as staying:
            time.sleep(0.2)
            for client in gone:
                client.close()
            until = time.monotonic() + PATIENCE
            while turns._limiters["address 127.0.0.2"].statistics().tasks_waiting != 2:
                assert time.monotonic() < until
            waiting.go_on.set()
            assert all(rest(client).endswith(b"done") for client in (*first, *staying))
    assert len(waiting.begun) == AT_ONCE + 2


def test_addresses_of_one_ipv6_network_are_one(server):
    """A provider gives each customer 64 bits of addresses."""
    first, second = (f"X-Forwarded-For: 2001:db8:1:2::{number}\r\n".encode() for number in (1, 2))
    other = b"X-Forwarded-For: 2001:db8:1:3::1\r\n"
    with (
        served_with_waiting(server, proxy="127.0.0.1") as (port, waiting),
        asking(port, AT_ONCE, "127.0.0.1", first),
        asking(port, 1, "127.0.0.1", second),
        asking(port, 1, "127.0.0.1", other),
    ):
        waiting.wait_for(AT_ONCE + 1)
        networks = sorted(address.rpartition("::")[0] for address in waiting.begun)
        assert networks == [*["2001:db8:1:2"] * AT_ONCE, "2001:db8:1:3"]


def test_forms_are_parsed_in_the_turns_of_their_sender(server: Server, monkeypatch):
    """Else somebody with many connections would have all threads parse for them."""
    parsing, most, lock = [0], [0], threading.Lock()
    parsed = answering._parsed

    def slow(content_type, body):
        with lock:
            parsing[0] += 1
            most[0] = max(most[0], parsing[0])
        time.sleep(0.05)
        with lock:
            parsing[0] -= 1
        return parsed(content_type, body)

    monkeypatch.setattr(answering, "_parsed", slow)
    guest = server.browser(PageRole.GUEST)
    word = "; ".join(f"{name}={value}" for name, value in guest.client.cookies.items())
    body = b"form_token=" + guest.token().encode()
    head = f"POST /account/sessions HTTP/1.1\r\nHost: 127.0.0.1\r\nCookie: {word}\r\nContent-Length: {len(body)}\r\n"
    request = head.encode() + b"Content-Type: application/x-www-form-urlencoded\r\nConnection: close\r\n\r\n" + body
    with in_thread(replace(server.site.settings, port=0), application(server.site)) as port:
        clients = [connected(port) for _ in range(20)]
        for client in clients:
            client.sendall(request)
        assert [rest(client)[:12] for client in clients] == [b"HTTP/1.1 303"] * 20
        for client in clients:
            client.close()
    assert 1 <= most[0] <= AT_ONCE


def test_bodies_of_one_person_are_held_up_to_a_limit(server):
    steward, other = server.browser(PageRole.STEWARD), server.browser(PageRole.APPROVER)
    word, others = (
        "; ".join(f"{name}={value}" for name, value in each.client.cookies.items()) for each in (steward, other)
    )
    size = 2_000_000

    def head(path: str, size: int, word: str) -> bytes:
        kind = "application/x-www-form-urlencoded"
        return (
            f"POST {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nCookie: {word}\r\nContent-Type: {kind}\r\n"
            f"Content-Length: {size}\r\n\r\n"
        ).encode()

    form = f"form_token={other.token()}".encode()
    with served(server, head_seconds=PATIENCE) as port:
        clients = [connected(port) for _ in range(5)]
        for client in clients:
            client.sendall(head("/policies/p.yaml/edit", size, word) + b"a" * (size - 1))
        (refused,) = answered(clients)
        assert refused.recv(12) == b"HTTP/1.1 429"
        with connected(port) as client:
            client.sendall(head("/account/sessions", len(form), others) + form)
            assert client.recv(12) == b"HTTP/1.1 303", "bodies of others are taken"
        clients.remove(refused)
        for client in clients:
            client.sendall(b"a")
        assert [client.recv(12) for client in clients] == [b"HTTP/1.1 413"] * 4, "all is received: a field is too long"
        form = f"form_token={steward.token()}".encode()
        with connected(port) as client:
            client.sendall(head("/account/sessions", len(form), word) + form)
            assert client.recv(12) == b"HTTP/1.1 303", "what was held is free again"
        for client in (refused, *clients):
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
GET = b"GET /sign-in HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"


@pytest.mark.parametrize("before", [[], [POST + b"Content-Length: 1\r\n\r\na"]])
@pytest.mark.parametrize("size", [40_000, 120_000])
def test_a_whole_head_above_the_limit_is_refused(server, before, size):
    head = b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nX: " + b"a" * size + b"\r\n\r\n"
    client, bodies = in_reads(server, *before, head)
    assert client.closed
    assert b"HTTP/1.1 400 " in client.written
    assert len(bodies) == len(before)


@pytest.mark.parametrize(("many", "status"), [(150, 200), (250, 400), (6_000, 400)])
def test_a_head_of_many_lines_is_refused(server, many, status):
    """Each look at a header goes through all of them."""
    lines = b"a:\r\n" * many
    client, bodies = in_reads(server, POST + lines + b"Content-Length: 9000\r\n\r\n" + b"\n" * 9_000)
    assert client.written.startswith(b"HTTP/1.1 %d " % status)
    assert bodies == ([b"\n" * 9_000] if status == 200 else [])
    client, bodies = in_reads(server, POST, *[lines[:1_000]] * (many // 250))
    assert client.closed is (status == 400)
    assert not bodies


@pytest.mark.parametrize(("size", "status"), [(3_900, 200), (4_100, 400), (30_000, 400)])
def test_a_long_path_is_refused_before_it_is_held_against_routes(server, size, status):
    client, bodies = in_reads(server, b"GET /policies/" + b"a/" * (size // 2) + GET.removeprefix(b"GET /sign-in"))
    assert client.written.startswith(b"HTTP/1.1 %d " % status)
    assert len(bodies) == (status == 200)
    client, bodies = in_reads(server, b"GET /sign-in?" + b"a" * size + GET.removeprefix(b"GET /sign-in"))
    assert client.written.startswith(b"HTTP/1.1 200 "), "a proposed change of a policy is as long"


def test_requests_that_cannot_be_read_leave_no_line_each(server, caplog):
    with caplog.at_level("WARNING"):
        client, _bodies = in_reads(server, b"\x16\x03\x01\r\n\r\n")
    assert client.written.startswith(b"HTTP/1.1 400 ")
    assert "Invalid HTTP" not in caplog.text


def test_offers_of_other_protocols_leave_no_line_each(server, caplog):
    offer = GET.replace(b"\r\n\r\n", b"\r\nConnection: keep-alive, Upgrade\r\nUpgrade: websocket\r\n\r\n")
    with caplog.at_level("WARNING"):
        client, _bodies = in_reads(server, offer)
    assert client.written.startswith(b"HTTP/1.1 200 ")
    assert "pgrade" not in caplog.text
    assert "WebSocket" not in caplog.text


@pytest.mark.parametrize("many", [2, 600, 5_000])
def test_requests_that_are_sent_before_the_answer_are_not_answered(server, many):
    """They would keep a connection busy for as long as its client likes."""
    client, bodies = in_reads(server, GET * (1 + many))
    assert client.written.count(b"HTTP/1.1 200 ") <= 1
    assert client.closed
    assert len(bodies) == 1


def test_one_request_before_the_end_of_an_answer_is_answered(server):
    """A client may have all of a file before the server has said that this was all."""
    client, bodies = in_reads(server, GET + GET, GET)
    assert client.written.count(b"HTTP/1.1 200 ") == 3
    assert not client.closed
    assert len(bodies) == 3


def test_requests_that_are_sent_after_the_answer_are_answered(server):
    client, bodies = in_reads(server, *[GET] * 5)
    assert client.written.count(b"HTTP/1.1 200 ") == 5
    assert not client.closed
    assert len(bodies) == 5


def test_a_large_body_in_the_read_of_its_head_is_taken(server):
    body = b"a" * 200_000
    head = POST + b"X: " + b"a" * 30_000 + b"\r\nContent-Length: 200000\r\n\r\n"
    client, bodies = in_reads(server, head + body[:150_000], body[150_000:], head, body)
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


@pytest.mark.parametrize("end", ["locked", "role taken", "session ended", "still there"])
def test_a_form_that_comes_slowly_is_of_who_may_send_it_when_it_is_whole(server, monkeypatch, end):
    site, user = server.site, server.users[PageRole.STEWARD]
    visit, asked = site.sessions.begin(user), threading.Event()
    known = site.sessions.visit

    def known_and_told(word: str) -> Visit:
        found = known(word)
        asked.set()
        return found

    monkeypatch.setattr(site.sessions, "visit", known_and_told)
    body = urlencode({"form_token": visit.form_token, "name": "late", "start": FRAME}).encode()
    head = f"POST /policies/new HTTP/1.1\r\nHost: 127.0.0.1\r\nCookie: {VISIT}={visit.word}\r\nConnection: close\r\n"
    head += f"Content-Type: application/x-www-form-urlencoded\r\nContent-Length: {len(body)}\r\n\r\n"
    with served(server, head_seconds=PATIENCE) as port, connected(port) as client:
        client.sendall(head.encode() + body[:-1])
        assert asked.wait(PATIENCE)
        match end:
            case "locked":
                site.accounts.lock(user.id)
            case "role taken":
                site.accounts.set_roles(user.id, [PageRole.GUEST])
            case "session ended":
                site.sessions.end(visit)
        answered = answer(client, body[-1:])
    is_done = (site.settings.policies / "late.yaml").exists()
    status = int(answered.split()[1])
    to_sign_in = b"location: /sign-in\r\n" in answered
    allowed = {"role taken": (403, False, False), "still there": (303, False, True)}
    assert (status, to_sign_in, is_done) == allowed.get(end, (303, True, False))
    outcome = site.journal.newest(1)[0]
    assert (outcome.action, outcome.outcome) == ("policies.create", "done" if is_done else "refused")
