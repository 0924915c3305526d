"""``ppdm-flow run``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ppdm_flow import api
from ppdm_flow.api.arguments import settings
from ppdm_flow.api.where import EngineChoice
from ppdm_flow.cli.terminal.formats import FormatOrderCommand, OutputFiles, formats, output_targets, report_errors_to_ci
from ppdm_flow.cli.terminal.options import (
    EngineName,
    Locked,
    Memory,
    PolicyPath,
    RefusedNoProject,
    RunData,
    Sets,
    Strict,
    option,
)
from ppdm_flow.cli.terminal.output import columns, complain, say
from ppdm_flow.cli.terminal.password import key_password
from ppdm_flow.cli.terminal.progress import listening
from ppdm_flow.core.addresses import place_of_data
from ppdm_flow.report.forms import JUDGED

EXAMPLES = (
    "run pipelines/hospital.yaml",
    "run pipelines/adult.yaml --data adult.data.gz --out /tmp/runs",
    "run pipelines/bank_credit.yaml --strict --keep-withheld",
    "run pipelines/hospital.yaml --sign ana.key",
    "run pipelines/hospital.yaml --engine spark --master 'local-cluster[2,1,1024]'",
    "run pipelines/hospital.yaml --engine spark --data table:clinic.visits",
    "run pipelines/hospital.yaml --format text --format junit --output-file junit.xml --format github",
)
COMMAND = FormatOrderCommand


def run(
    ctx: typer.Context,
    policy: PolicyPath,
    data: RunData = None,
    out: Annotated[
        Path | None,
        option("--out", "FOLDER", "Where the run's directory is made: a folder, or s3://bucket/folder; `runs`."),
    ] = None,
    forms: Annotated[list[str] | None, formats(JUDGED, "text")] = None,  # noqa: ARG001  # `ctx` has them in their order
    output_files: OutputFiles = None,  # noqa: ARG001  # the same
    sets: Sets = None,
    keep_withheld: Annotated[
        bool, typer.Option("--keep-withheld", help="Keep a candidate that is withheld, in `withheld/`.")
    ] = False,
    escrow: Annotated[Path | None, option("--escrow", "FILE", "Write the secret key of a sealed run there.")] = None,
    partition_rows: Annotated[
        int, typer.Option("--partition-rows", min=1, help="Rows in memory at once; the release is the same.")
    ] = 262_144,
    workers: Annotated[
        int | None,
        typer.Option("--workers", min=1, help="Cores that work at once, by default all.", show_default=False),
    ] = None,
    engine: Annotated[
        EngineName, typer.Option("--engine", help="What works on the rows: this machine, or a cluster.")
    ] = EngineName.LOCAL,
    master: Annotated[
        str | None,
        option("--master", "URL", "Spark's master, or sc://host for Spark Connect. Else SPARK_REMOTE counts."),
    ] = None,
    memory: Memory = None,
    strict: Strict = False,
    locked: Locked = False,
    sign: Annotated[
        Path | None, option("--sign", "KEY", "Sign what is released or held as its author, with the key in this file.")
    ] = None,
    no_project: RefusedNoProject = False,  # noqa: ARG001  # its callback refuses
) -> None:
    """Run a policy on data: the outcome is released, held or withheld, with a report, in a directory of its own.

    Where the policy asks for approvals, a run that meets its requirements is held until people have signed it: see
    `release`.

    Exit status: 0 released, 1 withheld, 2 the policy or the data is at fault, 3 the tool failed, 4 it holds, and waits
    for approvals, 130 interrupted.
    """
    there = output_targets(ctx, JUDGED, "text")
    with listening() as listener, report_errors_to_ci(there, str(policy)):
        ran = api.run(
            policy,
            settings(sets or ()),
            None if data is None else place_of_data(data),
            out,
            listener,
            complain,
            keep_withheld=keep_withheld,
            escrow=escrow,
            partition_rows=partition_rows,
            workers=workers,
            strict=strict,
            locked=locked,
            where=EngineChoice(engine.value, master, memory=memory),
            sign=sign,
            password=key_password,
        )
    there.send(ran.judgement(columns()), JUDGED["text"])
    for table in ran.tables:
        say(f"table: {table}")
    say(f"report: {ran.where}/report.html")
    if ran.held:
        say("held: `ppdm-flow release RUN` says whose signatures are missing, and releases it once they are there")
    raise typer.Exit(ran.exit_status)
