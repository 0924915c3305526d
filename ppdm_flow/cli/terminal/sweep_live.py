"""A sweep on a terminal: a bar while it runs, a coloured table at its end; plain lines where there is no terminal."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich import box
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn
from rich.table import Table
from rich.text import Text

from ppdm_flow.api.sweep.points import RunDone
from ppdm_flow.cli.terminal.output import LOUDNESS, say
from ppdm_flow.cli.terminal.progress import seconds
from ppdm_flow.core.errors import PpdmError
from ppdm_flow.report.sweep.rows import SweepDocument, SweepRow, recommended, rows, said


@contextmanager
def progress_printer() -> Iterator[Callable[[RunDone], None]]:
    """Yield a callback that prints every finished run."""
    if LOUDNESS.quiet:
        yield lambda _done: None
    elif sys.stderr.isatty() and os.environ.get("TERM") != "dumb":
        with _bar() as tell:
            yield tell
    else:
        yield _line


def show(document: SweepDocument) -> None:
    """Write the table to stdout, in colours."""
    table = rows(document)
    console = Console()
    console.print(Text(f"{document['policy']}: {said(document)}"))
    if choice := recommended(document):
        console.print(Text(choice, style="bold"))
    drawn = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for name in ("", "#", *table.axes, "verdict"):
        drawn.add_column(name)
    for name in table.metrics:
        drawn.add_column(name, justify="right")
    for name in ("standing", "time"):
        drawn.add_column(name)
    for row in table.rows:
        drawn.add_row(
            *_cells(row), style="bold" if row.on_frontier else "dim" if row.standing[:9] == "dominated" else ""
        )
    console.print(drawn)
    for short, name, better in table.legend:
        console.print(Text(f"{short}: {name}, {better}", style="dim"))
    if any(row.on_frontier for row in table.rows):
        console.print(Text("* not dominated: no other point is at least as good in every figure and better in one"))


def _cells(row: SweepRow) -> list[Text]:
    colour = {"released": "green", "failed": "red"}.get(row.verdict, "yellow")
    figures = [Text(f"{f}\n{i}" if i else f) for f, i in zip(row.figures, row.intervals, strict=True)]
    values = [Text(value) for value in row.values]
    mark = Text("*" if row.on_frontier else "")
    return [
        mark,
        Text(str(row.number)),
        *values,
        Text(row.verdict, colour),
        *figures,
        Text(row.standing),
        Text(row.time),
    ]


@contextmanager
def _bar() -> Iterator[Callable[[RunDone], None]]:
    columns = (
        TextColumn("{task.description}", markup=False),
        BarColumn(bar_width=24),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task("measuring", total=None)
        yield lambda done: progress.update(task, completed=done.number, total=done.total, description=done.name)


def _line(done: RunDone) -> None:
    result = done.result
    outcome = f"failed ({result.diagnostics[0].code})" if isinstance(result, PpdmError) else result.verdict
    say(f"{done.number} of {done.total}: {done.name}: {outcome} in {seconds(done.seconds)}")
