"""Shows a ledger, and settles pending entries of runs that ended between writing them down and confirming them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from ppdm_flow.core.diagnostics import Diagnostic
from ppdm_flow.core.digests import sha256
from ppdm_flow.core.errors import UsageError
from ppdm_flow.core.phrases import counted
from ppdm_flow.engine.candidates.artifacts import as_json
from ppdm_flow.engine.candidates.unpublished import RELEASED as FOLDER
from ppdm_flow.engine.candidates.unpublished import drop_private, is_dead, is_held, is_unpublished, remove
from ppdm_flow.engine.ledger.fields import DROPPED, PENDING, RELEASED, LedgerDocument, LedgerRelease
from ppdm_flow.engine.ledger.key import Erasure, LedgerRecord, read_key, required
from ppdm_flow.engine.ledger.ledger import Witness, contradictions, key_beside, store_at
from ppdm_flow.engine.ledger.membership import spelling
from ppdm_flow.engine.ledger.tables import LedgerStore
from ppdm_flow.engine.machine import utc_now
from ppdm_flow.engine.manifest import NAME as MANIFEST


@dataclass(frozen=True, slots=True)
class LedgerContents:
    """A ledger: all its entries, and of the pending ones those that were ``confirmed`` and ``dropped`` just now.

    ``place`` is its path, or host and database; ``checked`` whether its chain was checked with its key; ``runs`` how
    many runs were compared with it, and ``strangers`` those that it does not know. ``erased`` are all erasures, and
    ``of_nobody`` counts the ids that were to be erased just now and are nobody's.
    """

    entries: tuple[LedgerRecord, ...]
    confirmed: tuple[int, ...] = ()
    dropped: tuple[int, ...] = ()
    place: str = ""
    checked: bool = False
    runs: int | None = None
    strangers: tuple[Witness, ...] = ()
    erased: tuple[Erasure, ...] = ()
    of_nobody: int = 0

    @property
    def json(self) -> str:
        """The ledger for programs: the schema is `ppdm-flow schema ledger`."""
        strangers = {str(w.run): w.text for w in self.strangers}
        return as_json(
            document(
                self.place, self.entries, self.confirmed, self.dropped, strangers, self.erased, checked=self.checked
            )
        )

    @property
    def text(self) -> str:
        """The ledger for people, a line a release."""
        lines = [_line(e) for e in self.entries] or ["nothing was released yet"]
        lines += [f"confirmed: no. {n}, its run is there" for n in self.confirmed]
        lines += [f"dropped: no. {n}, which never was released" for n in self.dropped]
        lines += [_erased_line(each) for each in self.erased]
        if self.of_nobody:
            lines.append(f"{counted(self.of_nobody, 'id')} of nobody here: written otherwise, or erased before")
        if self.erased:
            lines.append("a run whose source has erased people is not verified beside these releases")
            lines.append("copies of the ledger that were made before have these people still")
        if any(e.state == PENDING for e in self.entries):
            lines.append("pending releases count as released; `--repair` looks for their runs")
        if not self.checked:
            lines.append("whether entries were changed or taken out was not checked: that needs the key (`--key FILE`)")
        if self.runs is not None:
            lines += [f"not of this ledger as it is: {w.run}: {w.text}" for w in self.strangers]
            lines.append(f"{self.runs:,} runs say that they used this ledger, and it knows {self._known:,} of them")
        return "\n".join(lines)

    @property
    def _known(self) -> int:
        return (self.runs or 0) - len(self.strangers)


def read_ledger(
    place: str,
    key: Path | None = None,
    *,
    repair: bool = False,
    forget: Sequence[int] = (),
    runs: Path | None = None,
    erase: Sequence[str] = (),
) -> LedgerContents:
    """Return what the ledger at a path or URL holds.

    ``repair`` settles pending releases: it confirms those whose run is published, by the hash of its manifest, and
    drops those whose run ended before that. ``forget`` drops pending ones whose run is not there; nobody but the owner
    knows that it was not moved away. ``runs`` is a folder of runs to hold against the ledger. ``erase`` are people, by
    their ids, whom it is to forget. Raises UsageError where
    a release cannot be dropped, or the key is needed and not given; DataError where it is no whole ledger.
    """
    store = _opened(place, key, needed=repair or bool(forget) or bool(erase) or runs is not None)
    store.check()
    confirmed: tuple[int, ...] = ()
    dropped: tuple[int, ...] = ()
    if repair or forget:
        with store.locked():
            confirmed, dropped = _settle(store, forget)
    of_nobody = _erase(store, erase) if erase else 0
    contents = LedgerContents(
        store.entries(), confirmed, dropped, store.place, store.key is not None, None, (), store.erasures(), of_nobody
    )
    if runs is None:
        return contents
    if not runs.is_dir():
        raise UsageError(Diagnostic("PPF687", f"there is no folder of runs `{runs}`"))
    count, strangers = contradictions(store, iter(sorted(runs.rglob(MANIFEST))))
    return replace(contents, runs=count, strangers=strangers)


def _erase(store: LedgerStore, ids: Sequence[str]) -> int:
    """Let the ledger forget people, and return how many ids are nobody's. Raises UsageError where all are."""
    key = required(store.key)
    with store.locked():
        ignored = {entry.ids for entry in store.entries() if entry.people is not None}
        people = {
            each: key.hashes("person", (spelling(each.split(","))(id_).encode() for id_ in ids)) for each in ignored
        }
        erased = store.erase(people, utc_now().isoformat(timespec="seconds"))
        known = {person for each in erased for person in each.people}
        if not known:
            text = f"nobody in {store.name} has any of these ids"
            raise UsageError(
                Diagnostic("PPF687", text, help="ids are those of `ledger.subject`; who was erased has none")
            )
    is_known = np.zeros(len(ids), dtype=np.bool_)
    for hashes in people.values():
        is_known |= np.isin(hashes.astype(str), list(known))
    return int(np.count_nonzero(~is_known))


def _opened(place: str, key: Path | None, *, needed: bool) -> LedgerStore:
    """Return the ledger with its key: the one given, or the one beside it if that is there."""
    beside = key_beside(place)
    if key is None and beside is not None and (needed or beside.exists()):
        key = beside
    if key is None and needed:
        raise UsageError(Diagnostic("PPF687", "that needs the key of the ledger", help="add `--key FILE`"))
    return store_at(place, None if key is None else read_key(key))


def _settle(store: LedgerStore, forget: Sequence[int]) -> tuple[tuple[int, ...], tuple[int, ...]]:
    pending = {e.number: e for e in store.entries() if e.state == PENDING}
    became = {number: _became(entry) for number, entry in pending.items()}
    out = tuple(n for n, state in became.items() if state == RELEASED)
    for number in forget:
        unfinished = number in pending and (is_unpublished(_run(pending[number])) or is_held(_run(pending[number])))
        alive = unfinished and became[number] == PENDING
        if number not in pending or number in out or alive:
            why = "it is not pending" if number not in pending else "its run goes on" if alive else "its run is there"
            raise UsageError(Diagnostic("PPF689", f"release no. {number} stays in the ledger: {why}"))
    never = tuple(n for n in pending if n in forget or became[n] == DROPPED)
    store.confirm(out)
    for number in out:
        drop_private(_run(pending[number]))
    store.drop(never)
    for number in never:
        if became[number] == DROPPED and is_unpublished(_run(pending[number])):
            remove(_run(pending[number]))
    return out, never


def _became(entry: LedgerRecord) -> str:
    """Return what became of a pending release: where its run is not there any more, it stays pending.

    One of a held run whose release was interrupted never was: the run is held as before.
    """
    run = _run(entry)
    if _is_its(run, entry):
        if is_unpublished(run) or is_held(run):
            return DROPPED if is_dead(run) else PENDING
        return RELEASED if (run / FOLDER).is_dir() else PENDING
    renamed = (path.parent for path in sorted(Path(entry.folder).glob(f"*/{MANIFEST}")))
    published = (p for p in renamed if not is_unpublished(p) and (p / FOLDER).is_dir())
    return RELEASED if any(_is_its(each, entry) for each in published) else PENDING


def _run(entry: LedgerRecord) -> Path:
    return Path(entry.folder) / entry.run


def _is_its(run: Path, entry: LedgerRecord) -> bool:
    try:
        return sha256(run / MANIFEST) == entry.manifest
    except OSError:
        return False


def _erased_line(each: Erasure) -> str:
    return f"erased: {counted(len(each.people), 'person')} of no. {each.release}, {each.time}"


def _line(entry: LedgerRecord) -> str:
    people = "of unknown people" if entry.people is None else f"of {entry.people:,} people"
    columns = ", ".join(name for name, _, _, _ in entry.columns)
    where = f"{_run(entry)}{' (pending)' if entry.state == PENDING else ''}"
    return (
        f"{entry.number}  {entry.time}  {entry.policy}/{entry.name} ({entry.audience})  {entry.rows:,} rows"
        f" {'generated' if entry.generated else people}: {columns}\n   {where}"
    )


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
