"""Swap: permutations within classes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from ppdm_flow.anonymizers.naming import require
from ppdm_flow.anonymizers.row_groups import groups_of
from ppdm_flow.anonymizers.swap.spec import SwapParams
from ppdm_flow.core.diagnostics import Diagnostic
from ppdm_flow.core.draws import Draws
from ppdm_flow.core.errors import PluginError
from ppdm_flow.core.results import Figure
from ppdm_flow.sdk.anonymizer import Fitted, StepContext
from ppdm_flow.sdk.view import DataView
from ppdm_flow.tables.column import Column
from ppdm_flow.tables.table import Table

Integers = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]


def givers(groups: Integers, keys: Floats) -> Integers:
    """Return for each row the row whose value it gets: one random cycle a group, so nobody keeps the own one.

    ``groups`` and ``keys`` (independent uniform draws) have shape (rows,). A group of one keeps what it has.
    """
    order = np.lexsort((keys, groups))
    ordered = groups[order]
    first = np.flatnonzero(np.append([True], ordered[1:] != ordered[:-1])[: len(order)])
    following = np.arange(1, len(order) + 1)
    following[np.append(first[1:], [len(order)])[: len(first)] - 1] = first
    out = np.empty(len(order), dtype=np.int64)
    out[order] = order[following]
    return out


def blocks(groups: Integers, values: Floats, ties: Floats, window: float) -> Integers:
    """Return a number for each row, equal for rows of one group that are near in rank.

    A block has max(2, ceil(window times the group's size)) rows; the last one of a group takes in the rest, and so has
    fewer than twice as many.
    """
    order = np.lexsort((ties, values, groups))
    _, start, place, sizes = np.unique(groups[order], return_index=True, return_inverse=True, return_counts=True)
    size = np.maximum(2, np.ceil(window * sizes)).astype(np.int64)[place]
    number = (np.arange(len(order)) - start[place]) // size
    number = np.minimum(number, np.maximum(1, sizes[place] // size) - 1)
    edge = np.append([True], (np.diff(place) != 0) | (np.diff(number) != 0))[: len(order)]
    out = np.empty(len(order), dtype=np.int64)
    out[order] = np.cumsum(edge)
    return out


class Swap:
    """Lets rows exchange values."""

    def __init__(self, params: SwapParams) -> None:
        self.params = params

    def fit(self, data: DataView, ctx: StepContext) -> Fitted:
        """Count rows without a partner. Raises PluginError, naming the column, where nothing can be swapped."""
        params = self.params
        require((*params.attributes, *params.within), data.schema.names, ctx.step)
        if params.method == "rank":
            for name in params.attributes:
                _numbers(name, data.domain(name))
        counts = data.counts(params.within).counts
        alone = int((counts == 1).sum())
        if data.row_count and alone == counts.sum():
            text = f"every row is alone in its class, so nothing of the column `{params.attributes[0]}` can be swapped"
            raise PluginError(Diagnostic("PPF829", text, help="name fewer or coarser attributes in `within`"))
        figures = {"classes": Figure(len(counts), "classes"), "rows_alone": Figure(alone, "rows")}
        return Fitted(SwapTransform(params), figures)


@dataclass(frozen=True, slots=True)
class SwapTransform:
    """Two draws a row for each permutation: whether it takes part, and its place in the cycle."""

    params: SwapParams

    @property
    def draws_per_row(self) -> int:
        """Two a permutation, of which there is one a piece."""
        return 2 * len(self._pieces)

    @property
    def _pieces(self) -> tuple[tuple[str, ...], ...]:
        names = tuple(dict.fromkeys(self.params.attributes))
        return (names,) if self.params.together else tuple((name,) for name in names)

    def apply_table(self, table: Table, draws: Draws) -> Mapping[str, Table]:
        """Move the values."""
        uniform = draws.uniform(table.rows)
        groups = groups_of([table[name] for name in self.params.within], len(table))
        changed: dict[str, Column] = {}
        for i, names in enumerate(self._pieces):
            source = self._sources(groups, table[names[0]], names[0], uniform[:, 2 * i], uniform[:, 2 * i + 1])
            changed |= {name: table[name].take(source) for name in names}
        return {"": table.replaced(changed)}

    def _sources(self, groups: Integers, column: Column, name: str, chance: Floats, keys: Floats) -> Integers:
        """Return the row that each row's new value comes from."""
        takes_part = chance < self.params.share
        if self.params.method == "rank":
            takes_part &= column.codes >= 0
        rows = np.flatnonzero(takes_part)
        own = groups[rows]
        if self.params.method == "rank":
            values = _numbers(name, column.categories)[column.codes[rows]]
            own = blocks(own, values, chance[rows], self.params.window)
        source = np.arange(len(groups))
        source[rows] = rows[givers(own, keys[rows])]
        return source

    def describe(self) -> Mapping[str, Any]:
        """The parameters."""
        return self.params.model_dump(mode="json")


def _numbers(name: str, categories: pa.StringArray) -> Floats:
    try:
        return Column(np.zeros(0, dtype=np.int32), categories).numbers()
    except pa.ArrowInvalid:
        text = f"the column `{name}` has values that are no numbers, so they have no rank"
        raise PluginError(Diagnostic("PPF829", text, help="say `method: random`")) from None
