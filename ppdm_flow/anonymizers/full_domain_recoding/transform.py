"""What the search decided, row by row: one label a value, and the classes that are suppressed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from ppdm_flow.anonymizers.deterministic import DeterministicTransform
from ppdm_flow.anonymizers.full_domain_recoding.ground import LeafScale, coded
from ppdm_flow.core.diagnostics import Diagnostic
from ppdm_flow.core.draws import Draws
from ppdm_flow.core.errors import PluginError
from ppdm_flow.mining.recoding.kernels import known
from ppdm_flow.tables.column import SPECIALS, SUPPRESSED, Column
from ppdm_flow.tables.table import Table

Codes = npt.NDArray[np.int32]
Keys = npt.NDArray[np.int64]
_KEY_LIMIT = 1 << 62


@dataclass(frozen=True, slots=True, eq=False)
class LevelRecoding:
    """One attribute's way: ``code_of`` (leaves,) the code of each leaf at its level, ``labels`` of the codes.

    Codes from ``len(labels)`` on are marks that stay what they are, in the order of ``scale.extra``.
    """

    scale: LeafScale
    level: int
    code_of: Codes
    labels: tuple[str, ...]

    @property
    def width(self) -> int:
        """How many codes there are, marks included."""
        return len(self.labels) + len(self.scale.extra)

    def table(self, column: Column, step: str) -> Codes:
        """Return the code of each category, then of a suppressed and of a missing cell, so that cells index it.

        Raises PluginError for a value that the fit did not see.
        """
        leaf = np.roll(self.scale.leaf_of(column.categories), -SPECIALS)
        unseen = leaf < 0
        if _occur(unseen, column.codes):
            text = (
                f"step `{step}` meets values in the column `{self.scale.name}` that it did not see when it was fitted"
            )
            raise PluginError(Diagnostic("PPF789", text))
        return np.where(unseen, 0, self.code_of[leaf]).astype(np.int32)

    def released(self, table: Codes) -> Codes:
        """Return the codes of ``table`` as those of a released column: labels and marks."""
        marks = np.array([*range(len(self.labels)), *self.scale.extra], dtype=np.int32)
        return marks[table]


@dataclass(frozen=True, slots=True, eq=False)
class FullDomainTransform(DeterministicTransform):
    """``lost`` (classes, attributes) are the codes of the classes that are suppressed, in order.

    ``drops``: their rows are left out; else their recoded cells are suppressed.
    """

    step: str
    ways: tuple[LevelRecoding, ...]
    lost: Codes
    drops: bool

    def apply(self, part: Table, _draws: Draws) -> Table:
        """Suppress, and recode what is left."""
        tables = [way.table(part[way.scale.name], self.step) for way in self.ways]
        cells = [part[w.scale.name].codes for w in self.ways]
        gone = self._gone(cells, tables)
        if self.drops and gone.any():
            kept = np.flatnonzero(~gone)  # numbers that only dropped rows have are no categories of the others
            part, cells, gone = part.take(kept), [c[kept] for c in cells], np.zeros(0, dtype=np.bool_)
        columns = {}
        for way, table, cell in zip(self.ways, tables, cells, strict=True):
            codes = way.released(table)[cell]
            if gone.any():
                codes[gone] = SUPPRESSED
            columns[way.scale.name] = Column(codes, pa.array(way.labels, pa.string()))
        return part.replaced(columns)

    def describe(self) -> Mapping[str, Any]:
        """Return the level of each attribute."""
        levels = {w.scale.name: f"level {w.level} of {w.scale.hierarchy.top}" for w in self.ways}
        return {"levels": levels, "classes_suppressed": len(self.lost)}

    def _gone(self, cells: Sequence[Codes], tables: Sequence[Codes]) -> npt.NDArray[np.bool_]:
        """Return which rows are of a class that is suppressed.

        Their keys are numbers in mixed radix; where 62 bits do not hold them, what is so far among the keys of lost
        classes is numbered anew, and nothing else can be one of them.
        """
        if not len(self.lost):
            return np.zeros(len(cells[0]), dtype=np.bool_)
        keys, wanted, radix = np.zeros(len(cells[0]), dtype=np.int64), np.zeros(len(self.lost), dtype=np.int64), 1
        for way, column, table, lost in zip(self.ways, cells, tables, self.lost.T, strict=True):
            if radix * way.width >= _KEY_LIMIT:
                distinct, wanted = np.unique(wanted, return_inverse=True)
                place = np.searchsorted(distinct, keys)
                inside = np.minimum(place, len(distinct) - 1)
                keys, radix = np.where(distinct[inside] == keys, inside, len(distinct)), len(distinct) + 1
            keys += (table.astype(np.int64) * radix)[column]
            wanted = wanted + lost.astype(np.int64) * radix
            radix *= way.width
        return known(keys, wanted)


def _occur(unseen: npt.NDArray[np.bool_], codes: Codes) -> bool:
    """Whether some cell is unseen; the marks, mostly unseen, mostly do not occur, which is quickly known."""
    if not unseen[:-SPECIALS].any() and codes.min(initial=0) >= 0:
        return False
    return bool(unseen[codes].any())


def recoding(scale: LeafScale, level: int) -> LevelRecoding:
    """Return the way of one attribute to a level, counted from ``scale.lowest``."""
    at = scale.lowest + level
    names, codes = coded(scale.hierarchy, at)
    top = at == scale.hierarchy.top and at > 0
    marks = np.zeros(len(scale.extra), dtype=np.int64) if top else len(names) + np.arange(len(scale.extra))
    return LevelRecoding(scale, at, np.concatenate([codes, marks]).astype(np.int32), tuple(str(n) for n in names))
