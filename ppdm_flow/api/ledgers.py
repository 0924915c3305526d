"""Looking at a release ledger."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from ppdm_flow.engine.ledger_repair import Looked, look


def ledger(path: Path, *, repair: bool = False, forget: Sequence[int] = ()) -> Looked:
    """Return what the ledger in the file ``path`` holds, after confirming or dropping pending releases.

    Raises UsageError where a release cannot be dropped, DataError where the file is no whole ledger.
    """
    return look(path, repair=repair, forget=forget)
