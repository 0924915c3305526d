"""What a run asks of a release ledger, whatever keeps it."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Protocol

from ppdm_flow.core.diagnostics import Diagnostic
from ppdm_flow.core.errors import UsageError
from ppdm_flow.core.server_address import AddressError, PasswordError, is_address, server_address
from ppdm_flow.engine.ledger.entry import Entry
from ppdm_flow.engine.ledger.file import LedgerFile
from ppdm_flow.engine.ledger.key import LedgerKey
from ppdm_flow.engine.ledger.server import LedgerServer
from ppdm_flow.sdk.history import Membership


class LedgerStore(Protocol):
    """Keeps releases. Methods raise DataError where the input is at fault, RunError where the machine is."""

    place: str
    name: str
    key: LedgerKey | None

    def exists(self) -> bool:
        """Whether there is a ledger, whole or not."""
        ...

    def create(self) -> None:
        """Make an empty one, to be used with this key."""
        ...

    def check(self) -> None:
        """Raise DataError where it is no whole ledger of this version, was changed, or has another key."""
        ...

    def held(self) -> AbstractContextManager[None]:
        """Keep all other runs away: what is read within stays what it is until :meth:`add` has written."""
        ...

    def entries(self) -> tuple[Entry, ...]:
        """Return every release, oldest first; pending ones count as released."""
        ...

    def heads(self) -> tuple[str, ...]:
        """Return the hash of each entry of the chain, oldest first."""
        ...

    def last(self) -> int:
        """Return the last number that was given to a release."""
        ...

    def members(self, entry: Entry) -> Membership:
        """Return the people of a release that knows them."""
        ...

    def add(self, entries: Sequence[tuple[Entry, Membership | None]]) -> list[int]:
        """Write releases, all or none, and return their numbers, which are never given again."""
        ...

    def confirm(self, numbers: Sequence[int]) -> None:
        """Say of pending releases that they are out."""
        ...

    def drop(self, numbers: Sequence[int]) -> None:
        """Say of pending releases that they never were, and forget their people."""
        ...


def store_at(place: str, key: LedgerKey | None = None) -> LedgerStore:
    """Return the ledger at a path or URL; nothing is opened yet. Raises UsageError where the URL is none.

    Without the ``key`` it can be read, but neither written nor held against its chain.
    """
    if not is_address(place):
        return LedgerFile(Path(place), key)
    try:
        return LedgerServer(server_address(place), key)
    except PasswordError:
        advice = "put it into the variable PGPASSWORD or the file ~/.pgpass"
        raise UsageError(Diagnostic("PPF533", "there is a password in the ledger's URL", help=advice)) from None
    except AddressError as error:
        raise UsageError(Diagnostic("PPF532", f"the ledger's URL cannot be used: {error}")) from None
