"""``ppdm-flow hierarchy``."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ppdm_flow import api
from ppdm_flow.api.arguments import settings
from ppdm_flow.cli.terminal.options import OutputFile, Sets, numbers, option, whole_numbers, words
from ppdm_flow.cli.terminal.output import deliver, put, say
from ppdm_flow.core.diagnostics import Diagnostic
from ppdm_flow.core.errors import UsageError

if TYPE_CHECKING:  # numpy stands behind it
    from ppdm_flow.mining.hierarchies.building import HierarchyCheck

EXAMPLES = (
    "hierarchy data.csv --attribute age --by intervals --edges 0,18,35,65,120 --then 2,2 > age.csv",
    "hierarchy data.csv --attribute age --by intervals --width 5 --then 2,2 -o age.csv",
    "hierarchy data.csv --attribute zip --by prefix --keep 4,3,2 -o zip.csv",
    "hierarchy data.csv --attribute born --by date --units month,year,decade -o born.csv",
    "hierarchy data.csv --attribute pain --by order --values none,mild,strong,worst --fanout 2 -o pain.csv",
    "hierarchy data.csv --attribute illness --by frequency --at-least 20,200 -o illness.csv",
    "hierarchy data.csv --attribute zip --check zip.csv",
    "hierarchy data.csv --attribute zip --counts",
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


By = Annotated[GroupingMethod | None, typer.Option("--by", help="How values are put together.", show_default=False)]
Ends = Annotated[OpenEnds, typer.Option("--open-ends", help="Intervals: where values may lie outside of the edges.")]


def hierarchy(
    data: Annotated[Path, typer.Argument(metavar="DATA", help="The data file.", show_default=False)],
    attribute: Annotated[str, option("--attribute", "NAME", "The column.")],
    by: By = None,
    edges: Annotated[str | None, option("--edges", "A,B,…", "Intervals: ascending edges of the first level.")] = None,
    width: Annotated[float | None, option("--width", "W", "Intervals: all as wide, edges at its multiples.")] = None,
    then: Annotated[str | None, option("--then", "N,…", "Intervals, order: neighbours that each level joins.")] = None,
    open_ends: Ends = OpenEnds.NONE,
    keep: Annotated[str | None, option("--keep", "N,…", "Prefix: characters that each level keeps.")] = None,
    mask: Annotated[str, option("--mask", "C", "Prefix: the sign that replaces the others.")] = "*",
    units: Annotated[str | None, option("--units", "UNIT,…", "Date: of month, quarter, year, decade.")] = None,
    date_format: Annotated[str | None, option("--date-format", "FORMAT", "Date: strptime; else ISO 8601.")] = None,
    values: Annotated[
        str | None, option("--values", "V,…", "Order: all values, lowest first; else domain, number or text.")
    ] = None,
    fanout: Annotated[int | None, option("--fanout", "N", "Order: neighbours joined on every level.")] = None,
    at_least: Annotated[
        str | None, option("--at-least", "ROWS,…", "Frequency: a rarer value joins the others, a level each.")
    ] = None,
    label: Annotated[str, option("--label", "TEXT", "Frequency: the label of rare values.")] = "(other)",
    check: Annotated[Path | None, option("--check", "FILE", "Check this hierarchy against the data instead.")] = None,
    counts: Annotated[bool, typer.Option("--counts", help="Count the rows of each value instead.")] = False,
    delimiter: Annotated[str, option("--delimiter", "C", "Of the hierarchy file.")] = ";",
    policy: Annotated[Path | None, option("--policy", "FILE", "The policy that says how to read the data.")] = None,
    sets: Sets = None,
    output_file: OutputFile = None,
) -> None:
    """Make a generalization hierarchy of a column's values, as CSV: the value first, `*` last, no header.

    The file holds every value that occurs in the column, so treat it like the data. By frequency, it also shows which
    values are rare. So does `--counts`: each value with its rows, by number or the most frequent first. `--check`
    prints counts only.

    Exit status: 0 made, or the hierarchy fits; 1 the one that was checked does not; 2 options or data are at fault.
    """
    params = settings(sets or ())
    if (check is not None) + (by is not None) + counts > 1:
        message = "`--check` takes a hierarchy that is there, `--by` makes one, `--counts` counts values: ask for one"
        raise UsageError(Diagnostic("PPF120", message))
    if counts:
        counted = api.count_values(data, attribute, policy=policy, sets=params, delimiter=delimiter)
        deliver(counted.document(), output_file, exact=True)
        return
    if check is not None:
        fit = api.check_hierarchy(check, data, attribute, policy=policy, sets=params, delimiter=delimiter)
        put(text(fit))
        raise typer.Exit(0 if fit.holds else 1)
    way = api.HierarchyMethod(
        by="" if by is None else by.value,
        edges=numbers("--edges", edges),
        width=width,
        then=whole_numbers("--then", then),
        open_ends=open_ends.value,
        keep=whole_numbers("--keep", keep),
        mask=mask,
        units=words(units),
        format=date_format,
        values=words(values),
        fanout=fanout,
        at_least=whole_numbers("--at-least", at_least),
        label=label,
    )
    made = api.hierarchy(data, attribute, way, policy=policy, sets=params, delimiter=delimiter)
    deliver(made.document(), output_file, exact=True)
    say(made.reason)


def text(fit: HierarchyCheck) -> str:
    """Return a line for each thing that was looked at: counts only, no value."""
    sizes = ", ".join(f"{n:,}" for n in fit.labels)
    lines = [
        f"{fit.leaves:,} values in {len(fit.labels)} levels; labels on them: {sizes}",
        _judged(
            not fit.absent,
            f"{fit.values - fit.absent:,} of the data's {fit.values:,} values stand in it"
            f" ({fit.rows - fit.absent_rows:,} of {fit.rows:,} rows)",
        ),
        _judged(not fit.split, _coarsening(fit)),
        _judged(not fit.lies, f"{fit.lies:,} labels are spelled like a value that has another label"),
    ]
    if fit.unused:
        lines.append(f"    {fit.unused:,} of its values do not occur in the data")
    return "\n".join(lines)


def _coarsening(fit: HierarchyCheck) -> str:
    if not fit.split:
        return "every level puts together what the one below has"
    listed = ", ".join(map(str, fit.split))
    return f"level {listed} puts values apart that the level below puts together"


def _judged(good: bool, text: str) -> str:
    return f"{'ok ' if good else 'NO '} {text}"
