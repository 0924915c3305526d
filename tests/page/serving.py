"""A server that listens: in a thread of the test, or as the verb starts it."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import uvicorn
from sites import PATIENCE
from starlette.types import ASGIApp

from ppdm_flow.page.serving.server import configured, listening
from ppdm_flow.page.settings import Settings


@contextmanager
def in_thread(settings: Settings, app: ASGIApp) -> Iterator[int]:
    """Serve an application as the verb does, and give the port."""
    with listening(settings) as place:
        server = uvicorn.Server(configured(settings, app))
        thread = threading.Thread(target=server.run, kwargs={"sockets": [place]})
        thread.start()
        try:
            yield place.getsockname()[1]
        finally:
            server.should_exit = True
            thread.join(PATIENCE)
            assert not thread.is_alive()


def connected(port: int, source: str = "127.0.0.1", **options: int) -> socket.socket:
    """Return a client of 127.0.0.1 that never waits for ever, and has this address of the loopback network."""
    made = socket.socket()
    for name, value in options.items():
        made.setsockopt(socket.SOL_SOCKET, getattr(socket, name), value)
    made.settimeout(PATIENCE)
    made.bind((source, 0))
    made.connect(("127.0.0.1", port))
    return made


def is_held(client: socket.socket, port: int) -> bool:
    """Whether the server's end of a connection is still open; nothing is read from the client's end."""
    own, other = f":{port:04X}", f":{client.getsockname()[1]:04X}"
    ends = (line.split()[1:4] for line in Path("/proc/net/tcp").read_text().splitlines())
    return any(here.endswith(own) and there.endswith(other) and state == "01" for here, there, state in ends)


def answer(client: socket.socket, request: bytes) -> bytes:
    """Send a request that closes the connection, and return all that is answered."""
    client.sendall(request)
    return rest(client)


def rest(client: socket.socket) -> bytes:
    """Return what comes until the server closes the connection."""
    got = bytearray()
    while True:
        try:
            piece = client.recv(1 << 16)
        except ConnectionResetError:
            return bytes(got)
        if not piece:
            return bytes(got)
        got += piece


@dataclass
class Process:
    """The verb as it runs, and what it printed."""

    process: subprocess.Popen[str]
    said: list[str]

    @property
    def address(self) -> str:
        return self.said[0]

    @property
    def link(self) -> str:
        """The address that makes the first administrator."""
        return self.said[1]

    def stop(self, number: int = signal.SIGTERM) -> int:
        self.process.send_signal(number)
        return self.process.wait(PATIENCE)


@contextmanager
def process(folder: Path, *words: str) -> Iterator[Process]:
    """Start ``ppdm-flow serve`` in a folder on a free port; it is killed where the test did not stop it."""
    for name in ("policies", "runs"):
        (folder / name).mkdir(exist_ok=True)
    command = ["serve", "--policies", "policies", "--runs", "runs", "--state", "state", "--port", "0", *words]
    started = subprocess.Popen(
        [sys.executable, "-m", "ppdm_flow", *command],
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        env={**os.environ, "NO_COLOR": "1", "PYTHONUNBUFFERED": "1"},
    )
    said: list[str] = []
    assert started.stdout
    try:
        for line in started.stdout:
            said.append(line.strip())
            if "Ctrl-C" in line:
                break
        yield Process(started, said)
    finally:
        if started.poll() is None:
            started.kill()
        started.wait(PATIENCE)
        started.stdout.close()
