"""A sweep as a JSON document: the one value that its tables and pictures are made from."""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence
from datetime import datetime

from scipy import special

from ppdm_flow.api.sweep.grid import Axis
from ppdm_flow.api.sweep.metrics import Metric
from ppdm_flow.api.sweep.points import PlannedPoint
from ppdm_flow.api.sweep.runs import Result
from ppdm_flow.core.errors import PpdmError
from ppdm_flow.core.results import HELD, RELEASED, Figure
from ppdm_flow.engine.judging.results import JudgedResults
from ppdm_flow.engine.machine import utc_now
from ppdm_flow.engine.manifest import versions
from ppdm_flow.report.run.document import plain
from ppdm_flow.report.run.fields import is_total
from ppdm_flow.report.sweep.rows import (
    MeasuredPoint,
    SweepDocument,
    SweepFigure,
    SweepLoss,
    SweepPoint,
    SweepRecommendation,
    figure_at,
)

FAILED, MIXED = "failed", "mixed"


def document(
    axes: Sequence[Axis],
    points: Sequence[PlannedPoint],
    results: Sequence[Sequence[Result]],
    metrics: Sequence[Metric],
    started: datetime,
    workers: int,
    own: int | None = None,
    *,
    frontier: bool = False,
) -> SweepDocument:
    """Return the JSON-ready form of a sweep. It holds figures and what the command line gave, nothing of the data.

    ``own`` is the place of the point with the policy's own values. ``frontier``: no other points are shown.
    """
    measured = [_point(i + 1, p, r, metrics) for i, (p, r) in enumerate(zip(points, results, strict=True))]
    plan = points[0].plans[0]
    finished = utc_now()
    placed = _placed(measured, metrics)
    if own is not None:
        placed[own]["own"] = True
    written: SweepDocument = {
        "version": 1,
        "policy": plan.policy,
        "over": [{"path": axis.path, "values": list(axis.values)} for axis in axes],
        "metrics": [
            {"name": m.name, "unit": m.unit, "direction": m.direction or None, "requirement": m.privacy}
            for m in metrics
        ],
        "points": placed,
        "run": {
            "started": started.isoformat(timespec="seconds"),
            "finished": finished.isoformat(timespec="seconds"),
            "seconds": round((finished - started).total_seconds(), 3),
            "repeat": len(points[0].plans),
            "workers": workers,
            "randomness": plan.randomness,
            "versions": versions(),
        },
    }
    recommendation = choose_point(placed, [_kept(some) for some in results], metrics)
    if recommendation is not None:
        written["recommended"] = recommendation
        placed[recommendation["point"] - 1]["recommended"] = True
    if frontier:
        written["shown"] = "frontier"
    return written


def _kept(results: Sequence[Result]) -> float | None:
    """Return the information that a point keeps, on average over releases and runs; None where it is not compared."""
    shares = []
    for run in (r for r in results if isinstance(r, JudgedResults)):
        values = [f.value for name, f in run.metrics.items() if is_total(name) and f.value is not None]
        if not values:
            return None
        shares.append(statistics.fmean(values))
    return statistics.fmean(shares) if shares else None


def choose_point(
    points: Sequence[SweepPoint], kept: Sequence[float | None], metrics: Sequence[Metric]
) -> SweepRecommendation | None:
    """Return the point that keeps most of those that would be released, and what others have more of.

    Of equal ones one that no other dominates, then the first.
    """
    holding = [p["verdict"] in (RELEASED, HELD) and not p["failing"] for p in points]  # a waived one does not hold
    shares = {i: share for i, share in enumerate(kept) if share is not None and holding[i]}
    if not shares:
        return None
    place = min(shares, key=lambda i: (-(_compared(shares[i]) or 0.0), not points[i]["on_frontier"], i))
    losses = (_loss(metric, points, place, shares) for metric in metrics if metric.direction)
    return {
        "point": points[place]["number"],
        "kept": shares[place],
        "among": len(shares),
        "gives_up": [loss for loss in losses if loss is not None],
    }


def _loss(metric: Metric, points: Sequence[SweepPoint], place: int, shares: Mapping[int, float]) -> SweepLoss | None:
    """Return the best figure of these points where the recommended one has another; the one that keeps most has it."""
    sign = 1 if metric.direction == "min" else -1
    figures = {i: value for i in shares if (value := _compared(figure_at(points[i], metric.name)["value"])) is not None}
    if place not in figures:
        return None
    best = min(figures, key=lambda i: (sign * figures[i], -shares[i], i))
    if figures[best] == figures[place]:
        return None
    return {
        "metric": metric.name,
        "value": figures[place],
        "best": figures[best],
        "point": points[best]["number"],
        "kept": shares[best],
    }


def _point(number: int, point: PlannedPoint, results: Sequence[Result], metrics: Sequence[Metric]) -> MeasuredPoint:
    runs = [r for r in results if isinstance(r, JudgedResults)]
    errors = [r for r in results if isinstance(r, PpdmError)]
    measured: MeasuredPoint = {
        "number": number,
        "values": dict(point.values),
        "verdict": _verdict(runs, errors),
        "released": sum(r.verdict == "released" for r in runs),
        "runs": len(results),
        "failing": sorted({r.id for run in runs for r in (*run.requirements, *run.gates) if not r.holds}),
        "seconds": round(sum(r.seconds for r in runs) / len(runs), 3) if runs else None,
        "metrics": {} if errors else {m.name: together([r.metrics.get(m.name) for r in runs]) for m in metrics},
    }
    if errors:
        worst = max(errors, key=lambda e: e.exit_status)
        first = worst.diagnostics[0]
        measured["error"] = {"code": first.code, "message": first.message, "exit_status": worst.exit_status}
    checked: MeasuredPoint = plain(measured, f"points.{number}")
    return checked


def _verdict(runs: Sequence[JudgedResults], errors: Sequence[PpdmError]) -> str:
    if errors:
        return FAILED
    verdicts = {r.verdict for r in runs}
    return verdicts.pop() if len(verdicts) == 1 else MIXED


def _placed(points: Sequence[MeasuredPoint], metrics: Sequence[Metric]) -> list[SweepPoint]:
    """Say of each point whether it is on the frontier, or which one of the frontier dominates it.

    Only points of which every run would have released the data compete: what is withheld is no better choice.
    """
    chosen = [m for m in metrics if m.direction]
    figures = [
        [_compared(figure_at(p, m.name)["value"]) if p["verdict"] in (RELEASED, HELD) else None for m in chosen]
        for p in points
    ]
    by = dominators(figures, [m.direction == "min" for m in chosen]) if chosen else [None] * len(points)
    return [
        {
            **point,
            "on_frontier": bool(chosen) and complete(row) and other is None,
            "dominated_by": None if other is None else points[other]["number"],
        }
        for point, row, other in zip(points, figures, by, strict=True)
    ]


def _compared(value: float | None) -> float | None:
    """Return a figure without the rounding errors of its last digits: nobody is better by those."""
    return None if value is None else round(float(f"{value:.9g}"), 12)


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
    reach = float(special.stdtrit(len(there) - 1, 0.5 + LEVEL / 2)) * statistics.stdev(there) / len(there) ** 0.5
    return {"value": mean, "interval": [mean - reach, mean + reach], "values": there}


Figures = Sequence[float | None]


def dominators(points: Sequence[Figures], smaller_is_better: Sequence[bool]) -> tuple[int | None, ...]:
    """Return for each point the place of one that dominates it and is itself dominated by none; None where none does.

    A point dominates another if it is at least as good in every figure and better in one. Equal points dominate
    neither each other nor themselves. A point that lacks a figure takes no part: it dominates nothing, nothing it.

    Parameters
    ----------
    points
        n points of m figures each.
    smaller_is_better
        m flags, one for each figure.

    >>> dominators([(1.0, 5.0), (2.0, 6.0), (0.0, 7.0)], (True, True))
    (None, 0, None)
    """
    costs = {i: cost for i, point in enumerate(points) if (cost := _costs(point, smaller_is_better)) is not None}
    dominator_of: list[int | None] = [None] * len(points)
    frontier: list[int] = []
    for i in sorted(costs, key=lambda i: (costs[i], i)):  # whatever dominates a point stands before it
        dominator_of[i] = next((j for j in frontier if costs[j] != costs[i] and _no_worse(costs[j], costs[i])), None)
        if dominator_of[i] is None:
            frontier.append(i)
    return tuple(dominator_of)


def complete(point: Figures) -> bool:
    """Whether the point has every figure, so that it can be compared."""
    return all(value is not None for value in point)


def _costs(point: Figures, smaller_is_better: Sequence[bool]) -> tuple[float, ...] | None:
    costs = []
    for value, small in zip(point, smaller_is_better, strict=True):
        if value is None:
            return None
        costs.append(value if small else -value)
    return tuple(costs)


def _no_worse(one: Sequence[float], other: Sequence[float]) -> bool:
    return all(a <= b for a, b in zip(one, other, strict=True))
