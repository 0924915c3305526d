"""The run that an address names."""

from __future__ import annotations

from starlette.exceptions import HTTPException

from ppdm_flow.page.http.call import Call
from ppdm_flow.page.services.runs.runs import ListedRun, UnknownRunError


def known_run(call: Call) -> ListedRun:
    """Return the run that ``{policy}/{run}`` of an address name. Raises HTTPException 404 where there is none."""
    try:
        return call.site.runs.get(call.path["policy"], call.path["run"])
    except UnknownRunError:
        raise HTTPException(404) from None


def run_called(call: Call, key: str) -> ListedRun:
    """Return the run of a key, ``policy/run``, that a form or an address has sent. Raises HTTPException 404."""
    policy, _, name = key.partition("/")
    try:
        return call.site.runs.get(policy, name)
    except UnknownRunError:
        raise HTTPException(404) from None


def has_made(call: Call, run: ListedRun) -> bool:
    """Whether who asks had the run made, and so has the data that it was made of."""
    job = call.site.jobs.maker(run.key)
    return job is not None and job.account == call.user.id
