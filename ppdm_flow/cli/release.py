"""``ppdm-flow release``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ppdm_flow import api
from ppdm_flow.cli.terminal.options import RefusedNoProject, option
from ppdm_flow.cli.terminal.output import put, say

EXAMPLES = (
    "release runs/hospital/RUN --check",
    "release runs/hospital/RUN",
    "release runs/hospital/RUN --signers keys/signers.yaml",
)


def release(
    run: Annotated[Path, typer.Argument(metavar="RUN", help="The directory of a held run.", show_default=False)],
    check: Annotated[
        bool, typer.Option("--check", help="Say what is missing, or that it may be released; write nothing.")
    ] = False,
    signers: Annotated[
        Path | None,
        option("--signers", "FILE", "Today's list of signers, where it is not where the policy had it."),
    ] = None,
    no_project: RefusedNoProject = False,  # noqa: ARG001  # its callback refuses
) -> None:
    """Release a run that holds and waits for approvals, once the signatures are there.

    Its files are hashed again, its signatures are checked, and it is judged together with new entries of the ledger.
    Then `held/` becomes `released/`, and `publication.json` says who approved it. The author has to have signed too
    (`run --sign KEY`), and approves nothing. A signature counts if the list of signers that the run had and today's
    both accept it. No data is read.

    Exit status: 0 released (with --check: it may be), 1 refused, with the reason, 2 there is no such held run, list of
    signers or ledger, 3 the tool failed, 4 signatures are missing.
    """
    done = api.release(run, signers, check=check)
    put(done.text)
    if done.outcome.published:
        for table in done.outcome.tables:
            say(f"table: {table}")
    raise typer.Exit(done.exit_status)
