"""The Anonymity Score of a release: AS(p, o) = sum over supports s of (1/s) Pr(t in p | t in o with support s).

NAS divides it by AS(o, o), the score of the original itself (Vreeken, van Leeuwen, Siebes, ICDM 2007). Pr is the share
of the original rows of support s that occur in the release at all. Missing and suppressed cells are values of their own
under every null semantics of the policy.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from fractions import Fraction

import numpy as np

from ppdm_flow.core.diagnostics import Severity
from ppdm_flow.core.phrases import counted
from ppdm_flow.core.results import AuditOutcome, Chart, Figure, FigureSeries, Finding, Measured
from ppdm_flow.mining.anonymity import (
    NOTHING,
    MatchedColumns,
    MatchedSupports,
    Pairs,
    anonymity_score,
    columns_of,
    comparison,
    matched,
    shortcomings,
    supports,
)
from ppdm_flow.requirements.anonymity_score.requirement import AnonymityScore, AnonymityScoreParams
from ppdm_flow.sdk.audit import AuditContext
from ppdm_flow.sdk.view import DataView

_UNITS = {"nas": "share", "as": "number", "as_of_original": "number"}


class AnonymityScoreAudit:
    """Looks up the rows of the original in the release."""

    def __init__(self, params: AnonymityScoreParams) -> None:
        self.params = params

    def measure(self, original: DataView, candidate: DataView, ctx: AuditContext) -> AuditOutcome:
        """Return AS and NAS, how many distinct original rows occur in the release, and how many of support 1."""
        compared = comparison(original, candidate, ctx)
        findings = shortcomings(compared, ctx)
        if not compared.columns:
            figures = {
                f"{prefix}nas": Figure(None, "share", note="no attribute can be compared") for prefix in _prefixes(ctx)
            }
            return AuditOutcome(figures, _judged(ctx, figures, NOTHING), findings)
        scores = {n: anonymity_score(matched(compared.columns, n, original, candidate)) for n in compared.levels}
        values = _by_level({name: _values(each) for name, each in scores.items()})
        figures = {
            f"{prefix}{n}": Figure(v, _UNITS.get(n.rpartition(".")[2], "rows"))
            for prefix in _prefixes(ctx)
            for n, v in values.items()
        }
        level, worst = max(scores.items(), key=lambda each: each[1].normalised)
        judged = _judged(ctx, figures, sentence(worst, compared, level))
        return AuditOutcome(figures, judged, (*findings, *alone(worst, ctx)), charts(worst, ctx))

    def recheck(self, original: DataView, candidate: DataView, ctx: AuditContext) -> Mapping[str, float | int | None]:
        """Match the rows again in SQL over the released file, and add up fractions."""
        compared: MatchedColumns = comparison(original, candidate, ctx)
        if ctx.sql is None or not compared.columns:
            return {}
        schemas = (original.schema, candidate.schema)
        figures_by_level = {n: _figures_sql(supports(ctx.sql, compared.columns, n, *schemas)) for n in compared.levels}
        values = _by_level(figures_by_level)
        return {f"{prefix}{name}": value for prefix in _prefixes(ctx) for name, value in values.items()}


def _prefixes(ctx: AuditContext) -> list[str]:
    """Figures of a requirement bear its id; those of an audit that the policy names get the audit's name."""
    return [f"{r.id}." for r in ctx.requirements if isinstance(r, AnonymityScore)] or [""]


def _judged(ctx: AuditContext, figures: Mapping[str, Figure], text: str) -> tuple[Measured, ...]:
    return tuple(
        Measured(
            requirement=r.id,
            metric=f"{r.id}.nas",
            figure=figures[f"{r.id}.nas"],
            bound=r.max,
            at_most=True,
            sentence=f"{text} At most {r.max:.1%} is allowed." if text != NOTHING else text,
            verifiable=text != NOTHING,
        )
        for r in ctx.requirements
        if isinstance(r, AnonymityScore)
    )


def _values(score: MatchedSupports) -> dict[str, float | int]:
    first = score.supports[:1] == 1
    return {
        "nas": score.normalised,
        "as": score.score,
        "as_of_original": score.highest,
        "distinct": int(score.distinct.sum()),
        "found": int(score.matched.sum()),
        "alone": int(score.distinct[:1][first].sum()),
        "alone_found": int(score.matched[:1][first].sum()),
    }


def _figures_sql(pairs: Pairs) -> dict[str, float | int]:
    """Return the same figures from (support in the original, in the release, number), in exact arithmetic."""
    distinct: defaultdict[int, int] = defaultdict(int)
    matched: defaultdict[int, int] = defaultdict(int)
    for before, after, number in pairs:
        if before:
            distinct[before] += number
            matched[before] += number if after else 0
    score = float(sum(Fraction(matched[s], distinct[s] * s) for s in distinct))
    highest = float(sum(Fraction(1, s) for s in distinct))
    return {
        "nas": score / highest if distinct else 0.0,
        "as": score,
        "as_of_original": highest,
        "distinct": sum(distinct.values()),
        "found": sum(matched.values()),
        "alone": distinct[1],
        "alone_found": matched[1],
    }


def _by_level(figures_by_level: Mapping[str, Mapping[str, float | int]]) -> dict[str, float | int]:
    """Return the figures of the only level, or those of both by name and the higher of the two scores."""
    if len(figures_by_level) == 1:
        return dict(*figures_by_level.values())
    named = {f"{level}.{name}": value for level, values in figures_by_level.items() for name, value in values.items()}
    return {"nas": max(values["nas"] for values in figures_by_level.values())} | named


def sentence(score: MatchedSupports, compared: MatchedColumns, level: str) -> str:
    """Return the sentence for the report."""
    distinct, seen = int(score.distinct.sum()), int(score.matched.sum())
    if not distinct:
        return "There is no original row to look for."
    columns = columns_of(compared, level)
    text = f"{seen:,} of {counted(distinct, 'different original row')} occur in the release ({columns})"
    first = score.supports[:1] == 1
    unique, caught = int(score.distinct[:1][first].sum()), int(score.matched[:1][first].sum())
    if unique:
        text += f", {caught:,} of the {unique:,} that only one person has among them"
    return (
        f"{text}. Averaged over the numbers of people s who share a row, with a weight of 1/s, {score.normalised:.1%}"
        " are found."
    )


def alone(score: MatchedSupports, ctx: AuditContext) -> Iterator[Finding]:
    """Yield the finding for original rows of support 1 that occur in the release."""
    first = score.supports[:1] == 1
    unique, caught = int(score.distinct[:1][first].sum()), int(score.matched[:1][first].sum())
    if caught:
        text = f"{caught:,} of {counted(unique, 'original row')} that only one person has occur in the release"
        yield Finding("PPF852", Severity.WARNING, text, f"{ctx.release}.alone")


_EDGES = (1, 2, 3, 4, 5, 10, 20, 50, 100, 1000, 10_000)


def charts(score: MatchedSupports, ctx: AuditContext) -> tuple[Chart, ...]:
    """Return the share of distinct original rows that occur in the release, in at most eleven ranges of supports."""
    if not len(score.supports):
        return ()
    place = np.searchsorted(np.array(_EDGES), score.supports, side="right") - 1
    rows = np.bincount(place, weights=score.distinct, minlength=len(_EDGES))
    seen = np.bincount(place, weights=score.matched, minlength=len(_EDGES))
    there = np.flatnonzero(rows)
    name = next((f"{r.id}." for r in ctx.requirements), "anonymity_score.")
    shares = FigureSeries("occur in the release", tuple(float(seen[i] / rows[i]) for i in there))
    return (
        Chart(
            id=f"{name}by_support",
            title="Original rows that occur in the release, by support",
            kind="bars",
            x=tuple(_label(int(i)) for i in there),
            series=(shares,),
            x_label="people who share the row",
            y_label="share of different rows",
            note=f"different original rows, from left to right: {', '.join(f'{int(rows[i]):,}' for i in there)}",
            group="anonymity_score",
        ),
    )


def _label(place: int) -> str:
    low = _EDGES[place]
    if place + 1 == len(_EDGES):
        return f"{low:,}+"
    high = _EDGES[place + 1] - 1
    return f"{low:,}" if low == high else f"{low:,}\N{EN DASH}{high:,}"
