"""Runs the analyses of a recipient on the original and on the release, and compares the results.

The baseline of each figure is the same comparison of two random halves of the original, which differ by chance.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ppdm_flow.audits.analyses.spec import AnalysesParams
from ppdm_flow.audits.analyses.variables import (
    AnalysisVariable,
    UncomparableError,
    category,
    complete,
    number,
    numbers_of,
    predictor,
)
from ppdm_flow.core.diagnostics import Severity
from ppdm_flow.core.model import Analysis
from ppdm_flow.core.phrases import counted
from ppdm_flow.core.results import AuditOutcome, Chart, Figure, FigureSeries, Finding
from ppdm_flow.mining.regression.design import (
    INTERCEPT,
    CategoricalTerm,
    Design,
    Floats,
    Integers,
    Numbers,
    Predictor,
    Term,
)
from ppdm_flow.mining.regression.fit import (
    FittedTerms,
    Likeness,
    UnfittedError,
    group_means,
    likeness,
    linear,
    logistic,
)
from ppdm_flow.mining.releases.attributes import namesakes
from ppdm_flow.sdk.audit import AuditContext
from ppdm_flow.sdk.view import DataView
from ppdm_flow.tables.counts import weights_of
from ppdm_flow.tables.table import Table

HALVES = "_of_halves"
_OF_ESTIMATES = ("mean_overlap", "least_overlap", "mean_difference", "largest_difference", "same_conclusions")
_OF_TABLES = ("total_variation", "largest_relative_error")
_UNITS = {"mean_difference": "standard errors", "largest_difference": "standard errors"}

Values = dict[str, float | None]
Mask = npt.NDArray[np.bool_]


class AnalysesAudit:
    """Runs each analysis on both tables."""

    def __init__(self, params: AnalysesParams) -> None:
        self.params = params

    def measure(self, original: DataView, candidate: DataView, ctx: AuditContext) -> AuditOutcome:
        """Return the figures of each analysis, what leads to another conclusion, and pictures of coefficients."""
        figures: dict[str, Figure] = {}
        findings: list[Finding] = []
        charts: list[Chart] = []
        least: list[float | None] = []
        for name, analysis in self.params.analyses.items():
            measured = _measured(name, analysis, original, candidate, ctx)
            figures |= {f"{name}.{key}": figure for key, figure in measured.figures.items()}
            findings += measured.findings
            charts += measured.charts
            if analysis.form != "table":
                least.append(_value(measured.figures["least_overlap"]))
        figures["worst_overlap"] = _worst(least)
        return AuditOutcome(figures=figures, findings=tuple(findings), charts=tuple(charts))


def _value(figure: Figure) -> float | None:
    return None if figure.value is None else float(figure.value)


def _worst(least: list[float | None]) -> Figure:
    known = [each for each in least if each is not None]
    if not least:
        return Figure(None, "share", note="no analysis estimates means or coefficients")
    if len(known) < len(least):
        return Figure(None, "share", note=f"{len(least) - len(known)} of {len(least)} analyses were not measured")
    return Figure(min(known), "share")


def _measured(
    name: str, analysis: Analysis, original: DataView, candidate: DataView, ctx: AuditContext
) -> AuditOutcome:
    keys = _OF_TABLES if analysis.form == "table" else _OF_ESTIMATES
    try:
        data = read(analysis, original, candidate, ctx)
        shared = ground(analysis, data)
        if analysis.form == "table":
            return AuditOutcome(_with_context(_table(analysis, data, shared), data))
        return _estimated(name, analysis, data, shared, ctx)
    except (UncomparableError, UnfittedError) as error:
        return AuditOutcome({key: Figure(None, _UNITS.get(key, "share"), note=str(error)) for key in keys})


def _table(analysis: Analysis, data: AnalysisData, shared: AnalysisGroups) -> dict[str, Figure]:
    first, second = (cell_shares(analysis, side, shared) for side in (data.before, data.after))
    note = f"over cells with at least {analysis.least_count} rows of the original"
    values = _of_table(analysis, first, second, shared)
    half, other = (cell_shares(analysis, each, shared) for each in _halves(data.before))
    baseline = _of_table(analysis, half, other, shared)
    missing = f"no cell has {analysis.least_count} rows of the original"
    figures = {}
    for suffix, each in (("", values), (HALVES, baseline)):
        figures[f"total_variation{suffix}"] = Figure(each["total_variation"], "share")
        error = each["largest_relative_error"]
        figures[f"largest_relative_error{suffix}"] = Figure(error, "share", note=missing if error is None else note)
    return figures


def _of_table(analysis: Analysis, first: Floats, second: Floats, shared: AnalysisGroups) -> Values:
    large = np.flatnonzero((shared.counts >= analysis.least_count) & (first[:-1] > 0))
    errors = np.abs(second[large] - first[large]) / first[large]
    return {
        "total_variation": 0.5 * float(np.abs(first - second).sum()),
        "largest_relative_error": float(errors.max()) if len(errors) else None,
    }


def _estimated(
    name: str, analysis: Analysis, data: AnalysisData, shared: AnalysisGroups, ctx: AuditContext
) -> AuditOutcome:
    before, after = _fitted(analysis, data.before, shared, "original"), _fitted(analysis, data.after, shared, "release")
    before = _large(analysis, before, shared)
    alike = likeness(before, after)
    names = TermNames(analysis, data, shared, ctx)
    values = _of_estimates(alike)
    figures = {key: Figure(values[key], _UNITS.get(key, "share"), note=_note(key, alike, names)) for key in values}
    figures |= _baseline(analysis, data, shared)
    figures["lost_terms"] = Figure(alike.lost, "count")
    said = finding(name, alike, before, after, names)
    return AuditOutcome(
        _with_context(figures, data),
        findings=() if said is None else (said,),
        charts=(chart(name, before, after, alike, names),),
    )


def _fitted(analysis: Analysis, side: AnalysisSide, shared: AnalysisGroups, where: str) -> FittedTerms:
    try:
        return estimates(analysis, side, shared)
    except UnfittedError as error:
        raise UnfittedError(f"{where}: {error}") from None


def _large(analysis: Analysis, before: FittedTerms, shared: AnalysisGroups) -> FittedTerms:
    """Return the estimates without those of groups that are too small to be compared."""
    if analysis.form != "mean":
        return before
    kept = [i for i, (_, group) in enumerate(before.terms) if shared.counts[group] >= analysis.least_count]
    if not kept:
        raise UncomparableError(f"no group has {analysis.least_count} rows of the original")
    freedom = before.freedom[kept] if isinstance(before.freedom, np.ndarray) else before.freedom
    return FittedTerms(tuple(before.terms[i] for i in kept), before.values[kept], before.errors[kept], freedom)


def _of_estimates(alike: Likeness) -> Values:
    there = alike.difference[np.isfinite(alike.difference)]
    return {
        "mean_overlap": float(alike.overlap.mean()),
        "least_overlap": float(alike.overlap.min()),
        "mean_difference": float(there.mean()) if len(there) else None,
        "largest_difference": float(there.max()) if len(there) == len(alike.difference) else None,
        "same_conclusions": float(alike.agrees.mean()),
    }


def _note(key: str, alike: Likeness, names: TermNames) -> str:
    if key == "least_overlap":
        return f"of {names.of(alike.terms[alike.worst])}"
    if key.endswith("difference") and not np.isfinite(alike.difference).all():
        return "some terms of the original have no estimate in the release, or no standard error"
    return ""


def _baseline(analysis: Analysis, data: AnalysisData, shared: AnalysisGroups) -> dict[str, Figure]:
    try:
        first, second = (estimates(analysis, half, shared) for half in _halves(data.before))
        values = _of_estimates(likeness(_large(analysis, first, shared), second))
        note = ""
    except (UncomparableError, UnfittedError) as error:
        values, note = dict.fromkeys(_OF_ESTIMATES), f"half of the original: {error}"
    return {key + HALVES: Figure(values[key], _UNITS.get(key, "share"), note=note) for key in _OF_ESTIMATES}


def _halves(side: AnalysisSide) -> tuple[AnalysisSide, AnalysisSide]:
    """Return two halves of the rows, by a fixed hash of the source's row numbers (SplitMix64)."""
    first = _hash(side.numbers) & np.uint64(1) == np.uint64(1)
    return side.take(first), side.take(~first)


def _hash(numbers: Integers) -> np.ndarray[tuple[int], np.dtype[np.uint64]]:
    mixed = numbers.astype(np.uint64) + np.uint64(0x9E3779B97F4A7C15)
    mixed = (mixed ^ (mixed >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return mixed ^ (mixed >> np.uint64(31))


def _with_context(figures: dict[str, Figure], data: AnalysisData) -> dict[str, Figure]:
    """Add how many rows and attributes the analysis rests on."""
    describe: Callable[[float], str] = lambda share: f"of the original {100 * share:.3g}%"  # noqa: E731
    rows = Figure(data.after.used, "share", note=describe(data.before.used))
    coarser = f"compared at the released level: {', '.join(f'`{a}`' for a in data.coarser)}" if data.coarser else ""
    unweighted = "the sampling weights are not released" if data.weighted == (True, False) else ""
    note = "; ".join(each for each in (coarser, unweighted) if each)
    return figures | {"complete_rows": rows, "coarser_attributes": Figure(len(data.coarser), "count", note=note)}


# The rows of an analysis on both sides, with their weights.


@dataclass(frozen=True, slots=True, eq=False)
class AnalysisSide:
    """``cells`` by attribute, ``counts`` (how many rows each row represents) and ``weights``, shape (rows,).

    Weights have counts within them, and a sum of as many as there are rows. ``complete`` marks the rows that have all
    variables and a positive weight. ``numbers`` are the source's row numbers.
    """

    cells: Mapping[str, Floats | Integers]
    counts: Floats
    weights: Floats
    complete: Mask
    numbers: Integers

    def take(self, rows: Mask) -> AnalysisSide:
        """Return the rows under a mask."""
        cells = {name: each[rows] for name, each in self.cells.items()}
        return AnalysisSide(cells, self.counts[rows], self.weights[rows], self.complete[rows], self.numbers[rows])

    @property
    def used(self) -> float:
        """The share of rows that are complete."""
        total = float(self.counts.sum())
        return float(self.counts[self.complete].sum()) / total if total else 0.0


@dataclass(frozen=True, slots=True, eq=False)
class AnalysisData:
    """An analysis' data before and after; ``weighted`` says on which sides rows have sampling weights."""

    before: AnalysisSide
    after: AnalysisSide
    variables: Mapping[str, AnalysisVariable]
    weighted: tuple[bool, bool]

    @property
    def coarser(self) -> tuple[str, ...]:
        """The attributes that are compared at another level than the original's."""
        return tuple(name for name, each in self.variables.items() if each.coarser)


def read(analysis: Analysis, original: DataView, candidate: DataView, ctx: AuditContext) -> AnalysisData:
    """Return the rows of an analysis. Raises UncomparableError where it cannot be run on both."""
    columns: dict[str, str] = {}
    for attribute in analysis.attributes:
        if attribute not in original.schema:
            raise UncomparableError(f"the original has no column `{attribute}`")
        carriers = namesakes(attribute, candidate, ctx)
        if not carriers:
            raise UncomparableError(f"`{attribute}` is not released")
        columns[attribute] = next((c for c in carriers if ctx.attributes[c].unchanged), carriers[0])
    weight = original.schema.sampling_weight if analysis.weighted else None
    carriers = namesakes(weight, candidate, ctx) if weight is not None else ()
    before = original.table(_with(list(columns), weight, original.schema.weight))
    after = candidate.table(_with(list(columns.values()), *carriers[:1], candidate.schema.weight))
    variables = {a: _variable(analysis, a, before, after, c, ctx) for a, c in columns.items()}
    first = _side(before, {a: v.before for a, v in variables.items()}, weight, original.schema.weight)
    second = _side(
        after, {a: v.after for a, v in variables.items()}, next(iter(carriers), None), candidate.schema.weight
    )
    return AnalysisData(first, second, variables, (weight is not None, bool(carriers)))


def _with(names: list[str], *more: str | None) -> list[str]:
    return list(dict.fromkeys((*names, *(each for each in more if each is not None))))


def _variable(
    analysis: Analysis, attribute: str, before: Table, after: Table, column: str, ctx: AuditContext
) -> AnalysisVariable:
    if attribute == analysis.number:
        return number(attribute, before[attribute], after[column])
    if analysis.form == "regression" and attribute != analysis.regression:
        return predictor(attribute, before[attribute], after[column], column, ctx)
    return category(attribute, before[attribute], after[column], column, ctx)


def _side(table: Table, cells: dict[str, Floats | Integers], weight: str | None, count: str | None) -> AnalysisSide:
    counts = np.ones(len(table)) if count is None else weights_of(table[count]).astype(np.float64)
    sampling = np.ones(len(table))
    if weight is not None:
        numbers = numbers_of(table[weight])
        if numbers is None:
            raise UncomparableError(f"the sampling weights are released as labels, `{weight}`")
        sampling = np.nan_to_num(numbers, nan=0.0)
    weights = counts * sampling
    usable = weights > 0
    for each in cells.values():
        usable &= complete(each)
    total = float(weights[weights > 0].sum())
    return AnalysisSide(cells, counts, weights * (float(counts.sum()) / total if total else 1.0), usable, table.rows)


# An analysis on one side: estimates of means and coefficients, or the shares of a table.


@dataclass(frozen=True, slots=True, eq=False)
class AnalysisGroups:
    """The common part of both sides: each attribute's base category, and the groups or cells, one row of codes each.

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


# What is said and drawn of an analysis: names of terms, the coefficients that lead elsewhere, a forest plot.


OTHER_CONCLUSION = "PPF657"
MOST = 40
"""Terms in a picture, those of the least overlap first."""
_FAR = 0.5
"""A conclusion that differs counts where the intervals overlap by less than half."""
_EDGE = 60.0
"""Standard errors at which a picture ends."""


@dataclass(frozen=True, slots=True)
class TermNames:
    """Names for the terms of an analysis."""

    analysis: Analysis
    data: AnalysisData
    shared: AnalysisGroups
    ctx: AuditContext

    def of(self, term: Term) -> str:
        """Return the name of a term: its attribute, with a category as far as it may be shown."""
        name, code = term
        if term == INTERCEPT:
            return "the intercept"
        if self.analysis.form == "mean":
            cells = zip(self.analysis.by, self.shared.cells[code].tolist(), strict=True)
            return ", ".join(self._cell(a, c) for a, c in cells) or f"`{name}`"
        return f"`{name}`" if code < 0 else self._cell(name, code)

    def short(self, term: Term) -> str:
        """Return the name in a picture: without marks, and of a group its categories only."""
        if self.analysis.form != "mean" or not self.analysis.by:
            return self.of(term).replace("`", "")
        cells = zip(self.analysis.by, self.shared.cells[term[1]].tolist(), strict=True)
        return ", ".join(self.data.variables[a].label(a, c, self.ctx) for a, c in cells)

    def _cell(self, attribute: str, code: int) -> str:
        return f"`{attribute}`: {self.data.variables[attribute].label(attribute, code, self.ctx)}"


def finding(name: str, alike: Likeness, before: FittedTerms, after: FittedTerms, names: TermNames) -> Finding | None:
    """Return a warning where a clear result of the original is lost in the release, or turned round."""
    clear = before.conclusion != 0
    changed = np.flatnonzero((alike.agrees == 0) & clear & (alike.overlap < _FAR))
    if names.analysis.form == "mean" or not len(changed):
        return None
    worst = int(changed[np.lexsort((-alike.difference[changed], alike.overlap[changed]))[0]])
    place = int(alike.place[worst])
    if place < 0:
        how = "has no estimate in the release"
    elif before.conclusion[worst] == -after.conclusion[place]:
        how = "has the opposite sign in the release, significant at 5 %"
    else:
        how = "is significant at 5 % in the original alone"
    many = counted(len(changed), "coefficient")
    which = names.of(alike.terms[worst])
    text = f"analysis `{name}`: {many} of {len(alike.terms)} lead to another conclusion; {which} {how}"
    return Finding(OTHER_CONCLUSION, Severity.WARNING, text, f"{names.ctx.release}.{name}")


def chart(name: str, before: FittedTerms, after: FittedTerms, alike: Likeness, names: TermNames) -> Chart:
    """Return estimates and intervals side by side, in standard errors of the original, so that one scale has all."""
    drawn = (before.errors > 0) & (alike.place >= 0)
    kept = [i for i, term in enumerate(before.terms) if term != INTERCEPT and drawn[i]]
    shown = sorted(sorted(kept, key=lambda i: float(alike.overlap[i]))[:MOST])
    middle = before.values if names.analysis.form == "mean" else np.zeros(len(before.values))
    there = [int(alike.place[i]) for i in shown]
    scale, shift = before.errors[shown], middle[shown]

    def placed(values: Floats) -> tuple[float, ...]:
        return tuple(np.clip((values - shift) / scale, -_EDGE, _EDGE).tolist())

    sides = (("original", before, shown), ("released", after, there))
    series = tuple(
        FigureSeries(label, placed(each.values[rows]), placed(each.low[rows]), placed(each.high[rows]))
        for label, each, rows in sides
    )
    rest = len(before.terms) - len(shown) - (INTERCEPT in before.terms)
    zero = "from the original mean" if names.analysis.form == "mean" else "from 0"
    note = "95 % intervals" + (f"; {rest:,} further terms are not shown" if rest else "")
    if any(abs(end) >= _EDGE for each in series for end in (*each.low, *each.high)):
        note += f"; what lies beyond {_EDGE:g} is drawn there"
    return Chart(
        id=f"{name}.estimates",
        title=f"Analysis {name}: estimates on original and release",
        kind="forest",
        x=tuple(names.short(before.terms[i]) for i in shown),
        series=series,
        x_label=", ".join(names.analysis.by) or "term",
        y_label=f"standard errors of the original {zero}",
        note=note,
        group="analyses",
    )
