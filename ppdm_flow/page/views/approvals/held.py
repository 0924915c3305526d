"""A held run as one person sees it: what is there, what is missing, what they may do."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime

from starlette.exceptions import HTTPException

from ppdm_flow.engine.evidence.signatures import SignatureResult
from ppdm_flow.engine.machine import utc_now
from ppdm_flow.evidence.keys import PublicKey
from ppdm_flow.page.http.call import Call
from ppdm_flow.page.services.accounts.roles import PageRole
from ppdm_flow.page.services.approvals.held import Approval, NamedHeldRun, find_held, held_runs
from ppdm_flow.page.services.approvals.signing import SigningPermission, may_sign
from ppdm_flow.page.services.jobs.job import VerbJob

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
        return [(role, role) for role in self.mine.roles or self.mine.again]

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
