"""``ppdm-flow check``."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from ppdm_flow import api
from ppdm_flow.api.arguments import settings
from ppdm_flow.cli.terminal.formats import FormatOrderCommand, OutputFiles, formats, output_targets, report_errors_to_ci
from ppdm_flow.cli.terminal.options import Data, Locked, NoProject, Sets, Strict
from ppdm_flow.cli.terminal.output import LOUDNESS, colored, say
from ppdm_flow.core.diagnostics import Severity
from ppdm_flow.core.phrases import counted
from ppdm_flow.report.forms import CHECK

EXAMPLES = (
    "check pipelines/bank_credit.yaml",
    "check pipelines/ --strict",
    "check 'pipelines/*.yaml' --format concise",
    "check pipelines/hospital.yaml --data pipelines/data/hospital.csv.gz",
    "check policies/ --format github --format sarif --output-file out.sarif --format junit --output-file junit.xml",
)
COMMAND = FormatOrderCommand


def check(
    ctx: typer.Context,
    paths: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="PATH",
            help="Policies, policy tests, their folders, or glob patterns; those of the project file.",
            show_default=False,
        ),
    ] = None,
    forms: Annotated[list[str] | None, formats(CHECK, "text")] = None,  # noqa: ARG001  # `ctx` has them in their order
    output_files: OutputFiles = None,  # noqa: ARG001  # the same
    data: Data = None,
    sets: Sets = None,
    strict: Strict = False,
    locked: Locked = False,
    no_project: NoProject = False,  # noqa: ARG001  # its callback sees to it
    exit_zero: Annotated[
        bool, typer.Option("--exit-zero", help="Exit with 0 where errors were found, for a step that uploads them.")
    ] = False,
) -> None:
    """Check policies: no data is needed, and every fault is shown at once; with --data, also faults that data shows.

    Exit status: 0 nothing wrong, 1 errors (with --strict also warnings, with --exit-zero never), 2 no policy found, or
    the data is at fault.
    """
    there = output_targets(ctx, CHECK, "text")
    with report_errors_to_ci(there, " ".join(paths or ())):
        outcome = api.check(paths or (), settings(sets or ()), locked=locked, data=data)
    if strict:
        outcome = outcome.strictly()
    there.send(outcome.result(strict=strict, color=colored(sys.stdout.isatty())))
    tests, templates = len(outcome.tests), len(outcome.templates)
    policies = len(outcome.files) - tests - templates
    files = [counted(policies, "policy")] if policies else []
    files += [counted(templates, "template")] if templates else []
    files += [counted(tests, "test file")] if tests else []
    tally = f", {len(outcome.waived)} waived" if outcome.waived else ""
    tally += f", {outcome.without_requirements} WITHOUT REQUIREMENTS" if outcome.without_requirements else ""
    say(_summary(outcome.count(Severity.ERROR), outcome.count(Severity.WARNING), " and ".join(files)) + tally)
    if outcome.skipped:
        names = f": {', '.join(map(str, outcome.skipped))}" if LOUDNESS.verbose else "; -v names them"
        say(f"skipped {counted(len(outcome.skipped), 'YAML file')} in folders that are no policies{names}")
    raise typer.Exit(0 if exit_zero or outcome.passes(strict=strict) else 1)


def _summary(errors: int, warnings: int, files: str) -> str:
    return f"{files} checked: {counted(errors, 'error')}, {counted(warnings, 'warning')}"
