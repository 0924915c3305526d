"""The job that an address names."""

from __future__ import annotations

from starlette.exceptions import HTTPException

from ppdm_flow.page.http.call import Call
from ppdm_flow.page.services.jobs.job import VerbJob


def known_job(call: Call) -> VerbJob:
    """Return the job that ``{job}`` of an address names. Raises HTTPException 404, also for the jobs of others."""
    try:
        job = call.site.jobs.get(call.path["job"])
    except LookupError:
        raise HTTPException(404) from None
    if job.account != call.user.id:
        raise HTTPException(404)
    return job
