"""Progress bars: one for each stage; those of a cluster's jobs, which are no stage, go at the end."""

from __future__ import annotations

from io import StringIO

from rich.console import Console
from rich.progress import Progress

from ppdm_flow.cli.terminal.live import _Bars
from ppdm_flow.engine import events


def test_bars_of_jobs_go_with_the_run_and_those_of_stages_stay() -> None:
    progress = Progress(console=Console(file=StringIO()))
    bars = _Bars(progress)
    bars(events.StepStarted("source"))
    bars(events.RowProgress("source", 1200, None))
    assert [task.fields["note"] for task in progress.tasks] == ["1,200 rows"]
    bars(events.RowProgress("spark", 3, 8, "tasks"))
    assert [task.fields["note"] for task in progress.tasks] == ["1,200 rows", "3 of 8 tasks"]
    bars(events.StepFinished("source", 0.1, 2000))
    bars(events.RunFinished("released", 0.2))
    assert [(task.description, task.fields["note"], task.finished) for task in progress.tasks] == [
        ("source", "2,000 rows", True)
    ]
