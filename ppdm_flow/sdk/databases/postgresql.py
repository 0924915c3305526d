"""A connection to PostgreSQL through ADBC."""

from __future__ import annotations

from collections.abc import Sequence
from urllib.parse import quote, urlencode

from ppdm_flow.core.addresses import ServerAddress
from ppdm_flow.core.errors import PpdmError
from ppdm_flow.sdk.databases.connection import AdbcConnection
from ppdm_flow.sdk.databases.faults import (
    DATABASE,
    DATABASE_FAULTS,
    ENCRYPTION,
    LOGIN,
    NO_LOGIN,
    UNREACHABLE,
    ServerFaults,
    driver,
)
from ppdm_flow.sdk.databases.settings import driver_settings


class PostgresConnection(AdbcConnection):
    """A connection that commits each statement, unless it begins a transaction."""

    faults: ServerFaults = DATABASE_FAULTS
    what = "PostgreSQL"

    def __init__(self, address: ServerAddress, begin: Sequence[str] = ()) -> None:
        module = driver("adbc_driver_postgresql.dbapi", "sql", self.what)
        uri = f"postgresql://?{urlencode(driver_settings(address), quote_via=quote)}"
        super().__init__(address.name, module, lambda: module.connect(uri, autocommit=True), begin)

    def _fault(self, error: Exception) -> PpdmError:
        if self._connection is not None:
            return self.faults.of_state(self.place, self._state(error), connected=True)
        text = str(error)
        kind, predicate = next((said for words, *said in _REFUSALS if words in text), (NO_LOGIN, "gave no login"))
        return self.faults.of_kind(self.place, kind, predicate)

    def _state(self, error: Exception) -> str | None:
        """Return the SQLSTATE of an error; the driver loses that of one in the midst of rows."""
        state: str | None = getattr(error, "sqlstate", None)
        if state is None:
            try:
                with self._connection.cursor() as cursor:
                    cursor.execute("ROLLBACK")
            except Exception:  # noqa: BLE001  # any error means that there is no connection
                return None
        return state or "22000"


_REFUSALS = (
    ("Connection refused", UNREACHABLE, "cannot be reached: connection refused"),
    ("timeout expired", UNREACHABLE, "cannot be reached: it did not answer in time"),
    ("could not translate host name", UNREACHABLE, "cannot be reached: its name is unknown"),
    ("No such file or directory", UNREACHABLE, "cannot be reached: there is no such socket"),
    ("does not match host name", ENCRYPTION, "has a certificate that is not that host's"),
    ("certificate verify failed", ENCRYPTION, "has a certificate that is not of a trusted authority, or not valid"),
    ("does not support SSL", ENCRYPTION, "speaks no TLS"),
    ("could not read root certificate", ENCRYPTION, "cannot be trusted: the file of `sslrootcert` cannot be read"),
    ("root certificate file", ENCRYPTION, "cannot be trusted: the file of `sslrootcert` cannot be read"),
    ("SSL error", ENCRYPTION, "cannot be reached by TLS"),
    ("starting up", UNREACHABLE, "is starting or stopping"),
    ("shutting down", UNREACHABLE, "is starting or stopping"),
    ("too many", UNREACHABLE, "has no connection left"),
    ("remaining connection slots", UNREACHABLE, "has no connection left"),
    ("FATAL:  database", DATABASE, "has no such database"),
    ("no password supplied", LOGIN, "refuses the user or the password"),
    ("FATAL", LOGIN, "refuses the user or the password"),
    ("could not connect", UNREACHABLE, "cannot be reached: no answer"),
    ("Network is unreachable", UNREACHABLE, "cannot be reached: no network leads there"),
    ("No route to host", UNREACHABLE, "cannot be reached: no network leads there"),
)
"""What libpq says where no connection comes about, by its words, since it has no SQLSTATE then."""
