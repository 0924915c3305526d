"""A connection to PostgreSQL through ADBC."""

from __future__ import annotations

import os
import ssl
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlencode

from ppdm_flow.core.addresses.server import ServerAddress
from ppdm_flow.sdk.databases.faults import driver, fault, machine_fault, refuse_other_hosts, server_fault
from ppdm_flow.sdk.key_file import refuse_shared

DRIVER = "adbc_driver_postgresql.dbapi"


def connect(address: ServerAddress) -> tuple[Any, Any]:
    """Return the driver and a connection that commits each statement. Raises PpdmError."""
    module = driver(DRIVER, "sql", "PostgreSQL")
    try:
        return module, opened(module, address)
    except LoginError as error:
        if error.kind == ENCRYPTION:
            text = f"no encrypted connection to the database `{address.name}` came about"
            raise machine_fault("PPF475", text) from None
        raise server_fault(address.name, error.state, connected=False) from None


def opened(module: Any, address: ServerAddress) -> Any:
    """Return a connection that commits each statement. Raises LoginError, or DataError for the password file."""
    refuse_other_hosts(address)
    _check_password_file()
    try:
        return module.connect(_uri(address), autocommit=True)
    except Exception as error:  # noqa: BLE001  # it may quote the URL
        raise _told(error) from None


def state_after(connection: Any) -> str | None:
    """Return the SQLSTATE of an error in the midst of rows, which the driver loses: none where nobody answers."""
    try:
        with connection.cursor() as cursor:
            cursor.execute("ROLLBACK")
    except Exception:  # noqa: BLE001  # whatever it is, there is no connection
        return None
    return "22000"


def _uri(address: ServerAddress) -> str:
    """Return the address for libpq, which looks for the password by itself."""
    words = {
        "host": address.host,
        "port": str(address.port),
        "dbname": address.database,
        "sslmode": address.sslmode,
        "connect_timeout": str(address.connect_timeout),
        "keepalives_idle": "30",
        "keepalives_interval": "10",
        "keepalives_count": "3",
        "tcp_user_timeout": "330000",
        "application_name": "ppdm-flow",
        "client_encoding": "UTF8",
    }
    if address.user is not None:
        words["user"] = address.user
    root = address.sslrootcert or (_authorities() if address.sslmode.startswith("verify") else None)
    if root is not None:
        words["sslrootcert"] = root
    return f"postgresql://?{urlencode(words, quote_via=quote)}"


def _authorities() -> str:
    """Return the file of the authorities that the system trusts."""
    paths = ssl.get_default_verify_paths()
    return next((p for p in (paths.cafile, paths.openssl_cafile) if p is not None and Path(p).is_file()), "system")


def _check_password_file() -> None:
    """Raise DataError where others may read the password file, or nobody can: libpq would only leave it aside."""
    if "PGPASSWORD" in os.environ:
        return
    named = os.environ.get("PGPASSFILE")
    path = Path(named) if named else Path("~/.pgpass").expanduser()
    if named is None and not path.exists():
        return
    refuse_shared(path, "the password file")
    try:
        path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        raise fault("PPF629", f"the password file `{path}` cannot be read") from None


class LoginError(Exception):
    """No connection came about. ``kind`` is the class of what is wrong, ``why`` says it in words of ours."""

    def __init__(self, kind: str, why: str = "", state: str | None = None) -> None:
        super().__init__(kind)
        self.kind, self.why, self.state = kind, why, state


UNREACHABLE, ENCRYPTION, REFUSED, NO_LOGIN = "unreachable", "encryption", "refused", "no login"
_KINDS = (
    ("Connection refused", UNREACHABLE, "connection refused", None),
    ("timeout expired", UNREACHABLE, "it did not answer in time", None),
    ("could not translate host name", UNREACHABLE, "its name is unknown", None),
    ("No such file or directory", UNREACHABLE, "there is no such socket", None),
    ("does not match host name", ENCRYPTION, "is not that host's", None),
    ("certificate verify failed", ENCRYPTION, "is not of a trusted authority, or not valid", None),
    ("does not support SSL", ENCRYPTION, "", None),
    ("could not read root certificate", ENCRYPTION, "root", None),
    ("root certificate file", ENCRYPTION, "root", None),
    ("SSL error", ENCRYPTION, "other", None),
    ("starting up", UNREACHABLE, "it is starting", "57P03"),
    ("shutting down", UNREACHABLE, "it is stopping", "57P03"),
    ("too many", UNREACHABLE, "it has no connection left", "53300"),
    ("remaining connection slots", UNREACHABLE, "it has no connection left", "53300"),
    ("password authentication failed", REFUSED, "", "28P01"),
    ("no password supplied", REFUSED, "", "28P01"),
    ("no pg_hba.conf entry", REFUSED, "", "28000"),
    ("FATAL:  role", REFUSED, "", "28000"),
    ("FATAL:  database", REFUSED, "", "3D000"),
    ("FATAL", REFUSED, "", "28000"),
    ("could not connect", UNREACHABLE, "no answer", None),
    ("Network is unreachable", UNREACHABLE, "no network leads there", None),
    ("No route to host", UNREACHABLE, "no network leads there", None),
)
"""What libpq says where no connection comes about, by its words, since it has no SQLSTATE then."""


def _told(error: Exception) -> LoginError:
    text = str(error)
    for words, kind, why, state in _KINDS:
        if words in text:
            return LoginError(kind, why, state)
    return LoginError(NO_LOGIN)
