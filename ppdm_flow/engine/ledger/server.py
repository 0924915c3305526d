"""The release ledger in PostgreSQL.

A run takes an advisory lock within one transaction, in which it reads what was released and writes down its own: if the
connection breaks in between, the lock is gone and nothing can be written. No lock outlives its transaction, so that a
connection pool in between does no harm.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from ppdm_flow.core.addresses import ServerAddress
from ppdm_flow.core.errors import DataError, PpdmError, RunError
from ppdm_flow.engine.faults import data_fault, run_fault
from ppdm_flow.engine.ledger.key import LedgerKey, LedgerRecord, required
from ppdm_flow.engine.ledger.tables import READABLE, VERSION, ExecuteStatement, LedgerStore, add_tables, make_tables
from ppdm_flow.sdk.databases import faults
from ppdm_flow.sdk.databases.postgresql import PostgresConnection
from ppdm_flow.sdk.history import Membership

_SCHEMA = "SELECT 1 FROM pg_catalog.pg_namespace WHERE nspname = 'ppdm_flow'"
_TABLE = (
    "SELECT 1 FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace"
    " WHERE n.nspname = 'ppdm_flow' AND c.relname IN ('ledger', 'release', 'event', 'member')"
)
_PLAIN = "ALTER TABLE member ALTER people SET STORAGE EXTERNAL"
"""Hashes are not worth compressing."""

WAIT = 3600.0
"""Seconds that a run waits for others to be done."""


class LedgerServer(LedgerStore):
    """A ledger in the schema ``ppdm_flow`` of a database. ``wait`` are seconds until others must be done."""

    def __init__(self, address: ServerAddress, key: LedgerKey | None = None, wait: float = WAIT) -> None:
        self.address = address
        self.key = key
        self.place = address.name
        self.name = f"the ledger `{address.name}`"
        self._wait = wait
        self._locking_link: ServerConnection | None = None
        self._kept = False
        """Whether the transaction in which others are kept away is over, and all was written."""

    def exists(self) -> bool:
        """Whether there is any of its tables."""
        with self.session() as ask:
            return bool(ask(_TABLE))

    def create(self) -> None:
        """Make the tables, and their schema where there is none."""
        with self.session(writing=True) as ask:
            if not ask(_SCHEMA):
                ask("CREATE SCHEMA ppdm_flow")
            make_tables(ask, required(self.key), "BYTEA")
            ask(_PLAIN)

    def judge(self, ask: ExecuteStatement) -> None:
        """Raise DataError where there is none, or one of another version."""
        if not ask(_TABLE):
            raise data_fault("PPF735", f"there is no ledger in `{self.address.name}`")
        versions = [row[0] for row in ask("SELECT version FROM ledger")]
        if len(versions) != 1 or versions[0] not in READABLE:
            text = f"{self.name} is none of version {VERSION}, which this program has"
            raise data_fault("PPF735", text)

    def upgrade(self, ask: ExecuteStatement) -> None:
        """Make a ledger of an earlier version one of this."""
        if ask("SELECT version FROM ledger")[0][0] < VERSION:
            add_tables(ask, "BYTEA")

    def add(self, entries: Sequence[tuple[LedgerRecord, Membership | None]]) -> list[int]:
        """Write releases, all or none, and return their numbers, in the transaction that they were judged in."""
        if self._locking_link is None or self._kept:
            raise connection_broken(self.address.name)
        return super().add(entries)

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Keep all other runs away until :meth:`add` has written, or until the end."""
        link = ServerConnection(self.address, self._wait)
        try:
            link.begin(writing=True)
            self._locking_link, self._kept = link, False
            yield
        finally:
            self._locking_link = None
            link.close()

    @contextmanager
    def session(self, *, writing: bool = False) -> Iterator[ExecuteStatement]:
        """Open a transaction, or go on in that which keeps others away; if it writes, that is over at the end."""
        link = self._locking_link
        if link is not None and not self._kept:
            with self._settled():
                yield link.ask
                if writing:
                    self._kept = True
                    link.commit()
            return
        link = ServerConnection(self.address, self._wait)
        try:
            with self._settled():
                link.begin(writing=writing)
                yield link.ask
                if writing:
                    link.commit()
        finally:
            link.close()

    @contextmanager
    def _settled(self) -> Iterator[None]:
        """Write nothing more after what is no error of ours: the transaction may be half done."""
        try:
            yield
        except PpdmError:
            raise
        except BaseException:
            self._kept = True
            raise


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
