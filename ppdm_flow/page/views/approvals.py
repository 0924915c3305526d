"""Held runs: what waits for me, signing, releasing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime
from functools import partial
from typing import Any

from starlette.exceptions import HTTPException
from starlette.responses import Response

from ppdm_flow.engine.evidence.signatures import SignatureResult
from ppdm_flow.engine.machine import utc_now
from ppdm_flow.evidence.keys import PublicKey
from ppdm_flow.page.http.call import PASSPHRASE, Call
from ppdm_flow.page.http.route import STEWARDS, STEWARDS_AND_APPROVERS, changes, reads
from ppdm_flow.page.http.server_paths import command_without_paths, hide_server_paths
from ppdm_flow.page.looks.addresses import approval_address, run_address
from ppdm_flow.page.services.accounts.roles import PageRole
from ppdm_flow.page.services.approvals import Approval, NamedHeldRun, SigningPermission, find_held, held_runs, may_sign
from ppdm_flow.page.services.jobs.job import VerbJob
from ppdm_flow.page.services.refusal import RefusalError
from ppdm_flow.page.services.runs.runs import from_report
from ppdm_flow.page.views.guests import whole_number
from ppdm_flow.report.run.verdict import verdict

# What waits for approvals: looked at, signed, checked, released. Each of these is a verb, carried out by a job.


def list_waiting(call: Call) -> Response:
    """List the held runs: those that wait for the person who asks, and the others."""
    page = whole_number(call.query.get("page"), 10**9) or 1
    every, pages = waiting_runs(call, page)
    mine = [each for each in every if each.mine.roles]
    others = [each for each in every if not each.mine.roles]
    return call.page("approvals/list.html", mine=mine, others=others, page=min(page, pages), pages=pages)


def show(call: Call) -> Response:
    """Show one held run. Of one that was released meanwhile, its own page has what became of it."""
    try:
        waiting = waiting_run(call)
    except HTTPException:
        if call.site.shown.published(call.path["policy"], call.path["run"]) is None:
            raise
        return call.go(run_address(_named(call)), said="approvals.is_out")
    judged = None if waiting.run.approval is None else from_report(waiting.run.folder, verdict)
    every = jobs_about(call, waiting.run.address)
    return call.page("approvals/run.html", waiting=waiting, verdict=judged, **_shown(call, every))


def jobs(call: Call) -> Response:
    """Show what somebody had done about a run, and how far it is; once it is over, the whole page is asked for anew."""
    every = jobs_about(call, _named(call))
    response = call.page("approvals/jobs.html", here_again=approval_address(_named(call)), **_shown(call, every))
    if all(job.state.is_over for job in every):
        response.headers["hx-refresh"] = "true"
    return response


def sign(call: Call) -> Response:
    """Sign a run in a role: never the own one, but as its author."""
    waiting, role = _noted(call), call.text("role")
    if not waiting.mine.allows(role):
        own = waiting.mine.reason is not None and waiting.mine.reason.value == "own"
        raise RefusalError("approvals.own_run" if own else "approvals.not_in_this_role", 403)
    signing = call.site.keys.signing(call.user, call.text(PASSPHRASE))
    words = ("sign", str(waiting.run.folder.absolute()), "--key", str(signing.key), "--role", role)
    about = waiting.run.address
    call.site.jobs.add(call.user, words, kind="sign", about=about, environment=signing.environment)
    return call.go(approval_address(waiting.run.address))


def check(call: Call) -> Response:
    """Have it said whether the run could be released: with its files hashed, and the ledger asked."""
    waiting = _noted(call)
    words = ("release", str(waiting.run.folder.absolute()), "--check")
    call.site.jobs.add(call.user, words, kind="release", about=waiting.run.address)
    return call.go(approval_address(waiting.run.address))


def release(call: Call) -> Response:
    """Release a run whose signatures are there; the verb looks at all of it again."""
    waiting = _noted(call)
    if not waiting.may_release:
        raise RefusalError("approvals.not_yet")
    words = ("release", str(waiting.run.folder.absolute()))
    call.site.jobs.add(call.user, words, kind="release", about=waiting.run.address)
    return call.go(approval_address(waiting.run.address))


def _noted(call: Call) -> WaitingRun:
    """Return the held run that a form is about; the journal has its whole name."""
    waiting = waiting_run(call)
    call.noted.subject = waiting.run.address
    return waiting


def _named(call: Call) -> str:
    """Return the name of the run that an address has, as jobs have it."""
    return f"{call.path['policy']}/{call.path['run']}"


_RUN = "/approvals/{policy}/{run}"
ROUTES = (
    reads("/approvals", list_waiting, STEWARDS_AND_APPROVERS),
    reads(_RUN, show, STEWARDS_AND_APPROVERS),
    reads(f"{_RUN}/jobs", jobs, STEWARDS_AND_APPROVERS),
    changes(f"{_RUN}/sign", sign, STEWARDS_AND_APPROVERS, "approvals.sign", "run"),
    changes(f"{_RUN}/check", check, STEWARDS_AND_APPROVERS, "approvals.check", "run"),
    changes(f"{_RUN}/release", release, STEWARDS, "approvals.release", "run"),
)


# A held run as one person sees it: what is there, what is missing, what they may do.


KINDS = frozenset({"sign", "release"})
"""Kinds of jobs about a held run."""


@dataclass(frozen=True, slots=True)
class RoleState:
    """One role of a held run: its signatures, and who could give one; ``missing``: none is there for some release."""

    role: str
    signatures: tuple[SignatureResult, ...]
    able: tuple[str, ...]
    missing: bool


@dataclass(frozen=True, slots=True)
class WaitingRun:
    """A held run for one person; ``author`` is the name of the account that had it made, where one had.

    ``may_release``: they may ask for its release, and no signature is known to be missing.
    """

    run: NamedHeldRun
    mine: SigningPermission
    author: str | None
    may_release: bool
    today: date

    @property
    def choices(self) -> list[tuple[str, str]]:
        """The roles to sign in, as a form offers them; those that were signed only where nothing else is left."""
        return [(role, role) for role in self.mine.roles or self.mine.signed_roles]

    @property
    def roles(self) -> list[RoleState]:
        """Every role that has to sign, the author's first."""
        approval = self.run.approval
        return [] if approval is None else [_role(approval, role) for role in approval.roles]


def _role(approval: Approval, role: str) -> RoleState:
    signed = approval.signed(role)
    there = {each.release for each in signed if each.good}
    return RoleState(role, signed, approval.able(role), not there >= set(approval.releases))


def waiting_runs(call: Call, page: int) -> tuple[list[WaitingRun], int]:
    """Return a page of the held runs, the newest first, and how many pages there are."""
    now, key = utc_now(), _key(call)

    def maker(address: str) -> int | None:
        job = call.site.jobs.maker(address)
        return None if job is None else job.account

    runs, pages = held_runs(call.site.settings.runs, now, maker, page)
    return [_waiting(call, run, key, now) for run in runs], pages


def waiting_run(call: Call) -> WaitingRun:
    """Return the held run that an address names. Raises HTTPException 404 where none of this name waits."""
    now = utc_now()
    run = find_held(call.site.settings.runs, call.path["policy"], call.path["run"], now)
    if run is None:
        raise HTTPException(404)
    return _waiting(call, run, _key(call), now)


def jobs_about(call: Call, address: str) -> Sequence[VerbJob]:
    """Return what somebody had done about a held run, the newest first."""
    return [job for job in call.site.jobs.of(call.user) if job.kind in KINDS and job.about == address]


def _shown(call: Call, every: Sequence[VerbJob]) -> dict[str, Any]:
    """Return jobs as pages show them: without paths of the server."""
    return {"jobs": every, "hide": partial(hide_server_paths, call), "command_of": partial(command_without_paths, call)}


def _key(call: Call) -> PublicKey | None:
    own = call.site.keys.of(call.user)
    return None if own is None else own.public


def _waiting(call: Call, run: NamedHeldRun, key: PublicKey | None, now: datetime) -> WaitingRun:
    maker = call.site.jobs.maker(run.address)
    mine = SigningPermission()
    if run.approval is not None:
        mine = may_sign(call.user, key, run.approval, None if maker is None else maker.account, now)
    approved = run.approval is not None and run.approval.decision.approved
    may_release = approved and call.user.has(PageRole.STEWARD)
    return WaitingRun(run, mine, None if maker is None else maker.author, may_release, now.astimezone(UTC).date())
