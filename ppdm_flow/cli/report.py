"""``ppdm-flow report``."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

import typer

from ppdm_flow import api
from ppdm_flow.cli.options import OutputFile, RunPath
from ppdm_flow.cli.output import deliver

EXAMPLES = ("report runs/hospital/RUN --format md", "report runs/hospital/RUN --format html --output-file report.html")


class Form(StrEnum):
    """How a report is written."""

    HTML = "html"
    MD = "md"
    JSON = "json"


def report(
    run: RunPath,
    form: Annotated[Form, typer.Option("--format", help="How to write the report.")] = Form.MD,
    output_file: OutputFile = None,
) -> None:
    """Write the report of a finished run.

    Exit status: 0 written, 2 there is no such run.
    """
    deliver(api.report(run, form.value), output_file)
