"""The design matrix of a regression: an intercept, numbers as they are, and one 0/1 column a category.

The matrix is never built as a whole. The intercept and the columns of the categorical with most categories are only
groups of rows; the other columns are built a block of rows at a time.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]

BLOCK = 1 << 15
"""Rows of the matrix that are built at once."""

Term = tuple[str, int]
"""An attribute and a code: -1 marks a number, and the intercept, whose attribute is ``""``."""
INTERCEPT: Term = ("", -1)


@dataclass(frozen=True, slots=True, eq=False)
class Numbers:
    """An attribute that enters as a number: ``values`` of shape (rows,)."""

    name: str
    values: Floats


@dataclass(frozen=True, slots=True, eq=False)
class CategoricalTerm:
    """An attribute that enters as categories: ``codes`` >= 0 of shape (rows,); ``base`` has no column."""

    name: str
    codes: Integers
    base: int


Predictor = Numbers | CategoricalTerm


@dataclass(frozen=True, eq=False)
class Design:
    """The rows of a regression; ``terms`` are the columns of its matrix, in order."""

    predictors: tuple[Predictor, ...]
    rows: int
    terms: tuple[Term, ...]

    @classmethod
    def of(cls, predictors: Sequence[Predictor], rows: int) -> Design:
        """Return the design with an intercept and a term for each category that occurs, but for the base."""
        terms = [INTERCEPT]
        for each in predictors:
            if isinstance(each, Numbers):
                terms.append((each.name, -1))
            else:
                occurring = np.flatnonzero(np.bincount(each.codes)) if len(each.codes) else ()
                terms += [(each.name, int(code)) for code in occurring if code != each.base]
        return cls(tuple(predictors), rows, tuple(terms))

    @cached_property
    def grouping(self) -> CategoricalTerm | None:
        """The categorical with most terms."""
        sizes = Counter(name for name, _ in self.terms)
        categoricals = [p for p in self.predictors if isinstance(p, CategoricalTerm) and sizes[p.name]]
        return max(categoricals, key=lambda p: sizes[p.name], default=None)

    @cached_property
    def group_terms(self) -> Integers:
        """The places of the terms of groups 1, 2, …; group 0 is the base, of which the intercept tells."""
        name = None if self.grouping is None else self.grouping.name
        return np.flatnonzero([place > 0 and term[0] == name for place, term in enumerate(self.terms)])

    @cached_property
    def groups(self) -> Integers:
        """The group of each row, shape (rows,)."""
        if self.grouping is None:
            return np.zeros(self.rows, dtype=np.int64)
        group_of = np.zeros(len(self.terms), dtype=np.int64)
        group_of[self.group_terms] = np.arange(1, len(self.group_terms) + 1)
        return group_of[self._columns(self.grouping)[self.grouping.codes]]

    @cached_property
    def other_terms(self) -> Integers:
        """The places of the terms that are neither the intercept nor one of a group."""
        return np.setdiff1d(np.arange(1, len(self.terms)), self.group_terms)

    def blocks(self) -> Iterator[tuple[slice, Floats]]:
        """Yield rows and the columns of the other terms, shape (rows, other terms)."""
        place_of = np.full(len(self.terms), -1)
        place_of[self.other_terms] = np.arange(len(self.other_terms))
        others = [(p, place_of[self._columns(p)]) for p in self.predictors if p is not self.grouping]
        for start in range(0, self.rows, BLOCK):
            rows = slice(start, min(self.rows, start + BLOCK))
            block = np.zeros((rows.stop - start, len(self.other_terms)))
            for each, column in others:
                if isinstance(each, Numbers):
                    block[:, column[0]] = each.values[rows]
                else:
                    columns = column[each.codes[rows]]
                    hit = np.flatnonzero(columns >= 0)
                    block[hit, columns[hit]] = 1.0
            yield rows, block

    def predict(self, values: Floats) -> Floats:
        """Return the product of the matrix and the values of the terms, shape (rows,)."""
        predicted: Floats = np.full(self.rows, values[0])
        for each in self.predictors:
            column = self._columns(each)
            if isinstance(each, Numbers):
                predicted += each.values * values[column[0]]
            else:
                predicted += np.where(column > 0, values[column], 0.0)[each.codes]
        return predicted

    def _columns(self, predictor: Predictor) -> Integers:
        """Return the place of each code's column, 0 for the base; of numbers their one place."""
        if isinstance(predictor, Numbers):
            return np.array([self.terms.index((predictor.name, -1))])
        widest = int(predictor.codes.max(initial=-1)) + 1
        columns = np.zeros(max(1, widest), dtype=np.int64)
        for place, (name, code) in enumerate(self.terms):
            if name == predictor.name and place:
                columns[code] = place
        return columns
