"""``ppdm-flow doctor``."""

from __future__ import annotations

import typer

from ppdm_flow import api
from ppdm_flow.cli.terminal.output import put, say

EXAMPLES = ("doctor",)
_MARKS = {True: "ok   ", False: "FAULT", None: "     "}


def doctor() -> None:
    """Look at this installation: versions, plugins, kernels, text encoding, disk; runs a small policy.

    Exit status: 0 all is well, 3 something is not.
    """
    findings = api.doctor()
    put("\n".join(f"{_MARKS[finding.fine]} {finding.subject}: {finding.text}" for finding in findings))
    faults = sum(finding.fine is False for finding in findings)
    say(f"{faults} fault{'' if faults == 1 else 's'} found" if faults else "all is well")
    raise typer.Exit(3 if faults else 0)
