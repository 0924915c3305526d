"""Measured figures and the verdict on them: the values that a report shows."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from ppdm_flow.core.diagnostics import Severity, current_code, former_codes
from ppdm_flow.core.digests import digest
from ppdm_flow.core.spans import Span
from ppdm_flow.core.waivers import AcceptedWaiver


@dataclass(frozen=True, slots=True)
class Figure:
    """One measured number. ``unit`` is ``rows``, ``share``, ``probability``, ``nats``, ``bits``, ``seconds``.

    ``interval`` and ``sample`` (rows looked at) are given where the figure is an estimate. ``value`` is None where
    the figure does not exist (``note`` says why).
    """

    value: float | int | None
    unit: str
    interval: tuple[float, float] | None = None
    sample: int | None = None
    note: str = ""

    def __post_init__(self) -> None:
        if isinstance(self.value, float) and math.isnan(self.value):
            raise ValueError("a figure that does not exist is None, never NaN")


@dataclass(frozen=True, slots=True)
class Measured:
    """The figure that a requirement is judged by, and a sentence on what it means.

    ``bound`` is in the figure's own unit; ``at_most`` says on which side it lies. ``verifiable`` is False where the
    requirement could not be measured: then it does not hold.
    """

    requirement: str
    metric: str
    figure: Figure
    bound: float
    at_most: bool
    sentence: str
    verifiable: bool = True


@dataclass(frozen=True, slots=True)
class Finding:
    """Something a reader should know.

    ``release`` is the one that it is about, where a policy has several and ``subject`` does not name it: the engine
    says so. ``hash`` is stable over runs: it is made of code, subject and release, of no figure and no line. A ``code``
    that was merged into another one becomes that one.
    """

    code: str
    severity: Severity
    text: str
    subject: str = ""
    release: str = ""

    def __post_init__(self) -> None:
        object.__setattr__(self, "code", current_code(self.code))

    @property
    def hash(self) -> str:
        """Sixteen hexadecimal digits that name this finding in waivers."""
        return self._hash(self.code)

    @property
    def hashes(self) -> frozenset[str]:
        """The hash, and those that the finding had under codes that were merged into its own."""
        return frozenset(map(self._hash, (self.code, *former_codes(self.code))))

    def _hash(self, code: str) -> str:
        return digest([code, self.subject, *([self.release] if self.release else [])])[:16]


@dataclass(frozen=True, slots=True)
class FigureSeries:
    """One line or one set of bars; ``low`` and ``high`` are interval ends where there are any."""

    name: str
    y: tuple[float, ...]
    low: tuple[float, ...] = ()
    high: tuple[float, ...] = ()


@dataclass(frozen=True, slots=True)
class Chart:
    """A picture's data. ``kind`` is ``bars``, ``lines``, ``matrix`` (then each series is a row) or ``forest``.

    In a forest each series has estimates and their intervals, one row a label.

    ``x`` are labels: never data values unless the audit got them through ``AuditContext.label``. ``release`` names the
    release that it shows, where there are several; the engine sets it.
    """

    id: str
    title: str
    kind: str
    x: tuple[str, ...]
    series: tuple[FigureSeries, ...]
    x_label: str = ""
    y_label: str = ""
    note: str = ""
    group: str = ""
    release: str = ""


@dataclass(frozen=True, slots=True)
class AuditOutcome:
    """All that one audit found. Keys of ``figures`` are the part after the audit's name (``error_increase``)."""

    figures: Mapping[str, Figure] = field(default_factory=dict)
    measured: tuple[Measured, ...] = ()
    findings: tuple[Finding, ...] = ()
    charts: tuple[Chart, ...] = ()


PERSONAL_DATA = "personal_data"
"""The id of the result that withholds columns of undeclared personal data; those of gates begin with `gates.`."""


@dataclass(frozen=True, slots=True)
class RequirementResult:
    """A judged requirement or gate; ``release`` names the release that it was measured on.

    ``verified`` is False where it does not hold because nothing vouches for its figure. ``waived_by`` names the waiver
    of one that does not hold and does not withhold.
    """

    id: str
    release: str
    metric: str
    bound: float
    direction: str
    measured: float | int | None
    holds: bool
    sentence: str
    interval: tuple[float, float] | None = None
    span: Span | None = None
    verified: bool = True
    waived_by: str = ""

    @property
    def passes(self) -> bool:
        """Whether it holds, or need not for a while."""
        return self.holds or bool(self.waived_by)


@dataclass(frozen=True, slots=True)
class WaiverResult:
    """A waiver in a run: ``covers`` says in words what it was needed for; empty where nothing needed it.

    ``findings`` are the hashes of the findings that it covers. ``days_left`` is counted from the day of the verdict.
    """

    waiver: AcceptedWaiver
    days_left: int
    covers: tuple[str, ...] = ()
    findings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class StepResult:
    """The result of a step: rows in and out, seconds, its own figures and a description of its transform.

    ``seconds`` is None where executors of a cluster carried the step to its rows, time that nobody adds up.
    """

    name: str
    use: str
    version: str
    rows_in: int
    rows_out: int
    seconds: float | None
    figures: Mapping[str, Figure] = field(default_factory=dict)
    description: Mapping[str, Any] = field(default_factory=dict)
    charts: tuple[Chart, ...] = ()
    findings: tuple[Finding, ...] = ()


RELEASED, WITHHELD, HELD = "released", "withheld", "held"
"""The verdicts of a run: ``held`` where everything holds, and people have to approve it."""


@dataclass(frozen=True, slots=True)
class Report:
    """Everything that the report documents show, but for ``secrets``. ``verdict`` is that of the run."""

    policy: str
    verdict: str
    requirements: tuple[RequirementResult, ...]
    gates: tuple[RequirementResult, ...]
    metrics: Mapping[str, Figure]
    steps: tuple[StepResult, ...]
    findings: tuple[Finding, ...]
    charts: tuple[Chart, ...]
    releases: Mapping[str, Mapping[str, Any]]
    plan: Mapping[str, Any]
    run: Mapping[str, Any]
    waivers: tuple[WaiverResult, ...] = ()
    secrets: frozenset[str] = field(default=frozenset(), repr=False)
