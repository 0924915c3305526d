"""``ppdm-flow deliver``."""

from __future__ import annotations

from ppdm_flow import api
from ppdm_flow.cli.terminal.options import RunPath
from ppdm_flow.cli.terminal.output import put

EXAMPLES = ("deliver runs/hospital/RUN",)


def deliver(run: RunPath) -> None:
    """Make the tables of a released run again, where a database failed just when it had to confirm them.

    A run does that itself, for each release with `into:`. The files of the run are hashed first; a table that has them
    already is replaced by an equal one.

    Exit status: 0 delivered, 2 there is no such run, it is not released or has changed, none of its releases becomes
    a table, or a table cannot be made, 3 the database does not answer.
    """
    for table in api.deliver(run):
        put(table)
