"""Whether released values depend on the values of other records: measured on pairs of original and released rows.

Given all original values, a faithful operator draws each row for itself. So whether a row keeps its value says nothing
of whether the next one does, and a row takes the next one's original value as often as the operator says. Both are
tested with Bennett's bound (Freedman's for the products, which are martingale differences), valid for any number of
rows.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ppdm_flow.sdk.anonymizer import ValueOperator
from ppdm_flow.sdk.audit import AuditContext
from ppdm_flow.sdk.matrix_operator import MatrixOperator
from ppdm_flow.tables.column import MISSING, SPECIALS, Column

Places = npt.NDArray[np.int64]


@dataclass(slots=True)
class NeighbourDependence:
    """Deviations from what is expected and their largest variances: of kept neighbours, of the neighbour's value."""

    kept: float = 0.0
    kept_variance: float = 0.0
    taken: float = 0.0
    taken_variance: float = 0.0
    rows: int = 0

    @property
    def p_value(self) -> float:
        """The probability of deviations as large as these; Bonferroni over the two."""
        both = (_tail(self.kept, self.kept_variance), _tail(self.taken, self.taken_variance))
        return min(1.0, 2.0 * min(both))


def independence(operator: ValueOperator, source: str, column: str, ctx: AuditContext) -> NeighbourDependence | None:
    """Compare every row with the next; None where rows cannot be paired or hold values the operator does not know."""
    if ctx.pairs is None:
        return None
    dependence = NeighbourDependence()
    for original, released in _neighbours(operator, source, column, ctx):
        if (original < 0).any() or (released < 0).any():
            return None
        _compare(operator, original, released, dependence)
    return dependence


def _neighbours(
    operator: ValueOperator, source: str, column: str, ctx: AuditContext
) -> Iterator[tuple[Places, Places]]:
    """Yield places in the domain, each partition with the last row of the one before it."""
    if ctx.pairs is None:
        return
    last = (np.zeros(0, dtype=np.int64),) * 2
    for left, right in ctx.pairs.pairs([source], [column]):
        original = np.concatenate([last[0], _places(left[source], operator)])
        released = np.concatenate([last[1], _places(right[column], operator)])
        yield original, released
        last = (original[-1:], released[-1:])


def _compare(operator: ValueOperator, original: Places, released: Places, dependence: NeighbourDependence) -> None:
    if len(original) < 2:
        return
    chance = operator.staying[original]
    off = (original == released) - chance
    spread = chance * (1.0 - chance)
    dependence.kept += float(off[:-1] @ off[1:])
    dependence.kept_variance += float(np.maximum(chance[:-1], 1.0 - chance[:-1]) ** 2 @ spread[1:])
    mine, next_one = original[:-1], original[1:]
    expected = _chance(operator, mine, next_one)
    dependence.taken += float((released[:-1] == next_one).sum() - expected.sum())
    dependence.taken_variance += float((expected * (1.0 - expected)).sum())
    dependence.rows += len(mine)


def _chance(operator: ValueOperator, original: Places, released: Places) -> npt.NDArray[np.float64]:
    """Return Pr[released | original] of each pair of places."""
    if isinstance(operator, MatrixOperator):
        return operator.transition[original, released]
    leave = (1.0 - operator.retention) / operator.size
    return np.where(original == released, operator.staying[original], leave[original])


def _places(column: Column, operator: ValueOperator) -> Places:
    """Return the place of each cell in the operator's domain, -1 outside of it."""
    of_value = {value: i for i, value in enumerate(operator.domain)}
    table = np.full(len(column.categories) + SPECIALS, -1, dtype=np.int64)
    table[SPECIALS + MISSING] = of_value.get(None, -1)
    table[SPECIALS:] = [of_value.get(name, -1) for name in column.categories.to_pylist()]
    return table[column.codes + SPECIALS]


def _tail(deviation: float, variance: float) -> float:
    """Return Bennett's bound of a two-sided tail of a sum of terms of at most 1; exact where nothing is random."""
    if variance <= 1e-9:
        return 0.0 if abs(deviation) > 1e-6 else 1.0
    ratio = abs(deviation) / variance
    return min(1.0, 2.0 * math.exp(-variance * ((1.0 + ratio) * math.log1p(ratio) - ratio)))
