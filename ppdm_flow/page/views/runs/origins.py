"""Which file a run was made from."""

from __future__ import annotations

from ppdm_flow.page.services.runs.runs import ListedRun
from ppdm_flow.page.site import Site


def policy_file(site: Site, run: ListedRun) -> str | None:
    """Return the policy that a run of this server was made from; of others the only one whose text says so, if any."""
    names = site.policies.names()
    job = site.jobs.maker(run.key)
    if job is not None and job.about in names:
        return job.about
    called = [file for file, name in site.policies.named().items() if file in names and name == run.policy]
    return called[0] if len(called) == 1 else None
