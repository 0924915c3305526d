"""Which file a run was made from."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path

from ppdm_flow.page.services.bounded import CHECKS
from ppdm_flow.page.services.runs.runs import ListedRun
from ppdm_flow.page.site import Site
from ppdm_flow.page.views.runs.sweepable import policy_name

_MOST = 500


def policy_file(site: Site, run: ListedRun) -> str | None:
    """Return the policy that a run of this server was made from; of others the only one that is called so, if any."""
    names = site.policies.names()
    job = site.jobs.maker(run.key)
    if job is not None and job.about in names:
        return job.about
    called = [name for name in names[:_MOST] if _called(site.policies.path(name)) == run.policy]
    return called[0] if len(called) == 1 else None


def _called(path: Path) -> str:
    stat = path.stat()
    return _read(path, stat.st_mtime_ns, stat.st_size)


@lru_cache(maxsize=_MOST)
def _read(path: Path, _changed: int, _size: int) -> str:
    return CHECKS.run(policy_name, path)
