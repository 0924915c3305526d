"""Running one policy at many values of its parameters, to see what each costs; nothing is released."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from scipy import special

from ppdm_flow.api.buckets import policy_data
from ppdm_flow.api.loading.policies import quote_sources
from ppdm_flow.api.sweep.grid import Axis, axes, grid
from ppdm_flow.api.sweep.metrics import Metric, check, metrics, near, requested_metrics
from ppdm_flow.api.sweep.points import PlannedPoint, Result, SweepRuns, Tell, plan_points
from ppdm_flow.core.diagnostics import Diagnostic, Severity
from ppdm_flow.core.errors import PpdmError, UsageError
from ppdm_flow.core.phrases import counted
from ppdm_flow.core.results import HELD, RELEASED, Figure
from ppdm_flow.core.texts import json_text
from ppdm_flow.engine.candidates.directory import RunDirectory
from ppdm_flow.engine.judging.results import JudgedResults
from ppdm_flow.engine.machine import cores, utc_now
from ppdm_flow.engine.manifest import versions
from ppdm_flow.engine.options import RunOptions
from ppdm_flow.plan.document import document as plan_document
from ppdm_flow.report.run.document import plain
from ppdm_flow.report.run.fields import OF_ATTRIBUTE, TOTAL, is_total
from ppdm_flow.report.sweep import picture
from ppdm_flow.report.sweep.rows import (
    MeasuredPoint,
    PromisedRecommendations,
    SweepDocument,
    SweepFigure,
    SweepLoss,
    SweepPoint,
    SweepRecommendation,
    figure_at,
)

if TYPE_CHECKING:
    import pandas as pd

Warned = Callable[[tuple[Diagnostic, ...], Mapping[str, str]], None]
DOCUMENT = "sweep.json"


class SvgPicture(str):
    """An SVG picture as its text, which a notebook shows."""

    __slots__ = ()

    def _repr_svg_(self) -> str:
        return str(self)

    def __repr__(self) -> str:
        """Return how long it is: the text is for files."""
        return f"<SVG picture of {len(self):,} characters>"


@dataclass(frozen=True, slots=True, repr=False)
class SweepResult:
    """A finished sweep: its document, where it was written, and what there is to say about it."""

    document: SweepDocument
    folder: Path
    diagnostics: tuple[Diagnostic, ...]
    sources: Mapping[str, str]

    @property
    def exit_status(self) -> int:
        """0 where every point was measured; else the worst of the statuses that runs of its points would have."""
        return max((p["error"]["exit_status"] for p in self.document["points"] if "error" in p), default=0)

    def to_pandas(self) -> pd.DataFrame:
        """Return a row for each point: its values, verdict and figures, and whether no other point is better.

        A figure that has the name of a varied value has ``measured`` behind its name.
        """
        import pandas as pd  # noqa: PLC0415  # heavy, and only here

        axes_of_sweep = [axis["path"] for axis in self.document["over"]]
        rows = [
            {
                **{path: _as_number(value) for path, value in point["values"].items()},
                "verdict": point["verdict"],
                **{f"{n} measured" if n in axes_of_sweep else n: f["value"] for n, f in point["metrics"].items()},
                "on_frontier": point["on_frontier"],
            }
            for point in self.document["points"]
        ]
        return pd.DataFrame(rows, index=pd.Index([point["number"] for point in self.document["points"]], name="point"))

    def plot(self) -> SvgPicture:
        """Return a picture of the points, which a notebook shows; ``str`` of it is SVG."""
        return SvgPicture(self.rendered("svg"))

    def __repr__(self) -> str:
        """Return how many points were measured, and where they are written."""
        return f"<sweep of {counted(len(self.document['points']), 'point')}: {self.folder}>"

    def rendered(self, form: str) -> str:
        """Return the sweep as ``text``, ``md``, ``csv`` or ``json``, ``svg`` or ``html``."""
        return rendered(self.document, form)


def _as_number(value: str) -> float | int | str:
    """Return a value of a policy as a number where it is written as one."""
    for kind in (int, float):
        with suppress(ValueError):
            return kind(value)
    return value


def rendered(sweep_document: SweepDocument, form: str) -> str:
    """Return a sweep's document in a form: ``text``, ``md``, ``csv``, ``json``, ``svg`` or ``html``."""
    match form:
        case "json":
            return json_text(sweep_document)
        case "csv":
            return picture.csv(sweep_document)
        case "md":
            return picture.markdown(sweep_document)
        case "svg":
            return picture.svg(sweep_document)
        case "html":
            return picture.render(sweep_document)
        case _:
            return picture.plain(sweep_document)


def sweep(
    path: Path,
    over: Sequence[str],
    wanted_metrics: Sequence[str] = (),
    sets: Mapping[str, str] = {},
    data: Path | None = None,
    out: Path = Path("sweeps"),
    tell: Tell = lambda _done: None,
    warned: Warned = lambda _found, _sources: None,
    *,
    repeat: int = 1,
    workers: int | None = None,
    partition_rows: int = 262_144,
    strict: bool = False,
    locked: bool = False,
    frontier: bool = False,
) -> SweepResult:
    """Measure a policy at every combination of values, into a new directory below ``out``; no data is released.

    ``over`` are ``PATH=V1,V2`` words, ``wanted_metrics`` ``NAME[:min|:max]`` words. ``frontier`` measures the policy's
    own values as well, and shows no dominated points. All points are compiled before any of them runs. Raises
    UsageError, PolicyError with the faults of all points, or DataError; a point that fails while it runs is part of the
    answer, unless all fail for one reason, which is raised then.
    """
    every, names = axes(over), requested_metrics(wanted_metrics)
    if not every:
        raise UsageError(Diagnostic("PPF120", "nothing to vary", help="give at least one `--over PATH=V1,V2`"))
    with policy_data(path, sets, data) as there:
        points = plan_points(
            path, every, grid(every), sets, there, repeat, strict=strict, locked=locked, with_own=frontier
        )
        check(names, [p.plans[0] for p in points.planned])
        warned(points.warnings, points.sources)
        started, first = utc_now(), points.planned[0].plans[0]
        directory = RunDirectory(out / first.policy)
        try:
            options = RunOptions(partition_rows=partition_rows)
            runs = SweepRuns(points.planned, there, directory.folder("measuring"), options, workers or cores(), tell)
            with quote_sources(points.sources):
                results = _sound(runs.carry_out())
            chosen, missing = metrics(
                names, [r for some in results for r in some if isinstance(r, JudgedResults)], first
            )
            sweep_document = document(
                every,
                points.planned,
                results,
                chosen,
                started,
                runs.workers,
                points.own,
                points.left_out,
                frontier=frontier,
            )
            directory.remove("measuring")
            _write(directory, sweep_document)
            diagnostics = (
                *_failures(points.planned, results),
                *_missing(missing, results),
                *_directions(sweep_document),
            )
            return SweepResult(sweep_document, directory.move(started, first.digest), diagnostics, points.sources)
        finally:
            directory.discard()


def _write(directory: RunDirectory, sweep_document: SweepDocument) -> None:
    for form, name in (("json", DOCUMENT), ("md", "sweep.md"), ("html", "sweep.html"), ("svg", "sweep.svg")):
        directory.write(name, rendered(sweep_document, form))


def _sound(results: tuple[tuple[Result, ...], ...]) -> tuple[tuple[Result, ...], ...]:
    """Raise where every run failed for the same reason: then there is nothing to show."""
    every = [r for some in results for r in some]
    errors = [r for r in every if isinstance(r, PpdmError)]
    if len(errors) == len(every) and len({e.diagnostics for e in errors}) == 1:
        raise errors[0]
    return results


def _failures(points: Sequence[PlannedPoint], results: Sequence[Sequence[Result]]) -> list[Diagnostic]:
    """Return why points failed, each reason once, with the points."""
    metrics_of: dict[Diagnostic, list[str]] = {}
    for point, some in zip(points, results, strict=True):
        for error in (r for r in some if isinstance(r, PpdmError)):
            for each in error.diagnostics:
                names = metrics_of.setdefault(each, [])
                names += [] if point.name in names else [point.name]
    return [_at(each, names) for each, names in metrics_of.items()]


def _at(each: Diagnostic, names: Sequence[str]) -> Diagnostic:
    shown = "; ".join(names[:4]) + (f"; and {len(names) - 4} more" if len(names) > 4 else "")
    return Diagnostic(
        each.code, each.message, each.span, each.severity, each.hint, each.help, (*each.notes, f"at {shown}")
    )


def _missing(names: Sequence[str], results: Sequence[Sequence[Result]]) -> list[Diagnostic]:
    runs = [r for some in results for r in some if isinstance(r, JudgedResults)]
    diagnostics = []
    for name in names:
        like = near(name, runs)
        help_ = f"did you mean `{like}`?" if like else "`report.json` of a run lists every figure under `metrics`"
        diagnostics.append(Diagnostic("PPF125", f"no point has a figure `{name}`", None, Severity.WARNING, help=help_))
    return diagnostics


def _directions(sweep_document: SweepDocument) -> list[Diagnostic]:
    """Say which figures have no better side, so that they play no part in the frontier."""
    names = [m["name"] for m in sweep_document["metrics"] if m["direction"] is None]
    if not names:
        return []
    listed = ", ".join(f"`{name}`" for name in names)
    text_ = f"{listed}: it is not known which side is better, so the frontier does not regard it"
    return [Diagnostic("PPF126", text_, None, Severity.INFO, help=f"write `{names[0]}:min` or `{names[0]}:max`")]


# A sweep as a JSON document: the one value that its tables and pictures are made from.


FAILED, MIXED = "failed", "mixed"


def document(
    axes: Sequence[Axis],
    points: Sequence[PlannedPoint],
    results: Sequence[Sequence[Result]],
    metrics: Sequence[Metric],
    started: datetime,
    workers: int,
    own: int | None = None,
    left_out: Sequence[str] = (),
    *,
    frontier: bool = False,
) -> SweepDocument:
    """Return the JSON-ready form of a sweep. It holds figures and what the command line gave, nothing of the data.

    ``own`` is the place of the point with the policy's own values; where there is none, ``left_out`` are the axes at
    which the policy writes no value. ``frontier``: no other points are shown.
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
    kept = comparable_shares(results)
    promises = [_promise(point) for point in points]
    if len(set(promises)) > 1:
        written["recommended_by_promise"] = _of_each_promise(placed, kept, metrics, axes, promises)
    elif (recommendation := choose_point(placed, kept, metrics)) is not None:
        written["recommended"] = recommendation
        if "tied" not in recommendation:
            placed[recommendation["point"] - 1]["recommended"] = True
    if left_out:
        written["left_out"] = list(left_out)
    if frontier:
        written["shown"] = "frontier"
    return written


def comparable_shares(results: Sequence[Sequence[Result]]) -> list[float | None]:
    """Return the information that each point keeps; None where other attributes are not compared than elsewhere.

    An attribute that cannot be compared has no part in the mean: a point that made pseudonyms of the coarsest one would
    seem to keep more. Compared are the points that leave fewest out.
    """
    kept = [_kept(some) for some in results]
    left_out = [_left_out(some) for some in results]
    known = (names for names, share in zip(left_out, kept, strict=True) if share is not None)
    fewest = min(known, key=len, default=frozenset[str]())
    return [share if names == fewest else None for names, share in zip(left_out, kept, strict=True)]


def _left_out(results: Sequence[Result]) -> frozenset[str]:
    """Return the figures of what is kept of attributes that some run of a point cannot compare."""
    runs = [r for r in results if isinstance(r, JudgedResults)]
    owners = {name.removesuffix(TOTAL) for run in runs for name in run.metrics if is_total(name)}
    return frozenset(
        name
        for run in runs
        for name, figure in run.metrics.items()
        if figure.value is None
        and name.endswith(f".{OF_ATTRIBUTE}")
        and any(name.startswith(owner) for owner in owners)
    )


def _kept(results: Sequence[Result]) -> float | None:
    """Return the information that a point keeps, on average over releases and runs; None where it is not compared."""
    shares = []
    for run in (r for r in results if isinstance(r, JudgedResults)):
        values = [f.value for name, f in run.metrics.items() if is_total(name) and f.value is not None]
        if not values:
            return None
        shares.append(statistics.fmean(values))
    return statistics.fmean(shares) if shares else None


_OF_A_PROMISE = ("requirements", "gates", "people", "nulls", "recipients", "waivers", "ledger", "approvals")


def _promise(point: PlannedPoint) -> str:
    """Return what must hold of a point's releases, and for whom they are: points are compared where it is the same."""
    plan: Mapping[str, Any] = {**plan_document(point.plans[0])}
    audiences = {release["name"]: release.get("audience") for release in plan["releases"]}
    return json_text({**{key: plan[key] for key in _OF_A_PROMISE if key in plan}, "audiences": audiences})


def _of_each_promise(
    points: Sequence[SweepPoint],
    kept: Sequence[float | None],
    metrics: Sequence[Metric],
    axes: Sequence[Axis],
    promises: Sequence[str],
) -> PromisedRecommendations:
    """Return which axes change what is promised, and the point that keeps most for each value of them.

    The loosest bound nearly always keeps most: between bounds somebody has to decide, and not a figure of usefulness.
    """
    changing = [axis.path for axis in axes if _changes_promises(axis.path, points, promises)]
    chosen = []
    for promise in dict.fromkeys(promises):
        places = [i for i, own in enumerate(promises) if own == promise]
        recommendation = choose_point(points, kept, metrics, places)
        if recommendation is None:
            continue
        if len(places) > 1:
            for number in (recommendation["point"], *recommendation.get("tied", ())):
                points[number - 1]["keeps_most"] = True
        chosen.append(recommendation)
    return {"axes": changing, "points": chosen}


def _changes_promises(path: str, points: Sequence[SweepPoint], promises: Sequence[str]) -> bool:
    """Whether the set of promises differs between values of this path."""
    found: dict[str, set[str]] = {}
    for point, promise in zip(points, promises, strict=True):
        found.setdefault(point["values"][path], set()).add(promise)
    return len(set(map(frozenset, found.values()))) > 1


def choose_point(
    points: Sequence[SweepPoint],
    kept: Sequence[float | None],
    metrics: Sequence[Metric],
    places: Iterable[int] | None = None,
) -> SweepRecommendation | None:
    """Return the point that keeps most of those that would be released, and what others have more of.

    Of equal ones one that no other dominates; where that leaves several, they are ``tied``. ``places``: only these
    points are compared.
    """
    among = range(len(points)) if places is None else places
    holding = {i for i in among if points[i]["verdict"] in (RELEASED, HELD) and not points[i]["failing"]}
    shares = {i: share for i, share in enumerate(kept) if share is not None and i in holding}  # none that is waived
    if not shares:
        return None
    place = min(shares, key=lambda i: (-(_compared(shares[i]) or 0.0), not points[i]["on_frontier"], i))
    losses = (_loss(metric, points, place, shares) for metric in metrics if metric.direction)
    recommendation: SweepRecommendation = {
        "point": points[place]["number"],
        "kept": shares[place],
        "among": len(shares),
        "gives_up": [loss for loss in losses if loss is not None],
    }
    rank = (_compared(shares[place]), points[place]["on_frontier"])
    tied = [i for i in shares if i != place and (_compared(shares[i]), points[i]["on_frontier"]) == rank]
    if tied:
        recommendation["tied"] = [points[i]["number"] for i in tied]
    return recommendation


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
    for i in sorted(costs, key=lambda i: (costs[i], i)):  # a point that dominates another comes before it
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
