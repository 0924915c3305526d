"""``ppdm-flow ledger``."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from ppdm_flow import api
from ppdm_flow.cli.terminal.options import OutputFile, option
from ppdm_flow.cli.terminal.output import deliver, say

EXAMPLES = (
    "ledger releases.ledger --create",
    "ledger releases.ledger",
    "ledger releases.ledger --repair",
    "ledger releases.ledger --runs runs",
    "ledger releases.ledger --erase ids.txt",
    "ledger postgresql://releases@db.example/ledger --key releases.key --create",
    "ledger postgresql://releases@db.example/ledger --format json",
)


class LedgerFormat(StrEnum):
    """How a ledger is written."""

    TEXT = "text"
    JSON = "json"


def ledger(
    place: Annotated[str, typer.Argument(metavar="LEDGER", help="The ledger that a policy names: a file, or a URL.")],
    create: Annotated[
        bool,
        typer.Option("--create", help="Make it, with a key: once, before the first run of a policy that names it."),
    ] = False,
    key: Annotated[
        Path | None, option("--key", "FILE", "Its key file, LEDGER.key if left out; required for a database.")
    ] = None,
    repair: Annotated[
        bool, typer.Option("--repair", help="Settle pending releases: confirm what is published, drop what never was.")
    ] = False,
    forget: Annotated[
        list[int] | None, option("--forget", "NUMBER", "Drop a pending release that never was; may be repeated.")
    ] = None,
    runs: Annotated[
        Path | None, option("--runs", "FOLDER", "Look for runs that used it and that it does not know.")
    ] = None,
    erase: Annotated[
        Path | None, option("--erase", "FILE", "Forget the people whose ids, one a line, are in this file.")
    ] = None,
    form: Annotated[LedgerFormat, typer.Option("--format", help="How to write it.")] = LedgerFormat.TEXT,
    output_file: OutputFile = None,
) -> None:
    """Show what was released so far; make a ledger; settle what an interrupted run left open; forget people.

    Exit status: 0 shown, 1 it does not know a run that used it, 2 there is no such ledger (or, to be made, there is
    one), it was changed, it refuses the user, or the release is not one to drop, 3 its server does not answer.
    """
    if create and (repair or forget or runs or erase):
        raise typer.BadParameter("a new ledger has nothing to settle: give `--create` alone", param_hint="--create")
    if create:
        looked = api.create_ledger(place, key)
        say("made, with its key: keep a copy of both after each release, and never in one place")
    else:
        looked = api.ledger(place, key, repair=repair, forget=tuple(forget or ()), runs=runs, erase=erase)
    deliver(looked.json if form is LedgerFormat.JSON else looked.text, output_file)
    raise typer.Exit(1 if looked.strangers else 0)
