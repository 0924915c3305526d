"""What the search decided, row by row: one label a value, and the classes that are suppressed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from ppdm_flow.anonymizers.deterministic import Deterministic
from ppdm_flow.anonymizers.full_domain_recoding.ground import Scale, coded
from ppdm_flow.core.diagnostics import Diagnostic
from ppdm_flow.core.draws import Draws
from ppdm_flow.core.errors import PluginError
from ppdm_flow.tables.column import SUPPRESSED, Column
from ppdm_flow.tables.table import Table


@dataclass(frozen=True, slots=True, eq=False)
class Recoding:
    """One attribute's way: ``code_of`` (leaves,) the code of each leaf at its level, ``labels`` of the codes.

    Codes from ``len(labels)`` on are marks that stay what they are, in the order of ``scale.extra``.
    """

    scale: Scale
    level: int
    code_of: npt.NDArray[np.int32]
    labels: tuple[str, ...]

    def codes(self, column: Column, step: str) -> npt.NDArray[np.int32]:
        """Return the code of each row. Raises PluginError for a value that the fit did not see."""
        leaf = self.scale.leaf_of(column.categories)[column.dense]
        if (leaf < 0).any():
            text = (
                f"step `{step}` meets values in the column `{self.scale.name}` that it did not see when it was fitted"
            )
            raise PluginError(Diagnostic("PPF789", text))
        return self.code_of[leaf]

    def column(self, codes: npt.NDArray[np.int32]) -> Column:
        """Return codes as a column of labels and marks."""
        marks = np.array([*range(len(self.labels)), *self.scale.extra], dtype=np.int32)
        return Column(marks[codes], pa.array(self.labels, pa.string()))


@dataclass(frozen=True, slots=True, eq=False)
class FullDomainTransform(Deterministic):
    """``lost`` (classes, attributes) are the codes of the classes that are suppressed, in order.

    ``drops``: their rows are left out; else their recoded cells are suppressed.
    """

    step: str
    ways: tuple[Recoding, ...]
    lost: npt.NDArray[np.int32]
    drops: bool

    def apply(self, part: Table, _draws: Draws) -> Table:
        """Recode, and suppress."""
        codes = np.stack([w.codes(part[w.scale.name], self.step) for w in self.ways], axis=1)
        gone = among(codes, self.lost)
        columns = {w.scale.name: w.column(codes[:, j]) for j, w in enumerate(self.ways)}
        out = part.replaced(columns)
        if not gone.any():
            return out
        if self.drops:
            return out.take(~gone)
        return out.replaced({n: Column(np.where(gone, SUPPRESSED, c.codes), c.categories) for n, c in columns.items()})

    def describe(self) -> Mapping[str, Any]:
        """Return the level of each attribute."""
        levels = {w.scale.name: f"level {w.level} of {len(w.scale.whole.levels) - 1}" for w in self.ways}
        return {"levels": levels, "classes_suppressed": len(self.lost)}


def recoding(scale: Scale, level: int) -> Recoding:
    """Return the way of one attribute to a level, counted from ``scale.lowest``."""
    at = scale.lowest + level
    names, codes = coded(scale.whole, at)
    top = at == scale.whole.top and at > 0
    marks = np.zeros(len(scale.extra), dtype=np.int64) if top else len(names) + np.arange(len(scale.extra))
    return Recoding(scale, at, np.concatenate([codes, marks]).astype(np.int32), tuple(str(n) for n in names))


def among(rows: npt.NDArray[np.int32], known: npt.NDArray[np.int32]) -> npt.NDArray[np.bool_]:
    """Return which of ``rows`` (n, d) are one of ``known`` (m, d)."""
    if not len(known):
        return np.zeros(len(rows), dtype=np.bool_)
    width = [int(max(r.max(initial=0), k.max(initial=0))) + 1 for r, k in zip(rows.T, known.T, strict=True)]
    found, wanted = _numbers(rows, known, width)
    return np.isin(found, wanted)


def _numbers(
    rows: npt.NDArray[np.int32], known: npt.NDArray[np.int32], width: Sequence[int]
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """One number a row in mixed radix, numbered anew in between where 62 bits do not hold it."""
    both = np.concatenate([rows, known])
    keys, radix = np.zeros(len(both), dtype=np.int64), 1
    for j, w in enumerate(width):
        if radix * w >= 1 << 62:
            _, keys = np.unique(keys, return_inverse=True)
            radix = int(keys.max(initial=0)) + 1
        keys = keys * w + both[:, j]
        radix *= w
    return keys[: len(rows)], keys[len(rows) :]
