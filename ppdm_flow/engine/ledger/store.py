"""Finding a release ledger with its key, in a file or on a server, or making one."""

from __future__ import annotations

from pathlib import Path

from ppdm_flow.core.addresses.server import AddressError, PasswordError, is_address, server_address
from ppdm_flow.core.diagnostics import Diagnostic
from ppdm_flow.core.errors import DataError, UsageError
from ppdm_flow.engine.faults import data_fault
from ppdm_flow.engine.ledger.file import LedgerFile
from ppdm_flow.engine.ledger.key import LedgerKey, make_key, read_key
from ppdm_flow.engine.ledger.tables import LedgerStore


def store_at(place: str, key: LedgerKey | None = None) -> LedgerStore:
    """Return the ledger at a path or URL; nothing is opened yet. Raises UsageError where the URL is none.

    Without the ``key`` it can be read, but neither written nor held against its chain.
    """
    if not is_address(place):
        return LedgerFile(Path(place), key)
    try:
        from ppdm_flow.engine.ledger.server import LedgerServer  # noqa: PLC0415  # most ledgers are files

        return LedgerServer(server_address(place), key)
    except PasswordError:
        advice = "put it into the variable PGPASSWORD or the file ~/.pgpass"
        raise UsageError(Diagnostic("PPF472", "there is a password in the ledger's URL", help=advice)) from None
    except AddressError as error:
        raise UsageError(Diagnostic("PPF471", f"the ledger's URL cannot be used: {error}")) from None


def key_beside(place: str) -> Path | None:
    """Return where the key of a ledger in a file is unless it is said; None for one in a database."""
    return None if is_address(place) else Path(f"{place}.key")


def find_ledger(place: str, key: Path) -> LedgerStore:
    """Return a whole ledger, to be read and written.

    Raises DataError where there is none (PPF911), or where it is damaged, changed, or has another key.
    """
    store = store_at(place)
    if not store.exists():
        raise _missing(store, place, key)
    store.key = read_key(key)
    store.check()
    return store


def make_ledger(place: str, key: Path) -> LedgerStore:
    """Make an empty ledger, and its key unless that is there. Raises UsageError where there is a ledger already."""
    store = store_at(place)
    if isinstance(place, str) and not is_address(place) and not Path(place).absolute().parent.is_dir():
        raise UsageError(Diagnostic("PPF687", f"the folder of {store.name} does not exist", help="make it first"))
    with store.held():
        if store.exists():
            raise UsageError(Diagnostic("PPF687", f"{store.name} is there already", help="leave out `--create`"))
        store.key = make_key(key)
        store.create()
    return store


def _missing(store: LedgerStore, place: str, key: Path) -> DataError:
    words = ["ppdm-flow ledger", "URL" if is_address(place) else place]
    if key != key_beside(place):
        words.append(f"--key {key}")
    command = f"`{' '.join([*words, '--create'])}`"
    if key.exists():
        advice = f"its key is there, so put the ledger back; only where there never was a release: {command}"
    else:
        advice = f"make it once, with {command}; if there was one, put it back instead, with its key"
    return data_fault("PPF911", f"the policy expects {store.name}, and there is none", advice=advice)
