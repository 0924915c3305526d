"""One figure over the repetitions of a point: its mean, and how sure that is."""

from __future__ import annotations

import statistics
from collections.abc import Sequence

from scipy import stats

from ppdm_flow.core.results import Figure
from ppdm_flow.report.sweep.fields import SweepFigure

LEVEL = 0.95


def together(figures: Sequence[Figure | None]) -> SweepFigure:
    """Return value, interval, values and note of a figure; ``figures`` has one for each run, None where it has none.

    Of one run it is the figure itself. Of several, it is the mean with a 95 % interval of Student's t: about the
    mean over runs of this very policy on this very data. No value where any run lacks it.
    """
    values = [None if f is None else f.value for f in figures]
    there = [float(v) for v in values if v is not None]
    if len(there) < len(figures):
        gone = len(figures) - len(there)
        note = next((f.note for f in figures if f is not None and f.value is None and f.note), "")
        return {"value": None, "note": note or f"not measured in {gone} of {len(figures)} runs"}
    first = figures[0]
    if len(figures) == 1 and first is not None:
        own: SweepFigure = {"value": first.value}
        if first.interval is not None:
            own["interval"] = list(first.interval)
        if first.note:
            own["note"] = first.note
        return own
    mean = statistics.fmean(there)
    reach = float(stats.t.ppf(0.5 + LEVEL / 2, len(there) - 1)) * statistics.stdev(there) / len(there) ** 0.5
    return {"value": mean, "interval": [mean - reach, mean + reach], "values": there}
