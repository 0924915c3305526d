"""Targeted record swapping: find risky rows, pair them, and exchange their areas."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from ppdm_flow.anonymizers.naming import require
from ppdm_flow.anonymizers.row_groups import groups_of
from ppdm_flow.anonymizers.swap_records.spec import SwapRecordsParams
from ppdm_flow.core.diagnostics import Diagnostic
from ppdm_flow.core.draws import Draws
from ppdm_flow.core.errors import PluginError
from ppdm_flow.core.results import Figure
from ppdm_flow.sdk.anonymizer import Fitted, StepContext
from ppdm_flow.sdk.compiled import compiled
from ppdm_flow.sdk.view import DataView
from ppdm_flow.tables.table import Table

Integers = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
_TRIAL = hashlib.sha256(b"ppdm-flow record swapping, trial for figures").digest()
"""A key that everybody knows: figures are those of a swap that is never released."""


def risk_levels(areas: Sequence[Integers], key: Integers, k: int) -> Integers:
    """Return the first level at which fewer than ``k`` rows of an area share a row's key; as many as levels if none.

    ``areas`` are numbers of areas, one array a level from the largest areas on. Each array, and ``key``, has shape
    (rows,) and numbers below the count of rows.
    """
    out = np.full(len(key), len(areas), dtype=np.int64)
    for level in range(len(areas) - 1, -1, -1):
        _, cell, counts = np.unique(areas[level] * len(key) + key, return_inverse=True, return_counts=True)
        out[counts[cell] < k] = level
    return out


def partners(
    risk: Integers, areas: Sequence[Integers], profiles: Sequence[Integers], order: Floats, picks: Floats, least: int
) -> Integers:
    """Return for each row the row that it changes places with, -1 for none, shape (rows,).

    ``risk`` is the level at which a row is risky. ``profiles`` are classes of similar rows, from strict to loose.
    ``order`` and ``picks`` are independent uniform draws: who comes first, and who is taken. Where fewer than
    ``least`` rows were swapped, others follow, over areas of the last level.
    """
    partner = np.full(len(risk), -1, dtype=np.int64)
    first = np.argsort(order, kind="stable")
    layouts = [_layout(group, picks) for group in profiles]
    for level, area in enumerate(areas):
        targets = first[risk[first] == level]
        for group, (layout, starts) in zip(profiles, layouts, strict=True):
            pair(partner, targets, layout, starts, group, area, len(risk))
    for group, (layout, starts) in zip(profiles, layouts, strict=True):
        missing = least - int((partner >= 0).sum())
        pair(partner, first, layout, starts, group, areas[-1], max(0, math.ceil(missing / 2)))
    return partner


def _layout(group: Integers, picks: Floats) -> tuple[Integers, Integers]:
    sizes = np.bincount(group) if len(group) else np.zeros(0, dtype=np.int64)
    return np.lexsort((picks, group)), np.append([0], np.cumsum(sizes)).astype(np.int64)


class SwapRecords:
    """Lets risky rows change places."""

    def __init__(self, params: SwapRecordsParams) -> None:
        self.params = params

    def fit(self, data: DataView, ctx: StepContext) -> Fitted:
        """Swap once for the figures. Raises PluginError where nobody is in another area than the rest."""
        params = self.params
        require((*params.exchanged, *params.compared), data.schema.names, ctx.step)
        transform = SwapRecordsTransform(params)
        table = data.table(tuple(dict.fromkeys((*params.exchanged, *params.compared))))
        areas = transform.areas(table)
        if len(table) and all((area == area[0]).all() for area in areas):
            text = f"all rows are in one area, so nothing of the column `{params.areas[0]}` can be swapped"
            raise PluginError(Diagnostic("PPF829", text, help="name further `areas`, or leave the step out"))
        risk = transform.risk(table)
        partner = transform.partners(table, Draws(_TRIAL, transform.draws_per_row))
        risky = risk < len(areas)
        swapped = float((partner >= 0).mean()) if len(table) else None
        figures = {
            "risky_rows": Figure(int(risky.sum()), "rows"),
            "risky_without_donor": Figure(int((risky & (partner < 0)).sum()), "rows"),
            "swapped_share": Figure(swapped, "share", note="" if len(table) else "the table has no row"),
        }
        return Fitted(transform, figures)


@dataclass(frozen=True, slots=True)
class SwapRecordsTransform:
    """Two draws a row: when its turn comes, and its place among the similar ones that are taken."""

    params: SwapRecordsParams

    @property
    def draws_per_row(self) -> int:
        """Two."""
        return 2

    def areas(self, table: Table) -> list[Integers]:
        """Return numbers of the areas of each level; an area of a level lies within one of the level before."""
        names = self.params.areas
        return [groups_of([table[n] for n in names[: level + 1]], len(table)) for level in range(len(names))]

    def risk(self, table: Table) -> Integers:
        """Return the level at which each row is risky, or the number of levels."""
        return risk_levels(self.areas(table), groups_of([table[n] for n in self.params.key], len(table)), self.params.k)

    def partners(self, table: Table, draws: Draws) -> Integers:
        """Return the row that each row changes places with, -1 for none."""
        uniform = draws.uniform(table.rows)
        profiles = [groups_of([table[n] for n in profile], len(table)) for profile in self.params.similar]
        least = math.ceil(self.params.swap_rate * len(table) - 1e-9)
        return partners(self.risk(table), self.areas(table), profiles, uniform[:, 0], uniform[:, 1], least)

    def apply_table(self, table: Table, draws: Draws) -> Mapping[str, Table]:
        """Exchange the areas of partners."""
        partner = self.partners(table, draws)
        source = np.where(partner < 0, np.arange(len(table)), partner)
        return {"": table.replaced({name: table[name].take(source) for name in self.params.exchanged})}

    def describe(self) -> Mapping[str, Any]:
        """The parameters."""
        return self.params.model_dump(mode="json")


@compiled
def pair(
    partner: Integers, targets: Integers, layout: Integers, starts: Integers, group: Integers, area: Integers, most: int
) -> int:
    """Pair targets in their order, and return how many pairs were made, at most ``most``.

    ``partner`` of shape (rows,) holds -1 for rows that are free, and is changed. ``layout`` are all rows, class after
    class (``group``), each class in random order; class c begins at ``starts[c]`` and ends at ``starts[c + 1]``. A
    target that is free gets the first free row of its class that lies in another area. The head of a class is its first
    free row, its second the first free one of another area than the head's: one of both fits any target. Both only
    move forward, so that all steps together take time in proportion to the rows.
    """
    heads = starts[:-1].copy()
    seconds = starts[:-1].copy()
    pairs = 0
    for row in targets:
        if pairs >= most:
            break
        if partner[row] >= 0:
            continue
        own = group[row]
        end = starts[own + 1]
        head = heads[own]
        while head < end and partner[layout[head]] >= 0:
            head += 1
        heads[own] = head
        partner_row = layout[head]  # the target is free, so a head there is
        if area[partner_row] == area[row]:
            second = max(seconds[own], head)
            while second < end and (partner[layout[second]] >= 0 or area[layout[second]] == area[row]):
                second += 1
            seconds[own] = second
            if second == end:
                continue
            partner_row = layout[second]
        partner[row] = partner_row
        partner[partner_row] = row
        pairs += 1
    return pairs
