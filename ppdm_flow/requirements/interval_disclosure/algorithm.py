"""The share of released rows that show a number within a width of the original one of the same row.

The intruder takes for the original number what a released column shows in the row, or the mean of all columns that are
computed from the attribute, their mean weighted by how near each is on average, or their median; the largest of these
shares counts. Rows are paired by their number in the source, so the order of rows protects nothing here. A row whose
original number is missing is left out; one that shows no number tells nothing (Domingo-Ferrer, Torra, 2001).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from ppdm_flow.core.results import AuditOutcome, Figure, Finding, Measured
from ppdm_flow.mining.classes.wording import unmeasured, unreleased
from ppdm_flow.mining.exposure.columns import carriers
from ppdm_flow.mining.exposure.estimates import MEAN, MEDIAN, WEIGHTED, estimates
from ppdm_flow.mining.exposure.faults import UnmeasuredError
from ppdm_flow.mining.exposure.numbers import Floats, PairedNumbers, paired_numbers, type_of
from ppdm_flow.requirements.interval_disclosure.audit import IntervalDisclosureParams
from ppdm_flow.requirements.interval_disclosure.near import near
from ppdm_flow.requirements.interval_disclosure.query import shares_again
from ppdm_flow.requirements.interval_disclosure.requirement import IntervalDisclosure, Width
from ppdm_flow.requirements.interval_disclosure.sentences import sentence
from ppdm_flow.sdk.audit import AuditContext
from ppdm_flow.sdk.view import DataView


@dataclass(frozen=True, slots=True)
class _Wanted:
    """What is measured: the ``prefix`` of the figures, the attribute, the width, and who asks for it."""

    prefix: str
    attribute: str
    width: Width
    requirement: IntervalDisclosure | None


class IntervalDisclosureAudit:
    """Compares released numbers with original ones, row by row."""

    def __init__(self, params: IntervalDisclosureParams) -> None:
        self.params = params

    def measure(self, original: DataView, candidate: DataView, ctx: AuditContext) -> AuditOutcome:
        """Return the largest share, and those of all columns, for each requirement or for the parameters' own."""
        del original
        figures: dict[str, Figure] = {}
        measured: list[Measured] = []
        findings: list[Finding] = []
        for wanted in self._wanted(ctx):
            carrying = carriers(wanted.attribute, candidate, ctx)
            if not carrying:
                figures[f"{wanted.prefix}columns"] = Figure(0, "columns")
                measured.extend(unreleased(r) for r in (wanted.requirement,) if r is not None)
                continue
            try:
                numbers = paired_numbers([wanted.attribute], [(c, wanted.attribute) for c in carrying], candidate, ctx)
            except UnmeasuredError as fault:
                figure = Figure(None, "share", note=fault.text)
                measured.extend(_judged(wanted, figure, fault.text, verifiable=False))
                findings.append(unmeasured(wanted.prefix.removesuffix(".") or wanted.attribute, fault))
                figures[f"{wanted.prefix}share"] = figure
                continue
            own = _figures(wanted, numbers)
            figures |= {f"{wanted.prefix}{name}": figure for name, figure in own.items()}
            measured.extend(_judged(wanted, own["share"], sentence(wanted.attribute, wanted.width, carrying, own)))
        return AuditOutcome(figures, tuple(measured), tuple(findings))

    def recheck(self, original: DataView, candidate: DataView, ctx: AuditContext) -> Mapping[str, float | int | None]:
        """Read, average and compare the numbers again in SQL."""
        found: dict[str, float | int | None] = {}
        for wanted in self._wanted(ctx):
            carrying = carriers(wanted.attribute, candidate, ctx)
            if not carrying:
                found[f"{wanted.prefix}columns"] = 0
            elif ctx.sql is not None and ctx.pairs is not None:
                found |= _again(wanted, carrying, original, candidate, ctx)
        return found

    def _wanted(self, ctx: AuditContext) -> Iterator[_Wanted]:
        own = [r for r in ctx.requirements if isinstance(r, IntervalDisclosure)]
        yield from (_Wanted(f"{r.id}.", r.attribute, r.width, r) for r in own)
        if not own and self.params.attribute is not None and self.params.width is not None:
            yield _Wanted("", self.params.attribute, self.params.width, None)


def _figures(wanted: _Wanted, numbers: PairedNumbers) -> dict[str, Figure]:
    known = ~np.isnan(numbers.original[wanted.attribute])
    original, weights = numbers.original[wanted.attribute][known], numbers.weights[known]
    shown = {name: column[known] for name, column in numbers.released.items()}
    rows = int(weights.sum())

    def share(estimate: Floats) -> float:
        return float(weights[near(estimate, original, weights, wanted.width)].sum() / rows) if rows else 0.0

    shares = {key: share(estimate) for key, estimate in estimates(original, shown, weights).items()}
    some = np.logical_or.reduce([~np.isnan(column) for column in shown.values()])
    figures = {"share": Figure(max(shares.values()), "share")}
    for (kind, column), value in shares.items():
        figures[f"{kind}_share.{column}" if column else f"{kind}_share"] = Figure(value, "share")
    middle = np.full(len(original), _median(original, weights))
    return {
        **figures,
        "constant_share": Figure(share(middle), "share"),
        "rows": Figure(rows, "rows"),
        "rows_shown": Figure(int(weights[some].sum()), "rows"),
        "rows_left_out": Figure(int(numbers.weights[~known].sum()), "rows"),
        "columns": Figure(len(shown), "columns"),
    }


def _median(original: Floats, weights: np.ndarray[tuple[int], np.dtype[np.int64]]) -> float:
    order = np.argsort(original, kind="stable")
    below = np.cumsum(weights[order])
    return float(original[order][np.searchsorted(below, below[-1] / 2.0)]) if len(order) else 0.0


def _judged(wanted: _Wanted, figure: Figure, text: str, *, verifiable: bool = True) -> Iterator[Measured]:
    requirement = wanted.requirement
    if requirement is not None:
        end = f" At most {requirement.max:.1%} is allowed." if verifiable else ""
        name = f"{requirement.id}.share"
        yield Measured(requirement.id, name, figure, requirement.max, True, text + end, verifiable=verifiable)


def _again(
    wanted: _Wanted, carrying: tuple[str, ...], original: DataView, candidate: DataView, ctx: AuditContext
) -> dict[str, float | int | None]:
    if ctx.sql is None or ctx.pairs is None:
        return {}
    try:  # what the first route cannot read, this one need not read either
        paired_numbers([wanted.attribute], [(c, wanted.attribute) for c in carrying], candidate, ctx)
    except UnmeasuredError:
        return {}
    first = next(original.partitions([wanted.attribute]), None)
    kind = type_of(wanted.attribute, None if first is None else first[wanted.attribute], ctx)
    part = next(candidate.partitions(list(carrying)), None)
    types = [kind, *(kind if part is None else getattr(part[c], "kind", kind) for c in carrying)]
    shares = shares_again(ctx.sql, candidate, ctx.pairs, wanted.attribute, carrying, types, wanted.width)
    names = [*(f"column_share.{c}" for c in carrying), *(f"{way}_share" for way in (MEAN, WEIGHTED, MEDIAN))]
    figures: dict[str, float | int | None] = {
        f"{wanted.prefix}{name}": value for name, value in zip(names, shares, strict=False) if value is not None
    }
    return {f"{wanted.prefix}share": max(value for value in shares if value is not None)} | figures
