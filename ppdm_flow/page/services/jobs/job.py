"""One job: a verb that was asked for, and what has become of it."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from pathlib import Path

_TAIL = 4096
ANSWERS = frozenset({0, 1, 4})
"""Exit codes of a verb that did its work: yes, no, and it holds but waits for approvals."""


class JobState(StrEnum):
    """What has become of a job."""

    WAITING = "waiting"
    RUNNING = "running"
    DONE = "done"
    FAILED = "failed"
    CANCELLED = "cancelled"
    LOST = "lost"
    """The server stopped, and with it went the job, or a secret that it needed."""

    @property
    def is_over(self) -> bool:
        """Whether nothing more will become of it."""
        return self not in {JobState.WAITING, JobState.RUNNING}


@dataclass(frozen=True, slots=True)
class VerbJob:
    """A verb with its words, as ``ppdm-flow WORDS`` would be typed.

    ``kind`` is ``run``, ``sweep``, ``profile``, …; ``about`` names the policy or the run that it is about; ``author``
    is the name of the account. ``reason`` says why a job ended that did not end by itself: ``time`` or ``killed``.
    ``made`` is what a run has made: its directory, relative to the folder of runs. ``cut``: more was printed than kept.
    ``leads_to`` is the address of the page to go on with once it is done.
    """

    id: str
    number: int
    account: int
    author: str
    kind: str
    about: str
    words: tuple[str, ...]
    leads_to: str
    state: JobState
    exit_code: int | None
    reason: str
    made: str
    cut: bool
    queued: datetime
    started: datetime | None
    ended: datetime | None
    folder: Path

    @property
    def command(self) -> str:
        """The same on the command line."""
        return shlex.join(("ppdm-flow", *self.words))

    @property
    def stdout(self) -> Path:
        """What the verb was asked for."""
        return self.folder / "stdout"

    @property
    def stderr(self) -> Path:
        """How it went on."""
        return self.folder / "stderr"

    @property
    def output(self) -> str:
        """All that was kept of what it was asked for; empty where nothing is there any more."""
        return _text(self.stdout.read_bytes()) if self.stdout.is_file() else ""

    @property
    def talk(self) -> str:
        """All that was kept of how it went on."""
        return _text(self.stderr.read_bytes()) if self.stderr.is_file() else ""

    @property
    def progress(self) -> str:
        """The last line of how it goes on."""
        if not self.stderr.is_file():
            return ""
        with self.stderr.open("rb") as file:
            file.seek(max(0, self.stderr.stat().st_size - _TAIL))
            lines = _text(file.read()).split("\n")
        return next((line.strip() for line in reversed(lines) if line.strip()), "")


def job_of(row: Mapping[str, object], folder: Path) -> VerbJob:
    """Return the job of a row of the server's file; what jobs print is below the folder."""
    return VerbJob(
        id=str(row["id"]),
        number=int(str(row["number"])),
        account=int(str(row["account"])),
        author=str(row["author"]),
        kind=str(row["kind"]),
        about=str(row["about"]),
        words=tuple(str(row["words"]).split("\0")),
        leads_to=str(row["leads_to"]),
        state=JobState(str(row["state"])),
        exit_code=None if row["exit_code"] is None else int(str(row["exit_code"])),
        reason=str(row["reason"]),
        made=str(row["made"]),
        cut=bool(row["cut"]),
        queued=datetime.fromisoformat(str(row["queued"])),
        started=None if row["started"] is None else datetime.fromisoformat(str(row["started"])),
        ended=None if row["ended"] is None else datetime.fromisoformat(str(row["ended"])),
        folder=folder / str(row["id"]),
    )


def _text(written: bytes) -> str:
    return written.decode("utf-8", "replace")
