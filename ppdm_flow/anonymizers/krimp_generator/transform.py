"""Making rows, a partition at a time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from ppdm_flow.anonymizers.krimp_generator.cells import Maker, Raw, Words, scaled
from ppdm_flow.core.diagnostics import Diagnostic
from ppdm_flow.core.draws import Draws
from ppdm_flow.core.errors import PluginError
from ppdm_flow.mining.generation import RowGenerator
from ppdm_flow.tables.column import SPECIALS, Column
from ppdm_flow.tables.counts import Counts
from ppdm_flow.tables.table import RowNumbers, Table, concat

ATTEMPTS = 1000
"""How often a row is drawn anew before it is replaced."""
_AT_ONCE = 1 << 22
"""Words of randomness that are looked at together: 32 MB."""
Bools = npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True, eq=False)
class Drafts:
    """Rows before they are written: ``items`` (rows, attributes), ``raw`` values by attribute.

    ``itemsets`` (rows,): how many elements made each.
    """

    items: npt.NDArray[np.int32]
    raw: tuple[Raw, ...]
    itemsets: npt.NDArray[np.int32]


@dataclass(frozen=True, slots=True, eq=False)
class GeneratorTransform:
    """``code`` (items,) is the code of each item in its attribute; ``makers`` are in the order of ``names``.

    ``rejection``: rows that are not made, where blending is strict. ``account`` is what the report may tell.
    """

    model: RowGenerator
    code: npt.NDArray[np.int32]
    names: tuple[str, ...]
    makers: tuple[Maker, ...]
    row_count: int
    rejection: Rejection | None
    account: Mapping[str, Any]

    @property
    def draws_per_row(self) -> int:
        """A word for each attribute, one more for each number, one for a replacement."""
        return self.model.draws_per_row + sum(m.draws for m in self.makers) + (self.rejection is not None)

    def generate(self, rows: RowNumbers, draws: Draws) -> Table:
        """Make the rows of these numbers. Raises PluginError where all that can be drawn is rejected."""
        step = max(1, _AT_ONCE // max(1, self.draws_per_row))
        return concat(self._stretch(rows[at : at + step], draws) for at in range(0, max(1, len(rows)), step))

    def drafts(self, words: Words) -> Drafts:
        """Make rows from words, of which some may be rejected."""
        width = self.model.draws_per_row
        made = self.model.generate(words[:, :width])
        codes = self.code[made.cells]
        raw, at = [], width
        for place, maker in enumerate(self.makers):
            raw.append(maker.raw(codes[:, place], words[:, at] if maker.draws else words[:, :0].ravel()))
            at += maker.draws
        return Drafts(made.cells, tuple(raw), made.itemsets)

    def rejected(self, drafts: Drafts) -> npt.NDArray[np.bool_]:
        """Return which rows must not be made."""
        if self.rejection is None:
            return np.zeros(len(drafts.items), dtype=bool)
        cells = [m.original(r) for m, r in zip(self.makers, drafts.raw, strict=True)]
        return self.rejection.hit(cells, self.code[drafts.items])

    def describe(self) -> Mapping[str, Any]:
        """Return the shape of the code table and how each attribute is made; no values."""
        return self.account

    def _stretch(self, rows: RowNumbers, draws: Draws) -> Table:
        words = draws.words(rows)
        drafts = self.drafts(words)
        raw, left = drafts.raw, np.flatnonzero(self.rejected(drafts))
        for attempt in range(1, ATTEMPTS + 1):
            if not len(left):
                break
            redrawn = self.drafts(draws.again(attempt).words(rows[left]))
            for old, new in zip(raw, redrawn.raw, strict=True):
                old[left] = new
            left = left[self.rejected(redrawn)]
        columns = [m.column(r) for m, r in zip(self.makers, raw, strict=True)]
        table = Table(dict(zip(self.names, columns, strict=True)), rows)
        return self._replaced(table, left, words) if len(left) else table

    def _replaced(self, table: Table, left: npt.NDArray[np.int64], words: Words) -> Table:
        """Put rows of the original that are frequent enough where every draw was rejected."""
        assert self.rejection is not None  # noqa: S101 - nothing is rejected otherwise
        safe = self.rejection.exact
        reach = safe.reach
        if not len(reach):
            text = f"{len(left)} rows are rejected however often they are drawn: rows of the original are too rare"
            raise PluginError(Diagnostic("PPF744", text, help="lower the minimal support, or say `blend: allow`"))
        chosen = np.searchsorted(reach, scaled(words[left, -1], np.full(len(left), reach[-1])), side="right")
        codes = safe.safe[chosen]
        columns = {n: Column(codes[:, i], c) for i, (n, c) in enumerate(zip(self.names, safe.categories, strict=True))}
        others = np.setdiff1d(np.arange(len(table)), left)
        replaced = concat([table.take(others), Table(columns, table.rows[left])])
        return replaced.take(np.argsort(np.concatenate([others, left])))


# Rows that must not be made: those of the original that are too rare in it.


_KEY_LIMIT = 1 << 62


@dataclass(frozen=True, slots=True, eq=False)
class Stage:
    """Columns ``begin:end`` and the rank of the columns before them are one number, of radixes ``widths``.

    ``keys`` are the numbers that rows of the original have, ascending.
    """

    begin: int
    end: int
    widths: tuple[int, ...]
    keys: Raw

    def rank(self, cells: Sequence[Raw], before: Raw) -> tuple[Raw, Bools]:
        """Return the place of each row's number among the keys, and whether it is there."""
        numbers = _packed(cells[self.begin : self.end], self.widths, before)
        at = np.minimum(np.searchsorted(self.keys, numbers), len(self.keys) - 1)
        return at, self.keys[at] == numbers


@dataclass(frozen=True, slots=True, eq=False)
class RareRows:
    """The rows of the original with a support below a limit, and those that have it.

    ``safe`` (rows, attributes): codes of the original's rows that are frequent enough; ``reach`` (rows,): the running
    sum of their supports. ``categories`` are what the codes point into.
    """

    stages: tuple[Stage, ...]
    safe: npt.NDArray[np.int32]
    reach: Raw
    categories: tuple[pa.StringArray, ...]

    def hit(self, cells: Sequence[Raw]) -> Bools:
        """Return which rows, given column by column in the original's codes, are rare ones of the original."""
        rows = len(cells[0])
        if not self.stages:
            return np.zeros(rows, dtype=bool)
        alive: Bools = np.logical_and.reduce([c >= -SPECIALS for c in cells])
        rank = np.zeros(rows, dtype=np.int64)
        for stage in self.stages:
            rank, there = stage.rank(cells, rank)
            alive &= there
        return alive


@dataclass(frozen=True, slots=True, eq=False)
class Rejection:
    """Rows are compared cell by cell, and, where there are intervals, also with these in place of numbers."""

    exact: RareRows
    coarse: RareRows | None

    def hit(self, cells: Sequence[Raw], codes: npt.NDArray[np.int32]) -> Bools:
        """Return which rows are rare, from cells in the original's codes and ``codes`` (rows, attributes) of items."""
        rejected = self.exact.hit(cells)
        return rejected if self.coarse is None else rejected | self.coarse.hit(list(codes.T.astype(np.int64)))


def rejection(every: Counts, coded: Counts | None, limit: int) -> Rejection:
    """Look for rows with a support below ``limit``, in ``coded`` (with intervals) too where it is given.

    A row that is frequent enough cell by cell is so by intervals as well.
    """
    coarse = None if coded is None else rare(coded.project(coded.columns), limit)
    return Rejection(rare(every, limit), coarse)


def rare(counts: Counts, limit: int) -> RareRows:
    """Look for the rows of ``counts`` with a support below ``limit``."""
    few = (counts.counts > 0) & (counts.counts < limit)
    codes = counts.codes[few]
    stages: list[Stage] = []
    rank = np.zeros(len(codes), dtype=np.int64)
    ranks, begin = 1, 0
    widths = [len(c) + SPECIALS for c in counts.categories]
    while begin < len(widths) and len(codes):
        end, radix = begin, ranks
        while end < len(widths) and (end == begin or radix * widths[end] < _KEY_LIMIT):
            radix *= widths[end]
            end += 1
        here = tuple(widths[begin:end])
        keys, rank = np.unique(_packed(list(codes.T[begin:end]), here, rank), return_inverse=True)
        stages.append(Stage(begin, end, here, keys))
        ranks, begin = len(keys), end
    enough = counts.counts >= limit
    return RareRows(tuple(stages), counts.codes[enough], np.cumsum(counts.counts[enough]), counts.categories)


def _packed(columns: Sequence[npt.NDArray[np.integer]], widths: tuple[int, ...], before: Raw) -> Raw:
    numbers = before.astype(np.int64)
    for column, width in zip(columns, widths, strict=True):
        numbers = numbers * width + np.clip(column, -SPECIALS, None) + SPECIALS
    return numbers
