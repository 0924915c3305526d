"""A column: integer codes into its categories, with marks of their own for missing and suppressed cells."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

_HEAD = 4096
"""Rows that are looked at before all others."""
_MANY = 1 << 17
"""Texts from which on arrays in order are merged."""
_BYTES = 1 << 30
"""What may be in one array of texts, which can hold twice as much."""
Codes = npt.NDArray[np.int32]

MISSING = -1
"""The code of a missing value."""
SUPPRESSED = -2
"""The code of a suppressed cell; no category and no missing value can be confused with it."""
SPECIALS = 2
"""How many codes lie below zero: ``code + SPECIALS`` is a dense code."""
SUPPRESSED_TEXT = "⊥"
"""How a suppressed cell is written in a released file."""


@dataclass(frozen=True, slots=True, eq=False)
class Column:
    """Codes, int32 of shape (rows,), and ``categories``, distinct non-null texts that codes >= 0 point into.

    Not every category needs to occur. Code -1 is a missing value, -2 a suppressed cell.
    """

    codes: Codes
    categories: pa.StringArray

    def __len__(self) -> int:
        return len(self.codes)

    @property
    def width(self) -> int:
        """The number of dense codes: categories and the special marks."""
        return len(self.categories) + SPECIALS

    @property
    def dense(self) -> Codes:
        """Codes shifted to start at 0: suppressed 0, missing 1, categories from 2."""
        return self.codes + np.int32(SPECIALS)

    @classmethod
    def of(cls, values: list[str | None], categories: list[str] | None = None) -> Column:
        """Build a small column from texts; None is missing, ``⊥`` is suppressed (tests and examples)."""
        known = sorted({v for v in values if v is not None and v != SUPPRESSED_TEXT})
        names = known if categories is None else categories
        place = {v: i for i, v in enumerate(names)} | {None: MISSING, SUPPRESSED_TEXT: SUPPRESSED}
        return cls(np.array([place[v] for v in values], dtype=np.int32), pa.array(names, pa.string()))

    def texts(self) -> list[str | None]:
        """Every cell as text, missing as None, suppressed as ``⊥``: for small tables."""
        names = [*self.categories.to_pylist(), SUPPRESSED_TEXT, None]  # indices -2 and -1
        return [names[c] for c in self.codes.tolist()]

    def take(self, rows: npt.NDArray[Any] | slice) -> Column:
        """Return the cells at ``rows``: positions, a boolean mask, or a slice, which copies nothing."""
        return Column(self.codes[rows], self.categories)

    def mapped(self, code_map: Codes, categories: pa.StringArray) -> Column:
        """Replace code ``c >= 0`` by ``code_map[c]``; special marks stay what they are."""
        if np.array_equal(code_map, np.arange(len(self.categories))):
            return Column(self.codes, categories)
        table = np.concatenate([np.asarray(code_map, dtype=np.int32), np.array([SUPPRESSED, MISSING], dtype=np.int32)])
        return Column(table.take(self.codes), categories)

    def onto(self, categories: pa.StringArray) -> Column:
        """Return the same cells, coded in ``categories``. Raises KeyError if a category in use is not among them."""
        if self.categories.equals(categories):
            return Column(self.codes, categories)
        place = pc.index_in(self.categories, value_set=categories)
        code_map = place.fill_null(MISSING).to_numpy(zero_copy_only=False).astype(np.int32)
        absent = np.flatnonzero(code_map < 0)
        if len(absent) and np.isin(self.codes, absent).any():
            raise KeyError("a category in use is not among the given ones")
        return self.mapped(code_map, categories)

    def in_use(self) -> npt.NDArray[np.bool_]:
        """Which categories occur, shape (len(categories),)."""
        used = np.bincount(self.codes[:_HEAD] + np.int32(SPECIALS), minlength=self.width)[SPECIALS:] > 0
        if len(self) <= _HEAD or used.all():  # few categories are all among the first rows
            return used
        return np.bincount(self.dense, minlength=self.width)[SPECIALS:] > 0

    def compact(self) -> Column:
        """Return the same cells with only the categories that occur, sorted: nothing else may reach a released file."""
        used = np.flatnonzero(self.in_use())
        names = self.categories.take(pa.array(used))
        order = pc.sort_indices(names).to_numpy()
        code_map = np.full(len(self.categories), MISSING, dtype=np.int32)
        code_map[used[order]] = np.arange(len(used), dtype=np.int32)
        return self.mapped(code_map, names.take(pa.array(order)))

    def numbers(self) -> npt.NDArray[np.float64]:
        """Categories as float64, shape (len(categories),). Raises pyarrow.ArrowInvalid where one is no number."""
        numbers: npt.NDArray[np.float64] = pc.cast(self.categories, pa.float64()).to_numpy(zero_copy_only=False)
        return numbers


def stacked_texts(columns: Sequence[Column]) -> Column:
    """Return the cells of columns of texts, one column after the other, with the :func:`union` of their categories."""
    first = columns[0].categories
    if all(c.categories.equals(first) for c in columns[1:]):
        codes = columns[0].codes if len(columns) == 1 else np.concatenate([c.codes for c in columns])
        if _ascending(first):
            return Column(codes, first)
        rank, distinct = _ranked(first)
        return Column(codes, first).mapped(rank, distinct)
    every = pa.chunked_array([c.categories for c in columns], pa.string())
    places, distinct = (_merged if _are_runs(every) else _hashed)(every)
    maps = np.split(places, np.cumsum([len(c.categories) for c in columns])[:-1])
    return Column(np.concatenate([c.mapped(m, distinct).codes for c, m in zip(columns, maps, strict=True)]), distinct)


def _are_runs(texts: pa.ChunkedArray) -> bool:
    """Whether each of a few long arrays is in order: to merge them takes a third of the time of a table of hashes."""
    many = len(texts) >= _MANY and texts.nbytes < _BYTES
    return many and all(map(_ascending, texts.chunks))


def _merged(texts: pa.ChunkedArray) -> tuple[Codes, pa.StringArray]:
    """Return the place of each text among the distinct ones in order, and these, of arrays that are in order."""
    order = pc.sort_indices(texts)
    ordered = texts.combine_chunks().take(order)
    first = np.ones(len(ordered), dtype=bool)
    first[1:] = pc.not_equal(ordered[1:], ordered[:-1]).to_numpy(zero_copy_only=False)
    places = np.empty(len(ordered), dtype=np.int32)
    places[order.to_numpy()] = np.cumsum(first, dtype=np.int32) - np.int32(1)
    return places, ordered if first.all() else ordered.filter(pa.array(first))


def _hashed(texts: pa.ChunkedArray) -> tuple[Codes, pa.StringArray]:
    """Return the place of each text among the distinct ones in order, and these."""
    coded = pc.dictionary_encode(texts)
    distinct, places = coded.chunk(coded.num_chunks - 1).dictionary, np.concatenate([c.indices for c in coded.chunks])
    if not _ascending(distinct):
        rank, distinct = _ranked(distinct)
        places = rank[places]
    return places.astype(np.int32, copy=False), distinct


def union(parts: Iterable[pa.StringArray]) -> pa.StringArray:
    """All categories of ``parts``, each once, in binary order of their UTF-8 text: the same for any partitioning."""
    arrays = list(parts)
    if not arrays:
        return pa.array([], pa.string())
    if all(a.equals(arrays[0]) for a in arrays[1:]):
        distinct = arrays[0]
    else:
        distinct = pc.unique(pa.chunked_array(arrays, pa.string()))
    return distinct if _ascending(distinct) else distinct.take(pc.sort_indices(distinct))


def _ranked(texts: pa.StringArray) -> tuple[Codes, pa.StringArray]:
    """Return the place of each text, which occurs once, among them in order, and the texts in order."""
    order = pc.sort_indices(texts)
    rank = np.empty(len(texts), dtype=np.int32)
    rank[order.to_numpy()] = np.arange(len(texts), dtype=np.int32)
    return rank, texts.take(order)


def _ascending(texts: pa.StringArray) -> bool:
    """Whether texts are in order, each once: far faster than to sort them."""
    return bool(pc.all(pc.less(texts[:-1], texts[1:]), min_count=0).as_py())
