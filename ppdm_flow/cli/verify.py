"""``ppdm-flow verify``."""

from __future__ import annotations

import typer

from ppdm_flow import api
from ppdm_flow.cli.options import Data, RunPath
from ppdm_flow.cli.output import put

EXAMPLES = ("verify runs/hospital/RUN", "verify runs/hospital/RUN --data hospital.csv.gz")


def verify(run: RunPath, data: Data = None) -> None:
    """Hash every file of a run again; with --data, measure its releases again too.

    Exit status: 0 as it was, 1 it is not, 2 there is no such run.
    """
    outcome = api.verify(run, data)
    put(outcome.text)
    raise typer.Exit(0 if outcome.holds else 1)
