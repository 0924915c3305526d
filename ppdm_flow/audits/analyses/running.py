"""An analysis on one side: estimates of means and coefficients, or the shares of a table."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ppdm_flow.audits.analyses.data import AnalysisData, AnalysisSide
from ppdm_flow.audits.analyses.variables import UncomparableError
from ppdm_flow.core.analyses import Analysis
from ppdm_flow.mining.regression.design import CategoricalTerm, Design, Floats, Integers, Numbers, Predictor
from ppdm_flow.mining.regression.fit import FittedTerms, UnfittedError, group_means, linear, logistic


@dataclass(frozen=True, slots=True, eq=False)
class AnalysisGroups:
    """What both sides share: the base category of each attribute, and the groups or cells, one row of codes each.

    ``cells`` has shape (cells, attributes), sorted; ``counts`` are the original's complete rows of each.
    """

    bases: dict[str, int]
    cells: Integers
    counts: Floats


def ground(analysis: Analysis, data: AnalysisData) -> AnalysisGroups:
    """Return what both sides are laid out by. Raises UncomparableError where they have no category in common."""
    if analysis.form == "regression":
        names = [a for a in analysis.on or () if not data.variables[a].numeric]
        return AnalysisGroups({a: _base(a, data) for a in names}, np.zeros((0, 0), dtype=np.int64), np.zeros(0))
    by = _groups_of(analysis)
    first, second = (_rows(side, by)[side.complete] for side in (data.before, data.after))
    cells = np.unique(np.concatenate([first, second]), axis=0) if by else np.zeros((1, 0), dtype=np.int64)
    counts = np.bincount(_places(first, cells), data.before.counts[data.before.complete], len(cells))
    return AnalysisGroups({}, cells, counts.astype(np.float64))


def _groups_of(analysis: Analysis) -> tuple[str, ...]:
    return (analysis.table or ()) if analysis.form == "table" else analysis.by


def _base(attribute: str, data: AnalysisData) -> int:
    """Return the most frequent category of the original that both have; of equals the first by text."""
    names, sizes = data.variables[attribute].names, []
    wide = 0 if names is None else len(names)
    for side in (data.before, data.after):
        codes = np.asarray(side.cells[attribute][side.complete], dtype=np.int64)
        sizes.append(np.bincount(codes, side.counts[side.complete], wide))
    common = np.where(sizes[1] > 0, sizes[0], 0)
    if not common.any():
        raise UncomparableError(f"no category of `{attribute}` is in both")
    return int(np.argmax(common))


def estimates(analysis: Analysis, side: AnalysisSide, shared: AnalysisGroups) -> FittedTerms:
    """Return the means by group, or the coefficients. Raises UnfittedError where there are none."""
    used = side.take(side.complete)
    if not len(used.counts):
        raise UnfittedError("no row is complete")
    if analysis.form == "mean":
        name = str(analysis.mean)
        groups = _places(_rows(used, analysis.by), shared.cells)
        values = np.asarray(used.cells[name], dtype=np.float64)
        return group_means(name, groups, len(shared.cells), values, used.weights, used.counts)
    design = Design.of([_predictor(a, used, shared) for a in analysis.on or ()], len(used.counts))
    response = np.asarray(used.cells[str(analysis.regression)], dtype=np.float64)
    people = float(used.counts.sum())
    if analysis.model == "linear":
        return linear(design, response, used.weights, people)
    weights = used.weights * (people / float(used.weights.sum()))
    return logistic(design, response, weights)


def _predictor(attribute: str, side: AnalysisSide, shared: AnalysisGroups) -> Predictor:
    cells = side.cells[attribute]
    if attribute in shared.bases:
        return CategoricalTerm(attribute, cells.astype(np.int64), shared.bases[attribute])
    return Numbers(attribute, cells.astype(np.float64))


def cell_shares(analysis: Analysis, side: AnalysisSide, shared: AnalysisGroups) -> Floats:
    """Return the weighted share of rows in each cell, shape (cells + 1,); the last are incomplete rows.

    A row with a missing or suppressed cell in the table counts as incomplete, one without a weight not at all.
    """
    places = np.full(len(side.counts), len(shared.cells), dtype=np.int64)
    places[side.complete] = _places(_rows(side, analysis.table or ())[side.complete], shared.cells)
    sums = np.bincount(places, np.maximum(side.weights, 0.0), len(shared.cells) + 1)
    shares: Floats = sums / max(float(sums.sum()), 1e-300)
    return shares


def _rows(side: AnalysisSide, names: tuple[str, ...]) -> Integers:
    """Return the codes of some attributes, shape (rows, attributes)."""
    rows = np.empty((len(side.counts), len(names)), dtype=np.int64)
    for i, name in enumerate(names):
        rows[:, i] = side.cells[name]
    return rows


def _places(rows: Integers, cells: Integers) -> Integers:
    """Return which cell each row is, shape (rows,)."""
    if not rows.shape[1]:
        return np.zeros(len(rows), dtype=np.int64)
    order, places = np.unique(np.concatenate([cells, rows]), axis=0, return_inverse=True)
    rank = np.empty(len(order), dtype=np.int64)
    flat = places.reshape(-1)
    rank[flat[: len(cells)]] = np.arange(len(cells))
    return rank[flat[len(cells) :]]
