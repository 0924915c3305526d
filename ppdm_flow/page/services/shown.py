"""Which releases which guests may read."""

from __future__ import annotations

import json
import math
import time
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum
from pathlib import Path
from sqlite3 import Connection, Row
from typing import Any

from ppdm_flow.core.results import HELD
from ppdm_flow.core.results import RELEASED as RESULTS_RELEASED
from ppdm_flow.engine.approval.published import PLAN, approval_faults
from ppdm_flow.engine.candidates.unpublished import RELEASED, is_unpublished
from ppdm_flow.engine.candidates.unpublished import RELEASED as FOLDER
from ppdm_flow.engine.evidence.places import ATTESTATIONS, envelopes
from ppdm_flow.engine.held.publication import ReadSigners, publication_fault
from ppdm_flow.engine.machine import utc_now
from ppdm_flow.engine.manifest import NAME as MANIFEST
from ppdm_flow.page.services.accounts.roles import PageRole, User
from ppdm_flow.page.services.approvals import LISTS, SECONDS, BoundedAnswers
from ppdm_flow.page.services.bounded import LARGE, LimitExceededError
from ppdm_flow.page.services.runs.folders import folder_named, folders_in
from ppdm_flow.page.services.storage.database import PageDatabase
from ppdm_flow.policy.signers import read_signers

SCHEMA = (
    (
        "CREATE TABLE IF NOT EXISTS shown (policy TEXT NOT NULL, run TEXT NOT NULL, release TEXT NOT NULL,"
        " since TEXT NOT NULL, account TEXT NOT NULL, report INTEGER NOT NULL, PRIMARY KEY (policy, run, release))"
    ),
    (
        "CREATE TABLE IF NOT EXISTS invited (policy TEXT NOT NULL, run TEXT NOT NULL, release TEXT NOT NULL,"
        " account INTEGER NOT NULL REFERENCES accounts (id), PRIMARY KEY (policy, run, release, account),"
        " FOREIGN KEY (policy, run, release) REFERENCES shown (policy, run, release) ON DELETE CASCADE)"
    ),
    (
        "CREATE TABLE IF NOT EXISTS received (account INTEGER NOT NULL REFERENCES accounts (id), policy TEXT NOT NULL,"
        " run TEXT NOT NULL, release TEXT NOT NULL, apart INTEGER NOT NULL, since TEXT NOT NULL,"
        " PRIMARY KEY (account, policy, run, release))"
    ),
)
"""Tables of what is shown, of the guests who are invited to it, and of what guests have opened.

An invitation ends where a release is taken back. What was opened stays: who has read a table still knows it.
"""


# What stewards show to guests: releases of runs, some with their public report.


class Refusal(StrEnum):
    """Why a release is not shown."""

    MISSING = "missing"
    """There is no such release, or it was not released."""
    APART = "apart"
    """A guest holds another release of the policy, which says that nobody sees two."""
    MANY = "many"
    """The person shows as many others already."""


MOST = 1_000
"""Releases that one person shows: each request of a guest looks whether all of them are there."""


@dataclass(frozen=True, slots=True)
class SharedRelease:
    """A release that guests may read: ``since`` when, by whose decision, and whether its public ``report`` goes too.

    ``run`` is the name of the run's directory and ``folder`` that directory; ``files`` is the folder of the release.
    """

    policy: str
    run: str
    release: str
    since: datetime
    by: str
    report: bool
    folder: Path

    @property
    def key(self) -> str:
        """The run's name as addresses and jobs have it."""
        return f"{self.policy}/{self.run}"

    @property
    def files(self) -> Path:
        """The folder with the released files."""
        return self.folder / RELEASED / self.release


SEE_RUNS = (PageRole.STEWARD, PageRole.APPROVER)
"""Roles that see all runs with their released files, and so need no invitation."""
_HELD = (
    "SELECT run, NULL AS apart FROM invited WHERE account = ? AND policy = ? AND release <> ?"
    " UNION ALL SELECT run, apart FROM received WHERE account = ? AND policy = ? AND release <> ?"
)
"""Other releases of a policy that a guest is invited to, or has opened at any time."""
_INVITATION = "SELECT 1 FROM invited WHERE account = ? AND policy = ? AND run = ? AND release = ?"
_RECEIPT = "SELECT apart FROM received WHERE account = ? AND policy = ? AND run = ? AND release = ?"


class ShownReleases:
    """All releases that guests may read. Each was released when it was shown, and its files are where they were.

    Guests read those that they are invited to. Of a policy whose releases go to recipients apart, a guest is invited
    to one, and to no other one after it was opened: what was measured holds only then. That goes for what is shown
    already, too, if the policy of a later run does not say so any more.
    """

    def __init__(self, database: PageDatabase, runs: Path, now: Callable[[], datetime] = utc_now) -> None:
        self._database, self._runs, self._now = database, runs, now

    def releases(self) -> list[SharedRelease]:
        """Return what guests may read, the newest first; a run whose directory is gone is not among them."""
        rows = self._database.rows("SELECT * FROM shown ORDER BY since DESC, policy, run, release")
        every = (self._shown(row) for row in rows)
        return [each for each in every if _is_there(each)]

    def invited(self, user: User) -> list[SharedRelease]:
        """Return what somebody may read, the newest first."""
        every = self.releases()
        if user.has(*SEE_RUNS):
            return every
        rows = self._database.rows("SELECT policy, run, release FROM invited WHERE account = ?", user.id)
        mine = {tuple(row) for row in rows}
        return [each for each in every if (each.policy, each.run, each.release) in mine]

    def guests(self, policy: str, run: str, release: str) -> frozenset[int]:
        """Return the accounts that are invited to a release."""
        query = "SELECT account FROM invited WHERE policy = ? AND run = ? AND release = ?"
        return frozenset(row["account"] for row in self._database.rows(query, policy, run, release))

    def of(self, policy: str, run: str) -> list[SharedRelease]:
        """Return what guests may read of one run."""
        return [each for each in self.releases() if (each.policy, each.run) == (policy, run)]

    def get(self, policy: str, run: str, release: str) -> SharedRelease | None:
        """Return a release by its names; None where no guests may read it."""
        row = self._database.row(
            "SELECT * FROM shown WHERE policy = ? AND run = ? AND release = ?", policy, run, release
        )
        shown = None if row is None else self._shown(row)
        return None if shown is None or not _is_there(shown) else shown

    def published(self, policy: str, run: str) -> PublishedRun | None:
        """Return a run of which releases can be shown; None where there is none, or it was not released."""
        return published_run(self._runs, policy, run)

    def newest(self, most: int = 100) -> list[PublishedRun]:
        """Return the newest runs of which releases can be shown."""
        return newest_published(self._runs, most)

    def show(
        self, user: User, policy: str, run: str, release: str, guests: Iterable[User], *, report: bool = False
    ) -> Refusal | None:
        """Show a release to these guests and no others, with or without its report; return why it is not shown."""
        there = self.published(policy, run)
        if there is None or release not in there.audiences:
            return Refusal.MISSING
        own = [each for each in self.releases() if each.by == user.name]
        if len(own) >= MOST and (policy, run, release) not in {(each.policy, each.run, each.release) for each in own}:
            return Refusal.MANY
        accounts = {guest.id for guest in guests}
        known: set[tuple[str, bool | None]] = set()
        while True:  # documents of runs are read while nobody waits for the database
            with self._database.changing() as connection:
                fresh = {held for each in accounts for held in self._held(each, policy, release)} - known
                if not fresh:
                    self._invite(connection, (policy, run, release), user, accounts, report=report)
                    return None
            if there.apart or any(self._is_apart(policy, *held) for held in fresh):
                return Refusal.APART
            known |= fresh

    def barred(self, there: PublishedRun, release: str, guests: Iterable[User]) -> frozenset[int]:
        """Return those of the guests who cannot be invited to a release: they hold another one, and are to see one."""
        policy = there.folder.parent.name
        held = {guest.id: self._held(guest.id, policy, release) for guest in guests}
        apart = {each for each in set().union(*held.values()) if there.apart or self._is_apart(policy, *each)}
        return frozenset(guest for guest, releases in held.items() if releases & apart)

    def opened(self, user: User, policy: str, run: str, release: str) -> SharedRelease | Refusal:
        """Return a release that somebody opens, and keep that they did; or why they may not.

        Raises LimitExceededError where the run's documents take too long.
        """
        shown = self.get(policy, run, release)
        if shown is None or user.has(*SEE_RUNS):
            return shown or Refusal.MISSING
        names = (user.id, policy, run, release)
        before = self._database.row(_RECEIPT, *names)
        if before is not None:
            return self._refusal(*names, apart=before["apart"]) or shown
        there = self.published(policy, run)
        if there is None:
            return Refusal.MISSING
        with self._database.changing() as connection:  # else two releases could be opened at once
            refusal = self._refusal(*names, apart=there.apart)
            if refusal is None:
                insert = "INSERT INTO received VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING"
                connection.execute(insert, (*names, there.apart, self._time()))
        return refusal or shown

    def hide(self, policy: str, run: str, release: str) -> bool:
        """Take a release back. False where it was not shown."""
        with self._database.changing() as connection:
            done = connection.execute(
                "DELETE FROM shown WHERE policy = ? AND run = ? AND release = ?", (policy, run, release)
            )
        return done.rowcount > 0

    def _invite(
        self, connection: Connection, names: tuple[str, str, str], user: User, accounts: Iterable[int], *, report: bool
    ) -> None:
        insert = "INSERT INTO shown VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT DO UPDATE SET report = excluded.report"
        connection.execute(insert, (*names, self._time(), user.name, report))
        connection.execute("DELETE FROM invited WHERE policy = ? AND run = ? AND release = ?", names)
        connection.executemany("INSERT INTO invited VALUES (?, ?, ?, ?)", [(*names, each) for each in set(accounts)])

    def _time(self) -> str:
        return self._now().astimezone(UTC).isoformat(timespec="seconds")

    def _refusal(self, account: int, policy: str, run: str, release: str, *, apart: bool) -> Refusal | None:
        """Return why a guest may not open a release, whose run says that its recipients are ``apart`` or not."""
        names = (account, policy, run, release)
        if self._database.row(_INVITATION, *names) is None:
            return Refusal.MISSING
        query = "SELECT apart FROM received WHERE account = ? AND policy = ? AND release <> ?"
        others = self._database.rows(query, account, policy, release)
        return Refusal.APART if others and (apart or any(row["apart"] for row in others)) else None

    def _held(self, account: int, policy: str, release: str) -> set[tuple[str, bool | None]]:
        """Return the runs of other releases that a guest holds, and whether they are apart where that was noted."""
        rows = self._database.rows(_HELD, *(account, policy, release) * 2)
        return {(row["run"], None if row["apart"] is None else bool(row["apart"])) for row in rows}

    def _is_apart(self, policy: str, run: str, noted: bool | None) -> bool:
        """Whether a run says so. It was noted when a guest opened a release: the run may be gone."""
        if noted is not None:
            return noted
        there = self.published(policy, run)
        return there is not None and there.apart

    def _shown(self, row: Row) -> SharedRelease:
        return SharedRelease(
            row["policy"],
            row["run"],
            row["release"],
            datetime.fromisoformat(row["since"]),
            row["account"],
            bool(row["report"]),
            self._runs / row["policy"] / row["run"],
        )


def _is_there(shown: SharedRelease) -> bool:
    links = (shown.folder.parent, shown.folder, shown.files.parent, shown.files)
    return shown.files.is_dir() and not is_unpublished(shown.folder) and not any(each.is_symlink() for each in links)


# The releases of a run that have left it: found by listing what is there, never by joining what somebody asked for.


APART = "apart"
"""What a policy says of recipients of whom nobody sees two releases."""


@dataclass(frozen=True, slots=True)
class PublishedRun:
    """A run that was released: its directory, and the releases in it by name with the audience that each is for.

    ``apart``: the policy says that nobody sees two of the releases, and they were judged so. ``ledger``: it was judged
    with what was released before.
    """

    folder: Path
    audiences: Mapping[str, str]
    apart: bool
    ledger: bool

    @property
    def key(self) -> str:
        """Its name as addresses and jobs have it."""
        return f"{self.folder.parent.name}/{self.folder.name}"


@dataclass(frozen=True, slots=True)
class PublishedDocuments:
    """What the documents of a released run say: the audience of each declared release, and as `PublishedRun`."""

    audiences: Mapping[str, str]
    apart: bool
    ledger: bool


_KEPT = 1_000
"""Bytes that what is kept of a run's documents takes."""
_DOCUMENTS: BoundedAnswers[PublishedDocuments | None] = BoundedAnswers()


def published_run(runs: Path, policy: str, run: str) -> PublishedRun | None:
    """Return the run of a policy by its name; None where there is none, or nothing of it was released.

    A run that was held counts with the signatures that its policy asks for, under any folder names. Raises
    LimitExceededError where its documents take too long.
    """
    folder = folder_named(folder_named(runs, policy), run)
    return None if folder is None else _published(folder, LISTS.reader())


def newest_published(runs: Path, most: int) -> list[PublishedRun]:
    """Return the newest runs that were released, as far as their documents are read in a few seconds."""
    folders = (run for policy in folders_in(runs) for run in folders_in(policy))
    newest: list[PublishedRun] = []
    read, until = LISTS.reader(SECONDS), time.monotonic() + SECONDS
    for folder in sorted(folders, key=lambda run: run.name, reverse=True):  # names of runs begin with their time
        if not (folder / FOLDER).is_dir():
            continue
        with suppress(LimitExceededError):
            if (published := _published(folder, read, until)) is not None:
                newest.append(published)
        if len(newest) == most:
            break
    return newest


def _published(folder: Path, read: ReadSigners, until: float = math.inf) -> PublishedRun | None:
    released = folder_named(folder, FOLDER)
    if released is None or is_unpublished(folder):
        return None
    try:
        large = sum((folder / name).stat().st_size for name in (MANIFEST, PLAN)) > LARGE
        if large:
            late = "the documents of this run are long and were not looked at"
            documents = _DOCUMENTS.ask(_state(folder, released), _KEPT, until, late, read_documents, folder)
        else:
            documents = read_documents(folder, read)
    except OSError:
        return None
    if documents is None:
        return None
    there = sorted(each.name for each in folders_in(released) if each.name in documents.audiences)
    audiences = {name: documents.audiences[name] for name in there}
    return PublishedRun(folder, audiences, documents.apart, documents.ledger)


def _state(folder: Path, released: Path) -> str:
    """Return a text that is another one where a document of the run, or a signature, is."""
    signed = (path for release in folders_in(released) for path in envelopes(release / ATTESTATIONS))
    stats = [(str(path), path.lstat()) for path in (*sorted(folder.iterdir()), *signed)]
    return repr([(name, s.st_ino, s.st_size, s.st_mtime_ns, s.st_ctime_ns) for name, s in stats])


def read_documents(folder: Path, read: ReadSigners = read_signers) -> PublishedDocuments | None:
    """Return what a run's documents say; None where they cannot be read, or it was not released."""
    manifest, plan = _document(folder / MANIFEST), _document(folder / PLAN)
    if manifest is None or plan is None or not _was_released(folder, manifest.get("verdict"), read):
        return None
    declared = {each["name"]: each["audience"] for each in plan["releases"]}
    return PublishedDocuments(declared, plan.get("recipients") == APART, "ledger" in manifest)


def _was_released(folder: Path, verdict: object, read: ReadSigners) -> bool:
    if verdict == RESULTS_RELEASED:
        return True
    return verdict == HELD and not publication_fault(folder) and not any(approval_faults(folder, read))


def _document(file: Path) -> dict[str, Any] | None:
    try:
        document = json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    return document if isinstance(document, dict) else None
