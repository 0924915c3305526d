"""How close released rows lie to the rows that they were learned from, and to rows that were held out.

A generator that memorizes releases rows that lie closer to its training rows than to others of the same population. One
that does not is as close to either, so that half of the released rows are closer to training rows.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy import stats

from ppdm_flow.audits.closest_record.spec import ClosestRecordParams
from ppdm_flow.audits.labels.unreadable import gate_nothing
from ppdm_flow.audits.records.columns import NO_HOLDOUT, beside, uncontrolled
from ppdm_flow.audits.records.distances import nearest
from ppdm_flow.audits.records.gathering import Integers, Records, affordable, distinct, gather
from ppdm_flow.audits.records.proportions import ALARM, LEVEL, one_sided, wilson
from ppdm_flow.core.diagnostics import Severity
from ppdm_flow.core.phrases import counted
from ppdm_flow.core.results import AuditOutcome, Chart, Figure, FigureSeries, Finding
from ppdm_flow.sdk.audit import AuditContext
from ppdm_flow.sdk.view import DataView

QUANTILES = (("p05", 0.05, "5 % are closer"), ("median", 0.5, "half are closer"))
NAMES = ("closer_to_training", *(f"{g}_{q}" for g in ("training", "holdout") for q in ("p05", "median", "copies")))

MOST_BARS = 25
Floats = npt.NDArray[np.float64]


def chart(training: Distances, holdout: Distances | None) -> Chart:
    """Return bars: the share of released rows by the number of attributes in which their closest record differs."""
    step = max(1, -(-(training.columns + 1) // MOST_BARS))
    groups = [("training", training)] + ([("holdout", holdout)] if holdout is not None else [])
    last = max(int(d.each.max(initial=0)) for _, d in groups) // step
    series = []
    for name, near in groups:
        bars = np.bincount((np.floor(near.each) // step).astype(np.int64), near.weights, last + 1) / near.size
        series.append(FigureSeries(name if holdout is not None else "original", tuple(bars.tolist())))
    names = [str(i) if step == 1 else f"{i * step} to {(i + 1) * step - 1}" for i in range(last + 1)]
    return Chart(
        id="distances",
        title="Distance to the closest record",
        kind="bars",
        x=tuple(names),
        series=tuple(series),
        x_label="attributes that differ",
        y_label="share of released rows",
        note="numbers count by how far they lie apart; distances are rounded down",
    )


class ClosestRecordAudit:
    """Looks for the closest original record of each released one."""

    def __init__(self, params: ClosestRecordParams) -> None:
        self.params = params

    def measure(self, original: DataView, candidate: DataView, ctx: AuditContext) -> AuditOutcome:
        """Return the share of released rows closer to training than to held-out rows, and their distances to both."""
        columns = beside(original, candidate, ctx, self.params.attributes)
        if not columns:
            return _nothing("the release has no attribute of the original")
        gathered = gather(original, candidate, ctx, columns, self.params.reference, self.params.sample)
        if not len(gathered.released) or not len(gathered.training):
            return _nothing("there are no rows to compare")
        group = gathered.holdout if gathered.holdout is not None and len(gathered.holdout) else None
        known = len(gathered.training) if group is None else 2 * min(len(gathered.training), len(group))
        sampled = affordable(gathered.released, known)
        if group is None:
            outcome = _alone(distances(sampled, gathered.training, len(columns)), ctx)
        else:
            outcome = _controlled(closeness(sampled, gathered.training, group, len(columns)), ctx)
        return gate_nothing(outcome, gathered.unread, ctx, "closest_record")


def _alone(near: Distances, ctx: AuditContext) -> AuditOutcome:
    figures = {n: Figure(None, "share", note=NO_HOLDOUT) for n in NAMES}
    figures |= _figures("training", near, "of all original rows: nothing is held out to compare with")
    return AuditOutcome(figures, findings=uncontrolled(ctx, "closest_record"), charts=(chart(near, None),))


def _controlled(close: Closeness, ctx: AuditContext) -> AuditOutcome:
    note = f"50 % if nothing was memorized; {counted(close.size, 'row')} of each group, ties count half"
    figures = {
        "closer_to_training": Figure(close.share, "share", close.interval, close.training.size, note),
        **_figures("training", close.training, f"to the closest of {counted(close.size, 'training row')}"),
        **_figures("holdout", close.holdout, f"to the closest of {counted(close.size, 'held-out row')}"),
    }
    return AuditOutcome(figures, findings=_findings(close, ctx), charts=(chart(close.training, close.holdout),))


def _figures(group: str, near: Distances, note: str) -> dict[str, Figure]:
    figures = {}
    for name, share, means in QUANTILES:
        value, reach = near.quantile(share)
        note_of_distance = f"share of the attributes that differ; {means} {note}"
        figures[f"{group}_{name}"] = Figure(value, "share", reach, near.size, note_of_distance)
    copies, reach = near.copies
    figures[f"{group}_copies"] = Figure(copies, "share", reach, near.size, f"released rows at distance 0 {note}")
    return figures


def _findings(close: Closeness, ctx: AuditContext) -> tuple[Finding, ...]:
    if not close.alarming:
        return ()
    text = (
        f"{close.share:.1%} of the released rows are closer to rows that the generator learned from than to rows that"
        f" it never saw, where 50 % would be expected; chance does this in fewer than {ALARM:g} of all releases"
    )
    return (Finding("PPF860", Severity.WARNING, text, f"{ctx.release}.closest_record"),)


def _nothing(why: str) -> AuditOutcome:
    return AuditOutcome({n: Figure(None, "share", note=why) for n in NAMES})


# Distances of released records to the closest original one, and which group that one is of.


KEY = 20071


@dataclass(frozen=True, slots=True, eq=False)
class Distances:
    """``each`` (distinct,) distance to the closest record, in attributes of ``columns``, of ``weights`` rows each.

    ``where`` (distinct,) is the position of that record.
    """

    each: Floats
    weights: Integers
    where: Integers
    columns: int

    @property
    def size(self) -> int:
        """The number of released rows."""
        return int(self.weights.sum())

    def quantile(self, share: float) -> tuple[float, tuple[float, float]]:
        """Return a quantile as a share of the attributes, and its 95 % interval by order statistics."""
        low, high = stats.binom.interval(LEVEL, self.size, share)
        ranks = np.clip([np.ceil(share * self.size), low, high + 1], 1, self.size)
        order = np.argsort(self.each, kind="stable")
        at = np.searchsorted(np.cumsum(self.weights[order]), ranks)
        value, *ends = (self.each[order][at] / self.columns).tolist()
        return value, (ends[0], ends[1])

    @property
    def copies(self) -> tuple[float, tuple[float, float]]:
        """The share of released rows at distance 0, with its interval."""
        share = float(self.weights[self.each == 0].sum()) / self.size
        return share, wilson(share, self.size)


@dataclass(frozen=True, slots=True, eq=False)
class Closeness:
    """``share`` of released rows closer to one of ``size`` training rows than to as many held-out ones.

    Rows that have the same closest record stand or fall together, so ``independent`` is as many independent rows as
    would vary as much if nothing was memorized.
    """

    training: Distances
    holdout: Distances
    size: int
    share: float
    independent: float

    @property
    def interval(self) -> tuple[float, float]:
        """The 95 % interval of the share."""
        return wilson(self.share, self.independent)

    @property
    def alarming(self) -> bool:
        """Whether so large a share would be too rare if nothing was memorized."""
        return wilson(self.share, self.independent, one_sided())[0] > 0.5


def distances(released: Records, reference: Records, columns: int) -> Distances:
    """Return how close the reference comes to each distinct released row."""
    every = range(columns)
    mine, copies, _ = distinct(released.cells)
    theirs, _, _ = distinct(reference.cells)
    each, where = nearest(released.take(mine).points(every), reference.take(theirs).points(every))
    return Distances(each, copies, theirs[where], columns)


def closeness(released: Records, training: Records, holdout: Records, columns: int) -> Closeness:
    """Compare with as many training rows as held-out ones; which ones is drawn with a fixed key."""
    size = min(len(training), len(holdout))
    known, other = _some(training, size), _some(holdout, size)
    near, far = distances(released, known, columns), distances(released, other, columns)
    rows = near.weights
    closer, tied = near.each < far.each, near.each == far.each
    share = float((rows * (closer + 0.5 * tied)).sum() / rows.sum())
    owner = np.where(closer, near.where, size + far.where)[~tied]
    together = np.bincount(owner, weights=rows[~tied]) if len(owner) else np.zeros(1)
    spread = float((together**2).sum())
    return Closeness(near, far, size, share, float(rows.sum()) ** 2 / spread if spread else float(rows.sum()))


def _some(records: Records, size: int) -> Records:
    if len(records) == size:
        return records
    return records.take(np.sort(np.random.default_rng(KEY).permutation(len(records))[:size]))
