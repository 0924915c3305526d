"""How much of an attribute a released column keeps: errors of guesses with its labels, and without them."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt
import pyarrow.compute as pc

from ppdm_flow.audits.information_kept.covers import Covers, covers
from ppdm_flow.audits.information_kept.values import Categories, SortedNumbers, Values, floats_of
from ppdm_flow.mining.releases.attributes import source_of
from ppdm_flow.sdk.audit import AuditContext
from ppdm_flow.sdk.view import DataView, PairedView
from ppdm_flow.tables.column import MISSING, Column
from ppdm_flow.tables.counts import weights_of
from ppdm_flow.tables.numeric.column import NumericColumn

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]


class UnreadError(Exception):
    """So many of the labels of a column cannot be read."""

    def __init__(self, unreadable: int, labels: int) -> None:
        super().__init__(f"{unreadable:,} of its {labels:,} labels cannot be read")


def share_kept(
    values: Values, pairs: PairedView, candidate: DataView, column: str, weight: str | None, ctx: AuditContext
) -> float | None:
    """Return max(0, 1 - what is lost / what there was to lose); None where there was nothing to lose.

    A row that is not in the release loses all. Raises UnreadError. ``weight`` is the original's column of weights.
    """
    tally = _Tally(values)
    read: Covers | None = None
    for original, released, rows in _cells(pairs, source_of(column, ctx), column, weight, candidate):
        value = values.places(original)
        if isinstance(released, NumericColumn) and isinstance(values, SortedNumbers):
            tally.add_numbers(values, value, floats_of(released), rows)
            continue
        if read is None:
            read = covers(candidate.domain(column), values, column, ctx.attributes.get(column), ctx)
            if read.unreadable:
                raise UnreadError(read.unreadable, len(read.labels))
        tally.add_labels(value, released, read, rows)
    return tally.share


def _cells(
    pairs: PairedView, source: str, column: str, weight: str | None, candidate: DataView
) -> Iterator[tuple[Column, Column, Integers]]:
    """Yield original cells, released ones, and the rows of each: partitions where columns hold numbers, else counts."""
    if weight is None and not candidate.schema[column].numeric:
        joint = pairs.joint(source, column)
        original, released = (Column(joint.of(side), joint.names(side)) for side in ("original", "released"))
        yield original, released, joint.counts
        return
    for mine, theirs in pairs.pairs(list(dict.fromkeys([source, *([weight] if weight else [])])), [column]):
        rows = np.ones(len(mine), np.int64) if weight is None else weights_of(mine[weight])
        yield mine[source], theirs[column], rows


class _Tally:
    """Sums over paired rows; ``blank`` (values + 1,) are rows of each value whose released cell is missing."""

    def __init__(self, values: Values) -> None:
        self.values = values
        self.lost = 0.0
        self.paired = np.zeros(len(values.counts), np.int64)
        self.blank = np.zeros(len(values.counts), np.int64)

    def add_numbers(self, values: SortedNumbers, value: Integers, released: Floats, rows: Integers) -> None:
        """Add rows with a number in the release; NaN is a missing one."""
        missing = np.isnan(released)
        self._note(value, rows, missing)
        shown = ~missing
        self.lost += float(_to_points(values, value[shown], released[shown]) @ rows[shown])

    def add_labels(self, value: Integers, released: Column, read: Covers, rows: Integers) -> None:
        """Add rows with a label in the release."""
        self._note(value, rows, released.codes == MISSING)
        hidden, shown = released.codes < MISSING, released.codes >= 0
        place = _numbered(released, read)
        hidden[shown] = read.wide[place[shown]]
        self.lost += float(self.values.guessing[value[hidden]] @ rows[hidden])
        told = shown & ~hidden
        self.lost += float(_expected(self.values, value[told], place[told], read) @ rows[told])

    def _note(self, value: Integers, rows: Integers, missing: npt.NDArray[np.bool_]) -> None:
        size = len(self.paired)
        self.paired += np.bincount(value, weights=rows, minlength=size).astype(np.int64)
        self.blank += np.bincount(value[missing], weights=rows[missing], minlength=size).astype(np.int64)

    @property
    def share(self) -> float | None:
        """The share that is kept.

        A missing cell tells that the original's is missing, unless others became missing too: then it tells nothing.
        """
        guessing, counts = self.values.guessing, self.values.counts
        every = float(np.maximum(counts, self.paired) @ guessing)
        if every <= 0:
            return None
        hidden = float(self.blank @ guessing) if self.blank[:-1].any() else 0.0
        dropped = float(np.maximum(counts - self.paired, 0) @ guessing)
        return min(1.0, max(0.0, 1.0 - (self.lost + hidden + dropped) / every))


def _numbered(column: Column, read: Covers) -> Integers:
    """Return the place of each cell's label; anything for cells without one."""
    places = pc.index_in(column.categories, value_set=read.labels).fill_null(-1).to_numpy(zero_copy_only=False)
    return np.asarray(np.append(places.astype(np.int64), [-1, -1])[column.codes])


def _expected(values: Values, value: Integers, label: Integers, read: Covers) -> Floats:
    """Return how far each value is, on average, from one drawn from what its label covers."""
    if isinstance(values, Categories):
        return 1.0 - np.where(
            _covered(value, label, read, len(values.texts)), values.counts[value] / read.rows[label], 0.0
        )
    expected = np.full(len(value), values.missing_distance)
    known = value < len(values.values)
    single = known & ~np.isnan(read.points[label])
    expected[single] = _to_points(values, value[single], read.points[label[single]])
    several = np.flatnonzero(known & ~single)
    owner, run = read.runs_of(label[several])
    apart = values.distances(value[several][owner], read.begin[run], read.end[run])
    sums = np.bincount(owner, weights=apart, minlength=len(several))
    expected[several] = sums / read.rows[label[several]]
    return expected


def _covered(value: Integers, label: Integers, read: Covers, size: int) -> npt.NDArray[np.bool_]:
    """Return whether the label covers the value."""
    keys = read.owner * (size + 1) + read.begin
    run = np.searchsorted(keys, label * (size + 1) + value, side="right") - 1
    inside = (
        (run >= 0) & (read.owner[run] == label) & (value < read.end[run]) if len(keys) else np.zeros(len(value), bool)
    )
    return np.asarray(inside)


def _to_points(values: SortedNumbers, value: Integers, points: Floats) -> Floats:
    apart = np.abs(values.positions[value] - values.scaled(points))
    return np.where(value < len(values.values), apart, values.missing_distance)
