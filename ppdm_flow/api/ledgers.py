"""Looking at a release ledger."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from ppdm_flow.engine.ledger_repair import Looked, look


def ledger(place: Path | str, *, repair: bool = False, forget: Sequence[int] = ()) -> Looked:
    """Return what the ledger at ``place``, a path or URL, holds, after confirming or dropping pending releases.

    Raises UsageError where a release cannot be dropped, DataError where it is no whole ledger or refuses the user,
    RunError where its server does not answer.
    """
    return look(str(place), repair=repair, forget=forget)
