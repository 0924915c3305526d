"""The error of a classifier on the original and on the release.

``base`` (BE) is the error on the original, ``suppressed`` (SE) that on the release, ``removed`` (RE) that on the
original without the sensitive attributes, a plain alternative that the release has to beat (Wang, Fung, Yu 2005,
section 5). Training and test part are drawn anew for each repeat, the same persons for all three where rows can be
paired; nothing is fitted on the test part. A row with a weight is as many persons.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from ppdm_flow.audits.classification_error.spec import ClassificationErrorParams
from ppdm_flow.audits.learning.classifiers import Learner, Split, Trials, interval, split, trials
from ppdm_flow.audits.learning.sides import Floats, Integers, LearningSide, side
from ppdm_flow.core.diagnostics import Severity
from ppdm_flow.core.results import AuditOutcome, Chart, Figure, FigureSeries, Finding
from ppdm_flow.core.roles import AttributeType, Role
from ppdm_flow.mining.releases.attributes import listed, namesakes
from ppdm_flow.sdk.audit import AuditContext
from ppdm_flow.sdk.view import DataView, PairedView
from ppdm_flow.tables.column import union
from ppdm_flow.tables.counts import weights_of
from ppdm_flow.tables.schema import Schema
from ppdm_flow.tables.table import Table, concat

FEWEST = 10
"""Persons below which no error is estimated."""

THREADS = min(4, os.cpu_count() or 1)
"""Classifiers that learn at once: most of the work releases Python's lock."""

NAMES = {"base": "original", "suppressed": "released", "removed": "original, sensitive removed"}
Types = Mapping[str, AttributeType]


def chart(errors: Mapping[str, tuple[float, tuple[float, float] | None]], target: str, removed: Sequence[str]) -> Chart:
    """Return bars with interval ends."""
    shown = [n for n in NAMES if n in errors]
    means = tuple(errors[n][0] for n in shown)
    ends = [errors[n][1] for n in shown]
    low = tuple(e[0] for e in ends if e is not None)
    high = tuple(e[1] for e in ends if e is not None)
    return Chart(
        id="errors",
        title=f"Error of predicting {target}",
        kind="bars",
        x=tuple(NAMES[n] for n in shown),
        series=(FigureSeries("error", means, low, high),),
        y_label="share of wrong predictions",
        note=f"removed: {', '.join(removed)}" if removed else "",
    )


@dataclass(frozen=True, slots=True, eq=False)
class TrialEstimates:
    """The trials; ``suppressed`` is None, with the reason ``why``, where it cannot be had."""

    base: Trials
    suppressed: Trials | None
    removed: Trials
    paired: bool
    why: str = ""

    def intervals(self, test_share: float) -> dict[str, tuple[float, tuple[float, float] | None]]:
        """Return the mean over the splits and its interval, by figure."""
        tried = {"base": self.base, "suppressed": self.suppressed, "removed": self.removed}
        means = {n: _mean(t.errors, test_share, t.spread() / t.persons) for n, t in tried.items() if t is not None}
        if self.suppressed is not None:
            rise = self.suppressed.errors - self.base.errors
            means["error_increase"] = _mean(rise, test_share, self._least_of_rise(self.suppressed))
        return means

    def _least_of_rise(self, after: Trials) -> float:
        if self.paired:
            return self.base.spread_beside(after) / self.base.persons
        return self.base.spread() / self.base.persons + after.spread() / after.persons


class ClassificationErrorAudit:
    """Learns to tell the target from all other released attributes."""

    def __init__(self, params: ClassificationErrorParams) -> None:
        self.params = params

    def measure(self, original: DataView, candidate: DataView, ctx: AuditContext) -> AuditOutcome:
        """Return the three errors and the increase, each with an interval over the repeated splits."""
        target = self.params.target or next(iter(original.schema.having(Role.TARGET)), None)
        if target is None or target not in original.schema:
            return _nothing("the original has no such class attribute", ctx.release)
        column, why = _released_target(target, original, candidate, ctx)
        gathered = gather(original, candidate, ctx, target, column, self.params.rows)
        few = [s for s in (gathered.original, gathered.released) if s is not None and int(s.copies.sum()) < FEWEST]
        if few:
            return _nothing(f"there are fewer than {FEWEST} rows with a class", ctx.release)
        removed = self._removed(gathered, ctx)
        estimates = self._estimate(gathered, removed, why)
        rows = int(gathered.original.copies.sum())
        return AuditOutcome(
            figures=self._figures(estimates, rows, removed),
            findings=(*_unmeasured(why, ctx.release), *_limited(rows, gathered, self.params.rows, ctx.release)),
            charts=(chart(estimates.intervals(self.params.test_share), target, removed),),
        )

    def _removed(self, gathered: GatheredRows, ctx: AuditContext) -> tuple[str, ...]:
        """Return the attributes that the third error does without: the sensitive ones, or else the changed ones."""
        own = [f.name for f in gathered.original.features]
        if self.params.removed is not None:
            return tuple(n for n in own if n in self.params.removed)
        facts = ctx.original_attributes
        sensitive = tuple(n for n in own if n in facts and facts[n].role is Role.SENSITIVE)
        kept = {a.source or a.name for a in ctx.attributes.values() if not a.changes}
        return sensitive or tuple(n for n in own if n not in kept)

    def _estimate(self, gathered: GatheredRows, removed: tuple[str, ...], why: str) -> TrialEstimates:
        before, after = gathered.original, gathered.released
        parts = self._splits(before)
        sides = [(before, parts), (before.without(frozenset(removed)), parts)]
        if after is not None:
            sides.append((after, parts if gathered.paired else self._splits(after)))
        p = self.params
        base, third, *rest = trials(sides, Learner(p.classifier, p.options, p.seed), THREADS)
        return TrialEstimates(base, rest[0] if rest else None, third, gathered.paired, why)

    def _splits(self, side: LearningSide) -> list[Split]:
        p = self.params
        return [split(side.copies, p.test_share, p.seed, repeat) for repeat in range(p.repeats)]

    def _figures(self, estimates: TrialEstimates, rows: int, removed: tuple[str, ...]) -> dict[str, Figure]:
        spread = f"95 % corrected resampled t over {self.params.repeats} splits"
        figures = {
            name: Figure(mean, "share", interval=reach, sample=rows, note=spread if reach else "one split")
            for name, (mean, reach) in estimates.intervals(self.params.test_share).items()
        }
        for name in ("suppressed", "error_increase"):
            figures.setdefault(name, Figure(None, "share", note=estimates.why))
        third = figures["removed"]
        without = f"without {listed(removed)}; {third.note}" if removed else f"nothing to remove; {third.note}"
        figures["removed"] = Figure(third.value, "share", third.interval, third.sample, without)
        return figures


def _mean(values: Floats, test_share: float, least: float) -> tuple[float, tuple[float, float] | None]:
    return float(values.mean()), interval(values, test_share, least)


def _released_target(target: str, original: DataView, candidate: DataView, ctx: AuditContext) -> tuple[str | None, str]:
    """Return the released column of the class attribute, or None with the reason why its errors say nothing."""
    columns = namesakes(target, candidate, ctx)
    if not columns:
        return None, f"the class attribute `{target}` is not released"
    facts = ctx.attributes.get(columns[0])
    if facts is not None and facts.changes:
        return None, f"the class attribute `{target}` was changed by step `{facts.changes[0][0]}`"
    if not set(candidate.domain(columns[0]).to_pylist()) <= set(original.domain(target).to_pylist()):
        return None, f"the released class attribute `{target}` has values that the original has not"
    return columns[0], ""


def _unmeasured(why: str, release: str) -> tuple[Finding, ...]:
    if not why:
        return ()
    text = f"no classification error could be measured on the release: {why}"
    return (Finding("PPF830", Severity.WARNING, text, f"{release}.classification_error"),)


def _nothing(why: str, release: str) -> AuditOutcome:
    names = ("base", "suppressed", "removed", "error_increase")
    return AuditOutcome({n: Figure(None, "share", note=why) for n in names}, findings=_unmeasured(why, release))


def _limited(rows: int, gathered: GatheredRows, limit: int, release: str) -> tuple[Finding, ...]:
    if gathered.available <= limit:
        return ()
    text = f"classification errors were measured on {rows:,} of {gathered.available:,} rows, evenly spaced"
    return (Finding("PPF831", Severity.INFO, text, f"{release}.classification_error"),)


# Original and released rows for the classifiers: side by side where they can be paired, else each on their own.


NO_FEATURE = (Role.IDENTIFIER, Role.WEIGHT, Role.SAMPLING_WEIGHT, Role.SUBJECT, Role.ITEMS)


@dataclass(frozen=True, slots=True, eq=False)
class GatheredRows:
    """``released`` is None where the release has no target. ``paired``: row i is the same person on both sides.

    ``available`` is the number of persons that there are, before any limit.
    """

    original: LearningSide
    released: LearningSide | None
    paired: bool
    available: int


@dataclass(frozen=True, slots=True, eq=False)
class RowsByPerson:
    """A table, and how many persons each of its rows counts, shape (rows,)."""

    table: Table
    copies: Integers


def gather(
    original: DataView, candidate: DataView, ctx: AuditContext, target: str, column: str | None, limit: int
) -> GatheredRows:
    """Read at most ``limit`` persons; rows without a class are left out. ``column`` is the released target."""
    before = features(original.schema, target)
    if column is None:
        mine = _sampled(original, limit, [*before, target])
        return GatheredRows(_side(mine, before, target), None, paired=False, available=_persons(original))
    after = features(candidate.schema, column)
    if ctx.pairs is None:
        mine, theirs = _sampled(original, limit, [*before, target]), _sampled(candidate, limit, [*after, column])
        left, right = _same_classes(mine, target, theirs, column)
        sides = _side(left, before, target), _side(right, after, column)
        return GatheredRows(*sides, paired=False, available=max(_persons(original), _persons(candidate)))
    left, right = _paired(ctx.pairs, candidate, [*before, target], [*after, column], limit)
    left, right = _same_classes(left, target, right, column)
    known = (left.table[target].codes >= 0) & (right.table[column].codes >= 0)
    sides = _side(_kept(left, known), before, target), _side(_kept(right, known), after, column)
    return GatheredRows(*sides, paired=True, available=_persons(candidate))


def features(schema: Schema, target: str) -> Types:
    """Return the columns to learn from, with their types."""
    return {f.name: f.type for f in schema if f.role not in NO_FEATURE and f.name != target}


def _persons(view: DataView) -> int:
    return view.counts(()).total


def _sampled(view: DataView, limit: int, columns: list[str]) -> RowsByPerson:
    weight = view.schema.weight
    table = view.sample(limit, list(dict.fromkeys(columns if weight is None else [*columns, weight])))
    return RowsByPerson(table, _copies(table, view.schema.weight, limit))


def _paired(
    pairs: PairedView, candidate: DataView, original: list[str], released: list[str], limit: int
) -> tuple[RowsByPerson, RowsByPerson]:
    """Return at most ``limit`` pairs, evenly spaced over all of them."""
    weight = candidate.schema.weight
    wanted = [*released, weight] if weight else released
    step = max(1.0, candidate.row_count / limit)
    seen, left, right = 0, [], []
    for mine, theirs in pairs.pairs(original, wanted):
        first = int(np.ceil(seen / step))
        places = (np.arange(first, np.ceil((seen + len(mine)) / step)) * step).astype(np.int64) - seen
        places = places[(places >= 0) & (places < len(mine))]
        left.append(mine.take(places))
        right.append(theirs.take(places))
        seen += len(mine)
    if not left:
        return RowsByPerson(_empty(original), np.zeros(0, dtype=np.int64)), RowsByPerson(
            _empty(wanted), np.zeros(0, dtype=np.int64)
        )
    after = concat(right)
    copies = _copies(after, weight, limit)
    return RowsByPerson(concat(left), copies), RowsByPerson(after, copies)


def _empty(names: list[str]) -> Table:
    return Table.of({n: [] for n in names})


def _copies(table: Table, weight: str | None, limit: int) -> Integers:
    """Return the persons of each row; where there are more than ``limit``, those of an even choice of them."""
    if weight is None:
        return np.ones(len(table), dtype=np.int64)
    ends = np.cumsum(weights_of(table[weight]))
    total = int(ends[-1]) if len(ends) else 0
    if total <= limit:
        return np.diff(ends, prepend=0)
    chosen = np.arange(limit) * total // limit
    return np.bincount(np.searchsorted(ends, chosen, side="right"), minlength=len(ends)).astype(np.int64)


def _same_classes(
    left: RowsByPerson, target: str, right: RowsByPerson, column: str
) -> tuple[RowsByPerson, RowsByPerson]:
    """Code the classes of both sides alike."""
    names = union((left.table[target].categories, right.table[column].categories))
    return (
        RowsByPerson(left.table.replaced({target: left.table[target].onto(names)}), left.copies),
        RowsByPerson(right.table.replaced({column: right.table[column].onto(names)}), right.copies),
    )


def _kept(rows: RowsByPerson, known: np.ndarray[tuple[int], np.dtype[np.bool_]]) -> RowsByPerson:
    return RowsByPerson(rows.table.take(known), rows.copies[known])


def _side(rows: RowsByPerson, types: Types, target: str) -> LearningSide:
    known = _kept(rows, rows.table[target].codes >= 0)
    return side(known.table, types, known.table[target].codes.astype(np.int64), known.copies)
