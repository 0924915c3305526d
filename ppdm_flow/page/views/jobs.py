"""Jobs: what waits, runs and is over; how it goes on; cancelling."""

from __future__ import annotations

import re
from typing import Any

from starlette.responses import Response

from ppdm_flow.page.http.call import Call, known_job
from ppdm_flow.page.http.route import STEWARDS_AND_APPROVERS, changes, reads
from ppdm_flow.page.http.server_paths import command_without_paths, hide_server_paths
from ppdm_flow.page.looks.addresses import own_address, run_address
from ppdm_flow.page.services.jobs.job import JobState, VerbJob

_SHOWN = 60
_LONGEST = 200_000
_OF_POLICIES = frozenset({"run", "sweep"})
_LEADING = frozenset({"run", "sweep", "profile"})
"""Kinds whose result has a page of its own; those of all others is what they printed."""
_DATA_FAULT = re.compile(r"PPF7\d\d")
"""A diagnostic code on the data: with another table the same policy may run."""


def list_jobs(call: Call) -> Response:
    """Show somebody's jobs, and how full the queue is; only the part that changes, where a script asks for that."""
    own = call.site.jobs.of(call.user, _SHOWN)
    active = call.site.jobs.active()
    values: dict[str, Any] = {
        "own": own,
        "running": sum(job.state is JobState.RUNNING for job in active),
        "waiting": sum(job.state is JobState.WAITING for job in active),
        "places": call.site.settings.running_jobs,
        "ahead": _ahead(active, own),
        "progress": {job.id: hide_server_paths(call, job.progress) for job in own if job.state is JobState.RUNNING},
        "goes_on": any(not job.state.is_over for job in own),
    }
    return call.page("jobs/part_list.html" if call.replaces_part else "jobs/list.html", **values)


def show_job(call: Call) -> Response:
    """Show one job, and what it printed."""
    job = known_job(call)
    ahead = _ahead(call.site.jobs.active(), [job]).get(job.id, 0)
    next_page = run_address(job.made) if job.made else job.leads_to if job.state is JobState.DONE else ""
    if call.replaces_part and next_page and job.kind in _LEADING:  # who waited for it is taken there
        return Response(headers={"hx-redirect": next_page})
    output, talk = (hide_server_paths(call, _bounded(text)) for text in (job.output, job.talk))
    values: dict[str, Any] = {
        "job": job,
        "ahead": ahead,
        "output": output,
        "talk": talk,
        "progress": hide_server_paths(call, job.progress),
        "command": command_without_paths(call, job),
        "next_page": next_page,
        "is_step": job.kind in _LEADING,
        "policy": job.about if job.kind in _OF_POLICIES and job.about in call.site.policies.names() else "",
        "lacks_data": job.kind in _OF_POLICIES and _DATA_FAULT.search(job.talk) is not None,
        "upload": next((each for each in call.site.uploads.all_of(call.user) if str(each.path) in job.words), None),
    }
    return call.page("jobs/part_job.html" if call.replaces_part else "jobs/job.html", **values)


def cancel_job(call: Call) -> Response:
    """Cancel a job of one's own."""
    job = known_job(call)
    call.site.jobs.cancel(job.id)
    return call.go(own_address(call.text("back")) or f"/jobs/{job.id}", said="jobs.is_cancelled")


def _ahead(active: list[VerbJob], own: list[VerbJob]) -> dict[str, int]:
    """Return how many jobs of anybody wait before each of somebody's own that waits."""
    waiting = [job.id for job in active if job.state is JobState.WAITING]
    return {job.id: waiting.index(job.id) for job in own if job.id in waiting}


def _bounded(text: str) -> str:
    """Return the end of what was printed: that is where errors and results stand."""
    return text if len(text) <= _LONGEST else text[-_LONGEST:]


ROUTES = (
    reads("/jobs", list_jobs, STEWARDS_AND_APPROVERS),
    reads("/jobs/{job}", show_job, STEWARDS_AND_APPROVERS),
    changes("/jobs/{job}/cancel", cancel_job, STEWARDS_AND_APPROVERS, "jobs.cancel", "job"),
)
