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
import numpy.typing as npt

from ppdm_flow.core.results import AuditOutcome, Figure, Finding, Measured
from ppdm_flow.mining.classes.wording import unmeasured, unreleased
from ppdm_flow.mining.exposure.columns import carriers
from ppdm_flow.mining.exposure.estimates import combined, estimates
from ppdm_flow.mining.exposure.faults import UnmeasuredError
from ppdm_flow.mining.exposure.numbers import Floats, Ints, PairedNumbers, other_names, paired_numbers, type_of
from ppdm_flow.mining.exposure.numbers_query import NumberTexts
from ppdm_flow.mining.exposure.persons import by_pseudonym, persons
from ppdm_flow.requirements.interval_disclosure.audit import IntervalDisclosureParams
from ppdm_flow.requirements.interval_disclosure.near import near
from ppdm_flow.requirements.interval_disclosure.query import PERSON_MEAN, WidthComparison, shares_sql
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
            own = _figures(wanted, numbers, _people_of(numbers, carrying, candidate, ctx))
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
                found |= _figures_sql(wanted, carrying, original, candidate, ctx)
        return found

    def _wanted(self, ctx: AuditContext) -> Iterator[_Wanted]:
        own = [r for r in ctx.requirements if isinstance(r, IntervalDisclosure)]
        yield from (_Wanted(f"{r.id}.", r.attribute, r.width, r) for r in own)
        if not own and self.params.attribute is not None and self.params.width is not None:
            yield _Wanted("", self.params.attribute, self.params.width, None)


@dataclass(frozen=True, slots=True, eq=False)
class _People:
    """``person`` (rows,) is the number of whose row it is; ``linked``: it is seen which rows are one person's."""

    person: Ints
    linked: bool

    def share(self, near_rows: npt.NDArray[np.bool_]) -> float:
        """Return the share of people of whom one of these rows is."""
        people = len(np.unique(self.person))
        return len(np.unique(self.person[near_rows])) / people if people else 0.0

    def mean(self, estimate: Floats) -> Floats:
        """Return the mean over all rows of the person that show a number, (rows,)."""
        shown = ~np.isnan(estimate)
        size = int(self.person.max(initial=-1)) + 1
        total = np.bincount(self.person[shown], estimate[shown], size)
        rows = np.bincount(self.person[shown], minlength=size)
        with np.errstate(invalid="ignore"):
            return np.asarray((total / rows)[self.person])


def _people_of(
    numbers: PairedNumbers, carrying: tuple[str, ...], candidate: DataView, ctx: AuditContext
) -> _People | None:
    """Return whose rows they are; None where rows are counted."""
    if ctx.people is None or ctx.pairs is None:
        return None
    person = np.empty(len(numbers.rows), np.int64)
    person[np.argsort(numbers.rows, kind="stable")] = persons(ctx.people, ctx.pairs, carrying)
    return _People(person, by_pseudonym(candidate, ctx))


def _figures(wanted: _Wanted, numbers: PairedNumbers, people: _People | None) -> dict[str, Figure]:
    known = ~np.isnan(numbers.original[wanted.attribute])
    original, weights = numbers.original[wanted.attribute][known], numbers.weights[known]
    shown = {name: column[known] for name, column in numbers.released.items()}
    rows = int(weights.sum())
    whose = None if people is None else _People(people.person[known], people.linked)

    def share(estimate: Floats) -> float:
        within = near(estimate, original, weights, wanted.width)
        of_rows = float(weights[within].sum() / rows) if rows else 0.0
        return of_rows if whose is None else max(of_rows, whose.share(within))

    shares = {key: share(estimate) for key, estimate in estimates(original, shown, weights).items()}
    if people is not None and people.linked and len(np.unique(people.person)) < len(people.person):
        together = people.mean(combined(list(numbers.released.values()), [1.0] * len(shown)))
        shares[PERSON_MEAN, ""] = share(together[known])
    some = np.logical_or.reduce([~np.isnan(column) for column in shown.values()])
    figures = {"share": Figure(max(shares.values()), "share")}
    for (kind, column), value in shares.items():
        figures[f"{kind}_share.{column}" if column else f"{kind}_share"] = Figure(value, "share")
    middle = np.full(len(original), _median(original, weights))
    if whose is not None:
        figures["people"] = Figure(len(np.unique(whose.person)), "people")
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


def _figures_sql(
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
    kinds = [kind if part is None else getattr(part[c], "kind", kind) for c in carrying]
    names = [other_names(c, wanted.attribute, ctx) for c in carrying]
    types = [NumberTexts(kind), *map(NumberTexts, kinds, names)]
    subject = "" if ctx.people is None else ctx.people.subject
    asked = WidthComparison(wanted.attribute, carrying, types, wanted.width, subject, by_pseudonym(candidate, ctx))
    shares = shares_sql(ctx.sql, candidate, ctx.pairs, asked)
    figures: dict[str, float | int | None] = {f"{wanted.prefix}{n}": value for n, value in shares.items()}
    return {f"{wanted.prefix}share": max(shares.values())} | figures
