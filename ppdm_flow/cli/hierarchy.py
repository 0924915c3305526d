"""``ppdm-flow hierarchy``."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from ppdm_flow import api
from ppdm_flow.api.settings import settings
from ppdm_flow.cli.terminal.checked_hierarchy import text
from ppdm_flow.cli.terminal.lists import numbers, whole, words
from ppdm_flow.cli.terminal.options import OutputFile, Sets
from ppdm_flow.cli.terminal.output import deliver, put, say
from ppdm_flow.core.diagnostics import Diagnostic
from ppdm_flow.core.errors import UsageError

EXAMPLES = (
    "hierarchy data.csv --attribute age --by intervals --edges 0,18,35,65,120 --then 2,2 > age.csv",
    "hierarchy data.csv --attribute age --by intervals --width 5 --then 2,2 -o age.csv",
    "hierarchy data.csv --attribute zip --by prefix --keep 4,3,2 -o zip.csv",
    "hierarchy data.csv --attribute born --by date --units month,year,decade -o born.csv",
    "hierarchy data.csv --attribute pain --by order --values none,mild,strong,worst --fanout 2 -o pain.csv",
    "hierarchy data.csv --attribute illness --by frequency --at-least 20,200 -o illness.csv",
    "hierarchy data.csv --attribute zip --check zip.csv",
)


class GroupingMethod(StrEnum):
    """How values are put together."""

    INTERVALS = "intervals"
    PREFIX = "prefix"
    DATE = "date"
    ORDER = "order"
    FREQUENCY = "frequency"


class OpenEnds(StrEnum):
    """Where values may lie outside of all intervals."""

    NONE = "none"
    BELOW = "below"
    ABOVE = "above"
    BOTH = "both"


def hierarchy(
    data: Annotated[Path, typer.Argument(metavar="DATA", help="The data file.", show_default=False)],
    attribute: Annotated[str, typer.Option("--attribute", metavar="NAME", help="The column.", show_default=False)],
    by: Annotated[
        GroupingMethod | None, typer.Option("--by", help="How values are put together.", show_default=False)
    ] = None,
    edges: Annotated[
        str | None, typer.Option("--edges", metavar="A,B,…", help="Intervals: ascending edges of the first level.")
    ] = None,
    width: Annotated[
        float | None, typer.Option("--width", metavar="W", help="Intervals: all as wide, edges at its multiples.")
    ] = None,
    then: Annotated[
        str | None, typer.Option("--then", metavar="N,…", help="Intervals, order: neighbours that each level joins.")
    ] = None,
    open_ends: Annotated[
        OpenEnds, typer.Option("--open-ends", help="Intervals: where values may lie outside of the edges.")
    ] = OpenEnds.NONE,
    keep: Annotated[
        str | None, typer.Option("--keep", metavar="N,…", help="Prefix: characters that each level keeps.")
    ] = None,
    mask: Annotated[str, typer.Option("--mask", metavar="C", help="Prefix: what stands for the others.")] = "*",
    units: Annotated[
        str | None, typer.Option("--units", metavar="UNIT,…", help="Date: of month, quarter, year, decade.")
    ] = None,
    date_format: Annotated[
        str | None, typer.Option("--date-format", metavar="FORMAT", help="Date: strptime; else ISO 8601.")
    ] = None,
    values: Annotated[
        str | None,
        typer.Option("--values", metavar="V,…", help="Order: all values, lowest first; else domain, number or text."),
    ] = None,
    fanout: Annotated[
        int | None, typer.Option("--fanout", metavar="N", help="Order: neighbours joined on every level.")
    ] = None,
    at_least: Annotated[
        str | None,
        typer.Option("--at-least", metavar="ROWS,…", help="Frequency: a rarer value joins the others, a level each."),
    ] = None,
    label: Annotated[
        str, typer.Option("--label", metavar="TEXT", help="Frequency: what rare values become.")
    ] = "(other)",
    check: Annotated[
        Path | None, typer.Option("--check", metavar="FILE", help="Hold this hierarchy against the data instead.")
    ] = None,
    delimiter: Annotated[str, typer.Option("--delimiter", metavar="C", help="Of the hierarchy file.")] = ";",
    policy: Annotated[
        Path | None, typer.Option("--policy", metavar="FILE", help="The policy that says how to read the data.")
    ] = None,
    sets: Sets = None,
    output_file: OutputFile = None,
) -> None:
    """Make a generalization hierarchy of a column's values, as CSV: the value first, `*` last, no header.

    The file holds every value that occurs in the column: that is what is asked for, so treat it like the data. By
    frequency, it also tells which values are rare. `--check` prints counts only.

    Exit status: 0 made, or the hierarchy fits; 1 the one that was checked does not; 2 options or data are at fault.
    """
    told = settings(sets or ())
    if check is not None:
        if by is not None:
            raise UsageError(Diagnostic("PPF131", "`--check` takes a hierarchy that is there, `--by` makes one"))
        found = api.check_hierarchy(check, data, attribute, policy=policy, sets=told, delimiter=delimiter)
        put(text(found))
        raise typer.Exit(0 if found.holds else 1)
    way = api.Way(
        by="" if by is None else by.value,
        edges=numbers("--edges", edges),
        width=width,
        then=whole("--then", then),
        open_ends=open_ends.value,
        keep=whole("--keep", keep),
        mask=mask,
        units=words(units),
        format=date_format,
        values=words(values),
        fanout=fanout,
        at_least=whole("--at-least", at_least),
        label=label,
    )
    made = api.hierarchy(data, attribute, way, policy=policy, sets=told, delimiter=delimiter)
    deliver(made.document(), output_file, exact=True)
    say(made.reason)
