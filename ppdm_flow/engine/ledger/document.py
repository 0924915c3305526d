"""A release ledger as a JSON document."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ppdm_flow.engine.ledger.chain import Erasure, LedgerRecord
from ppdm_flow.engine.ledger.fields import LedgerDocument, LedgerRelease


def document(
    place: str,
    entries: Sequence[LedgerRecord],
    confirmed: Sequence[int],
    dropped: Sequence[int],
    strangers: Mapping[str, str],
    erased: Sequence[Erasure],
    *,
    checked: bool,
) -> LedgerDocument:
    """Return the document: no hash of a person or class is in it."""
    return {
        "version": 1,
        "ledger": place,
        "releases": [_release(entry) for entry in entries],
        "confirmed": list(confirmed),
        "dropped": list(dropped),
        "erased": [{"release": e.release, "people": len(e.people), "time": e.time} for e in erased],
        "checked": checked,
        "strangers": [{"run": run, "reason": reason} for run, reason in strangers.items()],
    }


def _release(entry: LedgerRecord) -> LedgerRelease:
    return {
        "number": entry.number,
        "state": entry.state,
        "policy": entry.policy,
        "release": entry.name,
        "audience": entry.audience,
        "time": entry.time,
        "folder": entry.folder,
        "run": entry.run,
        "plan": entry.plan,
        "manifest": entry.manifest,
        "file": entry.file,
        "rows": entry.rows,
        "people": entry.people,
        "generated": entry.generated,
        "columns": [{"name": n, "source": s, "role": r, "changes": list(c)} for n, s, r, c in entry.columns],
    }
