"""``ppdm-flow report``."""

from __future__ import annotations

from typing import Annotated

import typer

from ppdm_flow import api
from ppdm_flow.cli.terminal.formats import FormatOrderCommand, OutputFiles, formats, output_targets
from ppdm_flow.cli.terminal.options import RunPath
from ppdm_flow.cli.terminal.output import columns
from ppdm_flow.report.forms import FINISHED, PORTABLE

EXAMPLES = (
    "report runs/hospital/RUN --format md",
    "report runs/hospital/RUN --public --format html --output-file public.html",
    "report runs/hospital/RUN --format html --output-file report.html --format markdown --output-file comment.md",
    "report runs/hospital/RUN --release billing --format croissant --output-file croissant.json",
    "report runs/hospital/RUN --public --release billing --format ro-crate --output-file ro-crate-metadata.json",
)
COMMAND = FormatOrderCommand


def report(
    ctx: typer.Context,
    run: RunPath,
    forms: Annotated[list[str] | None, formats(FINISHED, "md")] = None,  # noqa: ARG001  # `ctx` has them in their order
    output_files: OutputFiles = None,  # noqa: ARG001  # the same
    public: Annotated[
        bool, typer.Option("--public", help="Without figures on the original data: one that may be shared.")
    ] = False,
    releases: Annotated[
        list[str] | None,
        typer.Option("--release", metavar="NAME", help="The release that such a format describes; repeatable."),
    ] = None,
) -> None:
    """Write the report of a finished run: an internal one, unless --public says otherwise.

    A public report leaves out all figures of the original data (shares, suppressed values, priors, charts, rows that
    were dropped), hashes of the input, and exact counts below 10.

    Four formats describe the run to other programs, with hashes of its files: `ppdm-flow explain portable` describes
    each. `croissant` and `odcs` are for the recipients of one release, and always public.

    Exit status: 0 written, 2 there is no such run.
    """
    there = output_targets(ctx, FINISHED, "md")
    portable = there.asks(PORTABLE)
    there.send(api.judgement(run, columns(), public=public, portable=portable, releases=tuple(releases or ())))
