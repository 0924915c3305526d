"""``ppdm-flow doctor``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ppdm_flow import api
from ppdm_flow.cli.terminal.options import option
from ppdm_flow.cli.terminal.output import put, say

EXAMPLES = ("doctor", "doctor --compile", "doctor --out /mnt/shared/runs --clean")
_MARKS = {True: "ok   ", False: "FAULT", None: "     "}


def doctor(
    out: Annotated[
        Path, option("--out", "FOLDER", "Where runs are made: what killed ones left there is named.")
    ] = Path("runs"),
    clean: Annotated[
        bool, typer.Option("--clean", help="Remove what killed runs left; live ones are not touched.")
    ] = False,
    compiling: Annotated[
        bool, typer.Option("--compile", help="Prepare what first runs would have to compile.")
    ] = False,
) -> None:
    """Check this installation: versions, plugins, text encoding, disk, what killed runs left, and a small trial run.

    Exit status: 0 all is well, 3 something is not.
    """
    findings = api.doctor(out, clean=clean, compiling=compiling)
    put("\n".join(f"{_MARKS[finding.fine]} {finding.subject}: {finding.text}" for finding in findings))
    faults = sum(finding.fine is False for finding in findings)
    say(f"{faults} fault{'' if faults == 1 else 's'} found" if faults else "all is well")
    raise typer.Exit(3 if faults else 0)
