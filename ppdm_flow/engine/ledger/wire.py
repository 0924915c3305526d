"""A socket to the ledger's server, encrypted as the URL's ``sslmode`` says.

Source: PostgreSQL documentation, Frontend/Backend Protocol, section "SSL Session Encryption"; libpq, ``sslmode``.
"""

from __future__ import annotations

import contextlib
import getpass
import os
import re
import socket
import ssl
import struct
from dataclasses import dataclass, field
from pathlib import Path

from ppdm_flow.core.server_address import ServerAddress
from ppdm_flow.engine.faults import data_fault
from ppdm_flow.sdk.key_file import refuse_shared

_SSL_REQUEST = struct.pack("!ii", 8, 80877103)
_ALIVE = {"TCP_KEEPIDLE": 30, "TCP_KEEPINTVL": 10, "TCP_KEEPCNT": 3}
"""Seconds and tries after which a connection without an answer is given up."""


def connect(address: ServerAddress) -> socket.socket:
    """Return a connected socket. Raises OSError where nobody answers, DataError where it cannot be encrypted."""
    if address.is_socket:
        plain = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        try:
            plain.settimeout(address.connect_timeout)
            plain.connect(f"{address.host}/.s.PGSQL.{address.port}")
        except BaseException:
            plain.close()
            raise
        return plain
    plain = socket.create_connection((address.host, address.port), address.connect_timeout)
    try:
        _keep_alive(plain)
        return plain if address.sslmode == "disable" else _encrypted(plain, address)
    except BaseException:
        plain.close()
        raise


def _keep_alive(plain: socket.socket) -> None:
    plain.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    for name, value in _ALIVE.items():
        with contextlib.suppress(AttributeError, OSError):  # not every system has them
            plain.setsockopt(socket.IPPROTO_TCP, getattr(socket, name), value)


def _encrypted(plain: socket.socket, address: ServerAddress) -> socket.socket:
    plain.sendall(_SSL_REQUEST)
    answer = plain.recv(1)
    if answer == b"N" and address.sslmode == "prefer":
        return plain
    if answer == b"N":
        raise data_fault("PPF624", f"the server of the ledger `{address.name}` speaks no TLS", advice=_ON)
    if answer != b"S":
        raise ConnectionError
    context = _context(address)
    try:
        return context.wrap_socket(plain, server_hostname=address.host)
    except ssl.SSLCertVerificationError as error:
        host = error.verify_code in (62, 64)  # X509_V_ERR_HOSTNAME_MISMATCH, X509_V_ERR_IP_ADDRESS_MISMATCH
        why = "is not that host's" if host else "is not of a trusted authority, or not valid"
        text = f"the certificate of the server of the ledger `{address.name}` {why}"
        raise data_fault("PPF624", text, advice="`sslrootcert=/path` names an authority of your own") from None
    except ssl.SSLError:
        raise data_fault("PPF624", f"no TLS connection to the ledger `{address.name}` came about") from None


def _context(address: ServerAddress) -> ssl.SSLContext:
    """Return how far the server is to be trusted; as in libpq, a root certificate makes ``require`` verify."""
    context = ssl.create_default_context()
    context.check_hostname = address.sslmode == "verify-full"
    if not address.sslmode.startswith("verify") and address.sslrootcert is None:
        context.verify_mode = ssl.CERT_NONE
    if address.sslrootcert is not None:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        context.check_hostname = address.sslmode == "verify-full"
        try:
            context.load_verify_locations(address.sslrootcert)
        except (OSError, ssl.SSLError):
            raise data_fault("PPF624", "the `sslrootcert` of the ledger's URL cannot be read") from None
    return context


_ON = "switch it on in the server, or say `sslmode=disable` where nobody can listen"


_FIELD = re.compile(r"((?:\\.|[^:\\])*)(?::|$)")


@dataclass(frozen=True, slots=True)
class Login:
    """A user and, where there is one, the password, which is never shown."""

    user: str
    password: str = field(default="", repr=False)


def login(address: ServerAddress) -> Login:
    """Return the user of the URL, else PGUSER, else the system's; and PGPASSWORD, else that of the password file.

    The file is PGPASSFILE, or ``~/.pgpass``, with lines ``host:port:database:user:password`` in which ``*`` fits
    anything. Raises DataError where it is not private to its owner.
    """
    user = address.user or os.environ.get("PGUSER") or _system_user()
    password = os.environ.get("PGPASSWORD")
    return Login(user, _from_file(address, user) if password is None else password)


def _system_user() -> str:
    try:
        return getpass.getuser()
    except (KeyError, OSError):
        return "postgres"


def _from_file(address: ServerAddress, user: str) -> str:
    named = os.environ.get("PGPASSFILE")
    path = Path(named) if named else Path("~/.pgpass").expanduser()
    if not named and not path.exists():
        return ""
    try:
        refuse_shared(path, "the password file")
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError):
        raise data_fault("PPF629", f"the password file `{path}` cannot be read") from None
    wanted = ("localhost" if address.is_socket else address.host, str(address.port), address.database, user)
    return next((password for line in lines if (password := _fitting(line, wanted)) is not None), "")


def _fitting(line: str, wanted: tuple[str, ...]) -> str | None:
    if not line.strip() or line.startswith("#"):
        return None
    cells = [re.sub(r"\\(.)", r"\1", each) for each in _FIELD.findall(line)]
    fits = len(cells) > len(wanted) and all(c in ("*", w) for c, w in zip(cells, wanted, strict=False))
    return cells[len(wanted)] if fits else None
