"""Which criterion a row fulfils first."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import inf

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from ppdm_flow.anonymizers.assign_class_id.spec import Condition, Criterion
from ppdm_flow.tables.column import Column

Integers = npt.NDArray[np.int64]
Marks = npt.NDArray[np.bool_]

_NUMBER = r"^[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?$"


@dataclass(frozen=True, slots=True)
class ByCriteria:
    """``other`` says that rows that fulfil none have a class of their own, the last one."""

    criteria: tuple[Criterion, ...]
    other: bool

    def places(self, columns: Mapping[str, Column]) -> Integers:
        """Return the place of the first criterion that each row fulfils, shape (rows,); -1 where there is none."""
        rows = len(next(iter(columns.values())))
        found = np.full(rows, len(self.criteria) if self.other else -1, dtype=np.int64)
        for place in range(len(self.criteria) - 1, -1, -1):
            marks = [fulfilled(columns[name], c) for name, c in self.criteria[place].when.items()]
            found[np.logical_and.reduce(marks)] = place
        return found


def fulfilled(column: Column, condition: Condition) -> Marks:
    """Return which rows fulfil a condition; a missing or suppressed cell fulfils none."""
    if condition.values is not None:
        good = pc.is_in(column.categories, value_set=pa.array(condition.values, pa.string()))
        by_value: Marks = good.to_numpy(zero_copy_only=False).astype(bool)
    else:
        numeric = pc.match_substring_regex(column.categories, _NUMBER)
        numbers = pc.cast(pc.if_else(numeric, column.categories, None), pa.float64())
        values = pc.fill_null(numbers, np.nan).to_numpy(zero_copy_only=False)
        low = -inf if condition.low is None else condition.low
        high = inf if condition.high is None else condition.high
        by_value = (values >= low) & (values <= high)
    marks: Marks = np.append(by_value, [False, False])[column.codes]
    return marks
