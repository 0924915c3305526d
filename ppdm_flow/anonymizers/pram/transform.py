"""Applying transition matrices: one draw a row and attribute."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from ppdm_flow.anonymizers.fine_grain_perturbation.cells import codes_of, column_of
from ppdm_flow.anonymizers.fine_grain_perturbation.people import words_of
from ppdm_flow.anonymizers.pram.matrices import GRID
from ppdm_flow.core.draws import Draws
from ppdm_flow.sdk.matrix_operator import MatrixOperator
from ppdm_flow.tables.column import Codes, Column
from ppdm_flow.tables.table import Table

Words = npt.NDArray[np.uint64]

_BITS = 53
_UNUSED = np.uint64(64 - _BITS)


@dataclass(frozen=True, slots=True, eq=False)
class PramTransform:
    """Randomizes each operator's attribute; every row uses its own draws only.

    With a ``subject``, the column that says whose row it is, rows of one person with equal values draw alike.
    """

    step: str
    operators: tuple[MatrixOperator, ...]
    subject: str | None = None

    @property
    def draws_per_row(self) -> int:
        """One word an attribute."""
        return len(self.operators)

    def apply(self, part: Table, draws: Draws) -> Table:
        """Randomize. Raises PluginError for a cell that the matrix has no row for."""
        words = draws.words(part.rows) if self.subject is None else None
        changed: dict[str, Column] = {}
        for at, operator in enumerate(self.operators):
            values = codes_of(part[operator.attribute], operator)
            if words is not None:
                own = words[:, at]
            else:
                own = words_of(part, draws, operator, values, str(self.subject), 1)[:, 0]
            changed[operator.attribute] = column_of(drawn(values, operator, own), operator)
        return part.replaced(changed)

    def describe(self) -> Mapping[str, Any]:
        """Sizes and probabilities of staying by attribute, no values."""
        return {
            "attributes": {
                o.attribute: {
                    "values": o.size,
                    "missing_is_a_value": None in o.domain,
                    "lowest_staying": float(o.staying.min()),
                    "highest_staying": float(o.staying.max()),
                }
                for o in self.operators
            }
        }


def drawn(values: Codes, operator: MatrixOperator, words: Words) -> Codes:
    """Return the new values (rows,): of value i the j whose stretch of row i's cumulative sums holds the draw.

    The cumulative sums of all rows stand one after another, each shifted by its row number, so that one binary search
    finds all draws. An entry of 0 has an empty stretch and is never drawn.
    """
    whole = np.rint(operator.transition * GRID).astype(np.uint64)
    start = np.arange(operator.size, dtype=np.uint64) << np.uint64(_BITS)
    ends = (np.cumsum(whole, axis=1, dtype=np.uint64) + start[:, None]).ravel()
    place = np.searchsorted(ends, (words >> _UNUSED) + start[values], side="right")
    out: Codes = (place - values.astype(np.int64) * operator.size).astype(np.int32)
    return out
