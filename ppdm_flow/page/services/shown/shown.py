"""What stewards show to guests: releases of runs, some with their public report."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum
from pathlib import Path
from sqlite3 import Row

from ppdm_flow.engine.candidates.unpublished import RELEASED, is_unpublished
from ppdm_flow.engine.machine import utc_now
from ppdm_flow.page.services.accounts.roles import User
from ppdm_flow.page.services.shown.published import PublishedRun, newest_published, published_run
from ppdm_flow.page.services.storage.database import PageDatabase

SCHEMA = (
    (
        "CREATE TABLE IF NOT EXISTS shown (policy TEXT NOT NULL, run TEXT NOT NULL, release TEXT NOT NULL,"
        " since TEXT NOT NULL, account TEXT NOT NULL, report INTEGER NOT NULL, PRIMARY KEY (policy, run, release))"
    ),
)


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
