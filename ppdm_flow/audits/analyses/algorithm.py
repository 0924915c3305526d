"""What becomes of the analyses that a recipient will run: each on the original, and again on the release.

Beside each figure stands a baseline: the same comparison of two random halves of the original, which differ by chance.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ppdm_flow.audits.analyses.data import AnalysisData, AnalysisSide, read
from ppdm_flow.audits.analyses.running import AnalysisGroups, cell_shares, estimates, ground
from ppdm_flow.audits.analyses.spec import AnalysesParams
from ppdm_flow.audits.analyses.variables import UncomparableError
from ppdm_flow.audits.analyses.wording import TermNames, chart, finding
from ppdm_flow.core.analyses import Analysis
from ppdm_flow.core.results import AuditOutcome, Chart, Figure, Finding
from ppdm_flow.mining.regression.alike import Likeness, likeness
from ppdm_flow.mining.regression.design import Floats, Integers
from ppdm_flow.mining.regression.fit import FittedTerms, UnfittedError
from ppdm_flow.sdk.audit import AuditContext
from ppdm_flow.sdk.view import DataView

HALVES = "_of_halves"
_OF_ESTIMATES = ("mean_overlap", "least_overlap", "mean_difference", "largest_difference", "same_conclusions")
_OF_TABLES = ("total_variation", "largest_relative_error")
_UNITS = {"mean_difference": "standard errors", "largest_difference": "standard errors"}

Values = dict[str, float | None]


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
    told: Callable[[float], str] = lambda share: f"of the original {100 * share:.3g}%"  # noqa: E731
    rows = Figure(data.after.used, "share", note=told(data.before.used))
    coarser = f"compared at the released level: {', '.join(f'`{a}`' for a in data.coarser)}" if data.coarser else ""
    unweighted = "the sampling weights are not released" if data.weighted == (True, False) else ""
    note = "; ".join(each for each in (coarser, unweighted) if each)
    return figures | {"complete_rows": rows, "coarser_attributes": Figure(len(data.coarser), "count", note=note)}
