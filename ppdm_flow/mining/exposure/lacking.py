"""People whom another release of the run lacks because a step dropped them for what their cells are: a class of it."""

from __future__ import annotations

from ppdm_flow.core.phrases import counted
from ppdm_flow.core.results import Figure, Measured
from ppdm_flow.mining.exposure.intersections import dropped_people
from ppdm_flow.mining.exposure.intersections_query import dropped_again
from ppdm_flow.sdk.audit import AuditContext
from ppdm_flow.sdk.view import DataView


def lacking(requirement: str, figure: str, least: int, candidate: DataView, ctx: AuditContext) -> list[Measured]:
    """Return that at least ``least`` rows, or people, are lacking wherever some are; nothing where none are.

    ``figure`` is the name of the figure below the id of the ``requirement``.
    """
    rows = dropped_people(candidate, ctx)
    if not rows:
        return []
    fewest = min(rows, key=lambda name: rows[name])
    unit = "rows" if ctx.people is None else "people"
    of_people = "a row of 1 person" if rows[fewest] == 1 else f"rows of {rows[fewest]:,} people"
    what = counted(rows[fewest], "row") if ctx.people is None else of_people
    text = (
        f"`{fewest}` lacks {what} that this release has, because of what their cells are: who"
        f" compares the two finds them; {least:,} are required."
    )
    measured = Figure(rows[fewest], unit)
    return [Measured(requirement, f"{requirement}.{figure}", measured, float(least), at_most=False, sentence=text)]


def lacking_again(name: str, candidate: DataView, ctx: AuditContext) -> dict[str, int]:
    """Return the figure ``name`` by the second route; nothing where no rows are lacking."""
    if ctx.sql is None or not dropped_people(candidate, ctx):
        return {}
    return {name: min(dropped_again(candidate, ctx, ctx.sql).values(), default=0)}
