"""Which releases guests may read."""

from __future__ import annotations

import json
import math
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum
from pathlib import Path
from sqlite3 import Row
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
from ppdm_flow.page.services.accounts.roles import User
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
)


# What stewards show to guests: releases of runs, some with their public report.


class Refusal(StrEnum):
    """Why a release is not shown."""

    MISSING = "missing"
    """There is no such release, or it was not released."""
    APART = "apart"
    """Guests see another release of the policy, which says that nobody sees two."""
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


class ShownReleases:
    """All releases that guests may read. Each was released when it was shown, and its files are where they were."""

    def __init__(self, database: PageDatabase, runs: Path, now: Callable[[], datetime] = utc_now) -> None:
        self._database, self._runs, self._now = database, runs, now

    def releases(self) -> list[SharedRelease]:
        """Return what guests may read, the newest first; a run whose directory is gone is not among them."""
        rows = self._database.rows("SELECT * FROM shown ORDER BY since DESC, policy, run, release")
        every = (self._shown(row) for row in rows)
        return [each for each in every if _is_there(each)]

    def of(self, policy: str, run: str) -> list[SharedRelease]:
        """Return what guests may read of one run."""
        return [each for each in self.releases() if (each.policy, each.run) == (policy, run)]

    def get(self, policy: str, run: str, release: str) -> SharedRelease | None:
        """Return a release by its names; None where guests may not read it."""
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

    def show(self, user: User, policy: str, run: str, release: str, *, report: bool = False) -> Refusal | None:
        """Show a release to guests, with or without its report; return why not, where it is not shown.

        Of a policy whose releases go to recipients apart, guests see one: what was measured holds only then. That goes
        for what is shown already, too, if the policy of a later run does not say so any more.
        """
        there = self.published(policy, run)
        if there is None or release not in there.audiences:
            return Refusal.MISSING
        own = [each for each in self.releases() if each.by == user.name]
        if len(own) >= MOST and (policy, run, release) not in {(each.policy, each.run, each.release) for each in own}:
            return Refusal.MANY
        since = self._now().astimezone(UTC).isoformat(timespec="seconds")
        others = "SELECT DISTINCT run FROM shown WHERE policy = ? AND release <> ?"
        insert = "INSERT INTO shown VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT DO UPDATE SET report = excluded.report"
        known: set[str] = set()
        while True:  # documents of runs are read while nobody waits for the database
            with self._database.changing() as connection:
                fresh = {row["run"] for row in connection.execute(others, (policy, release))} - known
                if not fresh:
                    connection.execute(insert, (policy, run, release, since, user.name, report))
                    return None
            if there.apart or any(self._is_apart(policy, other) for other in fresh):
                return Refusal.APART
            known |= fresh

    def hide(self, policy: str, run: str, release: str) -> bool:
        """Take a release back. False where it was not shown."""
        with self._database.changing() as connection:
            done = connection.execute(
                "DELETE FROM shown WHERE policy = ? AND run = ? AND release = ?", (policy, run, release)
            )
        return done.rowcount > 0

    def _is_apart(self, policy: str, run: str) -> bool:
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
