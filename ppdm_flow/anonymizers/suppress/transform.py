"""What is suppressed, row by row: rare values, then the combinations that were in small classes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from ppdm_flow.anonymizers.deterministic import DeterministicTransform
from ppdm_flow.core.diagnostics import Diagnostic
from ppdm_flow.core.draws import Draws
from ppdm_flow.core.errors import PluginError
from ppdm_flow.mining.recoding.kernels import places_of
from ppdm_flow.tables.column import SPECIALS, Column
from ppdm_flow.tables.table import Table

Codes = npt.NDArray[np.int32]
Ints = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True, eq=False)
class RareCells:
    """One attribute: ``texts`` that it may have, and which of them are ``rare`` (texts,).

    ``joined``: missing cells are suppressed as well.
    """

    name: str
    texts: tuple[str, ...]
    rare: Bools
    joined: bool = False

    def dense(self, column: Column, step: str) -> Codes:
        """Return 0 for suppressed and rare cells, 1 for missing ones, the place of the text plus 2 for others.

        Raises PluginError for a value that the fit did not see.
        """
        place = pc.index_in(column.categories, value_set=pa.array(self.texts, pa.string())).fill_null(-1)
        at = place.to_numpy(zero_copy_only=False).astype(np.int32)
        known = np.where(np.append(self.rare, False)[at], np.int32(0), at + np.int32(SPECIALS))
        table = np.concatenate([np.where(at < 0, -1, known), [0, 0 if self.joined else 1]]).astype(np.int32)
        codes = table[column.codes]  # -1 and -2 are the last two
        if (codes < 0).any():
            text = f"step `{step}` meets values in the column `{self.name}` that it did not see when it was fitted"
            raise PluginError(Diagnostic("PPF789", text))
        return codes

    def column(self, dense: Codes) -> Column:
        """Return dense codes as a column."""
        return Column(dense - np.int32(SPECIALS), pa.array(self.texts, pa.string())).compact()


@dataclass(frozen=True, slots=True, eq=False)
class SuppressTransform(DeterministicTransform):
    """``known`` (combinations, classes' attributes) are dense codes in small classes, ``holes`` what is suppressed.

    ``lost`` (combinations,) are dropped. ``over`` are the places in ``cells`` of the classes' attributes. ``dropped``
    are the ascending numbers of further rows that are: of people who would stand out.
    """

    step: str
    cells: tuple[RareCells, ...]
    over: tuple[int, ...]
    known: Codes
    holes: Bools
    lost: Bools
    dropped: Ints

    def apply(self, part: Table, _draws: Draws) -> Table:
        """Suppress cells, and leave out rows."""
        dense = [c.dense(part[c.name], self.step) for c in self.cells]
        gone = np.zeros(len(part), dtype=np.bool_)
        if len(self.known) and len(part):
            at = places_of(np.stack([dense[j] for j in self.over], axis=1), self.known)
            gone = (at >= 0) & self.lost[at]
            for i, j in enumerate(self.over):
                dense[j] = np.where((at >= 0) & self.holes[at, i], np.int32(0), dense[j])
        if len(self.dropped) and len(part):
            place = np.minimum(np.searchsorted(self.dropped, part.rows), len(self.dropped) - 1)
            gone |= self.dropped[place] == part.rows
        out = part.replaced({c.name: c.column(d) for c, d in zip(self.cells, dense, strict=True)})
        return out.take(~gone) if gone.any() else out

    def describe(self) -> Mapping[str, Any]:
        """Return how many values and combinations are concerned."""
        rare = {c.name: int(c.rare.sum()) for c in self.cells if c.rare.any()}
        further = {"rows_dropped": len(self.dropped)} if len(self.dropped) else {}
        lost = int(self.lost.sum())
        return {"rare_values": rare, "combinations": len(self.known), "combinations_dropped": lost, **further}
