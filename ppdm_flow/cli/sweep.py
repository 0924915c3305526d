"""``ppdm-flow sweep``."""

from __future__ import annotations

import sys
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from ppdm_flow import api
from ppdm_flow.api.arguments import settings
from ppdm_flow.cli.terminal.options import Data, Locked, OutputFile, PolicyPath, Sets, Strict, option
from ppdm_flow.cli.terminal.output import colored, complain, deliver, say
from ppdm_flow.core.diagnostics import Diagnostic
from ppdm_flow.core.errors import UsageError

EXAMPLES = (
    "sweep pipelines/hospital.yaml --over steps.perturb.objective=record,aggregate",
    "sweep policy.yaml --over steps.generate.min_support=1,5,20,50 --metrics compare.dissimilarity",
    "sweep policy.yaml --over params.k=2..10 --over steps.suppress.search=greedy,beam --picture frontier.svg",
    "sweep policy.yaml --over steps.randomize.posterior=0.4..0.9:11 --frontier",
)
_PICTURES = {".svg": "svg", ".html": "html"}

Over = Annotated[
    list[str],
    option(
        "--over",
        "PATH=V1,V2,…",
        "A place in the policy and its values: params.k, privacy.KIND.FIELD, steps.NAME.PARAM,"
        " audits.NAME.PARAM; ranges 2..10, 0.1..0.9:5. Repeatable: every combination is a point.",
    ),
]
Metrics = Annotated[
    list[str] | None,
    option(
        "--metrics",
        "NAME[:min|:max],…",
        "Figures as in report.json, or requirements; by default what the policy requires and gates.",
    ),
]


class SweepFormat(StrEnum):
    """How a sweep is written to stdout."""

    TEXT = "text"
    JSON = "json"
    CSV = "csv"
    MD = "md"


def sweep(
    policy: PolicyPath,
    over: Over,
    metrics: Metrics = None,
    data: Data = None,
    out: Annotated[Path, option("--out", "FOLDER", "Where the sweep's directory is made.")] = Path("sweeps"),
    sets: Sets = None,
    repeat: Annotated[
        int, typer.Option("--repeat", min=1, max=1000, help="Runs of each point: mean and interval.")
    ] = 1,
    workers: Annotated[
        int | None,
        typer.Option("--workers", min=1, help="Runs at once; by default one for each core.", show_default=False),
    ] = None,
    partition_rows: Annotated[int, typer.Option("--partition-rows", min=1, help="Rows in memory at once.")] = 262_144,
    form: Annotated[SweepFormat, typer.Option("--format", help="How to write the table.")] = SweepFormat.TEXT,
    output_file: OutputFile = None,
    picture: Annotated[Path | None, option("--picture", "FILE", "Write the frontier there, as .svg or .html.")] = None,
    frontier: Annotated[
        bool,
        typer.Option("--frontier", help="Show only points that none dominates, the policy's own values among them."),
    ] = False,
    strict: Strict = False,
    locked: Locked = False,
) -> None:
    """Measure a policy at many values of its parameters, and show which are worth having. No data is released.

    Exit status: 0 every point was measured, 2 the policy, the data or a point is at fault, 3 the tool failed at a
    point (the others are shown all the same), 130 interrupted.
    """
    drawn = _drawn(picture)
    from ppdm_flow.cli.terminal.sweep_live import progress_printer, show  # noqa: PLC0415  # rich takes its time, `--help` waits

    with progress_printer() as tell:
        swept = api.sweep(
            policy,
            over,
            metrics or (),
            settings(sets or ()),
            data,
            out,
            tell,
            complain,
            repeat=repeat,
            workers=workers,
            partition_rows=partition_rows,
            strict=strict,
            locked=locked,
            frontier=frontier,
        )
    complain(swept.diagnostics, swept.sources)
    if form is SweepFormat.TEXT and output_file is None and sys.stdout.isatty() and colored(terminal=True):
        show(swept.document)
    else:
        deliver(swept.rendered(form.value), output_file)
    if picture is not None:
        deliver(swept.rendered(drawn), picture)
    say(f"table and picture: {swept.folder / 'sweep.html'}")
    raise typer.Exit(swept.exit_status)


def _drawn(picture: Path | None) -> str:
    """Return the form of a picture by its file's ending. Raises UsageError, before anything is run."""
    if picture is None:
        return ""
    if picture.suffix not in _PICTURES:
        text = f"`--picture {picture}`: a picture is `.svg` or `.html`"
        raise UsageError(Diagnostic("PPF693", text))
    if not picture.absolute().parent.is_dir():
        raise UsageError(Diagnostic("PPF693", f"cannot write `{picture}`: its folder does not exist"))
    return _PICTURES[picture.suffix]
