"""``ppdm-flow ledger``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ppdm_flow import api
from ppdm_flow.cli.output import put

EXAMPLES = ("ledger releases.ledger", "ledger releases.ledger --repair")


def ledger(
    file: Annotated[Path, typer.Argument(metavar="LEDGER", help="The ledger that a policy names.")],
    repair: Annotated[bool, typer.Option("--repair", help="Confirm pending releases whose run is there.")] = False,
    forget: Annotated[
        list[int] | None,
        typer.Option("--forget", metavar="NUMBER", help="Drop a pending release that never was; may be repeated."),
    ] = None,
) -> None:
    """Show what was released so far; settle what an interrupted run left open.

    Exit status: 0 shown, 2 there is no such ledger, or the release is not one to drop.
    """
    put(api.ledger(file, repair=repair, forget=tuple(forget or ())).text)
