"""Released rows counted by everything that a requirement looks at: grouping, originals, mixed cells, shown cells."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from ppdm_flow.core.roles import Nulls
from ppdm_flow.mining.exposure.columns import ReadingMethod, RevealingColumns, ValueColumns
from ppdm_flow.mining.exposure.rows import CountedRows
from ppdm_flow.tables.column import MISSING, SPECIALS
from ppdm_flow.tables.counts import Counts
from ppdm_flow.tables.numbering import joined

Ints = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class CountLayout:
    """Which columns of the counts are what: places of grouping and mixed columns, shown cells, originals, own value.

    Last comes the person, where people are counted. Cells ``beside`` these may tell which rows are one person's.

    ``released`` and ``original`` are the columns that are asked for; ``known`` those that must not be missing where
    missing values are left out.
    """

    released: tuple[str, ...]
    original: tuple[str, ...]
    known: tuple[str, ...]
    grouping: range
    mixed: range
    shown: range
    originals: range
    value: int | None
    person: int | None = None
    beside: range = range(0)

    @classmethod
    def of(
        cls,
        columns: RevealingColumns,
        reading: ValueColumns | None,
        leading: int,
        nulls: Nulls,
        *,
        values_known: bool = True,
        subject: str | None = None,
        beside: Sequence[str] = (),
    ) -> CountLayout:
        """Lay the columns out; ``leading`` further ones that form classes come first.

        ``values_known``: where missing values are left out, rows that miss a sensitive cell are left out as well.
        ``subject`` is the attribute that says whose row it is, where people are counted.
        """
        shown = () if reading is None else reading.shown
        own = () if reading is None or reading.way is ReadingMethod.SHOWN else (reading.attribute,)
        known = columns.known if columns.mixed else ()
        groups, mixed = leading + len(columns.grouping), len(columns.mixed)
        after = groups + mixed + len(shown)
        start = after + len(beside)
        needed = (*columns.every, *(shown if values_known else ())) if nulls is Nulls.EXCLUDE else ()
        return cls(
            released=(*columns.every, *shown, *beside),
            original=(*known, *own, *(() if subject is None else (subject,))),
            known=needed,
            grouping=range(groups),
            mixed=range(groups, groups + mixed),
            shown=range(groups + mixed, after),
            originals=range(start, start + len(known)),
            value=start + len(known) if own else None,
            person=None if subject is None else start + len(known) + len(own),
            beside=range(after, start),
        )

    def must_be_known(self, leading: int) -> list[int]:
        """Return the places of the columns that must not be missing."""
        return [leading + i for i, c in enumerate(self.released) if c in self.known]


@dataclass(frozen=True, slots=True, eq=False)
class CountedCombinations:
    """``codes`` (combinations, columns) and ``rows`` (combinations,), in the columns of ``layout``."""

    layout: CountLayout
    codes: npt.NDArray[np.int32]
    rows: Ints
    categories: tuple[pa.StringArray, ...]
    left_out: int = 0

    def number(self, *places: Sequence[int]) -> Ints:
        """Number the combinations by their cells in these columns, from 0."""
        numbers = np.zeros(len(self.rows), dtype=np.int64)
        for place in (p for each in places for p in each):
            numbers = joined(numbers, self.codes[:, place].astype(np.int64) + SPECIALS)
        return numbers

    def collapsed(self, places: Sequence[int], value: npt.NDArray[np.int32], names: pa.StringArray) -> Counts:
        """Count by these columns, and by one more of codes into ``names``, which comes last."""
        every = tuple(str(i) for i in range(len(places) + 1))
        categories = (*(self.categories[p] for p in places), names)
        codes = np.column_stack([*(self.codes[:, p] for p in places), value]).astype(np.int32)
        return Counts(every, categories, codes.reshape(len(self.rows), len(every)), self.rows).project(every)


def ground(rows: CountedRows, layout: CountLayout) -> CountedCombinations:
    """Count the rows, without those that the null semantics leave out."""
    counts = rows.counts(layout.released, layout.original)
    kept = counts.counts > 0
    needed = layout.must_be_known(rows.leading)
    left_out = 0
    if needed:
        known = ~(counts.codes[:, needed] == MISSING).any(axis=1)
        left_out = int(counts.counts[~known].sum())
        kept &= known
    return CountedCombinations(layout, counts.codes[kept], counts.counts[kept], counts.categories, left_out)
