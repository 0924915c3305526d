"""Progress events of a run, and ``events.jsonl``, one line an event. No event holds a data value."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TextIO

from ppdm_flow.core.texts import escaped
from ppdm_flow.engine.machine import peak_mb


@dataclass(frozen=True, slots=True)
class StepStarted:
    """A stage (reading, a step, a release, an audit) has begun."""

    name: str


@dataclass(frozen=True, slots=True)
class RowProgress:
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
    """The run is over; ``verdict`` is ``released``, ``withheld`` or ``held``."""

    verdict: str
    seconds: float


Event = StepStarted | RowProgress | StepFinished | RequirementJudged | RunFinished
Listener = Callable[[Event], None]


def ignore_events(_event: Event) -> None:
    """Listen to nothing."""


_NAMES = {
    StepStarted: "started",
    RowProgress: "progress",
    StepFinished: "finished",
    RequirementJudged: "judged",
    RunFinished: "verdict",
}


class EventJournal:
    """Writes every event with its time, and passes it on. May be told from any thread."""

    def __init__(self, path: Path, listener: Listener) -> None:
        self._file: TextIO = path.open("x", encoding="utf-8", newline="\n")
        self._listener = listener
        self._lock = threading.Lock()
        self._begin = time.perf_counter()

    def __call__(self, event: Event) -> None:
        """Take an event."""
        seconds = time.perf_counter() - self._begin
        line = {"at": round(seconds, 4), "event": _NAMES[type(event)], **_rounded(asdict(event))}
        line.setdefault("peak_mb", peak_mb())
        with self._lock:
            if not self._file.closed:
                self._file.write(escaped(json.dumps(line, ensure_ascii=False)) + "\n")
                self._file.flush()
            self._listener(event)

    def close(self) -> None:
        """Finish the file."""
        with self._lock:
            self._file.close()


def _rounded(fields: dict[str, object]) -> dict[str, object]:
    return {k: round(v, 4) if isinstance(v, float) else v for k, v in fields.items()}
