"""Data shuffling: draw from the copula given what stays, and put the original numbers into the order of the draws."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import special

from ppdm_flow.anonymizers.naming import require
from ppdm_flow.anonymizers.number_columns import Kinds, kinds_of, numbers_of
from ppdm_flow.anonymizers.row_groups import groups_of, rows_by_group
from ppdm_flow.anonymizers.shuffle_values.spec import ShuffleValuesParams
from ppdm_flow.core.diagnostics import Diagnostic
from ppdm_flow.core.draws import Draws
from ppdm_flow.core.errors import PluginError
from ppdm_flow.core.results import Figure
from ppdm_flow.sdk.anonymizer import Fitted, StepContext
from ppdm_flow.sdk.view import DataView
from ppdm_flow.tables.column import Column
from ppdm_flow.tables.numeric.column import NumericColumn
from ppdm_flow.tables.table import Table

Integers = npt.NDArray[np.int64]
MOST_VALUES = 20
"""A given attribute of texts may have so many values: each is a dummy column of its own."""
_LEAST_FREE = 1e-6
"""The share of a variance that `given` must leave undetermined."""
_TRIAL = hashlib.sha256(b"ppdm-flow data shuffling, trial for figures").digest()
"""A key that everybody knows: figures are those of a shuffle that is never released."""
Floats = npt.NDArray[np.float64]


def ordered(values: npt.NDArray[Any], drawn: Floats, ties: Floats) -> npt.NDArray[Any]:
    """Return the values in the rank order of ``drawn``; equal draws in that of ``ties``. All of shape (rows,)."""
    out = np.empty_like(values)
    out[np.lexsort((ties, drawn))] = np.sort(values)
    return out


def variables_of(column: Column, name: str) -> list[CopulaVariable]:
    """Return what the copula sees of a given column: ranks, or dummies of its values but the most frequent.

    A missing (or suppressed) cell has a dummy too. Raises PluginError for texts of more than 20 values.
    """
    if isinstance(column, NumericColumn):
        missing = np.isnan(column.floats())
        ranked = [CopulaVariable(column.floats())]
        return [*ranked, CopulaVariable(missing.astype(np.float64), dummy=True)] if missing.any() else ranked
    column = column.compact()  # values in the order of their texts: sums are the same for any coding
    codes, counts = np.unique(column.codes, return_counts=True)
    if len(codes) > MOST_VALUES:
        text = f"the given column `{name}` has more than {MOST_VALUES} values, and each is a column of the copula"
        raise PluginError(Diagnostic("PPF782", text, help="generalize it before, or leave it out of `given`"))
    kept = np.delete(codes, int(counts.argmax())) if len(codes) else codes
    return [CopulaVariable((column.codes == code).astype(np.float64), dummy=True) for code in kept.tolist()]


class ShuffleValues:
    """Moves numbers to other rows."""

    def __init__(self, params: ShuffleValuesParams) -> None:
        self.params = params

    def fit(self, data: DataView, ctx: StepContext) -> Fitted:
        """Shuffle once for the figures. Raises PluginError for labels, and where nothing can be shuffled."""
        kinds = kinds_of(self.params.attributes, data, ctx)
        given = tuple(dict.fromkeys(self.params.given))
        within = tuple(dict.fromkeys(self.params.within))
        require((*given, *within), data.schema.names, ctx.step)
        transform = ShuffleValuesTransform(self.params, kinds)
        table = data.table(tuple(dict.fromkeys((*kinds, *given, *within))))
        explained = np.max([transform.model(own).explained for _, own in transform.strata(table)], axis=0)
        trial = transform.apply_table(table, Draws(_TRIAL, transform.draws_per_row))[""]
        numeric = tuple(n for n in given if isinstance(table[n], NumericColumn))
        return Fitted(transform, _figures(table, trial, tuple(kinds), numeric, explained))


@dataclass(frozen=True, slots=True)
class ShuffleValuesTransform:
    """One draw a row and attribute."""

    params: ShuffleValuesParams
    kinds: Kinds

    @property
    def draws_per_row(self) -> int:
        """One an attribute."""
        return len(self.kinds)

    def strata(self, table: Table) -> list[tuple[Integers, Table]]:
        """Return the rows of each stratum, and their table; all of them where there is one stratum."""
        every = np.arange(len(table))
        if not self.params.within or not len(table):
            return [(every, table)]
        groups = groups_of([table[name] for name in self.params.within], len(table))
        return [(rows, table.take(rows)) for rows in rows_by_group(every, groups)]

    def given(self, table: Table) -> list[CopulaVariable]:
        """Return what the copula sees of the given columns. Raises PluginError for texts of too many values."""
        return [v for name in dict.fromkeys(self.params.given) for v in variables_of(table[name], name)]

    def model(self, table: Table) -> ConditionalNormal:
        """Return the copula of the shuffled columns given the others, over all rows of a stratum, of any weight.

        Raises PluginError where a column has one number only, or the given ones determine it.
        """
        columns = {name: numbers_of(table[name], name, kind) for name, kind in self.kinds.items()}
        where = " in a stratum of `within`" if self.params.within else ""
        for name, column in columns.items():
            if len(column.present()) == 1:
                raise _nothing(f"the column `{name}` has one number{where}, which no other row can get", "leave it out")
        own = [CopulaVariable(c.floats()) for c in columns.values()]
        model = conditional(correlations([*own, *self.given(table)]), len(own))
        for place, name in enumerate(columns):
            if model.explained[place] > 1.0 - _LEAST_FREE:
                text = f"the `given` attributes determine the ranks of the column `{name}`: each number would stay"
                raise _nothing(text, "take out of `given` what nearly repeats it, or what has nearly a value a row")
        return model

    def apply_table(self, table: Table, draws: Draws) -> Mapping[str, Table]:
        """Shuffle. Raises PluginError for labels, and where nothing can be shuffled."""
        words = draws.words(table.rows)
        noise: Floats = special.ndtri(((words >> np.uint64(12)).astype(np.float64) + 0.5) * 2.0**-52)
        columns = {name: numbers_of(table[name], name, kind) for name, kind in self.kinds.items()}
        values = {name: column.values.copy() for name, column in columns.items()}
        for stratum, own in self.strata(table):
            drawn = drawn_scores([scores(v) for v in self.given(own)], noise[stratum], self.model(own))
            for place, (name, column) in enumerate(columns.items()):
                there = np.arange(len(stratum)) if column.missing is None else np.flatnonzero(~column.missing[stratum])
                rows = stratum[there]
                values[name][rows] = ordered(values[name][rows], drawn[there, place], noise[rows, place])
        changed = {n: NumericColumn(values[n], kind, columns[n].missing) for n, kind in self.kinds.items()}
        return {"": table.replaced(changed)}

    def describe(self) -> Mapping[str, Any]:
        """The parameters."""
        return self.params.model_dump(mode="json")


def _nothing(text: str, help_text: str) -> PluginError:
    return PluginError(Diagnostic("PPF829", text, help=help_text))


def _figures(
    table: Table, trial: Table, names: Sequence[str], given: Sequence[str], explained: Floats
) -> dict[str, Figure]:
    """Return figures of a shuffle with a known key, as an estimate of those of the released one."""
    figures: dict[str, Figure] = {}
    kinds = {n: c.kind for n, c in trial.columns.items() if isinstance(c, NumericColumn)}
    before, after = ({n: numbers_of(t[n], n, kinds[n]).floats() for n in (*names, *given)} for t in (table, trial))
    for place, name in enumerate(names):
        kept = _rank_correlation(before[name], after[name])
        figures[f"{name}.rank_correlation"] = Figure(kept, "correlation", note=_note(kept))
        figures[f"{name}.explained"] = Figure(float(explained[place]), "share")
    pairs = [(x, y) for i, x in enumerate(names) for y in (*names[:i], *given)]
    both = [(_rank_correlation(before[x], before[y]), _rank_correlation(after[x], after[y])) for x, y in pairs]
    if pairs:
        changes = [abs(new - old) for old, new in both if old is not None and new is not None]
        largest = max(changes) if changes else None
        figures["rank_correlation_change"] = Figure(largest, "correlation", note=_note(largest))
    return figures


def _rank_correlation(x: Floats, y: Floats) -> float | None:
    both = ~(np.isnan(x) | np.isnan(y))
    x, y = x[both], y[both]
    return spearman(x, y) if len(x) > 1 and np.ptp(x) > 0 and np.ptp(y) > 0 else None


def _note(value: float | None) -> str:
    return "" if value is not None else "a column has one value at most"


# The Gaussian copula of some columns, and draws of some of them given the others.
#
# Source: Muralidhar, Sarathy, Data shuffling: a new masking approach for numerical data, Management Science 52(5),
# 2006.


_LEAST_EIGENVALUE = 1e-9
_LEAST_TOLD = 1e-6


@dataclass(frozen=True, slots=True, eq=False)
class CopulaVariable:
    """A column as the copula sees it: ``values`` of shape (rows,), NaN where missing; ``dummy``: 0 or 1, unranked."""

    values: Floats
    dummy: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class ConditionalNormal:
    """Y = S slopes + e loadings' for standard scores S of shape (rows, m) and standard normal e of shape (rows, d).

    ``slopes`` of shape (m, d), ``loadings`` lower triangular of shape (d, d); ``explained`` of shape (d,) is the share
    of each variance that S determines, in [0, 1].
    """

    slopes: Floats
    loadings: Floats
    explained: Floats


def midranks(values: Floats) -> Floats:
    """Return ranks from 1; equal numbers share the mean of their ranks. NaN is not allowed."""
    _, place, counts = np.unique(values, return_inverse=True, return_counts=True)
    ranks: Floats = (np.cumsum(counts) - (counts - 1) / 2.0)[place]
    return ranks


def pearson(x: Floats, y: Floats) -> float:
    """Return the correlation of two columns without NaN; 0 where one of them does not vary."""
    if len(x) < 2:
        return 0.0
    x, y = x - x.mean(), y - y.mean()
    size = float(np.sqrt((x * x).sum()) * np.sqrt((y * y).sum()))
    return max(-1.0, min(1.0, float((x * y).sum()) / size)) if 0.0 < size < np.inf else 0.0


def spearman(x: Floats, y: Floats) -> float:
    """Return the rank correlation over the rows that have both numbers; 0 where one of them does not vary."""
    both = ~(np.isnan(x) | np.isnan(y))
    return pearson(midranks(x[both]), midranks(y[both]))


def scores(variable: CopulaVariable) -> Floats:
    """Return scores of mean 0 and variance 1, shape (rows,): of ranks the normal ones; 0 for missing cells.

    A column that does not vary has zeros.
    """
    out = np.zeros(len(variable.values))
    there = ~np.isnan(variable.values)
    own = variable.values[there]
    if not variable.dummy:
        own = special.ndtri(midranks(own) / (len(own) + 1.0))
    own = own - own.mean() if len(own) else own
    spread = float(np.sqrt((own * own).mean())) if len(own) else 0.0
    out[there] = own / spread if spread > 1e-12 else 0.0
    return out


def correlations(variables: Sequence[CopulaVariable]) -> Floats:
    """Return the correlation matrix of the copula, shape (d, d), over the rows that have both cells of a pair.

    Two ranked columns have 2 sin(pi r / 6) for their rank correlation r (Muralidhar and Sarathy, section 4); a dummy
    has the correlation with the scores. A matrix that is none (after rounding, pairs with gaps) is mended.
    """
    size = len(variables)
    standard = [scores(v) for v in variables]
    matrix = np.eye(size)
    for i in range(size):
        for j in range(i):
            x, y = variables[i], variables[j]
            if x.dummy or y.dummy:
                both = ~(np.isnan(x.values) | np.isnan(y.values))
                value = pearson(standard[i][both], standard[j][both])
            else:
                value = 2.0 * np.sin(np.pi / 6.0 * spearman(x.values, y.values))
            matrix[i, j] = matrix[j, i] = value
    return mended(matrix)


def mended(matrix: Floats) -> Floats:
    """Return the matrix with eigenvalues of at least 1e-9, and of the size of the most negative one; diagonal 1.

    A direction whose variance came out as -0.1 may have that of 0.1: as a tiny one, it would get slopes that are huge.
    """
    if not len(matrix):
        return matrix
    values, vectors = np.linalg.eigh(matrix)
    if values[0] >= _LEAST_EIGENVALUE:
        return matrix
    raised: Floats = (vectors * np.maximum(values, max(_LEAST_EIGENVALUE, -values[0]))) @ vectors.T
    scale = np.sqrt(np.diag(raised))
    scaled: Floats = raised / np.outer(scale, scale)
    return scaled


def conditional(matrix: Floats, drawn: int) -> ConditionalNormal:
    """Return how the first ``drawn`` variables of a correlation matrix depend on the others (normal distribution).

    Directions of the others that do not vary tell nothing.
    """
    own, across, others = matrix[:drawn, :drawn], matrix[drawn:, :drawn], matrix[drawn:, drawn:]
    slopes: Floats = np.linalg.pinv(others, rcond=_LEAST_TOLD, hermitian=True) @ across if len(others) else across
    rest: Floats = own - across.T @ slopes
    explained = np.clip(1.0 - np.diag(rest), 0.0, 1.0)
    loadings: Floats = np.linalg.cholesky(_positive(rest)).astype(np.float64)
    return ConditionalNormal(slopes, loadings, explained)


def _positive(matrix: Floats) -> Floats:
    """Return a covariance matrix that has a Cholesky factor: rounding may have left eigenvalues below zero."""
    values, vectors = np.linalg.eigh(matrix)
    if values[0] >= 1e-12:
        return matrix
    raised: Floats = (vectors * np.maximum(values, 1e-12)) @ vectors.T
    return (raised + raised.T) / 2.0


def drawn_scores(given: Sequence[Floats], noise: Floats, model: ConditionalNormal) -> Floats:
    """Return Y, shape (rows, d), term by term, so that equal rows have equal sums."""
    out = np.zeros(noise.shape)
    for j in range(noise.shape[1]):
        for i, score in enumerate(given):
            out[:, j] += model.slopes[i, j] * score
        for k in range(j + 1):
            out[:, j] += model.loadings[j, k] * noise[:, k]
    return out
