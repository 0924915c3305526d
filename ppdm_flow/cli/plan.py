"""``ppdm-flow plan``."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from ppdm_flow import api
from ppdm_flow.api.arguments import settings
from ppdm_flow.api.where import EngineChoice
from ppdm_flow.cli.terminal.options import (
    Data,
    EngineName,
    Locked,
    Memory,
    NoProject,
    OutputFile,
    OwnData,
    PolicyPath,
    Sets,
    Strict,
)
from ppdm_flow.cli.terminal.output import complain, deliver
from ppdm_flow.core.diagnostics import has_errors
from ppdm_flow.core.texts import json_text

EXAMPLES = (
    "plan pipelines/hospital.yaml",
    "plan pipelines/hospital.yaml --data pipelines/data/hospital.csv.gz",
    "plan pipelines/hospital.yaml --format svg --output-file hospital.svg",
    "plan pipelines/hospital.yaml --engine spark --rows 1000000000 --memory 4000",
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
    resolved: Annotated[
        Path | None,
        typer.Option("--resolved", metavar="FILE", help="Write the resolved policy there, with what data chose."),
    ] = None,
    engine: Annotated[
        EngineName, typer.Option("--engine", help="Say what a cluster would do: where, and what it takes.")
    ] = EngineName.LOCAL,
    rows: Annotated[
        int | None, typer.Option("--rows", min=1, metavar="N", help="With --engine spark: so many rows there will be.")
    ] = None,
    memory: Memory = None,
    strict: Strict = False,
    locked: Locked = False,
    no_project: NoProject = False,  # noqa: ARG001  # its callback sees to it
) -> None:
    """Show what a run would do; with --data or --own-data, also what to expect on this data.

    --resolved writes the policy after inheritance and params, with the values that templates chose from the data. With
    --engine spark no row is read: the plan says where each step and audit is computed, and its cost.

    Exit status: 0 planned, 1 the data rules a requirement out, 2 the policy or the data is at fault, 3 a step or an
    audit would need more of the driver than --memory.
    """
    planned = api.plan(
        policy,
        settings(sets or ()),
        data,
        strict=strict,
        locked=locked,
        own_data=own_data,
        where=EngineChoice(engine.value, memory=memory),
        rows=rows,
    )
    complain(planned.diagnostics, planned.sources)
    if resolved is not None:
        deliver(planned.resolved, resolved)
    if form is PlanFormat.JSON:
        deliver(json_text(planned.with_preview), output_file)
    else:
        deliver(planned.picture(form.value), output_file)
    if planned.cluster is not None:
        planned.cluster.check()
    raise typer.Exit(1 if has_errors(planned.diagnostics) else 0)
