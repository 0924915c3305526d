"""The first page: the steps from a table to a release, where one stands, and the one thing to do next."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from starlette.responses import Response

from ppdm_flow.core.results import HELD, RELEASED
from ppdm_flow.page.http.call import Call
from ppdm_flow.page.http.route import SIGNED_IN, reads
from ppdm_flow.page.looks.addresses import approval_address, policy_address, run_address
from ppdm_flow.page.services.accounts.roles import PageRole
from ppdm_flow.page.services.jobs.job import VerbJob
from ppdm_flow.page.services.runs.runs import UnknownRunError

_JOBS = 60


class ReleaseStep(StrEnum):
    """The steps from a table to a release that others read, in their order."""

    PURPOSE = "purpose"
    UPLOAD = "upload"
    COLUMNS = "columns"
    REQUIREMENTS = "requirements"
    RUN = "run"
    READ = "read"
    SHARE = "share"


@dataclass(frozen=True, slots=True)
class ReleaseProgress:
    """How far somebody's work on a release is.

    ``step`` is where they stand, None once the release is shared. ``next`` names the text of the main button, whose
    page is ``address``; ``about`` is the table, policy or run that it is about. ``purpose`` is what the policy says
    that the release is for.
    """

    step: ReleaseStep | None
    next: str
    address: str
    about: str = ""
    purpose: str = ""

    def state(self, step: ReleaseStep) -> str:
        """Return ``done``, ``now`` or ``later``."""
        if step is ReleaseStep.PURPOSE and not self.purpose:
            return "open"
        order = list(ReleaseStep)
        reached = len(order) if self.step is None else order.index(self.step)
        place = order.index(step)
        return "done" if place < reached else "now" if place == reached else "later"


def home(call: Call) -> Response:
    """Show what somebody can do with the roles that they have, the next thing first."""
    steward, administrator = call.user.has(PageRole.STEWARD), call.user.has(PageRole.ADMINISTRATOR)
    accounts = call.site.accounts.every() if administrator else []
    return call.page(
        "home/home.html",
        renewals=call.site.journal.renewals(call.user),
        progress=progress(call) if steward else None,
        steps=tuple(ReleaseStep),
        lacks_steward=administrator and not any(each.user.has(PageRole.STEWARD) for each in accounts),
    )


def progress(call: Call) -> ReleaseProgress:
    """Return how far the work of the steward who asks is: on the newest table, or else the policy that was run last."""
    uploads, policies = call.site.uploads.all_of(call.user), call.site.uploads.policies_with_upload(call.user)
    jobs, names = call.site.jobs.of(call.user, _JOBS), set(call.site.policies.names())
    if uploads and uploads[0].id not in policies.values():
        newest = uploads[0]
        return ReleaseProgress(ReleaseStep.COLUMNS, "columns", f"/uploads/{newest.id}", newest.name)
    ran = (job.about for job in jobs if job.kind == "run")
    policy = next((name for name in (*policies, *ran) if name in names), None)
    if policy is None:
        return ReleaseProgress(ReleaseStep.UPLOAD, "upload", "/uploads")
    text = call.site.policies.read(policy)
    purpose = call.site.checks.check(policy, text.text).about.get("description") or ""
    job = next((job for job in jobs if job.kind == "run" and job.about == policy), None)
    if job is None:
        return ReleaseProgress(ReleaseStep.REQUIREMENTS, "requirements", policy_address(policy), policy, purpose)
    return _after_run(call, job, purpose)


def _after_run(call: Call, job: VerbJob, purpose: str) -> ReleaseProgress:
    about, page = job.about, f"/jobs/{job.id}"
    if not job.made:
        return ReleaseProgress(ReleaseStep.RUN, "failed" if job.state.is_over else "running", page, about, purpose)
    try:
        run = call.site.runs.get(*job.made.split("/", 1))
    except UnknownRunError:
        return ReleaseProgress(ReleaseStep.RUN, "requirements", policy_address(about), about, purpose)
    if run.state == HELD:
        return ReleaseProgress(ReleaseStep.READ, "held", approval_address(run.key), about, purpose)
    if run.state != RELEASED:
        return ReleaseProgress(ReleaseStep.READ, "withheld", run_address(run.key), about, purpose)
    if call.site.shown.of(run.policy, run.name):
        return ReleaseProgress(None, "again", "/uploads", about, purpose)
    return ReleaseProgress(ReleaseStep.READ, "read", run_address(run.key), about, purpose)


ROUTES = (reads("/", home, SIGNED_IN),)
