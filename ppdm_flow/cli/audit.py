"""``ppdm-flow audit``."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from ppdm_flow import api
from ppdm_flow.api.settings import settings
from ppdm_flow.cli.options import OutputFile, PolicyPath, Sets, Strict
from ppdm_flow.cli.output import columns, complain, deliver, put

EXAMPLES = (
    "audit pipelines/bank_credit.yaml --original pipelines/data/bank_credit.csv --released theirs.csv",
    "audit pipelines/hospital.yaml --original o.csv --released r.csv --release medical --operator operator.json",
)


class Form(StrEnum):
    """How the outcome is written."""

    TEXT = "text"
    HTML = "html"
    MD = "md"
    JSON = "json"


def audit(
    policy: PolicyPath,
    original: Annotated[Path, typer.Option("--original", metavar="FILE", help="The data before.")],
    released: Annotated[Path, typer.Option("--released", metavar="FILE", help="The data as it would be released.")],
    release: Annotated[
        str | None, typer.Option("--release", metavar="NAME", help="Which of the policy's releases it is.")
    ] = None,
    operator: Annotated[
        Path | None, typer.Option("--operator", metavar="FILE", help="The operator.json of a perturbation.")
    ] = None,
    form: Annotated[Form, typer.Option("--format", help="How to write the outcome.")] = Form.TEXT,
    sets: Sets = None,
    output_file: OutputFile = None,
    strict: Strict = False,
) -> None:
    """Judge a release that any tool has made by a policy.

    Exit status: 0 every requirement and gate holds, 1 one does not, 2 the policy or the data is at fault.
    """
    judged = api.audit(policy, original, released, release, operator, settings(sets or ()), strict=strict)
    complain(judged.diagnostics, judged.sources)
    text = judged.summary(columns()) if form is Form.TEXT else judged.document(form.value)
    deliver(text, output_file)
    if output_file is not None:
        put(judged.summary(columns()))
    raise typer.Exit(0 if judged.holds else 1)
