"""Where the seconds of a run went: its phases, and how much of them were imports and compilation."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any

from ppdm_flow.cli.terminal.clock import BEGUN
from ppdm_flow.engine.events import Event, StepFinished
from ppdm_flow.sdk.compiled import compiling_seconds

_ORDER = ("source", "steps", "releases", "audits")


class Phases:
    """Adds up what stages say of themselves. Several audits run at once: their sum may exceed the total.

    >>> phases = Phases()
    >>> phases.take(StepFinished("source", 0.25, 10))
    >>> phases.take(StepFinished("study/class_sizes", 0.5, 10))
    >>> phases.text(total=2.0, imports=0.75, compiling=0.0)
    'seconds: 2.00 in all; source 0.25, audits 0.50; importing took 0.75 of them, compiling 0.00'
    """

    def __init__(self) -> None:
        self._begun = time.perf_counter()
        self._seconds: dict[str, float] = {}

    def take(self, event: Event) -> None:
        """Take in what a stage took."""
        if isinstance(event, StepFinished):
            phase = _phase(event.name)
            self._seconds[phase] = self._seconds.get(phase, 0.0) + event.seconds

    def text(self, total: float, imports: float, compiling: float) -> str:
        """Return the line that says it."""
        spent = ", ".join(f"{phase} {self._seconds[phase]:.2f}" for phase in _ORDER if phase in self._seconds)
        total_text = f"seconds: {total:.2f} in all" + (f"; {spent}" if spent else "")
        return f"{total_text}; importing took {imports:.2f} of them, compiling {compiling:.2f}"

    def final_line(self, imports: ImportTimer) -> str:
        """Return the line for a run that is over: all before it began was importing, but for a few milliseconds."""
        total = time.perf_counter() - BEGUN
        return self.text(total, self._begun - BEGUN + imports.seconds, compiling_seconds())


def _phase(name: str) -> str:
    if name == "source":
        return "source"
    if "/" in name:
        return "audits"
    return "releases" if name.startswith("release ") else "steps"


class ImportTimer:
    """Measures how long modules take to be carried out that are imported while it stands in ``sys.meta_path``."""

    def __init__(self) -> None:
        self.seconds = 0.0
        self._inside = threading.local()

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Let the other finders look, and measure what the loader does: importlib's protocol."""
        for finder in sys.meta_path:
            spec = None if finder is self else finder.find_spec(name, path, target)
            if spec is not None:
                carry_out = getattr(spec.loader, "exec_module", None)
                if carry_out is not None and hasattr(spec.loader, "__dict__") and not isinstance(spec.loader, type):
                    spec.loader.exec_module = self._timed(carry_out)  # type: ignore[union-attr,method-assign]
                return spec
        return None

    def _timed(self, carry_out: Callable[[ModuleType], Any]) -> Callable[[ModuleType], Any]:
        def timed(module: ModuleType) -> Any:
            if getattr(self._inside, "a_module", False):  # what a module imports is part of its time
                return carry_out(module)
            self._inside.a_module, begun = True, time.thread_time()  # without waiting for another thread
            try:
                return carry_out(module)
            finally:
                self._inside.a_module = False
                self.seconds += time.thread_time() - begun

        return timed


@contextmanager
def timed_imports() -> Iterator[ImportTimer]:
    """Measure imports for a while."""
    timer = ImportTimer()
    sys.meta_path.insert(0, timer)
    try:
        yield timer
    finally:
        sys.meta_path.remove(timer)
