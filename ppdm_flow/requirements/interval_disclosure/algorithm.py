"""The share of released rows that show a number within a width of the original one of the same row.

The intruder estimates the original number of a row by what a released column shows in it. With several columns that are
computed from the attribute, the intruder also tries their mean, their mean weighted by how near each is on average, and
their median. The largest of these shares counts. Rows are paired by their number in the source, so the order of rows
protects nothing here. A row whose original number is missing is left out; one that shows no number tells nothing
(Domingo-Ferrer, Torra, 2001).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ppdm_flow.core.phrases import counted
from ppdm_flow.core.results import AuditOutcome, Figure, Finding, Measured
from ppdm_flow.mining.classes.wording import unmeasured, unreleased
from ppdm_flow.mining.exposure.columns import carriers
from ppdm_flow.mining.exposure.faults import UnmeasuredError
from ppdm_flow.mining.exposure.numbers import (
    MEAN,
    MEDIAN,
    WEIGHTED,
    Floats,
    Ints,
    NumberTexts,
    PairedNumbers,
    Types,
    by_pseudonym,
    combined,
    estimates,
    hold,
    number_of,
    other_names,
    paired_numbers,
    persons,
    type_of,
)
from ppdm_flow.mining.exposure.paired import relation
from ppdm_flow.mining.releases.attributes import listed
from ppdm_flow.requirements.interval_disclosure.requirement import IntervalDisclosure, IntervalDisclosureParams, Width
from ppdm_flow.sdk.audit import AuditContext, Sql
from ppdm_flow.sdk.view import DataView, PairedView


@dataclass(frozen=True, slots=True)
class _WidthMeasure:
    """One measurement: the ``prefix`` of the figures, the attribute, the width, and who asks for it."""

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
        figures: dict[str, float | int | None] = {}
        for wanted in self._wanted(ctx):
            carrying = carriers(wanted.attribute, candidate, ctx)
            if not carrying:
                figures[f"{wanted.prefix}columns"] = 0
            elif ctx.sql is not None and ctx.pairs is not None:
                figures |= _figures_sql(wanted, carrying, original, candidate, ctx)
        return figures

    def _wanted(self, ctx: AuditContext) -> Iterator[_WidthMeasure]:
        own = [r for r in ctx.requirements if isinstance(r, IntervalDisclosure)]
        yield from (_WidthMeasure(f"{r.id}.", r.attribute, r.width, r) for r in own)
        if not own and self.params.attribute is not None and self.params.width is not None:
            yield _WidthMeasure("", self.params.attribute, self.params.width, None)


@dataclass(frozen=True, slots=True, eq=False)
class _People:
    """``person`` (rows,) is the number of whose row it is; ``linked``: it is seen which rows are one person's."""

    person: Ints
    linked: bool

    def share(self, near_rows: npt.NDArray[np.bool_]) -> float:
        """Return the share of people who have one of these rows."""
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


def _figures(wanted: _WidthMeasure, numbers: PairedNumbers, people: _People | None) -> dict[str, Figure]:
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


def _judged(wanted: _WidthMeasure, figure: Figure, text: str, *, verifiable: bool = True) -> Iterator[Measured]:
    requirement = wanted.requirement
    if requirement is not None:
        end = f" At most {requirement.max:.1%} is allowed." if verifiable else ""
        name = f"{requirement.id}.share"
        yield Measured(requirement.id, name, figure, requirement.max, True, text + end, verifiable=verifiable)


def _figures_sql(
    wanted: _WidthMeasure, carrying: tuple[str, ...], original: DataView, candidate: DataView, ctx: AuditContext
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
    comparison = WidthComparison(wanted.attribute, carrying, types, wanted.width, subject, by_pseudonym(candidate, ctx))
    shares = shares_sql(ctx.sql, candidate, ctx.pairs, comparison)
    figures: dict[str, float | int | None] = {f"{wanted.prefix}{n}": value for n, value in shares.items()}
    return {f"{wanted.prefix}share": max(shares.values())} | figures


def sentence(attribute: str, width: Width, columns: Sequence[str], figures: Mapping[str, Figure]) -> str:
    """Return the sentence for the report."""
    share, rows = figures["share"].value or 0.0, int(figures["rows"].value or 0)
    if not rows:
        return f"No released row has an original number of `{attribute}`, so there is none to disclose."
    ways = f"{listed(columns)}, or a mean of them," if len(columns) > 1 else listed(columns)
    of_people = int(figures["people"].value or 0) if "people" in figures else 0
    whose = counted(rows, "released row") + (f", or {of_people:,} people by any row" if of_people else "")
    text = f"Taking {ways} for the original `{attribute}` comes within {width.words} of it in {share:.1%} of {whose}."
    alone = figures["constant_share"].value or 0.0
    if alone > 0.01:  # below, it says nothing of the width
        text += f" The median alone would be in {alone:.1%}."
    left = int(figures["rows_left_out"].value or 0)
    return f"{text} Left out: {counted(left, 'row')} without an original number." if left else text


# Which estimates lie within a width of the original number: absolute, relative, by standard deviation or by rank.


SLACK = 1e-9
"""Relative to the original number and to the width: so much further away still counts."""


def near(estimate: Floats, original: Floats, weights: Ints, width: Width) -> npt.NDArray[np.bool_]:
    """Return a mask (rows,) of the estimates within the width; NaN is not. ``original`` has no NaN."""
    if width.form == "rank":
        return _near_by_rank(estimate, original, weights, width.size)
    size = width.size * (1.0 if width.form != "sd" else deviation(original, weights))
    half = np.abs(original) * size if width.form == "relative" else np.full(len(original), size)
    with np.errstate(invalid="ignore"):
        return np.asarray(np.abs(estimate - original) <= half + SLACK * np.maximum(half, np.abs(original)))


def deviation(numbers: Floats, weights: Ints) -> float:
    """Return the standard deviation of a population, 0 of none.

    >>> deviation(np.array([1.0, 3.0, 99.0]), np.array([2, 2, 0]))
    1.0
    """
    total = int(weights.sum())
    if not total:
        return 0.0
    mean = float((weights * numbers).sum() / total)
    return float(np.sqrt((weights * (numbers - mean) ** 2).sum() / total))


def _near_by_rank(estimate: Floats, original: Floats, weights: Ints, share: float) -> npt.NDArray[np.bool_]:
    order = np.argsort(original, kind="stable")
    sorted_numbers = original[order]
    below = np.concatenate((np.zeros(1, np.int64), np.cumsum(weights[order])))
    shown = ~np.isnan(estimate)
    apart = np.full(len(original), np.inf)
    ranks = [_rank(numbers[shown], sorted_numbers, below) for numbers in (estimate, original)]
    apart[shown] = np.abs(ranks[0] - ranks[1])
    return np.asarray(apart <= share * below[-1] + SLACK * max(1, int(below[-1])))


def _rank(numbers: Floats, sorted_numbers: Floats, below: Ints) -> Floats:
    """Return the middle of the ranks of the original numbers that each equals, or where it would stand."""
    slack = SLACK * np.maximum(1.0, np.abs(numbers))
    first = below[np.searchsorted(sorted_numbers, numbers - slack, side="left")]
    last = below[np.searchsorted(sorted_numbers, numbers + slack, side="right")]
    return np.asarray((first + last) / 2.0)


# The second route to interval disclosure: numbers are read, averaged and compared in SQL.


PERSON_MEAN = "person_mean"


@dataclass(frozen=True, slots=True)
class WidthComparison:
    """One comparison: the ``attribute``, the released ``columns`` computed from it, and the ``width``.

    ``types`` are those of the attribute and of each column. People are told apart by ``subject``, where it is given;
    ``linked``: it is seen which rows are one person's.
    """

    attribute: str
    columns: Sequence[str]
    types: Types
    width: Width
    subject: str
    linked: bool


def shares_sql(sql: Sql, candidate: DataView, pairs: PairedView, comparison: WidthComparison) -> dict[str, float]:
    """Return the share of each column, and of the existing means and median, by the names of their figures.

    Raises RunError where the paired rows are not those of the file.
    """
    weight, people = candidate.schema.weight, bool(comparison.subject)
    columns, types = comparison.columns, comparison.types
    known = [comparison.attribute, *([comparison.subject] if people else [])]
    tables: dict[str, object] = {"paired": relation(pairs, columns, known, weight)}
    hold(sql, columns, types[1:], weight, tables)
    every = range(len(columns))
    named = ", ".join(f"{number_of(f'r{i}', types[i + 1])} AS c{i}" for i in every)
    person = "o1" if people else "row"
    rows = f"lines AS (SELECT row, n, {person} AS p, {number_of('o0', types[0])} AS o, {named} FROM paired)"  # noqa: S608  # our own names
    plain = _mean(["1.0" for _ in every]) if len(columns) > 1 else "c0"
    cells = f"cells AS (SELECT *, AVG({plain}) OVER (PARTITION BY p) AS own FROM lines)"  # noqa: S608  # our own names
    cells += ", known AS (SELECT * FROM cells WHERE o IS NOT NULL)"
    errors = ", ".join(f"SUM(n * pow(c{i} - o, 2)) / SUM(n) FILTER (c{i} IS NOT NULL) AS e{i}" for i in every)
    begin = f"WITH {rows}, {cells}, errors AS (SELECT {errors} FROM known)"  # noqa: S608  # the same

    def share(estimate: str) -> float:
        text = f"{begin}, guesses AS (SELECT row, n, p, o, {estimate} AS e FROM known)"  # noqa: S608  # the same
        hits, total, people_hit, of_people = sql.rows(text + _disclosed(comparison.width), (), tables)[0]
        of_rows = float(hits or 0) / float(total) if total else 0.0
        return max(of_rows, float(people_hit) / float(of_people)) if people and of_people else of_rows

    shares = {f"column_share.{c}": share(f"c{i}") for i, c in enumerate(columns)}
    if len(columns) > 1:
        exact = " OR ".join(f"e{i} = 0" for i in every)
        none = bool(sql.rows(f"{begin} SELECT {exact} FROM errors", (), tables)[0][0])  # noqa: S608  # the same
        of_error = [f"(SELECT COALESCE(1.0 / NULLIF(e{i}, 0), 0) FROM errors)" for i in every]  # noqa: S608  # the same
        shares[f"{MEAN}_share"] = share(plain)
        if not none:
            shares[f"{WEIGHTED}_share"] = share(_mean(of_error))
    if len(columns) > 2:
        shares[f"{MEDIAN}_share"] = share(f"list_median([{', '.join(f'c{i}' for i in every)}])")
    if comparison.linked and sql.rows(f"{begin} SELECT COUNT(*) > COUNT(DISTINCT p) FROM lines", (), tables)[0][0]:  # noqa: S608  # the same
        shares[f"{PERSON_MEAN}_share"] = share("own")
    return shares


def _mean(shares: Sequence[str]) -> str:
    """Return the weighted mean of the columns that are there, counted from the first of them."""
    first = f"COALESCE({', '.join(f'c{i}' for i in range(len(shares)))})"
    above = " + ".join(f"COALESCE({share} * (c{i} - {first}), 0)" for i, share in enumerate(shares))
    total = " + ".join(f"CASE WHEN c{i} IS NULL THEN 0 ELSE {share} END" for i, share in enumerate(shares))
    return f"{first} + ({above}) / ({total})"


def _disclosed(width: Width) -> str:
    """Return the SELECT of the rows within the width, and of all rows."""
    if width.form == "rank":
        return _by_rank(width.size)
    sizes = {
        "absolute": f"{width.size!r}::DOUBLE",
        "relative": f"{width.size!r}::DOUBLE * abs(o)",
        "sd": f"{width.size!r}::DOUBLE * (SELECT sqrt(SUM(n * pow(o - m, 2)) / SUM(n)) FROM known,"  # noqa: S608  # a number
        " (SELECT SUM(n * o) / SUM(n) AS m FROM known))",
    }
    return (
        f", halves AS (SELECT n, p, o, e, {sizes[width.form]} AS half FROM guesses)"  # noqa: S608  # numbers and our own names
        f", near AS (SELECT n, p, abs(e - o) <= half + {SLACK!r} * greatest(half, abs(o)) AS within FROM halves)"
        " SELECT SUM(n) FILTER (within), SUM(n), COUNT(DISTINCT p) FILTER (within), COUNT(DISTINCT p) FROM near"
    )


def _by_rank(share: float) -> str:
    """Rank by counting: every number once a little below itself, once a little above it."""
    slack = f"{SLACK!r} * greatest(1.0, abs(v))"
    return f"""
        , wanted AS (SELECT row, 0 AS own, o AS v FROM guesses
            UNION ALL SELECT row, 1, e FROM guesses WHERE e IS NOT NULL)
        , points AS (SELECT o AS v, n, NULL AS row, NULL AS own, NULL AS high FROM guesses
            UNION ALL SELECT v - {slack}, 0, row, own, 0 FROM wanted
            UNION ALL SELECT v + {slack}, 0, row, own, 1 FROM wanted)
        , counted AS (SELECT row, own, high, SUM(n) OVER (ORDER BY v) AS upto, SUM(n) OVER (PARTITION BY v) AS here
            FROM points)
        , ranks AS (SELECT row, own, SUM(CASE WHEN high = 1 THEN upto ELSE upto - here END) / 2.0 AS rank
            FROM counted WHERE row IS NOT NULL GROUP BY row, own)
        , apart AS (SELECT row, MAX(rank) - MIN(rank) AS d FROM ranks GROUP BY row HAVING COUNT(*) = 2)
        , near AS (SELECT n, p, total, d <= {share!r}::DOUBLE * total + {SLACK!r} * greatest(1, total) AS within
        FROM guesses LEFT JOIN apart USING (row), (SELECT SUM(n) AS total FROM guesses))
        SELECT SUM(n) FILTER (within), ANY_VALUE(total), COUNT(DISTINCT p) FILTER (within), COUNT(DISTINCT p)
        FROM near"""  # noqa: S608  # numbers and our own names
