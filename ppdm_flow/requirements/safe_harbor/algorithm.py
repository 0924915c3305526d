"""What is left of the 18 identifiers in a released file, counted by two routes (45 CFR 164.514(b)(2)(i)).

A cell counts for each kind that it shows: by its form (an address of the form of an email address, a vehicle's number
whose check digit fits), by what its column is called (a `first_name` that was not dropped), or by what ages, years of
birth and ZIP codes say. A column most of whose cells are each of one person alone is a code, whatever its form.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from ppdm_flow.core.results import AuditOutcome, Figure, Measured
from ppdm_flow.mining.exposure.faults import UnmeasuredError
from ppdm_flow.mining.identifiers.cells import Mask, seen
from ppdm_flow.mining.identifiers.kinds import IDENTIFIERS, Identifier
from ppdm_flow.requirements.safe_harbor import cells as first
from ppdm_flow.requirements.safe_harbor import query as second
from ppdm_flow.requirements.safe_harbor.columns import ScannedColumn, looks
from ppdm_flow.requirements.safe_harbor.reading import NormalizedCells, cells_of, queried_cells
from ppdm_flow.requirements.safe_harbor.requirement import SafeHarbor
from ppdm_flow.requirements.safe_harbor.sentences import findings, sentence
from ppdm_flow.requirements.safe_harbor.small_areas import areas
from ppdm_flow.sdk.audit import AuditContext
from ppdm_flow.sdk.view import DataView


@dataclass(frozen=True, slots=True)
class RemainingCells:
    """How many cells of a column show each kind; ``cleared`` are those of kinds that somebody looked at."""

    column: str
    cells: Mapping[Identifier, int]
    cleared: Mapping[Identifier, int]


class SafeHarborAudit:
    """Looks through every released column."""

    def __init__(self, params: Any) -> None:
        self.params = params

    def measure(self, original: DataView, candidate: DataView, ctx: AuditContext) -> AuditOutcome:
        """Count the cells of each kind."""
        del original
        parts = [_judged(requirement, candidate, ctx) for requirement in _own(ctx)]
        return AuditOutcome(
            figures={name: figure for part in parts for name, figure in part.figures.items()},
            measured=tuple(m for part in parts for m in part.measured),
            findings=tuple(f for part in parts for f in part.findings),
        )

    def recheck(self, original: DataView, candidate: DataView, ctx: AuditContext) -> Mapping[str, float | int | None]:
        """Count again in SQL, in the released file."""
        del original
        again: dict[str, float | int | None] = {}
        for requirement in _own(ctx):
            if ctx.sql is None:
                continue
            try:
                left = [_figures_sql(look, requirement, candidate, ctx) for look in looks(requirement, candidate, ctx)]
            except UnmeasuredError:
                continue
            again |= {name: figure.value for name, figure in _figures(requirement, left).items()}
        return again


def _own(ctx: AuditContext) -> list[SafeHarbor]:
    return [r for r in ctx.requirements if isinstance(r, SafeHarbor)]


def _judged(requirement: SafeHarbor, candidate: DataView, ctx: AuditContext) -> AuditOutcome:
    name = f"{requirement.id}.cells"
    try:
        left = [_left(look, requirement, candidate, ctx) for look in looks(requirement, candidate, ctx)]
    except UnmeasuredError as fault:
        figure = Figure(None, "cells", note=fault.text)
        unknown = Measured(requirement.id, name, figure, 0.0, at_most=True, sentence=fault.text, verifiable=False)
        return AuditOutcome(measured=(unknown,))
    figures = _figures(requirement, left)
    text = sentence(requirement, left, ctx)
    measured = Measured(requirement.id, name, figures[name], 0.0, at_most=True, sentence=text)
    return AuditOutcome(figures, (measured,), tuple(findings(requirement, left, ctx)))


def _figures(requirement: SafeHarbor, left: list[RemainingCells]) -> dict[str, Figure]:
    by_kind = {kind: sum(each.cells.get(kind, 0) for each in left) for kind in IDENTIFIERS}
    figures = {
        "cells": Figure(sum(by_kind.values()), "cells"),
        "columns": Figure(sum(bool(sum(each.cells.values())) for each in left), "columns"),
        "cleared": Figure(sum(sum(each.cleared.values()) for each in left), "cells"),
    }
    figures |= {kind: Figure(cells, "cells") for kind, cells in by_kind.items()}
    return {f"{requirement.id}.{name}": figure for name, figure in figures.items()}


def _left(look: ScannedColumn, requirement: SafeHarbor, candidate: DataView, ctx: AuditContext) -> RemainingCells:
    """Count by the first route."""
    cells = cells_of(look, candidate, ctx)
    shown = first.shown(cells.texts)
    masks = dict(_masks(look, requirement, cells))
    found = {kind: int(cells.rows[mask & shown].sum()) for kind, mask in masks.items()}
    every, alone = int(cells.rows[shown].sum()), int(cells.rows[shown & cells.alone].sum())
    return _parted(look, requirement, found, every, alone)


def _masks(look: ScannedColumn, requirement: SafeHarbor, cells: NormalizedCells) -> Iterator[tuple[Identifier, Mask]]:
    """Yield each kind with which distinct cells show it."""
    found = seen(cells.texts) if look.texts else {}
    if look.texts:
        found = _more(found, "ages", first.told_births(cells.texts, requirement.as_of))
    if look.zips:
        found = _more(found, "zip_codes", first.too_fine(cells.texts, areas(requirement.small_areas)))
    if look.ages:
        found = _more(found, "ages", first.too_old(cells.texts, coded=look.coded))
    if look.births:
        found = _more(found, "ages", first.born_too_early(cells.texts, requirement.as_of))
    for kind in look.named:
        found = _more(found, kind, np.ones(len(cells.texts), dtype=bool))
    yield from found.items()


def _more(found: Mapping[Identifier, Mask], kind: Identifier, mask: Mask) -> dict[Identifier, Mask]:
    return {**found, kind: found[kind] | mask if kind in found else mask}


def _figures_sql(
    look: ScannedColumn, requirement: SafeHarbor, candidate: DataView, ctx: AuditContext
) -> RemainingCells:
    """Count by the second route."""
    text, kinds = second.counted(look, areas(requirement.small_areas), requirement.as_of)
    if ctx.sql is None:
        raise ValueError("the second route has no database")
    row = ctx.sql.rows(text, (), {"cells": queried_cells(look, candidate, ctx, ctx.sql)})[0]
    found: dict[Identifier, int] = {kind: int(cells) for kind, cells in zip(kinds, row[:-2], strict=True)}
    return _parted(look, requirement, found, int(row[-2]), int(row[-1]))


def _parted(
    look: ScannedColumn, requirement: SafeHarbor, found: Mapping[Identifier, int], every: int, alone: int
) -> RemainingCells:
    """Return what is left and what was cleared; a column of which too many cells are alone is a code."""
    counts = dict(found)
    if alone > requirement.unique * every:
        counts["unique_codes"] = max(alone, counts.get("unique_codes", 0))
    some = {kind: cells for kind, cells in counts.items() if cells}
    cleared = {kind: cells for kind, cells in some.items() if kind in look.cleared}
    return RemainingCells(look.name, {k: n for k, n in some.items() if k not in cleared}, cleared)
