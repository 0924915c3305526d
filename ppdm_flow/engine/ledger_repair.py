"""Pending entries of a ledger: a run ended between writing them down and saying that they are out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from ppdm_flow.core.diagnostics import Diagnostic
from ppdm_flow.core.errors import UsageError
from ppdm_flow.engine.artifacts import as_json
from ppdm_flow.engine.hashing import sha256
from ppdm_flow.engine.ledger_document import document
from ppdm_flow.engine.ledger_entry import PENDING, Entry
from ppdm_flow.engine.ledger_store import store_at
from ppdm_flow.engine.manifest import NAME as MANIFEST


@dataclass(frozen=True, slots=True)
class Looked:
    """A ledger: all its entries, and of the pending ones those that were ``confirmed`` and ``dropped`` just now.

    ``place`` is its path, or host and database.
    """

    entries: tuple[Entry, ...]
    confirmed: tuple[int, ...] = ()
    dropped: tuple[int, ...] = ()
    place: str = ""

    @property
    def json(self) -> str:
        """The ledger for programs: the schema is `ppdm-flow schema ledger`."""
        return as_json(document(self.place, self.entries, self.confirmed, self.dropped))

    @property
    def text(self) -> str:
        """The ledger for people, a line a release."""
        lines = [_line(e) for e in self.entries]
        lines += [f"confirmed: no. {n}, its run is there" for n in self.confirmed]
        lines += [f"dropped: no. {n}, which never was released" for n in self.dropped]
        pending = [e.number for e in self.entries if e.state == PENDING]
        if pending:
            lines.append("pending releases count as released; `--repair` looks for their runs")
        return "\n".join(lines or ["nothing was released yet"])


def look(place: str, *, repair: bool = False, forget: Sequence[int] = ()) -> Looked:
    """Return what the ledger at a path or URL holds.

    ``repair`` confirms pending releases whose run is in its folder, by the hash of its manifest. ``forget`` drops
    pending ones whose run is not there; nobody but the owner knows that it was not moved away. Raises UsageError where
    one of them is not pending, or its run is there; DataError where it is no whole ledger.
    """
    store = store_at(place)
    store.check()
    if not repair and not forget:
        return Looked(store.entries(), place=store.place)
    with store.held():
        pending = {e.number: e for e in store.entries() if e.state == PENDING}
        out = {n: run for n, e in pending.items() if (run := _run(e)) is not None}
        for number in forget:
            if number not in pending or number in out:
                why = "its run is there" if number in out else "it is not pending"
                raise UsageError(Diagnostic("PPF689", f"release no. {number} stays in the ledger: {why}"))
        for number, run in out.items():
            store.confirm([number], run)
        store.drop(forget)
        return Looked(store.entries(), tuple(out), tuple(forget), store.place)


def _run(entry: Entry) -> str | None:
    for manifest in sorted(Path(entry.folder).glob(f"*/{MANIFEST}")):
        if sha256(manifest) == entry.manifest:
            return manifest.parent.name
    return None


def _line(entry: Entry) -> str:
    people = "of unknown people" if entry.people is None else f"of {entry.people:,} people"
    columns = ", ".join(name for name, _, _, _ in entry.columns)
    where = f"{Path(entry.folder) / entry.run}{' (pending)' if entry.state == PENDING else ''}"
    return (
        f"{entry.number}  {entry.time}  {entry.policy}/{entry.name} ({entry.audience})  {entry.rows:,} rows"
        f" {'generated' if entry.generated else people}: {columns}\n   {where}"
    )
