"""Whether a classifier learns from the release what it would have learned from the original.

``synthetic`` is the error, on real rows, of a classifier that learned from the release; ``real`` that of one that
learned from real rows; ``error_increase`` their difference. With a holdout the real rows of the test are rows that
neither the generator nor any classifier saw. Without, the rows of the test are left out of the real training part, but
the generator saw them, and rows that it copied stay in the release: then ``synthetic`` is a lower bound, so to speak.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from ppdm_flow.audits.learning.classifiers import Learner, Split, Trials, interval, split, trials
from ppdm_flow.audits.learning.sides import Floats, Integers, LearningSide, side
from ppdm_flow.audits.records.columns import ColumnPair, beside
from ppdm_flow.audits.records.intervals import labelled
from ppdm_flow.audits.records.proportions import deviate, wilson
from ppdm_flow.audits.records.sampling import RecordSample, held_out, sampled, training
from ppdm_flow.audits.synthetic_training.spec import SyntheticTrainingParams
from ppdm_flow.core.diagnostics import Severity
from ppdm_flow.core.results import AuditOutcome, Chart, Figure, FigureSeries, Finding
from ppdm_flow.core.roles import AttributeType, Role
from ppdm_flow.sdk.audit import AuditContext
from ppdm_flow.sdk.view import DataView
from ppdm_flow.tables.column import Column, union
from ppdm_flow.tables.table import Table

NAMES = ("real", "synthetic", "error_increase")
FEWEST = 10
"""Rows below which no error is estimated."""

THREADS = min(4, os.cpu_count() or 1)
Reach = tuple[float, float]

Estimate = tuple[float, tuple[float, float]]


def chart(real: Estimate, synthetic: Estimate, target: str) -> Chart:
    """Return bars with interval ends."""
    pair = (real, synthetic)
    low, high = tuple(reach[0] for _, reach in pair), tuple(reach[1] for _, reach in pair)
    return Chart(
        id="errors",
        title=f"Error of predicting {target} for real rows",
        kind="bars",
        x=("learned from real rows", "learned from the release"),
        series=(FigureSeries("error", tuple(mean for mean, _ in pair), low, high),),
        y_label="share of wrong predictions",
    )


@dataclass(frozen=True, slots=True)
class TrainingErrors:
    """Errors with their intervals, measured on ``tested`` rows; ``note`` says on which."""

    real: tuple[float, Reach]
    synthetic: tuple[float, Reach]
    increase: tuple[float, Reach]
    tested: int
    note: str


class SyntheticTrainingAudit:
    """Learns the class attribute from the release and from the original, and tests both on the original."""

    def __init__(self, params: SyntheticTrainingParams) -> None:
        self.params = params

    def measure(self, original: DataView, candidate: DataView, ctx: AuditContext) -> AuditOutcome:
        """Return both errors and the increase, each with its interval."""
        columns = beside(original, candidate, ctx)
        target = next((c for c in columns if self._is_target(c, original)), None)
        if target is None:
            return _nothing("the release has no class attribute of the original", ctx)
        stacked = stack(original, candidate, ctx, columns, target, self.params.rows)
        if min(int(stacked.released.sum()), int(stacked.real.sum())) < FEWEST:
            return _nothing(f"there are fewer than {FEWEST} rows with a class", ctx)
        controlled = int(stacked.holdout.sum()) >= FEWEST
        estimates = self._on_holdout(stacked) if controlled else self._on_splits(stacked)
        return AuditOutcome(_figures(estimates), charts=(chart(estimates.real, estimates.synthetic, target.source),))

    def _is_target(self, column: ColumnPair, original: DataView) -> bool:
        if self.params.target is None:
            return original.schema[column.source].role is Role.TARGET
        return self.params.target in (column.column, column.source)

    def _tried(self, stacked: StackedRows, parts: list[list[Split]]) -> list[Trials]:
        learner = Learner(self.params.classifier, self.params.options, self.params.seed)
        return trials([(stacked.side, every) for every in parts], learner, THREADS)

    def _on_holdout(self, stacked: StackedRows) -> TrainingErrors:
        parts = [[Split(train, stacked.holdout)] for train in (stacked.real, stacked.released)]
        real, synthetic = self._tried(stacked, parts)
        wrong, other = (t.wrong[0][stacked.side.place][stacked.holdout > 0] for t in (real, synthetic))
        tested = len(wrong)
        change = other.astype(np.float64) - wrong
        rise = float(change.mean())
        reach = deviate() * float(np.sqrt(max(change.var(), 1 / tested) / tested))
        return TrainingErrors(
            (float(wrong.mean()), wilson(float(wrong.mean()), tested)),
            (float(other.mean()), wilson(float(other.mean()), tested)),
            (rise, (rise - reach, rise + reach)),
            tested,
            "on rows that the generator never saw, these two classifiers given",
        )

    def _on_splits(self, stacked: StackedRows) -> TrainingErrors:
        p = self.params
        drawn = [
            _of_real(stacked, split(np.ones(int(stacked.real.sum()), dtype=np.int64), p.test_share, p.seed, repeat))
            for repeat in range(p.repeats)
        ]
        real, once = self._tried(stacked, [drawn, [Split(stacked.released, stacked.real)]])
        synthetic = Trials(stacked.side, tuple(drawn), once.wrong * p.repeats)
        tested = int(stacked.real.sum())
        rise = synthetic.errors - real.errors
        return TrainingErrors(
            _over_splits(real.errors, p.test_share, real.spread() / tested),
            _over_splits(synthetic.errors, p.test_share, synthetic.spread() / tested),
            _over_splits(rise, p.test_share, real.spread_beside(synthetic) / tested),
            tested,
            f"over {p.repeats} splits; the release was made from the rows of the test too, which flatters it",
        )


def _of_real(stacked: StackedRows, parts: Split) -> Split:
    """Spread the parts of the real rows over all rows."""
    return Split(*(_spread(stacked.real, part) for part in (parts.train, parts.test)))


def _spread(real: Integers, part: Integers) -> Integers:
    out = np.zeros(len(real), dtype=np.int64)
    out[real > 0] = part
    return out


def _over_splits(values: Floats, test_share: float, least: float) -> tuple[float, Reach]:
    mean = float(values.mean())
    return mean, interval(values, test_share, least) or (mean, mean)


def _figures(estimates: TrainingErrors) -> dict[str, Figure]:
    known = {
        "real": (estimates.real, "of a classifier that learned from real rows"),
        "synthetic": (estimates.synthetic, "of a classifier that learned from the release"),
        "error_increase": (estimates.increase, "of learning from the release"),
    }
    return {
        n: Figure(value, "share", reach, estimates.tested, f"{what}; {estimates.note}")
        for n, ((value, reach), what) in known.items()
    }


def _nothing(why: str, ctx: AuditContext) -> AuditOutcome:
    text = f"nothing could be learned from the release: {why}"
    findings = (Finding("PPF830", Severity.WARNING, text, f"{ctx.release}.synthetic_training"),)
    return AuditOutcome({n: Figure(None, "share", note=why) for n in NAMES}, findings=findings)


# Real and released rows in one table, so that a classifier learns from some and is asked about others.


@dataclass(frozen=True, slots=True, eq=False)
class StackedRows:
    """``side`` has all rows with a class; ``released``, ``real`` and ``holdout`` (rows,) are 1 where a row is of it."""

    side: LearningSide
    released: Integers
    real: Integers
    holdout: Integers


def stack(
    original: DataView,
    candidate: DataView,
    ctx: AuditContext,
    columns: Sequence[ColumnPair],
    target: ColumnPair,
    limit: int,
) -> StackedRows:
    """Read at most ``limit`` rows of the release, of the rows that it was learned from, and of those held out."""
    sources = [c.source for c in columns]
    groups = [sampled(candidate, [c.column for c in columns], limit), training(original, sources, limit, ctx.holdout)]
    if ctx.holdout is not None:
        groups.append(held_out(original, sources, limit, ctx.holdout))
    table = Table({c.column: _stacked(groups, c) for c in columns}, np.arange(sum(map(len, groups)), dtype=np.int64))
    known = table[target.column].codes >= 0
    group = np.repeat(np.arange(len(groups)), [len(g) for g in groups])[known]
    kept = table.take(known)
    types = {
        c.column: AttributeType.FLOAT if c.type.is_amount else AttributeType.TEXT for c in columns if c is not target
    }
    ones = np.ones(len(kept), dtype=np.int64)
    rows = side(kept, types, kept[target.column].codes.astype(np.int64), ones)
    released, real, holdout = ((group == i).astype(np.int64) for i in range(3))
    return StackedRows(rows, released, real, holdout)


def _stacked(groups: Sequence[RecordSample], beside: ColumnPair) -> Column:
    """Put one column's cells of all groups one below the other; the release comes first."""
    mine = [g.table[beside.source if number else beside.column].compact() for number, g in enumerate(groups)]
    if beside.edges and not _are_numbers(mine[0]):
        mine = [labelled(c, beside.edges) for c in mine]
    names = union(c.categories for c in mine)
    return Column(np.concatenate([c.onto(names).codes for c in mine]), names)


def _are_numbers(column: Column) -> bool:
    try:
        column.numbers()
    except pa.ArrowInvalid:
        return False
    return True
