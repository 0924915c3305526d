"""The design matrix of a regression: an intercept, numbers as they are, and one 0/1 column a category.

The matrix is never built as a whole; its blocks of rows are built one after the other.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

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


@dataclass(frozen=True, slots=True, eq=False)
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

    def every(self, stride: int) -> Design:
        """Return the design of the first of each ``stride`` rows, with the same terms."""
        some = slice(None, None, stride)
        taken = tuple(
            replace(p, values=p.values[some]) if isinstance(p, Numbers) else replace(p, codes=p.codes[some])
            for p in self.predictors
        )
        return Design(taken, -(-self.rows // stride), self.terms)

    def blocks(self) -> Iterator[tuple[slice, Floats]]:
        """Yield rows and their part of the matrix, shape (rows, terms)."""
        places = [self._columns(each) for each in self.predictors]
        for start in range(0, self.rows, BLOCK):
            rows = slice(start, min(self.rows, start + BLOCK))
            block = np.zeros((rows.stop - start, len(self.terms)))
            block[:, 0] = 1.0
            for each, column in zip(self.predictors, places, strict=True):
                if isinstance(each, Numbers):
                    block[:, column[0]] = each.values[rows]
                else:
                    columns = column[each.codes[rows]]
                    hit = np.flatnonzero(columns)
                    block[hit, columns[hit]] = 1.0
            yield rows, block

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
