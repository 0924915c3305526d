"""Jobs: what waits, runs and is over; how it goes on; cancelling."""

from __future__ import annotations

from typing import Any

from starlette.responses import Response

from ppdm_flow.page.http.call import Call, known_job
from ppdm_flow.page.http.route import STEWARDS_AND_APPROVERS, changes, reads
from ppdm_flow.page.services.jobs.job import JobState, VerbJob

_SHOWN = 60
_LONGEST = 200_000


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
        "goes_on": any(not job.state.is_over for job in own),
    }
    return call.page("jobs/part_list.html" if call.replaces_part else "jobs/list.html", **values)


def show_job(call: Call) -> Response:
    """Show one job, and what it printed."""
    job = known_job(call)
    ahead = _ahead(call.site.jobs.active(), [job]).get(job.id, 0)
    values: dict[str, Any] = {"job": job, "ahead": ahead, "output": _bounded(job.output), "talk": _bounded(job.talk)}
    return call.page("jobs/part_job.html" if call.replaces_part else "jobs/job.html", **values)


def cancel_job(call: Call) -> Response:
    """Cancel a job of one's own."""
    job = known_job(call)
    call.site.jobs.cancel(job.id)
    return call.go(f"/jobs/{job.id}", said="jobs.is_cancelled")


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
