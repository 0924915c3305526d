"""How to run, and what comes of it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

from ppdm_flow.core.clock import Clock, utc_today
from ppdm_flow.core.draws import RunKey
from ppdm_flow.core.results import Report
from ppdm_flow.core.roles import Role
from ppdm_flow.engine.locked import Locked
from ppdm_flow.plan.definition import Plan

_ROWS_OF_SETS = 1 << 15


@dataclass(frozen=True, slots=True)
class RunOptions:
    """``partition_rows`` and ``workers`` change nothing in the release.

    ``key`` overrides the key that the policy's ``randomness`` asks for (tests); ``escrow`` is a new file that the key
    is written to. ``memory_limit`` bounds the bytes of coded data that are held at once, beside what an algorithm
    that needs its whole table asks for. ``policy_text`` is the resolved policy, for the run's directory;
    ``locked`` the lock that it was held against. ``clock`` tells the day of the verdict, for waivers.
    """

    partition_rows: int = 262_144
    workers: int = 2
    keep_withheld: bool = False
    key: RunKey | None = None
    escrow: Path | None = None
    memory_limit: int = 768 << 20
    policy_text: str = ""
    locked: Locked | None = None
    clock: Clock = utc_today

    def fitting(self, plan: Plan) -> RunOptions:
        """Return the options for a plan: rows with sets are wide once they are randomized, so fewer a partition."""
        if all(a.role is not Role.ITEMS for a in plan.source.attributes):
            return self
        return replace(self, partition_rows=min(self.partition_rows, _ROWS_OF_SETS))


@dataclass(frozen=True, slots=True)
class Outcome:
    """A finished run: its directory and its report."""

    run_dir: Path
    report: Report
