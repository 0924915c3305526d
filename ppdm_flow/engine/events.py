"""What a run tells while it runs. No event holds a data value."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class StepStarted:
    """A stage (reading, a step, a release, an audit) has begun."""

    name: str


@dataclass(frozen=True, slots=True)
class Progress:
    """So many ``rows`` are done; ``total`` is None where it is not known yet. ``unit`` names what is counted."""

    name: str
    rows: int
    total: int | None
    unit: str = "rows"


@dataclass(frozen=True, slots=True)
class StepFinished:
    """A stage is done; ``peak_mb`` is the largest resident memory of the process so far, in MB."""

    name: str
    seconds: float
    rows: int
    peak_mb: float = 0.0


@dataclass(frozen=True, slots=True)
class RequirementJudged:
    """A requirement or gate was judged."""

    name: str
    release: str
    holds: bool


@dataclass(frozen=True, slots=True)
class RunFinished:
    """The run is over; ``verdict`` is ``released`` or ``withheld``."""

    verdict: str
    seconds: float


Event = StepStarted | Progress | StepFinished | RequirementJudged | RunFinished
Listener = Callable[[Event], None]


def ignore_events(_event: Event) -> None:
    """Listen to nothing."""
