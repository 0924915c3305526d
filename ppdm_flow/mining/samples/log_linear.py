"""Log-linear models of a table of keys, fitted by iterative proportional fitting."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Term = tuple[int, ...]

CLOSE = 1e-5
"""How far a fitted margin may be from the observed one, as a share of the total."""
_SWEEPS = 200


@dataclass(frozen=True, slots=True, eq=False)
class LogLinearFit:
    """Expected ``cells``, shaped as the table; ``converged``: every fitted margin is as close as :data:`CLOSE`."""

    cells: Floats
    converged: bool


def main_effects(attributes: int) -> tuple[Term, ...]:
    """Return the terms of the model of independence of so many attributes."""
    return tuple((i,) for i in range(attributes))


def two_way(attributes: int) -> tuple[Term, ...]:
    """Return the terms of the model with the interactions of any two of so many attributes."""
    return tuple(combinations(range(attributes), 2))


def fit(table: Floats, terms: Sequence[Term]) -> LogLinearFit:
    """Fit the hierarchical model whose largest terms are ``terms``: its expected cells have the table's margins there.

    Parameters
    ----------
    table
        Counts or sums of weights, non-negative, one axis an attribute.
    terms
        Tuples of axes. Every axis is in one of them.

    These are the maximum likelihood estimates of independent Poisson cells (Deming, Stephan, 1940; Bishop, Fienberg,
    Holland, Discrete multivariate analysis, 1975, section 3.5). Main effects need one sweep.
    """
    margins = [_margin(table, term) for term in terms]
    total = float(table.sum())
    cells = np.ones(table.shape)
    for _ in range(_SWEEPS):
        for term, margin in zip(terms, margins, strict=True):
            now = _margin(cells, term)
            cells *= np.divide(margin, now, out=np.zeros_like(now), where=now > 0.0)
        off = max(float(np.abs(_margin(cells, t) - m).max()) for t, m in zip(terms, margins, strict=True))
        if off <= CLOSE * total:
            return LogLinearFit(cells, converged=True)
    return LogLinearFit(cells, converged=False)


def _margin(table: Floats, term: Term) -> Floats:
    others = tuple(axis for axis in range(table.ndim) if axis not in term)
    margin: Floats = table.sum(axis=others, keepdims=True)
    return margin
