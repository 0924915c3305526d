"""Options of a run, the context of its stages, its result, and the lock that it is checked against."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Protocol, Self

from ppdm_flow.core.clock import Clock, utc_today
from ppdm_flow.core.digests import digests_read, sha256
from ppdm_flow.core.draws import RunKey
from ppdm_flow.core.results import Report
from ppdm_flow.core.roles import Role
from ppdm_flow.engine.events import Listener, ignore_events
from ppdm_flow.engine.faults import data_fault
from ppdm_flow.engine.local.engine import LocalEngine
from ppdm_flow.engine.machine import cores
from ppdm_flow.engine.seam import Engine, Resources
from ppdm_flow.engine.streams.reading import Budget
from ppdm_flow.engine.streams.stream import Stop
from ppdm_flow.engine.streams.workers import ALONE, Workers
from ppdm_flow.plan.cluster.amounts import MEMORY
from ppdm_flow.plan.definition import Plan
from ppdm_flow.sdk.storage import Snapshots


@dataclass(frozen=True, slots=True)
class LockDigests:
    """SHA-256 of the lock file's bytes, and of each file with definitions by its absolute path.

    ``since`` is the number of the first reading of definitions that counts.
    """

    sha256: str
    definitions: Mapping[str, str]
    since: int = 0

    def unchanged(self) -> None:
        """Raise DataError (PPF339) where other bytes than the locked ones were read of a definition, or are there now.

        What a plugin reads without `read_definition` is known by what is there alone.
        """
        for path, digest in self.definitions.items():
            try:
                now = sha256(Path(path))
            except OSError:
                now = ""
            if {now, *digests_read(path, self.since)} != {digest}:
                raise data_fault("PPF339", f"`{path}` was changed while a locked run used it")


class RunPlace(Protocol):
    """The place of runs that are not published on this machine's disk.

    ``maybe_out`` says whether the run may be published there: nobody can say that it is not.
    """

    maybe_out: bool

    @property
    def ledger_folder(self) -> str:
        """The folder as a ledger names it."""

    def taken(self, name: str) -> bool:
        """Whether there is something by the name of a run. Raises RunError."""

    def send(self, home: Path, files: Mapping[str, str]) -> None:
        """Write a run's files, given with their hashes, but not what makes them a release. Raises RunError."""

    def commit(self, home: Path, files: Mapping[str, str]) -> None:
        """Publish what was sent. Raises RunError."""

    def withdraw(self) -> None:
        """Delete what was sent, as far as that can be."""


def _nothing() -> None:
    pass


_ROWS_OF_SETS = 1 << 15


@dataclass(frozen=True, slots=True)
class RunOptions:
    """``partition_rows`` and ``workers``, the cores that work at once, change nothing in the release.

    ``key`` overrides the key that the policy's ``randomness`` asks for (tests); ``escrow`` is a new file that the key
    is written to. ``memory_limit`` bounds the bytes of coded data that are held at once, beside what an algorithm
    that needs its whole table asks for. ``policy_text`` is the resolved policy, for the run's directory;
    ``templates`` are the SHA-256 of those that it extends, ``locked`` the lock that it was checked against,
    ``project`` the SHA-256 of the project file that binds it. ``clock`` tells the day of the verdict, for waivers.
    ``unchanged`` raises DataError where data that was copied from elsewhere is not there as it was; ``place`` is where
    the run is published, if not on this machine; ``engine`` says where the rows are worked on.
    """

    partition_rows: int = 262_144
    workers: int = field(default_factory=cores)
    keep_withheld: bool = False
    key: RunKey | None = None
    escrow: Path | None = None
    memory_limit: int = MEMORY << 20
    policy_text: str = ""
    templates: Mapping[str, str] = field(default_factory=dict)
    locked: LockDigests | None = None
    project: str | None = None
    clock: Clock = utc_today
    unchanged: Callable[[], None] = _nothing
    place: RunPlace | None = None
    engine: Engine = field(default_factory=LocalEngine)

    def fitting(self, plan: Plan) -> RunOptions:
        """Return the options for a plan: rows with sets are wide once they are randomized, so fewer a partition."""
        if all(a.role is not Role.ITEMS for a in plan.source.attributes):
            return self
        return replace(self, partition_rows=min(self.partition_rows, _ROWS_OF_SETS))


@dataclass(frozen=True, slots=True)
class RunOutcome:
    """A finished run: its directory, its report, and the tables of databases that releases became."""

    run_dir: Path
    report: Report
    tables: tuple[str, ...] = ()


@dataclass(slots=True)
class RunContext:
    """``options`` are made to fit the plan. Leaving the context stops everything that still reads.

    A copy with another plan or other options stops with its original, reads databases at the same moment, and has a
    budget of its own; threads they share.
    """

    plan: Plan
    options: RunOptions = field(default_factory=RunOptions)
    listener: Listener = ignore_events
    stop: Stop = field(default_factory=Stop)
    snapshots: Snapshots = field(default_factory=Snapshots)
    budget: Budget = field(init=False)
    workers: Workers = ALONE

    def __post_init__(self) -> None:
        self.options = self.options.fitting(self.plan)
        self.budget = Budget(self.options.memory_limit)
        if self.workers.number != self.options.workers:
            self.workers = Workers(self.options.workers)

    @property
    def engine(self) -> Engine:
        """What works on the rows."""
        return self.options.engine

    @property
    def resources(self) -> Resources:
        """What the engine may use."""
        return Resources(self.options.partition_rows, self.budget, self.stop, self.listener, self.workers)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_error: object) -> None:
        self.stop.set()
        self.workers.close()
