"""Running the tests of a policy, as a job."""

from __future__ import annotations

from starlette.responses import Response

from ppdm_flow.page.http.call import Call
from ppdm_flow.page.http.policies import runnable_policy


def run_tests(call: Call) -> Response:
    """Put ``ppdm-flow test FILE`` into the queue."""
    policy = runnable_policy(call)
    path = str(call.site.policies.path(policy.name))
    job = call.site.jobs.add(call.user, ("test", path), kind="test", about=policy.name)
    return call.go(f"/jobs/{job.id}")
