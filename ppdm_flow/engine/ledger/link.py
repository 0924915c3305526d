"""One connection to the ledger's server, with transactions that no setting of a role or a server ends or hides."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from ppdm_flow.core.addresses.server import ServerAddress
from ppdm_flow.core.errors import DataError, PpdmError, RunError
from ppdm_flow.engine.faults import run_fault
from ppdm_flow.sdk.databases import faults
from ppdm_flow.sdk.databases.postgresql import PostgresConnection

_LOGIN = "the password is that of PGPASSWORD, or of the file ~/.pgpass"
_TLS = "`sslmode` of the ledger's URL says what is asked for; `sslrootcert=/path` names an authority of your own"
_FAILED = ("PPF479", RunError, faults.NOTHING_RELEASED)
_DAMAGED = ("PPF735", DataError, "the ledger is damaged, or there is none: put a copy back that has every release")
_LEDGER_FAULTS = faults.ServerFaults(
    "the server of the ledger `{}`",
    {
        faults.LOGIN: ("PPF476", DataError, _LOGIN),
        faults.NO_LOGIN: ("PPF476", DataError, _LOGIN),
        faults.DATABASE: ("PPF476", DataError, None),
        faults.RIGHTS: ("PPF476", DataError, "grant the user what `ppdm-flow explain PPF476` lists"),
        faults.READ_ONLY: ("PPF476", DataError, "name the main server, not a copy of it"),
        faults.TABLE: _DAMAGED,
        faults.COLUMN: _DAMAGED,
        faults.STATEMENT: _FAILED,
        faults.VALUE: _FAILED,
        faults.UNREACHABLE: ("PPF475", RunError, faults.NOTHING_RELEASED),
        faults.ENCRYPTION: ("PPF624", DataError, _TLS),
        faults.LOCKED: ("PPF627", RunError, "another run holds the ledger: nothing was released"),
        faults.FAILED: _FAILED,
    },
)
_PARAMETER = re.compile(r":([a-z_]+)")


LOCK = 0x70706C67
"""The advisory lock that every run takes."""
WAIT = 3600.0
"""Seconds that a run waits for others to be done."""
_STATEMENT = 300.0
"""Seconds that the server may take for one statement."""
_SAFE_COMMIT = """
    SELECT set_config('synchronous_commit', 'on', true) WHERE current_setting('synchronous_commit') IN ('off', 'local')
"""
_BEGIN = (
    "SET LOCAL search_path = ppdm_flow, pg_temp",
    "SET LOCAL row_security = off",
    "SET LOCAL idle_in_transaction_session_timeout = 0",
    "SET LOCAL statement_timeout = 0",
    "SET LOCAL tcp_keepalives_idle = 30",
    "SET LOCAL tcp_keepalives_interval = 10",
    "SET LOCAL tcp_keepalives_count = 3",
    _SAFE_COMMIT,
)
"""What a role or a server sets otherwise may neither hide rows, end the transaction early, nor lose a commit."""


def connection_broken(name: str) -> PpdmError:
    """Return the error for a connection that broke."""
    return _LEDGER_FAULTS.of_state(name, None, connected=True)


class ServerConnection(PostgresConnection):
    """A connection. Raises PluginError without the driver, DataError where the login or rights are at fault."""

    faults = _LEDGER_FAULTS
    what = "a ledger in PostgreSQL"

    def __init__(self, address: ServerAddress, wait: float = WAIT) -> None:
        super().__init__(address)
        self._errors = (Exception,)  # the driver raises what it stumbles over when a connection breaks
        self._wait = wait

    def begin(self, *, writing: bool) -> None:
        """Begin a transaction; where it writes, only once no other run is in one. Raises RunError after the wait."""
        self.ask(f"BEGIN ISOLATION LEVEL READ COMMITTED {'READ WRITE' if writing else 'READ ONLY'}")
        for statement in (*_BEGIN, f"SET LOCAL lock_timeout = {round(self._wait * 1000)}"):
            self.ask(statement)
        if writing:
            self.ask(f"SELECT pg_advisory_xact_lock({LOCK})")
        self.ask(f"SET LOCAL statement_timeout = {round(_STATEMENT * 1000)}")

    def ask(self, sql: str, **values: Any) -> Sequence[Sequence[Any]]:
        """Return the rows of a statement, whose parameters are `:name`."""
        names = list(dict.fromkeys(_PARAMETER.findall(sql))) if values else []
        text = _PARAMETER.sub(lambda match: f"${names.index(match[1]) + 1}", sql) if values else sql
        return self._ask(text, [values[name] for name in names])

    def commit(self) -> None:
        """Keep what was written. Raises RunError; if the connection broke, nobody knows whether it was kept."""
        try:
            self.ask("COMMIT")
        except PpdmError as error:
            if error.diagnostics[0].code != "PPF479":
                raise
            text = f"the ledger `{self.place}`: the connection broke while a release was written down"
            raise run_fault("PPF628", text, advice="`ppdm-flow ledger URL` tells whether it is pending") from None
