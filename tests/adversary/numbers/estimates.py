"""What somebody takes for original numbers: what each column shows, and what several show together; exactly."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from statistics import median

from adversary.numbers.reading import Number

Numbers = Sequence[Number]


def estimates(original: Numbers, columns: Sequence[Numbers]) -> Iterator[list[Number]]:
    """Yield each column; of several their mean, that by their errors, and the median. ``original`` has all numbers."""
    yield from map(list, columns)
    if len(columns) < 2:
        return
    yield by_row(columns, lambda cells: sum(cells, Fraction(0)) / len(cells))
    yield by_row(columns, median)
    errors = [squared_error(original, c) for c in columns]
    if 0 not in errors:
        yield weighted(columns, errors)


def by_row(columns: Sequence[Numbers], of: Callable[[list[Fraction]], Fraction]) -> list[Number]:
    """Return what ``of`` makes of the numbers that each row shows."""
    rows = [[c for c in cells if c is not None] for cells in zip(*columns, strict=True)]
    return [of(cells) if cells else None for cells in rows]


def squared_error(original: Numbers, column: Numbers) -> Number:
    """Return the mean squared error of the rows that show a number; None where none does."""
    found = [(a - b) ** 2 for a, b in zip(original, column, strict=True) if a is not None and b is not None]
    return sum(found, Fraction(0)) / len(found) if found else None


def weighted(columns: Sequence[Numbers], errors: Sequence[Number]) -> list[Number]:
    """Return the mean of each row, weighted by one over the error; a column without errors says nothing."""
    found: list[Number] = []
    for cells in zip(*columns, strict=True):
        parts = [(1 / e, c) for c, e in zip(cells, errors, strict=True) if c is not None and e]
        whole = sum((w for w, _ in parts), Fraction(0))
        plain = [c for c in cells if c is not None]
        found.append(sum((w * c for w, c in parts), Fraction(0)) / whole if whole else (plain or [None])[0])
    return found


def best(original: Numbers, columns: Sequence[Numbers]) -> list[Number]:
    """Return the mean of exact columns where a row shows one, else that by the errors of the others."""
    errors = [squared_error(original, c) for c in columns]
    exact = [c for c, e in zip(columns, errors, strict=True) if e == 0]
    rest = [(c, e) for c, e in zip(columns, errors, strict=True) if e != 0]
    first = by_row(exact, lambda cells: cells[0]) if exact else [None] * len(original)
    then = weighted([c for c, _ in rest], [e for _, e in rest]) if rest else [None] * len(original)
    return [b if a is None else a for a, b in zip(first, then, strict=True)]
