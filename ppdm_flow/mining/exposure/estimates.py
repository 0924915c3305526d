"""What an intruder takes for the original numbers: each released column, their means, and their median.

Weights are one over the mean squared errors of the columns, which whoever knows the method of a noise knows: then a
column that tells nothing does not hide what two others tell together. The median of three and more is not moved by a
few that are far off.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from ppdm_flow.mining.exposure.numbers import Floats, Ints

MEAN = "mean"
WEIGHTED = "weighted_mean"
MEDIAN = "median"


def estimates(original: Floats, released: Mapping[str, Floats], weights: Ints) -> dict[tuple[str, str], Floats]:
    """Return numbers (rows,) by (kind, column), NaN where nothing is shown; ``original`` has no NaN."""
    found = {("column", name): numbers for name, numbers in released.items()}
    if len(released) < 2:  # a mean needs two
        return found
    columns = list(released.values())
    found[MEAN, ""] = combined(columns, [1.0] * len(columns))
    if len(columns) > 2:  # that of two is the mean
        found[MEDIAN, ""] = _middle(columns)
    errors = [squared_error(original, numbers, weights) for numbers in columns]
    if all(error > 0 for error in errors):
        found[WEIGHTED, ""] = combined(columns, [1.0 / error for error in errors])
    return found


def squared_error(original: Floats, numbers: Floats, weights: Ints) -> float:
    """Return the mean squared error of the rows that show a number; infinite where none does.

    >>> squared_error(np.array([1.0, 2.0]), np.array([3.0, np.nan]), np.array([1, 1]))
    4.0
    """
    shown = ~np.isnan(numbers) & (weights > 0)
    total = int(weights[shown].sum())
    return float((weights[shown] * (numbers[shown] - original[shown]) ** 2).sum() / total) if total else float("inf")


def combined(columns: list[Floats], shares: list[float]) -> Floats:
    """Return the weighted mean of the numbers that each row shows, counted from the first of them.

    So equal numbers have just that mean, whatever the shares are.
    """
    first = np.full(len(columns[0]), np.nan)
    for numbers in reversed(columns):
        first = np.where(np.isnan(numbers), first, numbers)
    above, total = np.zeros(len(first)), np.zeros(len(first))
    for numbers, share in zip(columns, shares, strict=True):
        shown = ~np.isnan(numbers)
        above += np.where(shown, share * (numbers - first), 0.0)
        total += np.where(shown, share, 0.0)
    with np.errstate(invalid="ignore"):
        return np.asarray(first + above / np.where(total > 0, total, 1.0))


def _middle(columns: list[Floats]) -> Floats:
    """Return the median of the numbers that each row shows, NaN where there is none."""
    cells = np.sort(np.column_stack(columns), axis=1)  # NaN last
    shown = (~np.isnan(cells)).sum(axis=1)[:, np.newaxis]
    return np.asarray(
        np.take_along_axis(cells, np.hstack((np.maximum(shown - 1, 0) // 2, shown // 2)), axis=1).mean(axis=1)
    )


def best(original: Floats, released: Sequence[Floats], weights: Ints) -> Floats:
    """Return the weighted mean of columns, or of those of them alone that are exact; ``original`` may have NaN."""
    known = ~np.isnan(original)
    errors = [squared_error(original[known], numbers[known], weights[known]) for numbers in released]
    exact = [numbers for numbers, error in zip(released, errors, strict=True) if error == 0]
    if exact:
        rest = [numbers for numbers, error in zip(released, errors, strict=True) if error > 0]
        first = combined(exact, [1.0] * len(exact))
        return np.where(np.isnan(first), best(original, rest, weights), first) if rest else first
    return combined(list(released), [1.0 / error for error in errors])
