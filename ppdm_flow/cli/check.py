"""``ppdm-flow check``."""

from __future__ import annotations

import sys
from enum import StrEnum
from typing import Annotated

import typer

from ppdm_flow import api
from ppdm_flow.api.settings import settings
from ppdm_flow.cli.options import Sets, Strict
from ppdm_flow.cli.output import colored, put, say
from ppdm_flow.core.diagnostics import Severity
from ppdm_flow.report import diagnostics as drawing

EXAMPLES = (
    "check pipelines/bank_credit.yaml",
    "check pipelines/ --strict",
    "check 'pipelines/*.yaml' --format concise",
)


class Form(StrEnum):
    """How diagnostics are written."""

    TEXT = "text"
    CONCISE = "concise"
    JSON = "json"


def check(
    paths: Annotated[
        list[str],
        typer.Argument(metavar="PATH", help="Policies, their folders, or glob patterns.", show_default=False),
    ],
    form: Annotated[Form, typer.Option("--format", help="How to write what is found.")] = Form.TEXT,
    sets: Sets = None,
    strict: Strict = False,
) -> None:
    """Check policies: no data is needed, and every fault is shown at once.

    Exit status: 0 nothing wrong, 1 errors (with --strict also warnings), 2 no policy found.
    """
    outcome = api.check(paths, settings(sets or ()))
    match form:
        case Form.TEXT:
            text = drawing.render(outcome.diagnostics, outcome.sources, color=colored(sys.stdout.isatty()))
        case Form.CONCISE:
            text = drawing.concise(outcome.diagnostics)
        case Form.JSON:
            text = drawing.as_json(outcome.diagnostics)
    if text:
        put(text)
    say(_summary(outcome.count(Severity.ERROR), outcome.count(Severity.WARNING), len(outcome.files)))
    if outcome.skipped:
        say(f"skipped {_many(len(outcome.skipped), 'YAML file')} without `releases`: no policy")
    raise typer.Exit(0 if outcome.passes(strict=strict) else 1)


def _summary(errors: int, warnings: int, files: int) -> str:
    return f"{_many(files, 'policy')} checked: {_many(errors, 'error')}, {_many(warnings, 'warning')}"


def _many(number: int, noun: str) -> str:
    plural = "policies" if noun == "policy" else f"{noun}s"
    return f"{number} {noun if number == 1 else plural}"
