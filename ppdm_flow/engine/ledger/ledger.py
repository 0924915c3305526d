"""The release ledger of a run: what was released before, and what is released now, written down with it."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import Path

import numpy as np

from ppdm_flow.core.digests import sha256
from ppdm_flow.engine.candidates.building import Candidate
from ppdm_flow.engine.faults import data_fault
from ppdm_flow.engine.ledger.cells import LedgerHashing, files_before, missing_from, packed_file
from ppdm_flow.engine.ledger.chain import LedgerRecord
from ppdm_flow.engine.ledger.fields import PENDING
from ppdm_flow.engine.ledger.key import LedgerKey, required
from ppdm_flow.engine.ledger.membership import beside, membership
from ppdm_flow.engine.ledger.store import find_ledger
from ppdm_flow.engine.ledger.tables import LedgerStore
from ppdm_flow.engine.ledger.witness import check_neighbours, testimony
from ppdm_flow.engine.machine import utc_now
from ppdm_flow.engine.manifest import NAME as MANIFEST
from ppdm_flow.engine.manifest import LedgerTestimony
from ppdm_flow.plan.definition import Plan
from ppdm_flow.reader.run import EarlierFiles
from ppdm_flow.sdk.audit import OtherRelease
from ppdm_flow.sdk.history import EarlierRelease, Membership, ReleaseHistory


@dataclass(slots=True)
class RunLedger:
    """A ledger while a run uses it. ``known`` is what each release of the run was held against."""

    plan: Plan
    store: LedgerStore
    key: LedgerKey
    members: dict[str, Membership | None] = field(default_factory=dict)
    known: dict[str, ReleaseHistory] = field(default_factory=dict)

    def histories(self, candidates: Sequence[Candidate]) -> Mapping[str, ReleaseHistory]:
        """Return for each release whom it is about, and all that was released before or is in the same run."""
        for c in candidates:
            plan = plan_of(self.plan, c.release.name)
            subject = None if plan.ledger is None else plan.ledger.subject
            pairs = None if c.generated or subject is None else c.subject.pairs
            self.members[c.release.name] = membership(plan, c.release, pairs, c.rows, self.key, subject)
        self.known.update(beside(candidates, self.members, self.earlier()))
        return self.known

    def files_beside(self, files: Mapping[str, OtherRelease]) -> EarlierFiles | None:
        """Keep what the files of the run show, and return those of earlier runs about the same people."""
        name = next(iter(files), "")
        plan, node = plan_of(self.plan, name), plan_of(self.plan, name).ledger
        table = next((t.name for t in self.plan.tables if t.plan is plan), "")
        hashing, people = None, [np.zeros(0, dtype="S32")]
        if node is not None and node.subject is not None:
            hashing = LedgerHashing(self.key, node.subject, node.ignore)
            for name, file in files.items():
                if (own := self.members[name]) is not None:
                    self.members[name] = replace(own, packed_file=packed_file(file, hashing, table))
                    people += [own.subjects, missing_from(file, hashing)]
        return files_before(plan, table, self.store, hashing, np.unique(np.concatenate(people)))

    @property
    def has_earlier(self) -> bool:
        """Whether rows of people were released before."""
        return any(not entry.generated for entry in self.store.entries())

    def earlier(self, without: Collection[int] = ()) -> tuple[EarlierRelease, ...]:
        """Return all that was released before, ``without`` these numbers. Raises DataError where it is not whole."""
        self.store.check()
        entries = [entry for entry in self.store.entries() if entry.number not in without]
        self._same_ids(entries)
        lost = self._lost()
        return tuple(self._earlier(entry, forgotten=entry.number in lost) for entry in entries)

    def _lost(self) -> set[int]:
        """Return the releases that were about people of the run's, whom the ledger has forgotten."""
        own = [members.subjects for members in self.members.values() if members is not None]
        people = set(np.concatenate(own).astype(str).tolist()) if own else set()
        return {each.release for each in self.store.erasures() if people & set(each.people)}

    def announce(self, candidates: Sequence[Candidate], place: Path, folder: str | None = None) -> Sequence[int]:
        """Write down, as pending, the releases of the run at ``place``, and return their numbers.

        ``folder`` is the URL of the one that the run is published in, if that is not on this machine.

        Raises RunError where the ledger cannot be written.
        """
        entries = [(self.entry(c), self.members[c.release.name]) for c in candidates]
        return self.store.add(written_down(entries, place, utc_now(), folder))

    def testimony(self, count: int) -> LedgerTestimony:
        """Return what the manifest of a run with ``count`` releases says of the ledger."""
        return testimony(self.store, count)

    def check_neighbours(self, folder: Path) -> None:
        """Raise DataError where a run in ``folder`` was judged with another ledger, or a later one."""
        check_neighbours(self.store, folder)

    def confirm(self, numbers: Sequence[int]) -> None:
        """Say of announced releases that they are out."""
        self.store.confirm(numbers)

    def withdraw(self, numbers: Sequence[int]) -> None:
        """Say of announced releases that they never were."""
        self.store.drop(numbers)

    def _same_ids(self, entries: Sequence[LedgerRecord]) -> None:
        """Raise DataError where earlier releases tell people apart by other spellings than this policy does."""
        node = self.plan.ledger
        if node is None or node.subject is None:
            return
        for entry in entries:
            if entry.people is not None and entry.ids != _ids(node.ignore):
                words = f"release no. {entry.number} of {self.store.name} ignores {_named(entry.ids)} in ids of people"
                text = (
                    f"{words}, and this policy ignores {_named(_ids(node.ignore))}: one person could be taken for two"
                )
                raise data_fault("PPF914", text, advice="say the same `ledger.ignore` in all policies with this ledger")

    def _earlier(self, entry: LedgerRecord, *, forgotten: bool) -> EarlierRelease:
        name = f"no. {entry.number}, `{entry.name}` of policy `{entry.policy}` for {entry.audience}, {entry.time}"
        members = None if forgotten or entry.people is None else self.store.members(entry)
        columns = frozenset(source for _, source, _, _ in entry.columns)
        return EarlierRelease(name, columns, members, entry.generated, forgotten=forgotten)

    def entry(self, candidate: Candidate) -> LedgerRecord:
        """Return what the ledger will hold of a release, but for when and where it is released."""
        release, own = candidate.release, self.members[candidate.release.name]
        return LedgerRecord(
            state=PENDING,
            policy=self.plan.policy,
            name=release.name,
            audience=release.audience,
            time="",
            plan=self.plan.digest,
            folder="",
            run="",
            manifest="",
            file=candidate.sha256,
            rows=candidate.rows,
            columns=tuple(
                (a.name, a.source, a.role.value, tuple(c.value for _, c in a.changes)) for a in release.attributes
            ),
            people=None if own is None else len(own.subjects),
            generated=candidate.generated,
            ids="" if own is None or self.plan.ledger is None else _ids(self.plan.ledger.ignore),
        )


def open_ledger(plan: Plan) -> RunLedger | None:
    """Return the plan's ledger; None where the policy has none.

    Raises DataError where there is no ledger, or it is damaged, changed, of another version, or without its key.
    """
    if plan.ledger is None:
        return None
    store = find_ledger(plan.ledger.place, Path(plan.ledger.key))
    return RunLedger(plan, store, required(store.key))


@contextmanager
def locked_ledger(ledger: RunLedger | None) -> Iterator[None]:
    """Keep other runs away from the ledger, if there is one."""
    if ledger is None:
        yield
        return
    with ledger.store.held():
        yield


def written_down(
    entries: Sequence[tuple[LedgerRecord, Membership | None]], place: Path, when: datetime, folder: str | None = None
) -> list[tuple[LedgerRecord, Membership | None]]:
    """Return the entries as they are written down for the run at ``place``, published in ``folder`` if elsewhere."""
    manifest, home = sha256(place / MANIFEST), folder or str(place.parent.resolve())
    time = when.isoformat(timespec="seconds")
    return [(replace(entry, time=time, folder=home, run=place.name, manifest=manifest), own) for entry, own in entries]


def plan_of(plan: Plan, release: str) -> Plan:
    """Return the plan that a release comes from: of linked tables, that of its own table."""
    own = (table.plan for table in plan.tables if any(r.name == release for r in table.plan.releases))
    return next(own, plan)


def _ids(ignore: Sequence[str]) -> str:
    return ",".join(sorted(ignore))


def _named(ids: str) -> str:
    return " and ".join(f"`{each}`" for each in ids.split(",")) if ids else "nothing"
