"""How far a run is: for a callback, or on the page of a notebook."""

from __future__ import annotations

import html
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from ppdm_flow.engine.events import Event, RowProgress, RunFinished, StepStarted, ignore_events

_SECONDS = 0.2


class NotebookLine:
    """One line below a cell that says what is done at the moment; it is empty once the run is over."""

    def __init__(self, show: Callable[..., Any], clock: Callable[[], float] = time.monotonic) -> None:
        self._handle = show({"text/plain": ""}, raw=True, display_id=True)
        self._clock = clock
        self._shown = clock() - _SECONDS

    def __call__(self, event: Event) -> None:
        """Take an event; progress within a stage is shown a few times a second."""
        if isinstance(event, StepStarted):
            self._put(event.name)
        elif isinstance(event, RowProgress) and self._clock() - self._shown >= _SECONDS:
            of = f" of {event.total:,}" if event.total is not None else ""
            self._put(f"{event.name}: {event.rows:,}{of} {event.unit}")
        elif isinstance(event, RunFinished):
            self.close()

    def close(self) -> None:
        """Empty the line."""
        self._put("")

    def _put(self, text: str) -> None:
        self._shown = self._clock()
        if self._handle is not None:
            self._handle.update({"text/plain": text, "text/html": f"<code>{html.escape(text)}</code>"}, raw=True)


@contextmanager
def listener(progress: Callable[[Event], None] | None) -> Iterator[Callable[[Event], None]]:
    """Yield what is told of events: the callback, a line of the notebook that the program runs in, or nobody."""
    show = _display() if progress is None else None
    if show is None:
        yield progress or ignore_events
        return
    line = NotebookLine(show)
    try:
        yield line
    finally:
        line.close()


def _display() -> Callable[..., Any] | None:
    """Return what shows something in the notebook that this runs in; None where there is none."""
    shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    if shell is None or not hasattr(shell, "kernel"):
        return None
    found: Callable[..., Any] | None = getattr(sys.modules.get("IPython.display"), "display", None)
    return found
