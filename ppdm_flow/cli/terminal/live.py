"""Progress bars on a terminal."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from threading import Lock

from rich.console import Console
from rich.progress import BarColumn, Progress, SpinnerColumn, TaskID, TextColumn, TimeElapsedColumn

from ppdm_flow.engine import events


@contextmanager
def bars() -> Iterator[events.Listener]:
    """Give a listener that draws a bar for each stage on stderr."""
    columns = (
        SpinnerColumn(finished_text="✓"),
        TextColumn("{task.description}", markup=False),
        BarColumn(bar_width=24),
        TextColumn("{task.fields[note]}", markup=False),
        TimeElapsedColumn(),
    )
    with Progress(*columns, console=Console(stderr=True), transient=False) as progress:
        yield _Bars(progress)


class _Bars:
    """Stages by name; events come from several threads."""

    def __init__(self, progress: Progress) -> None:
        self._progress = progress
        self._tasks: dict[str, TaskID] = {}
        self._finished: set[str] = set()
        self._lock = Lock()

    def __call__(self, event: events.Event) -> None:
        with self._lock:
            match event:
                case events.StepStarted():
                    self._task(event.name)
                case events.RowProgress():
                    of = "" if event.total is None else f" of {event.total:,}"
                    note = f"{event.rows:,}{of} {event.unit}"
                    self._progress.update(self._task(event.name), completed=event.rows, total=event.total, note=note)
                case events.StepFinished():
                    size = max(event.rows, 1)
                    note = f"{event.rows:,} rows"
                    self._progress.update(self._task(event.name), completed=size, total=size, note=note)
                    self._finished.add(event.name)
                case events.RunFinished():
                    for name in self._tasks.keys() - self._finished:  # the jobs of a cluster, which are no stage
                        self._progress.remove_task(self._tasks.pop(name))

    def _task(self, name: str) -> TaskID:
        if name not in self._tasks:
            self._tasks[name] = self._progress.add_task(name, total=None, note="")
        return self._tasks[name]
