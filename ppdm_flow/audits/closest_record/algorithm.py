"""How close released rows lie to the rows that they were learned from, and to rows that were held out.

A generator that memorizes releases rows that lie closer to its training rows than to others of the same population. One
that does not is as close to either, so that half of the released rows are closer to training rows.
"""

from __future__ import annotations

import numpy as np

from ppdm_flow.audits.closest_record.closeness import Closeness, Distances, closeness, distances
from ppdm_flow.audits.closest_record.spec import ClosestRecordParams
from ppdm_flow.audits.labels.unreadable import gate_nothing
from ppdm_flow.audits.records.columns import NO_HOLDOUT, beside, uncontrolled
from ppdm_flow.audits.records.gathering import affordable, gather
from ppdm_flow.audits.records.proportions import ALARM
from ppdm_flow.core.diagnostics import Severity
from ppdm_flow.core.phrases import counted
from ppdm_flow.core.results import AuditOutcome, Chart, Figure, FigureSeries, Finding
from ppdm_flow.sdk.audit import AuditContext
from ppdm_flow.sdk.view import DataView

QUANTILES = (("p05", 0.05, "5 % are closer"), ("median", 0.5, "half are closer"))
NAMES = ("closer_to_training", *(f"{g}_{q}" for g in ("training", "holdout") for q in ("p05", "median", "copies")))

MOST_BARS = 25


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
