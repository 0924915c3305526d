"""``ppdm-flow verify``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ppdm_flow import api
from ppdm_flow.cli.terminal.formats import FormatOrderCommand, OutputFiles, formats, output_targets, report_errors_to_ci
from ppdm_flow.cli.terminal.options import Data, OwnData, RunPath, option
from ppdm_flow.report.verify import VERIFIED

EXAMPLES = (
    "verify runs/hospital/RUN",
    "verify runs/hospital/RUN --signers signers.yaml",
    "verify received/medical --signers signers.yaml",
    "verify runs/clinic/RUN --own-data",
    "verify runs/hospital/RUN --data hospital.csv.gz --format text --format junit --output-file verify.xml",
)
COMMAND = FormatOrderCommand


def verify(
    ctx: typer.Context,
    run: RunPath,
    data: Data = None,
    own_data: OwnData = False,
    policy_folder: Annotated[
        Path | None,
        typer.Option(metavar="FOLDER", help="Where the files are that the policy names: hierarchies, keys, data."),
    ] = None,
    signers: Annotated[
        Path | None,
        option("--signers", "FILE", "Who may sign, in which roles: every signature must count, each release have one."),
    ] = None,
    forms: Annotated[list[str] | None, formats(VERIFIED, "text")] = None,  # noqa: ARG001  # `ctx` has them in their order
    output_files: OutputFiles = None,  # noqa: ARG001  # the same
) -> None:
    """Hash every file of a run again; with --data or --own-data, make and measure its releases again too.

    The steps of the kept policy are carried out on the data, in a private folder that is removed. Without draws, or
    with a seed in the policy, the files must come out byte for byte; where only the order of rows is drawn, with the
    same rows. Requirements are then measured as the run did, with rows and originals paired. Parts that were
    drawn with a key that nobody has are judged as a file. Points that only the run could check are listed with the
    reason.

    Signatures are always checked against the run. With --signers, which says whose the keys are, an unsigned release
    and a signature that does not count are faults.

    In a released folder alone, copied from a run's `released`, the files are checked against the attestations in it:
    exactly the signed files have to be there. Without an attestation nothing vouches for them.

    Exit status: 0 unchanged, 1 changed, or not published or not signed, 2 there is no such run or list of signers,
    4 unchanged, and held for approvals.
    """
    there = output_targets(ctx, VERIFIED, "text")
    with report_errors_to_ci(there, str(run)):
        outcome = api.verified(run, data, policy_folder=policy_folder, own_data=own_data, signers=signers)
    there.send(outcome, VERIFIED["text"])
    raise typer.Exit(outcome.exit_status)
