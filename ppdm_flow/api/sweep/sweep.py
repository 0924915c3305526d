"""Running one policy at many values of its parameters, to see what each costs; nothing is released."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from ppdm_flow.api.buckets import policy_data
from ppdm_flow.api.loading.policies import quote_sources
from ppdm_flow.api.sweep.document import document
from ppdm_flow.api.sweep.grid import axes, grid
from ppdm_flow.api.sweep.metrics import check, metrics, near, requested_metrics
from ppdm_flow.api.sweep.points import PlannedPoint, plan_points
from ppdm_flow.api.sweep.runs import Result, SweepRuns, Tell
from ppdm_flow.core.diagnostics import Diagnostic, Severity
from ppdm_flow.core.errors import PpdmError, UsageError
from ppdm_flow.core.texts.visible import json_text
from ppdm_flow.engine.candidates.directory import RunDirectory
from ppdm_flow.engine.judging.results import JudgedResults
from ppdm_flow.engine.machine import cores, utc_now
from ppdm_flow.engine.options import RunOptions
from ppdm_flow.report.sweep import picture
from ppdm_flow.report.sweep.rows import SweepDocument

Warned = Callable[[tuple[Diagnostic, ...], Mapping[str, str]], None]
DOCUMENT = "sweep.json"


@dataclass(frozen=True, slots=True)
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

    def rendered(self, form: str) -> str:
        """Return the sweep as ``text``, ``md``, ``csv`` or ``json``, ``svg`` or ``html``."""
        return rendered(self.document, form)


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
                every, points.planned, results, chosen, started, runs.workers, points.own, frontier=frontier
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
