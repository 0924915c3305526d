"""What came of policy tests, as values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from ppdm_flow.core.diagnostics import Diagnostic


class PolicyTestOutcome(StrEnum):
    """How a test ended. ERROR: it could not be carried out."""

    PASSED = "passed"
    FAILED = "failed"
    ERROR = "error"


@dataclass(frozen=True, slots=True)
class JudgedRequirement:
    """A requirement or gate as a test measured it."""

    id: str
    release: str
    holds: bool
    measured: float | int | None
    bound: float
    direction: str


@dataclass(frozen=True, slots=True)
class Trace:
    """What a test has exercised: ids that held, ids that failed, steps that changed something, named values."""

    held: frozenset[str] = frozenset()
    failed: frozenset[str] = frozenset()
    changed: frozenset[str] = frozenset()
    values: frozenset[tuple[str, str]] = frozenset()


@dataclass(frozen=True, slots=True)
class PolicyTestResult:
    """What came of one test.

    ``judged`` are the requirements and gates of the first run that did not meet the expectations, else of the last;
    ``metrics`` its figures; ``untold`` the requirements of which it is not known what is behind the cells, as the
    release was given. ``exit_status`` is 3 where the tool failed.
    """

    file: str
    name: str
    line: int
    policy: str
    outcome: PolicyTestOutcome
    seconds: float
    description: str = ""
    failures: tuple[Diagnostic, ...] = ()
    sources: Mapping[str, str] = field(default_factory=dict)
    verdict: str | None = None
    runs: int = 1
    judged: tuple[JudgedRequirement, ...] = ()
    metrics: Mapping[str, float | int | None] = field(default_factory=dict)
    untold: tuple[str, ...] = ()
    exit_status: int = 0
    trace: Trace = Trace()

    @property
    def id(self) -> str:
        """File and name, as ``-k`` looks for them."""
        return f"{self.file}::{self.name}"


@dataclass(frozen=True, slots=True)
class Item:
    """Something of a policy that tests can exercise.

    ``kind`` is ``requirement``, ``gate``, ``step`` or ``value``; ``file`` and ``line`` are where it is written. A
    requirement or gate is ``challenged`` where some test makes it fail; for others that means nothing.
    """

    kind: str
    id: str
    file: str
    line: int
    exercised: bool
    challenged: bool | None = None

    @property
    def points(self) -> tuple[int, int]:
        """How much of it is covered, of how much."""
        if self.challenged is None:
            return int(self.exercised), 1
        return int(self.exercised) + int(self.challenged), 2


@dataclass(frozen=True, slots=True)
class PolicyCoverage:
    """What tests exercise of one policy, and how many there are."""

    policy: str
    tests: int
    items: tuple[Item, ...]


@dataclass(frozen=True, slots=True)
class PolicyTestResults:
    """The outcome of all tests. ``unselected`` were left out by name; ``coverage`` is None unless asked for."""

    results: tuple[PolicyTestResult, ...]
    seconds: float
    workers: int
    unselected: int = 0
    coverage: tuple[PolicyCoverage, ...] | None = None
    fail_under: float | None = None

    def count(self, outcome: PolicyTestOutcome) -> int:
        """Return how many tests ended like this."""
        return sum(each.outcome is outcome for each in self.results)

    @property
    def percent(self) -> float | None:
        """How much is covered, in percent; None where nobody asked, or there is nothing to cover."""
        points = [item.points for each in self.coverage or () for item in each.items]
        every = sum(of for _, of in points)
        return 100.0 * sum(got for got, _ in points) / every if every else None

    @property
    def enough(self) -> bool:
        """Whether the coverage is what was asked for."""
        return self.fail_under is None or self.percent is None or self.percent >= self.fail_under - 1e-9

    @property
    def exit_status(self) -> int:
        """0 where all passed, 1 where one did not or the coverage is too low, 3 where the tool failed."""
        worst = max((each.exit_status for each in self.results), default=0)
        if worst >= 3:
            return worst
        return 0 if self.count(PolicyTestOutcome.PASSED) == len(self.results) and self.enough else 1
