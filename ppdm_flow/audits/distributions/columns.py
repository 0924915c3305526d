"""How far one column moved, and how strongly two columns go together: Cramér's V.

V = sqrt(chi-square / (n (min(r, c) - 1))), in [0, 1] (Cramér 1946, section 21.9), with missing and suppressed cells as
values of their own. A column with one value goes together with nothing: V = 0.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from ppdm_flow.core.results import Chart, FigureSeries
from ppdm_flow.sdk.audit import AuditContext
from ppdm_flow.sdk.view import DataView
from ppdm_flow.tables.column import MISSING, SPECIALS, SUPPRESSED, Codes, Column, stacked_texts, union
from ppdm_flow.tables.counts import Counts, count
from ppdm_flow.tables.table import Table

TOP = 20
ROUNDING = 1e-12

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class Shares:
    """Shares of rows by value, ``before`` and ``after``, shape (values + 2,): suppressed, missing, then ``names``.

    ``original`` (values,) are the shares of the original's own values, where ``before`` is at the released level.
    ``intervals``: the values are intervals of numbers, in their order.
    """

    names: pa.StringArray
    before: Floats
    after: Floats
    original: Floats | None = None
    intervals: bool = False

    @property
    def distance(self) -> float:
        """Total variation distance: half the sum of absolute differences, in [0, 1]."""
        return 0.5 * float(np.abs(self.before - self.after).sum())

    @property
    def suppressed(self) -> float:
        """The share of suppressed cells in the release."""
        return float(self.after[SUPPRESSED + SPECIALS])

    @property
    def generalization_loss(self) -> float:
        """The share of the original's entropy that the release does not have, in [0, 1].

        A suppressed cell tells nothing. Of a column that has one value, nothing but suppression can be lost.
        """
        mine = entropy(self.before if self.original is None else self.original)
        if mine <= 0:
            return self.suppressed
        told = self.after.copy()
        told[SUPPRESSED + SPECIALS] = 0.0
        loss = 1.0 - float(told.sum()) * entropy(told) / mine
        return min(1.0, loss) if loss > ROUNDING else 0.0

    def label(self, place: int, ctx: AuditContext, attribute: str, number: int) -> str:
        """Return how the value at ``place`` may be shown."""
        if place == SUPPRESSED + SPECIALS:
            return "suppressed"
        if place == MISSING + SPECIALS:
            return "missing"
        value = self.names[place - SPECIALS].as_py()
        if self.intervals:
            return str(value) if ctx.show_values else f"interval {place - SPECIALS + 1}"
        return ctx.label(attribute, value, number)


def entropy(shares: Floats) -> float:
    """Return Shannon's entropy, in nats, of weights that are divided by their sum; 0 where all are 0."""
    some = shares[shares > 0] / max(shares.sum(), np.finfo(np.float64).tiny)
    return max(0.0, -float((some * np.log(some)).sum()))


def shares(original: DataView, source: str, candidate: DataView, column: str) -> Shares:
    """Count one column on both sides; missing and suppressed cells are values of their own."""
    before, after = original.counts((source,)), candidate.counts((column,))
    both = stacked_texts([_cells(before, source), _cells(after, column)])
    size, first = len(both.categories), len(before)
    at_first, at_last = _share(both.codes[:first], before.counts, size), _share(both.codes[first:], after.counts, size)
    return Shares(both.categories, at_first, at_last)


def recoded_shares(joint: Counts) -> Shares | None:
    """Compare at the released level: each original value counts as the one that it became.

    ``joint`` counts (original, released) cells. None where some value became several, so that there is no such level;
    a value that was suppressed wherever it occurred keeps its own name.
    """
    original, released = joint.of("original"), joint.of("released")
    kept = released != SUPPRESSED
    pairs = np.unique(np.stack([original[kept], released[kept]]), axis=1)
    if (np.diff(pairs[0]) == 0).any():
        return None
    names = union((joint.names("original"), joint.names("released")))
    image = Column(original, joint.names("original")).onto(names).codes.copy()
    place = np.searchsorted(pairs[0], original)
    known = (place < pairs.shape[1]) & np.isin(original, pairs[0])
    target = Column(pairs[1].astype(np.int32), joint.names("released")).onto(names).codes
    image[known] = target[place[known]]
    after = Column(released, joint.names("released")).onto(names).codes
    own = np.bincount(original + SPECIALS, weights=joint.counts).astype(np.float64)
    at_level, shown = (_share(codes, joint.counts, len(names)) for codes in (image, after))
    return Shares(names, at_level, shown, own)


def _cells(counts: Counts, column: str) -> Column:
    return Column(counts.of(column), counts.names(column))


def _share(codes: Codes, counts: npt.NDArray[np.int64], size: int) -> Floats:
    rows = np.bincount(codes + SPECIALS, weights=counts, minlength=size + SPECIALS)
    share: Floats = rows / max(1.0, rows.sum())
    return share


def chart(column: str, attribute: str, shares: Shares, ctx: AuditContext) -> Chart:
    """Return bars for at most twenty values, those with the largest share on either side first; all of intervals.

    Intervals stand in the order of the numbers.
    """
    weight = np.maximum(shares.before, shares.after)
    if shares.intervals:
        order = [i for i in (*range(SPECIALS, len(weight)), *range(SPECIALS)) if weight[i] > 0]
    else:
        order = [i for i in np.argsort(-weight, kind="stable")[:TOP].tolist() if weight[i] > 0]
    rest = int((weight > 0).sum()) - len(order)
    return Chart(
        id=f"{column}.shares",
        title=f"{column}, before and after",
        kind="bars",
        x=tuple(shares.label(place, ctx, attribute, i + 1) for i, place in enumerate(order)),
        series=tuple(
            FigureSeries(name, tuple(float(values[i]) for i in order))
            for name, values in (("original", shares.before), ("released", shares.after))
        ),
        x_label="interval" if shares.intervals else "value",
        y_label="share of rows",
        note=_note(shares, rest),
        group=column,
    )


def _note(shares: Shares, rest: int) -> str:
    if shares.intervals:
        return "intervals of about equal shares of the original, in the order of the numbers"
    return f"{rest:,} further values are not shown" if rest else ""


def cramers_v(left: Codes, right: Codes, weights: Floats) -> float:
    """Return V of two columns of codes from 0, shape (rows,), with row weights."""
    return _cramers_v((left, right), (_sums(left, weights), _sums(right, weights)), weights)


def _cramers_v(pair: tuple[Codes, Codes], margins: tuple[Floats, Floats], weights: Floats) -> float:
    (left, right), (rows, columns) = pair, margins
    total = weights.sum()
    smaller = min(int((rows > 0).sum()), int((columns > 0).sum())) - 1
    if smaller < 1 or total <= 0:
        return 0.0
    keys = left.astype(np.int64) * len(columns) + right
    if len(rows) * len(columns) <= 4 * len(keys) + 1024:
        joint = _sums(keys, weights)
        cells = np.flatnonzero(joint)
        joint = joint[cells]
    else:
        cells, place = np.unique(keys, return_inverse=True)
        joint = _sums(place, weights)
        cells, joint = cells[joint > 0], joint[joint > 0]
    expected = rows[cells // len(columns)] * columns[cells % len(columns)]
    inertia = float((joint * joint / expected).sum()) - 1.0  # chi-square / n
    return float(np.sqrt(min(1.0, max(0.0, inertia) / smaller)))


def associations(table: Table, columns: list[str], weight: str | None) -> Floats:
    """Return V of each two columns, shape (columns, columns), 1 on the diagonal."""
    counts = count(table, columns, weight)  # equal rows once: 190 pairs are looked at
    weights = counts.counts.astype(np.float64)
    dense = [_renumbered(counts.of(c), len(counts.names(c))) for c in columns]
    margins = [_sums(codes, weights) for codes in dense]
    matrix = np.eye(len(columns))
    for i, left in enumerate(dense):
        for j in range(i):
            matrix[i, j] = matrix[j, i] = _cramers_v((left, dense[j]), (margins[i], margins[j]), weights)
    return matrix


def _renumbered(codes: Codes, categories: int) -> Codes:
    """Return the codes that occur, special marks too, under numbers from 0 in their order."""
    dense = codes + np.int32(SPECIALS)
    occurring = np.zeros(categories + SPECIALS, dtype=bool)
    occurring[dense] = True
    numbers = (np.cumsum(occurring) - 1).astype(np.int32)
    renumbered: Codes = numbers[dense]
    return renumbered


def _sums(place: npt.NDArray[np.int64] | Codes, weights: Floats) -> Floats:
    return np.bincount(place, weights=weights).astype(np.float64)
