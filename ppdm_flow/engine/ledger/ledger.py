"""The release ledger of a run: what was released before, and the entry that the run adds."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import Path

import numpy as np

from ppdm_flow.core.addresses import AddressError, PasswordError, is_address, server_address
from ppdm_flow.core.diagnostics import Diagnostic
from ppdm_flow.core.digests import sha256
from ppdm_flow.core.errors import DataError, UsageError
from ppdm_flow.core.roles import Role
from ppdm_flow.engine.candidates.building import Candidate
from ppdm_flow.engine.candidates.unpublished import PUBLICATION, RELEASED, is_unpublished
from ppdm_flow.engine.faults import data_fault
from ppdm_flow.engine.ledger.fields import PENDING
from ppdm_flow.engine.ledger.file import LedgerFile
from ppdm_flow.engine.ledger.key import LedgerKey, LedgerRecord, make_key, numbers_of, read_key, required
from ppdm_flow.engine.ledger.membership import beside, membership, spelling
from ppdm_flow.engine.ledger.tables import LedgerStore
from ppdm_flow.engine.machine import utc_now
from ppdm_flow.engine.manifest import NAME as MANIFEST
from ppdm_flow.engine.manifest import LedgerTestimony
from ppdm_flow.plan.definition import Plan
from ppdm_flow.reader.earlier import KeptFile, unpacked
from ppdm_flow.reader.faults import NotVerifiedError
from ppdm_flow.reader.files import Ints
from ppdm_flow.reader.run import EarlierFiles
from ppdm_flow.reader.run_files import keep
from ppdm_flow.sdk.audit import OtherRelease
from ppdm_flow.sdk.history import EarlierRelease, Hashes, Membership, ReleaseHistory


@dataclass(slots=True)
class RunLedger:
    """A ledger while a run uses it. ``known`` are the earlier releases that each release of the run was judged with."""

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
    with ledger.store.locked():
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


# What files of earlier releases show, by keyed hashes of their cells.


@dataclass(frozen=True, slots=True)
class LedgerHashing:
    """Hashes people, by the spellings that are one person's, and values; ``subject`` is the attribute of people."""

    key: LedgerKey
    subject: str
    ignore: Sequence[str]

    def people(self, texts: Sequence[str]) -> Ints:
        """Return the hashes of people."""
        return numbers_of(self.subjects(texts))

    def subjects(self, texts: Sequence[str]) -> Hashes:
        """Return the hashes of people, as long as those of who is in a release."""
        same = spelling(self.ignore)
        return self.key.hashes("person", (same(text).encode() for text in texts))

    def values(self, texts: Sequence[str]) -> Ints:
        """Return the hashes of values."""
        return self.key.numbers("value", (text.encode() for text in texts))


_ERASED = "release no. {} has people whom the ledger has forgotten, and who are in the source again"
_NO_SUBJECT = "the ledger has earlier releases, and without a `subject` nobody knows what they say of the same people"


def packed_file(file: OtherRelease, hashing: LedgerHashing, table: str) -> bytes:
    """Return what the ledger keeps of a file's cells; nothing where they do not go by rows of the source."""
    if any(a.role is Role.ITEMS for a in file.attributes.values()):
        return b""
    try:
        return keep(file, hashing, table).packed()
    except NotVerifiedError:
        return b""


def missing_from(file: OtherRelease, hashing: LedgerHashing) -> Hashes:
    """Return the people of a source of which a file lacks rows, for those that do; nobody for others."""
    every = file.everyone([hashing.subject]) if file.everyone and file.decided_by else ()
    texts = {text for table in every for text in table[hashing.subject].compact().categories.to_pylist()}
    return hashing.subjects(sorted(texts))


def files_before(
    plan: Plan, table: str, store: LedgerStore, hashing: LedgerHashing | None, people: Hashes
) -> EarlierFiles | None:
    """Return the files of earlier releases that have, or lack, some of one's ``people``; None where there is none.

    ``plan`` is that of a linked ``table``: what was released of others is left out.
    """
    attributes = frozenset(a.name for a in plan.source.attributes if a.role not in (Role.ITEMS, Role.WEIGHT))
    if hashing is None:
        several = any(not entry.generated for entry in store.entries())
        return EarlierFiles((), None, attributes, _NO_SUBJECT) if several else None
    files: list[KeptFile] = []
    own = people.astype(str)
    reasons = [_ERASED.format(each.release) for each in store.erasures() if np.isin(each.people, own).any()]
    numbers = numbers_of(people)
    for entry in (e for e in store.entries() if not e.generated):
        data = store.packed_file(entry)
        if data:
            file = unpacked(f"{entry.policy}/{entry.name} (no. {entry.number})", data)
            beside = table in (file.table, "") or not file.table
            files += [file] if beside and np.isin(file.people, numbers).any() else []
        elif _has_any(store, entry, people):
            reasons.append(f"the ledger knows no cells of release no. {entry.number}, which has some of these people")
    return EarlierFiles(tuple(files), hashing, attributes, next(iter(reasons), "")) if files or reasons else None


def _has_any(store: LedgerStore, entry: LedgerRecord, people: Hashes) -> bool:
    """Say whether a release is about some of these people, or nothing tells."""
    return entry.people is None or bool(np.isin(store.members(entry).subjects, people).any())


# Runs bear witness for a ledger: each manifest names the last entry that its run saw, and the numbers it was given.
#
# A chain shows what was changed within a ledger, and not that the whole is an older copy. Runs that were judged with it
# since then do: an entry that they saw is not there, or is another one. A held run bears witness twice: of what it was
# judged with, and in `publication.json` of what it was released with. Nothing shows it once these runs are gone too.


@dataclass(frozen=True, slots=True)
class Witness:
    """A published, held or withheld run, and why the ledger cannot be the one that it was judged with."""

    run: Path
    text: str


def testimony(store: LedgerStore, count: int) -> LedgerTestimony:
    """Return what a manifest says of the ledger; ``count`` are the releases that are about to be written down."""
    heads, last = store.heads(), store.last()
    return {
        "key": "" if store.key is None else store.key.commitment,
        "position": len(heads),
        "chain": heads[-1] if heads else "",
        "releases": list(range(last + 1, last + 1 + count)),
    }


def contradictions(store: LedgerStore, manifests: Iterator[Path]) -> tuple[int, tuple[Witness, ...]]:
    """Return how many of these runs were judged with the ledger, and those that it does not know, or knows otherwise.

    The ledger must have been checked with its key.
    """
    heads, known = store.heads(), {e.number: e.manifest for e in store.entries()}
    commitment = "" if store.key is None else store.key.commitment
    count, contradicting = 0, []
    for path in manifests:
        said = _said(path)
        if said is None or said["key"] != commitment or is_unpublished(path.parent.resolve()):
            continue
        count += 1
        text, later = _contradiction(said, heads), _said(path.with_name(PUBLICATION))
        if (path.parent / RELEASED).is_dir() and later is not None and later["key"] == commitment:
            text, said = text or _contradiction(later, heads), later
        if text is None and (path.parent / RELEASED).is_dir():
            digest = sha256(path)
            unknown = [n for n in said["releases"] if known.get(n) != digest]
            text = f"its release no. {unknown[0]} is not in the ledger" if unknown else None
        if text is not None:
            contradicting.append(Witness(path.parent, text))
    return count, tuple(contradicting)


def check_neighbours(store: LedgerStore, folder: Path) -> None:
    """Hold the ledger against the runs in ``folder``. Raises DataError where one of them saw another ledger."""
    _, contradicting = contradictions(
        store, (path / MANIFEST for path in sorted(folder.iterdir()) if not path.is_symlink())
    )
    if contradicting:
        first = contradicting[0]
        text = f"{store.name} is older than a run that used it, or a copy: `{first.run.name}`: {first.text}"
        advice = (
            "put the latest copy back; `ppdm-flow ledger LEDGER --runs FOLDER` lists all runs that it does not know"
        )
        raise data_fault("PPF913", text, advice=advice)


def _contradiction(said: LedgerTestimony, heads: tuple[str, ...]) -> str | None:
    position = said["position"]
    if position > len(heads):
        return f"it saw entry {position}, and the last one here is {len(heads)}"
    if position and heads[position - 1] != said["chain"]:
        return f"it saw another entry {position}"
    return None


def _said(path: Path) -> LedgerTestimony | None:
    try:
        document = json.loads(path.read_text(encoding="utf-8"))["ledger"]
        said = LedgerTestimony(
            key=document["key"], position=document["position"], chain=document["chain"], releases=document["releases"]
        )
        good = isinstance(said["position"], int) and all(isinstance(n, int) for n in said["releases"])
    except (OSError, ValueError, KeyError, TypeError):
        return None
    return said if good else None


# Finding a release ledger with its key, in a file or on a server, or making one.


def store_at(place: str, key: LedgerKey | None = None) -> LedgerStore:
    """Return the ledger at a path or URL; nothing is opened yet. Raises UsageError where the URL is none.

    Without the ``key`` it can be read, but not written, and its chain cannot be checked.
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
    with store.locked():
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
