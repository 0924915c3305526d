"""Looking at a release ledger, and making one."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from ppdm_flow.core.diagnostics import Diagnostic
from ppdm_flow.core.errors import UsageError
from ppdm_flow.engine.ledger.ledger import key_beside, make_ledger
from ppdm_flow.engine.ledger.repair import LedgerContents, read_ledger


def ledger(
    place: Path | str,
    key: Path | None = None,
    *,
    repair: bool = False,
    forget: Sequence[int] = (),
    runs: Path | None = None,
    erase: Path | None = None,
) -> LedgerContents:
    """Return what the ledger at ``place``, a path or URL, holds, after settling pending releases.

    ``key`` is its key file; beside a ledger in a file it is found. ``runs`` is a folder of runs to hold against the
    ledger. ``erase`` is a file with the ids of people, one a line, whom it is to forget. Raises UsageError where a
    release cannot be dropped, nobody is there to be erased, or the key is needed; DataError where it is no whole
    ledger or refuses the user, RunError where its server does not answer.
    """
    ids = () if erase is None else _ids(erase)
    return read_ledger(str(place), key, repair=repair, forget=forget, runs=runs, erase=ids)


def _ids(file: Path) -> Sequence[str]:
    """Return the ids in a file. Raises UsageError where it cannot be read, or has none."""
    try:
        ids = [line for line in file.read_text(encoding="utf-8-sig").splitlines() if line.strip()]
    except (OSError, ValueError):
        raise UsageError(Diagnostic("PPF687", f"`{file}` cannot be read as text in UTF-8")) from None
    if not ids:
        raise UsageError(Diagnostic("PPF687", f"`{file}` has no ids", help="write one a line"))
    return ids


def create_ledger(place: Path | str, key: Path | None = None) -> LedgerContents:
    """Make an empty ledger, and its key file unless that is there. Raises UsageError where there is a ledger already.

    Raises DataError where its server refuses the user, RunError where it does not answer or nothing can be written.
    """
    chosen = key or key_beside(str(place))
    if chosen is None:
        help_ = "add `--key FILE`, the key file that policies name: all machines need the same"
        raise UsageError(Diagnostic("PPF687", "a ledger in a database needs a key", help=help_))
    make_ledger(str(place), chosen)
    return read_ledger(str(place), chosen)
