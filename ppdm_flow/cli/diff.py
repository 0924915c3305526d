"""``ppdm-flow diff``."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from ppdm_flow import api
from ppdm_flow.api.arguments import settings
from ppdm_flow.cli.terminal.formats import FormatOrderCommand, OutputFiles, formats, output_targets, report_errors_to_ci
from ppdm_flow.cli.terminal.options import Data, Sets
from ppdm_flow.cli.terminal.output import colored
from ppdm_flow.report.diff.forms import DIFFED

EXAMPLES = (
    "diff main:policies/credit.yaml policies/credit.yaml",
    "diff origin/main:policies policies --forbid-weaker --format github",
    "diff old.yaml new.yaml --data sample.csv",
    "diff runs/hospital/RUN runs/hospital/RUN2",
)
COMMAND = FormatOrderCommand

_WHAT = "A policy, a folder of policies, REVISION:PATH of git, or a run's directory"


def diff(
    ctx: typer.Context,
    old: Annotated[str, typer.Argument(metavar="OLD", help=f"{_WHAT}.", show_default=False)],
    new: Annotated[str, typer.Argument(metavar="NEW", help="The same, as it is now.", show_default=False)],
    forbid_weaker: Annotated[
        bool,
        typer.Option(
            "--forbid-weaker",
            help="Exit with 1 unless every new policy is proved to be at least as strict, no floor is lowered and no"
            " policy is added.",
        ),
    ] = False,
    allow_added: Annotated[
        bool,
        typer.Option("--allow-added", help="With --forbid-weaker: accept policies that only the new folder has."),
    ] = False,
    forms: Annotated[list[str] | None, formats(DIFFED, "text")] = None,  # noqa: ARG001  # `ctx` has them in their order
    output_files: OutputFiles = None,  # noqa: ARG001  # the same
    sets: Sets = None,
    data: Data = None,
) -> None:
    """Say what a change of a policy strengthens and weakens, clause by clause, each by a rule that proves it.

    Exit status: 0 compared; with --forbid-weaker 1 where a policy is weaker, or not proved to be as strict
    (incomparable), or was added; 2 an invalid policy, an unknown revision, or nothing that can be compared.
    """
    there = output_targets(ctx, DIFFED, "text")
    with report_errors_to_ci(there, f"{old} {new}"):
        result = api.diff(old, new, settings(sets or ()), data, (lambda _added: True) if allow_added else None)
    there.send(result.difference(color=colored(sys.stdout.isatty())), DIFFED["text"])
    raise typer.Exit(1 if forbid_weaker and result.weaker else 0)
