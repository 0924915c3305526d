"""Jobs in the server's file. Environments are not written: they may hold passwords."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

from ppdm_flow.engine.machine import utc_now
from ppdm_flow.page.services.accounts.roles import User
from ppdm_flow.page.services.jobs.job import JobState, VerbJob, job_of
from ppdm_flow.page.services.policies.given import GivenFiles
from ppdm_flow.page.services.storage.database import PageDatabase

SCHEMA = (
    (
        "CREATE TABLE IF NOT EXISTS jobs (number INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT NOT NULL UNIQUE,"
        " account INTEGER NOT NULL, author TEXT NOT NULL, kind TEXT NOT NULL, about TEXT NOT NULL, words TEXT NOT NULL,"
        " leads_to TEXT NOT NULL, roles TEXT NOT NULL, given TEXT NOT NULL,"
        " state TEXT NOT NULL, secret INTEGER NOT NULL, cancelling INTEGER NOT NULL DEFAULT 0, exit_code INTEGER,"
        " reason TEXT NOT NULL DEFAULT '', made TEXT NOT NULL DEFAULT '', cut INTEGER NOT NULL DEFAULT 0,"
        " remove TEXT NOT NULL, queued TEXT NOT NULL, started TEXT, ended TEXT)"
    ),
    "CREATE INDEX IF NOT EXISTS jobs_by_state ON jobs (state)",
    "CREATE INDEX IF NOT EXISTS jobs_by_account ON jobs (account)",
    "CREATE INDEX IF NOT EXISTS jobs_by_run_and_policy ON jobs (made, about)",
)


@dataclass(frozen=True, slots=True)
class NewJob:
    """What is written of a job that waits. ``remove``: what to delete once it is over; ``secret``: it has passwords.

    The files of ``given`` have to be as they were.
    """

    key: str
    user: User
    kind: str
    about: str
    words: Sequence[str]
    leads_to: str
    remove: Sequence[Path]
    secret: bool
    given: GivenFiles


class JobRecords:
    """All jobs that were ever asked for; what they print is below ``folder``."""

    def __init__(self, database: PageDatabase, folder: Path, now: Callable[[], datetime] = utc_now) -> None:
        self._database, self._folder, self._now = database, folder, now

    def insert(self, job: NewJob) -> None:
        """Write a job down that waits."""
        values = {
            "id": job.key,
            "account": job.user.id,
            "author": job.user.name,
            "roles": " ".join(sorted(job.user.roles)),
            "kind": job.kind,
            "about": job.about,
            "words": "\0".join(job.words),
            "leads_to": job.leads_to,
            "state": JobState.WAITING,
            "secret": job.secret,
            "remove": "\0".join(map(str, job.remove)),
            "given": json.dumps(
                {
                    "files": {str(path): mark for path, mark in job.given.files.items()},
                    "reads": [str(path) for path in job.given.reads],
                    "policy": job.given.policy,
                }
            ),
            "queued": self._stamp(),
        }
        names, marks = ", ".join(values), ", ".join("?" for _ in values)
        with self._database.changing() as connection:
            connection.execute(f"INSERT INTO jobs ({names}) VALUES ({marks})", tuple(values.values()))  # noqa: S608

    def policies_of_runs(self, first: str, after: str) -> frozenset[str]:
        """Return the policy files of the jobs that made runs from ``first`` to before ``after``."""
        rows = self._database.rows("SELECT DISTINCT about FROM jobs WHERE made > ? AND made < ?", first, after)
        return frozenset(row["about"] for row in rows)

    def get(self, key: str) -> VerbJob | None:
        """Return one job."""
        return next(iter(self.where("id = ?", key)), None)

    def where(self, condition: str, *values: object, most: int = -1) -> list[VerbJob]:
        """Return the jobs of a condition in our own words, oldest first; with ``most``, only the newest so many."""
        rows = self._database.rows(
            f"SELECT * FROM jobs WHERE {condition} ORDER BY number DESC LIMIT ?",  # noqa: S608  # no word of a user
            *values,
            most,
        )
        return [job_of(dict(row), self._folder) for row in reversed(rows)]

    def many(self, condition: str, *values: object) -> int:
        """Return how many jobs there are of a condition in our own words."""
        row = self._database.row(f"SELECT count(*) AS many FROM jobs WHERE {condition}", *values)  # noqa: S608
        return 0 if row is None else int(row["many"])

    def since(self, time: timedelta, user: User) -> int:
        """Return how many jobs somebody has asked for in this time until now."""
        after = (self._now() - time).astimezone(UTC).isoformat(timespec="milliseconds")
        return self.many("account = ? AND queued > ?", user.id, after)

    @property
    def free_bytes(self) -> int:
        """How much room the disk with the records has left."""
        return self._database.free_bytes

    def begin(self, key: str) -> bool:
        """Mark a waiting job as running; False where it does not wait any more."""
        return self._change(
            "state = ?, started = ?", "id = ? AND state = ?", JobState.RUNNING, self._stamp(), key, JobState.WAITING
        )

    def end(self, key: str, state: JobState, exit_code: int | None, reason: str, made: str, *, cut: bool) -> None:
        """Mark a job as over: the files that it worked on are not named any more."""
        self._change(
            "state = ?, exit_code = ?, reason = ?, made = ?, cut = ?, ended = ?, given = '{}'",
            "id = ? AND ended IS NULL",
            *(state, exit_code, reason, made, cut, self._stamp(), key),
        )

    def want_end(self, key: str) -> None:
        """Write down that somebody cancelled the job."""
        self._change("cancelling = 1", "id = ?", key)

    def is_cancelling(self, key: str) -> bool:
        """Whether somebody cancelled the job."""
        return self.many("id = ? AND cancelling = 1", key) > 0

    def is_wanted(self, key: str) -> bool:
        """Whether who asked for the job is not locked, and still has every role that they had then."""
        query = "SELECT jobs.roles AS had, accounts.roles AS has FROM jobs JOIN accounts ON accounts.id = jobs.account"
        row = self._database.row(f"{query} WHERE jobs.id = ? AND accounts.locked = 0", key)
        return row is not None and set(row["had"].split()) <= set(row["has"].split())

    def given(self, key: str) -> GivenFiles:
        """Return the files that a job works on, as long as it is not over."""
        row = self._database.row("SELECT given FROM jobs WHERE id = ?", key)
        said = {} if row is None else json.loads(row["given"])
        files = {Path(path): mark for path, mark in said.get("files", {}).items()}
        return GivenFiles(files, [Path(path) for path in said.get("reads", ())], said.get("policy", ""))

    def files(self, key: str) -> list[Path]:
        """Return the files to delete once the job is over."""
        row = self._database.row("SELECT remove FROM jobs WHERE id = ?", key)
        return [] if row is None or not row["remove"] else [Path(word) for word in row["remove"].split("\0")]

    def _change(self, settings: str, condition: str, *values: object) -> bool:
        with self._database.changing() as connection:
            statement = f"UPDATE jobs SET {settings} WHERE {condition}"  # noqa: S608  # our own words
            return connection.execute(statement, values).rowcount > 0

    def _stamp(self) -> str:
        return self._now().astimezone(UTC).isoformat(timespec="milliseconds")
