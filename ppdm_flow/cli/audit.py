"""``ppdm-flow audit``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ppdm_flow import api
from ppdm_flow.api.arguments import pairs, settings
from ppdm_flow.cli.terminal.formats import FormatOrderCommand, OutputFiles, formats, output_targets, report_errors_to_ci
from ppdm_flow.cli.terminal.options import Locked, NoProject, PolicyPath, Sets, Strict, option
from ppdm_flow.cli.terminal.output import columns, complain
from ppdm_flow.cli.terminal.progress import listening
from ppdm_flow.report.forms import JUDGED

RELEASED_WITH = "--released-with"
EXAMPLES = (
    "audit pipelines/bank_credit.yaml --original pipelines/data/bank_credit.csv --released theirs.csv",
    "audit pipelines/hospital.yaml --original o.csv --released r.csv --release medical --operator operator.json",
    "audit pipelines/bank_credit.yaml --released theirs.csv --released-with delimiter=';' --released-with decimal=,",
    "audit pipelines/clinic_visits.yaml --original pipelines/data --released theirs",
)
COMMAND = FormatOrderCommand


def audit(
    ctx: typer.Context,
    policy: PolicyPath,
    released: Annotated[
        Path, option("--released", "FILE", "The data as it would be released; of linked tables, the folder.")
    ],
    original: Annotated[
        Path | None,
        option(
            "--original",
            "FILE",
            "The data before, if not the policy's own; of linked tables, the folder with their files.",
        ),
    ] = None,
    released_with: Annotated[
        list[str] | None,
        option(
            "--released-with",
            "NAME=VALUE",
            "How another tool has written it: delimiter, quote, escape, encoding, decimal, missing, columns, count.",
        ),
    ] = None,
    release: Annotated[str | None, option("--release", "NAME", "Which of the policy's releases it is.")] = None,
    operator: Annotated[Path | None, option("--operator", "FILE", "The operator.json of a perturbation.")] = None,
    forms: Annotated[list[str] | None, formats(JUDGED, "text")] = None,  # noqa: ARG001  # `ctx` has them in their order
    output_files: OutputFiles = None,  # noqa: ARG001  # the same
    sets: Sets = None,
    strict: Strict = False,
    locked: Locked = False,
    no_project: NoProject = False,  # noqa: ARG001  # its callback sees to it
) -> None:
    """Judge, by a policy, a release that any tool has made.

    Exit status: 0 every requirement and gate holds, 1 one does not, 2 the policy or the data is at fault.
    """
    there = output_targets(ctx, JUDGED, "text")
    with listening() as listener, report_errors_to_ci(there, str(policy)):
        judged = api.audit(
            policy,
            original,
            released,
            release,
            operator,
            settings(sets or ()),
            listener,
            strict=strict,
            locked=locked,
            released_with=pairs(released_with or (), RELEASED_WITH),
        )
    complain(judged.diagnostics, judged.sources)
    there.send(judged.judgement(columns()), JUDGED["text"])
    raise typer.Exit(0 if judged.holds else 1)
