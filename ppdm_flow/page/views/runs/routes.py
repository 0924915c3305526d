"""Runs: begun from a policy, listed, read, compared, verified; sweeps."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any, cast

from markupsafe import Markup
from starlette.exceptions import HTTPException
from starlette.responses import FileResponse, Response

from ppdm_flow.api.sweep.grid import Axis, AxisPlaces, axes, grid, places
from ppdm_flow.core.amounts import amount
from ppdm_flow.core.errors import PpdmError
from ppdm_flow.core.results import HELD, RELEASED
from ppdm_flow.page.http.call import (
    Call,
    has_made,
    known_job,
    known_policy,
    known_run,
    refuse_taken,
    run_called,
    runnable_policy,
    signing_as_author,
)
from ppdm_flow.page.http.headers import FRAMED
from ppdm_flow.page.http.route import ANY_FIELD, STEWARDS, STEWARDS_AND_APPROVERS, changes, reads
from ppdm_flow.page.looks.addresses import policy_address, run_address
from ppdm_flow.page.services.accounts.roles import PageRole
from ppdm_flow.page.services.bounded import CHECKS
from ppdm_flow.page.services.jobs.job import JobState
from ppdm_flow.page.services.jobs.jobs import OWN_FOLDER
from ppdm_flow.page.services.policies.checks import PolicyCheck
from ppdm_flow.page.services.policies.given import GivenFiles, files_of
from ppdm_flow.page.services.policies.policies import PolicyText, UnknownPolicyError
from ppdm_flow.page.services.policies.reach import reaches
from ppdm_flow.page.services.refusal import RefusalError
from ppdm_flow.page.services.runs.runs import REPORTS, WITHHELD, ListedRun, from_report
from ppdm_flow.page.services.uploads.uploads import Upload
from ppdm_flow.page.site import Site
from ppdm_flow.page.texts.catalogue import catalogue
from ppdm_flow.page.views.runs.changes import RunChanges, changes_between, run_before, version_of
from ppdm_flow.page.views.runs.data import data_choice
from ppdm_flow.page.views.runs.mending import offers, proposed
from ppdm_flow.pictures.charts import ChartAxis, ChartPoint, Plot, PointLine, point_chart
from ppdm_flow.pictures.svg import Caption
from ppdm_flow.policy.edit.changes import PolicyEdit, put
from ppdm_flow.policy.files import Library
from ppdm_flow.policy.loading import load
from ppdm_flow.report.diff.fields import DiffDocument, in_order, tables
from ppdm_flow.report.run.fields import InformationKept, ReportDocument, information_kept
from ppdm_flow.report.run.verdict import PageVerdict, verdict
from ppdm_flow.report.sweep.rows import (
    SweepDocument,
    SweepMetric,
    SweepPoint,
    SweepRows,
    figure_at,
    recommended,
    rows,
    said,
    short,
    tidy,
)


def list_runs(call: Call) -> Response:
    """Show the runs, newest first, of one policy or state where that is asked for."""
    runs = call.site.runs.list()
    policy, state = call.query.get("policy", ""), call.query.get("state", "")
    chosen = [run for run in runs if policy in {"", run.policy} and state in {"", run.state}]
    pages = max(1, -(-len(chosen) // _EACH))
    page = min(_page(call.query.get("page", "")), pages)
    shown = chosen[(page - 1) * _EACH : page * _EACH]
    makers = {run.key: job.author for run in shown if (job := call.site.jobs.maker(run.key)) is not None}
    return call.page(
        "runs/list.html",
        runs=shown,
        many=len(chosen),
        page=page,
        pages=pages,
        policies=sorted({run.policy for run in runs}),
        states=STATES,
        policy=policy,
        state=state,
        makers=makers,
    )


def compare_runs(call: Call) -> Response:
    """Show what differs between two runs: what was asked for, judged and measured. Raises what ``diff`` raises."""
    old, new = (run_called(call, call.query.get(name, "")) for name in ("old", "new"))
    document = CHECKS.run(differences, str(old.folder), str(new.folder))
    _, figures = tables(document["runs"])
    return call.page(
        "runs/compare.html",
        measured=changes_between(old, new),
        old=old,
        new=new,
        relation=document["pairs"][0]["relation"],
        changes=in_order(document["pairs"][0]["changes"]),
        figures=figures[2],
        same=len(document["runs"]["metrics"]) - len(figures[2]),
        findings=document["runs"]["findings"],
    )


# One run: the verdict first, then what was asked for and measured, then what to do about it.


def show_run(call: Call) -> Response:
    """Show one run, and what changed since the one before. Raises UsageError where its report cannot be read."""
    run = known_run(call)
    judged, findings, kept, tables = from_report(run.folder, _shown)
    policy = policy_file(call.site, run)
    may_edit = policy is not None and call.user.has(PageRole.STEWARD)
    maker, sizes = call.site.jobs.maker(run.key), run.files()
    proposals = (
        offers(call.site, policy, judged, run_address(run.key)) if may_edit and policy and judged.failing else {}
    )
    others = [each for each in call.site.runs.list() if each.policy == run.policy and each.key != run.key]
    before = run_before(run, others)
    downloads = {name: sizes[name] for name in run.downloads(for_maker=has_made(call, run))}
    return call.page(
        "runs/run.html",
        run=run,
        before=before,
        measured=None if before is None else _changes_since(before, run),
        back=_back_to(call, policy, before) if may_edit and policy and before else "",
        verdict=judged,
        state=_state(run, judged),
        findings=findings,
        kept=kept,
        tables={name: file for name, file in tables.items() if file in downloads},
        downloads=downloads,
        policy=policy,
        steward=call.user.has(PageRole.STEWARD),
        offers=proposals,
        first_offer=next((offer.address for some in proposals.values() for offer in some if not offer.weakens), ""),
        maker=maker.author if maker else "",
        uploads=call.site.uploads.all_of(call.user) if call.user.has(PageRole.STEWARD) else [],
        others=others[:50],
    )


# The files of a run: its report in a frame that nothing leaves, and downloads.


def show_report(call: Call) -> Response:
    """Show the whole report in a frame. Raises as `_report`."""
    run = known_run(call)
    _report(run)
    return call.page("runs/report.html", run=run)


def send_framed_report(call: Call) -> Response:
    """Send the report itself, for the frame. Raises as `_report`."""
    file = _report(known_run(call))
    text = _SCRIPT.sub(b"", file.read_bytes()).replace(b"</head>", _WITHOUT_BUTTONS + b"</head>", 1)
    return Response(text, media_type="text/html", headers=FRAMED)


def send_file(call: Call) -> Response:
    """Send one file of a run as a download: one that its manifest lists, and that has left the run."""
    run = known_run(call)
    name = call.path["file"]
    file = run.downloads(for_maker=has_made(call, run)).get(name)
    if file is None:
        raise HTTPException(404)
    shown = f"{run.policy}-{run.name}-{name.replace('/', '-')}"
    return FileResponse(file, media_type="application/octet-stream", filename=shown)


# Beginning a run of a policy, and verifying one: both are jobs.


def run_form(call: Call) -> Response:
    """Show what a run may be begun with."""
    policy, own_key = known_policy(call), call.site.keys.of(call.user)
    checked = call.site.checks.check(policy.name, policy.text)
    seen = files_of(call.site.checks, policy, checked).digest
    data = data_choice(call, policy, checked)
    return call.page("runs/start.html", policy=policy, seen=seen, data=data, own_key=own_key)


def start_run(call: Call) -> Response:
    """Begin a run."""
    policy = runnable_policy(call)
    given = files_looked_at(call, policy)
    words = ["run", str(call.site.policies.path(policy.name)), "--out", str(call.site.settings.runs.absolute())]
    data = chosen_upload(call)
    words += ["--data", str(data.path)] if data is not None else []
    words += ["--strict"] if call.text("strict") else []
    signing = signing_as_author(call)
    words += signing.words if signing is not None else ()
    environment = signing.environment if signing is not None else {}
    job = call.site.jobs.add(call.user, words, kind="run", about=policy.name, environment=environment, given=given)
    if data is not None:
        call.site.uploads.set_policy_upload(call.user, policy.name, data)
    return call.go(f"/jobs/{job.id}")


def start_verify(call: Call) -> Response:
    """Begin to verify a run, with the data where an upload is chosen."""
    run = known_run(call)
    words = ["verify", str(run.folder)]
    data = chosen_upload(call)
    words += ["--data", str(data.path)] if data is not None else []
    job = call.site.jobs.add(call.user, words, kind="verify", about=run.key, leads_to=run_address(run.key))
    return call.go(f"/jobs/{job.id}")


# A sweep of a policy as a job, and its result as pictures to choose from.


def sweep_form(call: Call) -> Response:
    """Show what can be varied, and which figures can be looked at."""
    policy = known_policy(call)
    known, chosen = _figures(call, policy.name)
    checked = call.site.checks.check(policy.name, policy.text)
    return call.page(
        "runs/sweep_form.html",
        policy=policy,
        seen=files_of(call.site.checks, policy, checked).digest,
        places=CHECKS.run(sweepable, call.site.policies.path(policy.name)),
        figures=known,
        chosen=chosen,
        data=data_choice(call, policy, checked),
        rows=range(1, _AXES + 1),
    )


def start_sweep(call: Call) -> Response:
    """Begin a sweep. Raises UsageError where it is unclear what is to vary."""
    policy = runnable_policy(call)
    path, given = call.site.policies.path(policy.name), files_looked_at(call, policy)
    pairs = [(call.text(f"path_{i}").strip(), call.text(f"values_{i}").strip()) for i in range(1, _AXES + 1)]
    over = [f"{place}={values}" for place, values in pairs if place or values]
    if CHECKS.run(points_reach, path, over, call.site.checks.private):
        raise RefusalError("policies.reaches_private", 403)
    words = ["sweep", str(path), *(f"--over={each}" for each in over)]
    words += [f"--metrics={','.join(chosen)}"] if (chosen := call.texts("figures")) else []
    data = chosen_upload(call)
    words += ["--data", str(data.path)] if data is not None else []
    words += ["--workers", "1", "--out", f"{OWN_FOLDER}/sweep"]
    leads_to = f"/sweeps/{OWN_FOLDER}"
    job = call.site.jobs.add(call.user, words, kind="sweep", about=policy.name, leads_to=leads_to, given=given)
    return call.go(f"/jobs/{job.id}")


def show_sweep(call: Call) -> Response:
    """Show the result of a sweep: each point leads to the edit of the policy that takes its values."""
    job = known_job(call)
    if job.kind != "sweep":
        raise HTTPException(404)
    reports = sorted((job.folder / "sweep").glob("*/*/sweep.json"))
    if job.state is not JobState.DONE and not reports:
        return call.go(f"/jobs/{job.id}")
    if not reports:
        raise HTTPException(404)
    try:
        path = call.site.policies.path(job.about)
    except UnknownPolicyError:
        path = None
    shown = REPORTS.run(shown_sweep, reports[-1], path, job.about, f"/sweeps/{job.id}")
    return call.page("runs/sweep.html", job=job, sweep=shown)


ROUTES = (
    reads("/runs", list_runs, STEWARDS_AND_APPROVERS),
    reads("/runs/compare", compare_runs, STEWARDS_AND_APPROVERS),
    reads("/runs/{policy}/{run}", show_run, STEWARDS_AND_APPROVERS),
    reads("/runs/{policy}/{run}/report", show_report, STEWARDS_AND_APPROVERS),
    reads("/runs/{policy}/{run}/report.html", send_framed_report, STEWARDS_AND_APPROVERS),
    reads("/runs/{policy}/{run}/files/{file:path}", send_file, STEWARDS_AND_APPROVERS),
    changes("/runs/{policy}/{run}/verify", start_verify, STEWARDS_AND_APPROVERS, "runs.verify", "run"),
    reads("/policies/{policy:path}/run", run_form, STEWARDS),
    changes("/policies/{policy:path}/run", start_run, STEWARDS, "runs.start", "policy"),
    reads("/policies/{policy:path}/sweep", sweep_form, STEWARDS),
    changes(
        "/policies/{policy:path}/sweep", start_sweep, STEWARDS, "runs.sweep", "policy", long_fields={ANY_FIELD: 10_000}
    ),
    reads("/sweeps/{job}", show_sweep, STEWARDS),
)

_EACH = 50
STATES = (RELEASED, HELD, WITHHELD)


def _page(word: str) -> int:
    return int(word) if word.isascii() and word.isdecimal() and 0 < len(word) < 7 and int(word) else 1


def differences(old: str, new: str) -> DiffDocument:
    """Return what differs between the runs of two folders."""
    from ppdm_flow.api.diff.diff import diff  # noqa: PLC0415  # what reads and orders policies, for this page alone

    return diff(old, new).document


def _shown(
    document: ReportDocument,
) -> tuple[PageVerdict, Sequence[Mapping[str, Any]], tuple[InformationKept, ...], Mapping[str, str]]:
    """Return what the page of a run shows of its report; of the released tables, their names among the run's files."""
    files = {name: f"{RELEASED}/{about['path']}" for name, about in document["releases"].items() if "path" in about}
    return verdict(document), document["findings"], information_kept(document), files


def _state(run: ListedRun, judged: PageVerdict) -> str:
    """Return the state by the report itself: a manifest that says more than its checks bear out is not believed."""
    return run.state if judged.released else "withheld"


def policy_file(site: Site, run: ListedRun) -> str | None:
    """Return the policy that a run of this server was made from; of others the only one whose text says so, if any."""
    names = site.policies.names()
    job = site.jobs.maker(run.key)
    if job is not None and job.about in names:
        return job.about
    called = [file for file, name in site.policies.named().items() if file in names and name == run.policy]
    return called[0] if len(called) == 1 else None


def _changes_since(old: ListedRun, new: ListedRun) -> RunChanges | None:
    """Return what differs between two runs; None where the old one's report cannot be read."""
    try:
        return changes_between(old, new)
    except PpdmError:
        return None


def _back_to(call: Call, policy: str, before: ListedRun) -> str:
    """Return where the policy of an earlier run is shown, to be put back; empty where it is that of today."""
    version = version_of(call.site, policy, before)
    if version is None or version.digest == call.site.policies.read(policy).digest:
        return ""
    return policy_address(policy, "propose", version=str(version.number), back=run_address(before.key))


REPORT = "report.html"
_LONGEST = 16_000_000
"""Bytes of a report that is shown: it is held in memory, and each may have as many releases as somebody likes."""

_SCRIPT = re.compile(rb"<script\b.*?</script\s*>", re.DOTALL | re.IGNORECASE)
"""The report's own script: the frame would not run it, and browsers complain where they meet one there."""
_WITHOUT_BUTTONS = b"<style>#theme, #unfold, #print-sheet { display: none }</style>"
"""Hides what the script is for."""


def _report(run: ListedRun) -> Path:
    """Return the file of a report. Raises HTTPException 404 where there is none, RefusalError where it is too long."""
    file = run.downloads(for_maker=False).get(REPORT)
    if file is None:
        raise HTTPException(404)
    if file.stat().st_size > _LONGEST:
        raise RefusalError("runs.long_report", 413)
    return file


def files_looked_at(call: Call, policy: PolicyText) -> GivenFiles:
    """Return the files that a policy is made of.

    Raises RefusalError where they were others when the form was shown, or another policy has the same name.
    """
    given = files_of(call.site.checks, policy)
    if call.text("digest", given.digest) != given.digest:
        raise RefusalError("policies.changed_meanwhile")
    refuse_taken(call, policy.name, given.policy)
    return given


def chosen_upload(call: Call) -> Upload | None:
    """Return the upload that the form names; None where it names none. Others' uploads are none: 404."""
    name = call.text("upload")
    if not name:
        return None
    upload = call.site.uploads.of(call.user, name)
    if upload is None:
        raise HTTPException(404)
    return upload


_AXES = 2
_TELLING = (".mean_kept", "suppressed_cells", "record_utility", "error_increase", "rows_lost")
"""Figures that say what a release costs: they are chosen unless somebody chooses others."""


def points_reach(path: Path, over: Sequence[str], private: Path) -> bool:
    """Return whether a policy reaches a private file at some point of a sweep: values may be put together to a path.

    Raises UsageError or PolicyError where it cannot be swept over these places and values.
    """
    every = axes(over)
    points, library = grid(every), Library()
    axis_places = places(every, load(path, library=library), {})
    parsed = library.parsed  # what templates come to depends on the params
    trees = (load(path, axis_places.sets(point), axis_places.over(point), Library(parsed)).tree for point in points)
    return any(reaches(tree, path.parent, private) for tree in trees)


def _figures(call: Call, policy: str) -> tuple[Sequence[str], Sequence[str]]:
    """Return the figures that the policy's newest run has, and those of them that are looked at unless others are."""
    name = CHECKS.run(policy_name, call.site.policies.path(policy))
    run = next((each for each in call.site.runs.list() if each.policy == name), None)
    if run is None:
        return (), ()
    return from_report(run.folder, _known_figures)


def cost_figures(call: Call, policy: str, checked: PolicyCheck) -> list[str]:
    """Return the figures that say what a bound costs, as far as the newest run of the policy has them.

    Those of steps that the policy does not have any more are none. Without any, a sweep chooses its own.
    """
    known, _ = _figures(call, policy)
    steps = () if checked.plan is None else checked.plan["steps"]
    owners = {"information_kept", *(step["name"] for step in steps)}
    costs = (each for each in known if each.endswith((".mean_kept", ".suppressed_rows", ".rows_lost")))
    return [each for each in costs if each.rpartition("/")[2].partition(".")[0] in owners]


def _known_figures(document: ReportDocument) -> tuple[Sequence[str], Sequence[str]]:
    known = sorted(document["metrics"])
    judged = {result["metric"] for result in (*document["requirements"], *document["gates"])}
    own = [each for each in known if each.rpartition("/")[2] in judged or each.endswith(_TELLING)]
    return known, own


# The values of a policy that a sweep may vary.


_ROOTS = ("privacy", "steps", "gates")
_MOST = 200


def sweepable(path: Path) -> list[tuple[str, str]]:
    """Return the places with numbers, and the params of a policy, each with what stands there now."""
    loaded = load(path)
    params = [(f"params.{param.name}", param.texts[0] if len(param.texts) == 1 else "") for param in loaded.params]
    leaves = [each for root in _ROOTS for each in _numbers(loaded.tree.get(root), (root,))]
    return [*params, *leaves][:_MOST]


def policy_name(path: Path) -> str:
    """Return the name that a policy gives itself; empty where it has none."""
    return str(load(path).tree.get("name", ""))


def _numbers(node: Any, path: tuple[str, ...]) -> Iterator[tuple[str, str]]:
    if isinstance(node, Mapping):
        for key, value in node.items():
            yield from _numbers(value, (*path, str(key)))
    elif isinstance(node, str) and _is_number(node):
        yield ".".join(path), node


def _is_number(text: str) -> bool:
    try:
        return abs(float(text)) < float("inf")
    except ValueError:
        return False


# A sweep as pictures: for each figure, what it comes to at each value; and the edit that takes a point's values.


_FRONTIER_MOST = 8
_WIDTH, _HEIGHT = 640.0, 300.0
_SHARES = frozenset({"share", "probability"})


@dataclass(frozen=True, slots=True)
class FrontierPicture:
    """The chart of one figure."""

    title: str
    drawing: Markup


@dataclass(frozen=True, slots=True)
class ShownSweep:
    """What the page of a sweep shows of it. ``points`` are addresses of edits by the number of their point."""

    sentence: str
    recommended: str
    table: SweepRows
    points: Mapping[int, str]
    pictures: Sequence[FrontierPicture]


def shown_sweep(file: Path, path: Path | None, policy: str, back: str) -> ShownSweep:
    """Return what is shown of the sweep in a file; no edits where there is no policy at the path."""
    document = cast("SweepDocument", json.loads(file.read_text(encoding="utf-8")))
    addresses = {} if path is None else _points(path, policy, document, back)
    return ShownSweep(said(document), recommended(document), rows(document), addresses, pictures(document, addresses))


def _points(path: Path, policy: str, document: SweepDocument, back: str) -> dict[int, str]:
    """Return the address of the edit that takes each point's values; none where the policy is another one by now."""
    axes = [Axis(axis["path"], tuple(axis["values"])) for axis in document["over"]]
    try:
        axis_places = places_in(path, axes)
    except PpdmError:
        return {}
    return {
        point["number"]: proposed(policy, _changes(point["values"], axis_places), back) for point in document["points"]
    }


def places_in(path: Path, axes: Sequence[Axis]) -> AxisPlaces:
    """Return the places that axes vary in the policy at a path. Raises PolicyError where it has none of them."""
    return places(axes, load(path), {})


def _changes(values: Mapping[str, str], axis_places: AxisPlaces) -> list[PolicyEdit]:
    params = [put(("params", name, "default"), values[axis]) for axis, name in axis_places.params.items()]
    return [*params, *(put(path, values[axis]) for axis, path in axis_places.paths.items())]


def pictures(document: SweepDocument, addresses: Mapping[int, str]) -> list[FrontierPicture]:
    """Return a chart for each figure that differs between points."""
    names = short([metric["name"] for metric in document["metrics"]])
    drawn = (
        _picture(document, metric, name, addresses, place)
        for place, (metric, name) in enumerate(zip(document["metrics"], names, strict=True))
        if len(_values(document, metric)) > 1
    )
    return list(islice(drawn, _FRONTIER_MOST))


def _values(document: SweepDocument, metric: SweepMetric) -> set[float]:
    figures = (figure_at(point, metric["name"])["value"] for point in document["points"])
    return {tidy(value) for value in figures if value is not None}


def _picture(
    document: SweepDocument, metric: SweepMetric, name: str, addresses: Mapping[int, str], place: int
) -> FrontierPicture:
    first, *others = [axis["path"] for axis in document["over"]]
    values = document["over"][0]["values"]
    places = {value: float(value if _all_numbers(values) else number) for number, value in enumerate(values)}
    lines: dict[str, list[ChartPoint]] = {}
    for point in document["points"]:
        value = figure_at(point, metric["name"])["value"]
        if value is not None:
            line = ", ".join(f"{path} {point['values'][path]}" for path in others)
            lines.setdefault(line, []).append(_point(point, metric, name, places[point["values"][first]], addresses))
    series = [
        PointLine(line, tuple(sorted(some, key=lambda p: p.x)), f"s{i % 7 + 1}")
        for i, (line, some) in enumerate(lines.items())
    ]
    axes = ChartAxis(first), ChartAxis(metric["name"], "share" if metric["unit"] in _SHARES else "")
    plot = point_chart(series, *axes, plot=Plot(_WIDTH, _HEIGHT), words=() if _all_numbers(values) else values)
    if others:
        plot.keys((f"circle dot {each.style}", each.name) for each in series)
    description = "; ".join(point.tip for each in series for point in each.points)
    title = catalogue()("runs.sweep_chart", figure=metric["name"], place=first)
    return FrontierPicture(title, plot.picture(Caption(title, description, f"sweep-{place}")))


def _point(point: SweepPoint, metric: SweepMetric, name: str, place: float, addresses: Mapping[int, str]) -> ChartPoint:
    figure = figure_at(point, metric["name"])
    value = tidy(figure["value"] or 0.0)
    where = ", ".join(f"{path} {text}" for path, text in point["values"].items())
    verdict = catalogue()(f"runs.point_{point['verdict']}")
    tip = f"{where}: {name} {amount(value, metric['unit'])}, {verdict}"
    interval = figure.get("interval")
    released, withheld = (point["verdict"] == verdict for verdict in ("released", "withheld"))
    address = addresses.get(point["number"], "")
    return ChartPoint(place, value, tip, interval, address=address, hollow=not released, square=withheld)


def _all_numbers(texts: Sequence[str]) -> bool:
    try:
        return all(abs(float(text)) < float("inf") for text in texts)
    except ValueError:
        return False
