"""The release ledger in PostgreSQL.

A run takes an advisory lock within one transaction, in which it reads what was released and writes down its own: if the
connection breaks in between, the lock is gone and nothing can be written. No lock outlives its transaction, so that a
connection pool in between does no harm.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from ppdm_flow.core.addresses.server import ServerAddress
from ppdm_flow.core.errors import PpdmError
from ppdm_flow.engine.faults import data_fault
from ppdm_flow.engine.ledger.chain import LedgerRecord
from ppdm_flow.engine.ledger.key import LedgerKey, required
from ppdm_flow.engine.ledger.link import WAIT, ServerConnection, connection_broken
from ppdm_flow.engine.ledger.tables import READABLE, VERSION, ExecuteStatement, LedgerStore, add_tables, make_tables
from ppdm_flow.sdk.history import Membership

_SCHEMA = "SELECT 1 FROM pg_catalog.pg_namespace WHERE nspname = 'ppdm_flow'"
_TABLE = (
    "SELECT 1 FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace"
    " WHERE n.nspname = 'ppdm_flow' AND c.relname IN ('ledger', 'release', 'event', 'member')"
)
_PLAIN = "ALTER TABLE member ALTER people SET STORAGE EXTERNAL"
"""Hashes are not worth compressing."""


class LedgerServer(LedgerStore):
    """A ledger in the schema ``ppdm_flow`` of a database. ``wait`` are seconds until others must be done."""

    def __init__(self, address: ServerAddress, key: LedgerKey | None = None, wait: float = WAIT) -> None:
        self.address = address
        self.key = key
        self.place = address.name
        self.name = f"the ledger `{address.name}`"
        self._wait = wait
        self._held: ServerConnection | None = None
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
        if self._held is None or self._kept:
            raise connection_broken(self.address.name)
        return super().add(entries)

    @contextmanager
    def held(self) -> Iterator[None]:
        """Keep all other runs away until :meth:`add` has written, or until the end."""
        link = ServerConnection(self.address, self._wait)
        try:
            link.begin(writing=True)
            self._held, self._kept = link, False
            yield
        finally:
            self._held = None
            link.close()

    @contextmanager
    def session(self, *, writing: bool = False) -> Iterator[ExecuteStatement]:
        """Open a transaction, or go on in that which keeps others away; if it writes, that is over at the end."""
        link = self._held
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
