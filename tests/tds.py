"""A small server of the protocol of SQL Server (TDS 7.4), over what answers statements: for the driver itself."""

from __future__ import annotations

import contextlib
import socket
import struct
import threading
from collections.abc import Callable, Sequence
from typing import Any

Answer = tuple[Sequence[str] | None, Sequence[Sequence[Any]]]
"""Names of columns, None where there is no result; and the rows: whole numbers, floats and texts."""
_SIZE = 4088
_COLLATION = b"\x09\x04\xd0\x00\x34"
_BATCH, _REPLY, _LOGIN, _PRELOGIN = 1, 4, 16, 18
_LARGE = 8000


class RefusedError(Exception):
    """What a statement is refused with: a number of SQL Server's, and a text."""

    def __init__(self, number: int, text: str) -> None:
        super().__init__(text)
        self.number = number


class TdsServer:
    """Listens on 127.0.0.1; ``login`` is the user and password that it takes."""

    def __init__(self, answer: Callable[[str], Answer], login: tuple[str, str]) -> None:
        self.answer = answer
        self.login = login
        self.socket = socket.create_server(("127.0.0.1", 0))
        self.port: int = self.socket.getsockname()[1]
        self.hangs_up_at: str | None = None
        threading.Thread(target=self._listen, daemon=True).start()

    def close(self) -> None:
        self.socket.close()

    def _listen(self) -> None:
        while True:
            try:
                there, _ = self.socket.accept()
            except OSError:
                return
            threading.Thread(target=self._serve, args=(there,), daemon=True).start()

    def _serve(self, there: socket.socket) -> None:
        with there, contextlib.suppress(OSError, EOFError):
            while True:
                kind, content = _received(there)
                if kind == _PRELOGIN:
                    _send(there, _prelogin())
                elif kind == _LOGIN:
                    _send(there, self._logged_in(content))
                elif kind != _BATCH:
                    _send(there, _done())
                elif not self._carried_out(there, content[struct.unpack_from("<I", content)[0] :].decode("utf-16-le")):
                    return

    def _carried_out(self, there: socket.socket, statement: str) -> bool:
        """Answer a statement; False where the connection is to break in the midst of it."""
        reply = self._reply(statement)
        if self.hangs_up_at is not None and self.hangs_up_at in statement:
            there.sendall(_packet(reply[: min(_SIZE, len(reply) // 2)], last=False))
            return False
        _send(there, reply)
        return True

    def _logged_in(self, content: bytes) -> bytes:
        places = [struct.unpack_from("<HH", content, 40 + 4 * i) for i in range(2)]
        user, password = (content[at : at + 2 * length] for at, length in places)
        plain = bytes(((each ^ 0xA5) << 4 | (each ^ 0xA5) >> 4) & 0xFF for each in password)
        if (user.decode("utf-16-le"), plain.decode("utf-16-le")) != self.login:
            return _error(18456, "Login failed for user") + _done(error=True)
        changed = b"\x01" + _short("clinic") + _short("master")
        name = b"\x01" + struct.pack(">I", 0x74000004) + _short("Stand-in") + bytes((16, 0, 0, 0))
        return b"\xe3" + _sized(changed) + b"\xad" + _sized(name) + _done()

    def _reply(self, statement: str) -> bytes:
        try:
            names, rows = self.answer(statement)
        except RefusedError as error:
            return _error(error.number, str(error)) + _done(error=True)
        if names is None:
            return _done()
        kinds = [_kind([row[i] for row in rows]) for i in range(len(names))]
        meta = b"".join(
            struct.pack("<IH", 0, 1) + _TYPES[kind] + _short(n) for n, kind in zip(names, kinds, strict=True)
        )
        cells = [b"\xd1" + b"".join(_cell(c, kind) for c, kind in zip(row, kinds, strict=True)) for row in rows]
        return b"\x81" + struct.pack("<H", len(names)) + meta + b"".join(cells) + _done(len(rows))


_TYPES = {
    int: b"\x26\x08",
    float: b"\x6d\x08",
    str: b"\xe7" + struct.pack("<H", _LARGE) + _COLLATION,
}


def _kind(cells: Sequence[Any]) -> type:
    return next((type(cell) for cell in cells if cell is not None), str)


def _cell(cell: Any, kind: type) -> bytes:
    if kind is str:
        return b"\xff\xff" if cell is None else _sized(str(cell).encode("utf-16-le"))
    return b"\0" if cell is None else b"\x08" + struct.pack("<q" if kind is int else "<d", cell)


def _error(number: int, text: str) -> bytes:
    message = struct.pack("<H", len(text)) + text.encode("utf-16-le")
    return b"\xaa" + _sized(
        struct.pack("<iBB", number, 1, 14) + message + _short("db") + _short("") + struct.pack("<i", 1)
    )


def _done(rows: int = 0, *, error: bool = False) -> bytes:
    return b"\xfd" + struct.pack("<HHQ", 2 if error else 16, 0xC1, rows)


def _prelogin() -> bytes:
    return struct.pack(">BHHBHHB", 0, 11, 6, 1, 17, 1, 0xFF) + bytes((16, 0, 0, 0, 0, 0)) + b"\x02"


def _short(text: str) -> bytes:
    return bytes((len(text),)) + text.encode("utf-16-le")


def _sized(content: bytes) -> bytes:
    return struct.pack("<H", len(content)) + content


def _packet(content: bytes, *, last: bool) -> bytes:
    return struct.pack(">BBHHBB", _REPLY, 1 if last else 0, len(content) + 8, 0, 1, 0) + content


def _send(there: socket.socket, content: bytes) -> None:
    for start in range(0, len(content), _SIZE):
        there.sendall(_packet(content[start : start + _SIZE], last=start + _SIZE >= len(content)))


def _received(there: socket.socket) -> tuple[int, bytes]:
    content = b""
    while True:
        kind, status, length = struct.unpack(">BBHxxxx", _exactly(there, 8))
        content += _exactly(there, length - 8)
        if status & 1:
            return kind, content


def _exactly(there: socket.socket, size: int) -> bytes:
    held = b""
    while len(held) < size:
        more = there.recv(size - len(held))
        if not more:
            raise EOFError
        held += more
    return held
