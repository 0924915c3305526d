"""A sweep of a policy as a job, and its result as pictures to choose from."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from starlette.exceptions import HTTPException
from starlette.responses import Response

from ppdm_flow.api.sweep.grid import axes, grid
from ppdm_flow.api.sweep.places import places
from ppdm_flow.page.http.call import Call
from ppdm_flow.page.http.jobs import known_job
from ppdm_flow.page.http.policies import known_policy, runnable_policy
from ppdm_flow.page.services.bounded import CHECKS
from ppdm_flow.page.services.jobs.job import JobState
from ppdm_flow.page.services.jobs.jobs import OWN_FOLDER
from ppdm_flow.page.services.policies.given import files_of
from ppdm_flow.page.services.policies.policies import UnknownPolicyError
from ppdm_flow.page.services.policies.reach import reaches
from ppdm_flow.page.services.refusal import RefusalError
from ppdm_flow.page.services.runs.runs import REPORTS, from_report
from ppdm_flow.page.views.runs.frontier import shown_sweep
from ppdm_flow.page.views.runs.starting import chosen_upload, files_looked_at
from ppdm_flow.page.views.runs.sweepable import policy_name, sweepable
from ppdm_flow.policy.files import Library
from ppdm_flow.policy.loading import load
from ppdm_flow.report.run.fields import ReportDocument

_AXES = 2
_TELLING = (".mean_kept", "suppressed_cells", "record_utility", "error_increase", "rows_lost")
"""Figures that say what a release costs: they are chosen unless somebody chooses others."""


def sweep_form(call: Call) -> Response:
    """Show what can be varied, and which figures can be looked at."""
    policy = known_policy(call)
    known, chosen = _figures(call, policy.name)
    return call.page(
        "runs/sweep_form.html",
        policy=policy,
        seen=files_of(call.site.checks, policy).digest,
        places=CHECKS.run(sweepable, call.site.policies.path(policy.name)),
        figures=known,
        chosen=chosen,
        uploads=call.site.uploads.all_of(call.user),
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
    words += ["--data", str(data)] if data is not None else []
    words += ["--workers", "1", "--out", f"{OWN_FOLDER}/sweep"]
    leads_to = f"/sweeps/{OWN_FOLDER}"
    job = call.site.jobs.add(call.user, words, kind="sweep", about=policy.name, leads_to=leads_to, given=given)
    return call.go(f"/jobs/{job.id}")


def points_reach(path: Path, over: Sequence[str], private: Path) -> bool:
    """Return whether a policy reaches a private file at some point of a sweep: values may be put together to a path.

    Raises UsageError or PolicyError where it cannot be swept over these places and values.
    """
    every = axes(over)
    points, library = grid(every), Library()
    found = places(every, load(path, library=library), {})
    parsed = library.parsed  # what templates come to depends on the params
    trees = (load(path, found.sets(point), found.over(point), Library(parsed)).tree for point in points)
    return any(reaches(tree, path.parent, private) for tree in trees)


def show_sweep(call: Call) -> Response:
    """Show the result of a sweep: each point leads to the edit of the policy that takes its values."""
    job = known_job(call)
    if job.kind != "sweep":
        raise HTTPException(404)
    found = sorted((job.folder / "sweep").glob("*/*/sweep.json"))
    if job.state is not JobState.DONE and not found:
        return call.go(f"/jobs/{job.id}")
    if not found:
        raise HTTPException(404)
    try:
        path = call.site.policies.path(job.about)
    except UnknownPolicyError:
        path = None
    shown = REPORTS.run(shown_sweep, found[-1], path, job.about, f"/sweeps/{job.id}")
    return call.page("runs/sweep.html", job=job, sweep=shown)


def _figures(call: Call, policy: str) -> tuple[Sequence[str], Sequence[str]]:
    """Return the figures that the policy's newest run has, and those of them that are looked at unless others are."""
    name = CHECKS.run(policy_name, call.site.policies.path(policy))
    run = next((each for each in call.site.runs.list() if each.policy == name), None)
    if run is None:
        return (), ()
    return from_report(run.folder, _known_figures)


def _known_figures(document: ReportDocument) -> tuple[Sequence[str], Sequence[str]]:
    known = sorted(document["metrics"])
    judged = {result["metric"] for result in (*document["requirements"], *document["gates"])}
    own = [each for each in known if each.rpartition("/")[2] in judged or each.endswith(_TELLING)]
    return known, own
