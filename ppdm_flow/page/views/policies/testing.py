"""Running the tests of a policy, as a job."""

from __future__ import annotations

from starlette.responses import Response

from ppdm_flow.page.http.call import Call
from ppdm_flow.page.http.policies import testable_policy
from ppdm_flow.page.services.policies.given import files_of


def run_tests(call: Call) -> Response:
    """Put ``ppdm-flow test FILE`` into the queue."""
    policy = testable_policy(call)
    path = str(call.site.policies.path(policy.name))
    given = files_of(call.site.checks, policy)
    job = call.site.jobs.add(call.user, ("test", path), kind="test", about=policy.name, given=given)
    return call.go(f"/jobs/{job.id}")
