"""A connection to PostgreSQL through ADBC."""

from __future__ import annotations

import os
import ssl
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlencode

from ppdm_flow.core.server_address import ServerAddress
from ppdm_flow.sdk.databases.faults import driver, server_fault
from ppdm_flow.sdk.key_file import refuse_shared


def connect(address: ServerAddress) -> tuple[Any, Any]:
    """Return the driver and a connection that commits each statement. Raises PpdmError."""
    _refuse_open_passwords()
    module = driver("adbc_driver_postgresql.dbapi", "sql", "PostgreSQL")
    try:
        return module, module.connect(_uri(address), autocommit=True)
    except Exception as error:  # noqa: BLE001  # it may quote the URL
        raise server_fault(address.name, _login_state(error), connected=False) from None


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


def _refuse_open_passwords() -> None:
    """Raise DataError where others may read the password file: libpq would only leave it aside."""
    if "PGPASSWORD" not in os.environ:
        named = os.environ.get("PGPASSFILE")
        refuse_shared(Path(named) if named else Path("~/.pgpass").expanduser(), "the password file")


_REFUSALS = (
    ("password authentication failed", "28P01"),
    ("no password supplied", "28P01"),
    ("no pg_hba.conf entry", "28000"),
    ("role", "28000"),
    ("database", "3D000"),
    ("too many", "53300"),
    ("remaining connection slots", "53300"),
    ("starting up", "57P03"),
    ("shutting down", "57P03"),
)
"""What libpq says of a login that fails, by its words: it has no SQLSTATE then."""


def _login_state(error: Exception) -> str | None:
    text = str(error)
    if "FATAL" not in text and "fe_sendauth" not in text:
        return getattr(error, "sqlstate", None)
    said = text.partition("FATAL")[2] or text
    return next((state for words, state in _REFUSALS if words in said), "28000")
