"""``ppdm-flow ledger``."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

import typer

from ppdm_flow import api
from ppdm_flow.cli.options import OutputFile
from ppdm_flow.cli.output import deliver

EXAMPLES = (
    "ledger releases.ledger",
    "ledger releases.ledger --repair",
    "ledger postgresql://releases@db.example/ledger --format json",
)


class Form(StrEnum):
    """How a ledger is written."""

    TEXT = "text"
    JSON = "json"


def ledger(
    place: Annotated[str, typer.Argument(metavar="LEDGER", help="The ledger that a policy names: a file, or a URL.")],
    repair: Annotated[bool, typer.Option("--repair", help="Confirm pending releases whose run is there.")] = False,
    forget: Annotated[
        list[int] | None,
        typer.Option("--forget", metavar="NUMBER", help="Drop a pending release that never was; may be repeated."),
    ] = None,
    form: Annotated[Form, typer.Option("--format", help="How to write it.")] = Form.TEXT,
    output_file: OutputFile = None,
) -> None:
    """Show what was released so far; settle what an interrupted run left open.

    Exit status: 0 shown, 2 there is no such ledger, it refuses the user, or the release is not one to drop, 3 its
    server does not answer.
    """
    looked = api.ledger(place, repair=repair, forget=tuple(forget or ()))
    deliver(looked.json if form is Form.JSON else looked.text, output_file)
