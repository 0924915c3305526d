"""``ppdm-flow plan``."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

import typer

from ppdm_flow import api
from ppdm_flow.api.arguments import settings
from ppdm_flow.cli.terminal.options import Data, Locked, OutputFile, OwnData, PolicyPath, Sets, Strict
from ppdm_flow.cli.terminal.output import complain, deliver
from ppdm_flow.core.diagnostics import has_errors
from ppdm_flow.core.visible import json_text

EXAMPLES = (
    "plan pipelines/hospital.yaml",
    "plan pipelines/hospital.yaml --data pipelines/data/hospital.csv.gz",
    "plan pipelines/hospital.yaml --format svg --output-file hospital.svg",
)


class PlanFormat(StrEnum):
    """How a plan is written."""

    TEXT = "text"
    MERMAID = "mermaid"
    DOT = "dot"
    SVG = "svg"
    JSON = "json"


def plan(
    policy: PolicyPath,
    form: Annotated[PlanFormat, typer.Option("--format", help="How to write the plan.")] = PlanFormat.TEXT,
    data: Data = None,
    own_data: OwnData = False,
    sets: Sets = None,
    output_file: OutputFile = None,
    strict: Strict = False,
    locked: Locked = False,
) -> None:
    """Show what a run would do; with --data or --own-data, also what the data lets one expect of it.

    Exit status: 0 planned, 1 the data rules a requirement out, 2 the policy or the data is at fault.
    """
    planned = api.plan(policy, settings(sets or ()), data, strict=strict, locked=locked, own_data=own_data)
    complain(planned.diagnostics, planned.sources)
    if form is PlanFormat.JSON:
        deliver(json_text(planned.with_preview), output_file)
    else:
        deliver(planned.picture(form.value), output_file)
    raise typer.Exit(1 if has_errors(planned.diagnostics) else 0)
