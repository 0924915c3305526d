"""In which roles somebody may sign a held run: never their own, but as its author."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from ppdm_flow.engine.approval.decision import AUTHOR
from ppdm_flow.evidence.keys import PublicKey
from ppdm_flow.page.services.accounts.roles import PageRole, User
from ppdm_flow.page.services.approvals.held import Approval


class Reason(StrEnum):
    """Why somebody can sign in no role."""

    NO_KEY = "no_key"
    NOT_LISTED = "not_listed"
    """No signer has the key, or not any more."""
    OWN = "own"
    """They ran the policy, or signed as its author."""
    AUTHOR_FIRST = "author_first"
    """Nobody knows yet whose run it is, and they are a steward who may have made it."""
    NO_ROLE = "no_role"
    """The list of signers gives them none of the roles that are asked for, or not today."""
    ALL_SIGNED = "all_signed"


@dataclass(frozen=True, slots=True)
class SigningPermission:
    """The roles in which somebody may sign now; where there are none, the reason.

    ``again`` are those in which they did: where the ledger learned something since, a release asks for it anew.
    """

    roles: tuple[str, ...] = ()
    reason: Reason | None = None
    again: tuple[str, ...] = ()

    def allows(self, role: str) -> bool:
        """Whether they may sign in this role."""
        return role in self.roles or role in self.again


def may_sign(
    user: User, key: PublicKey | None, approval: Approval, maker: int | None, now: datetime
) -> SigningPermission:
    """Return in which roles somebody may sign; ``maker`` is the account that had the run made, where one had.

    Whoever had it made here is its author, whether or not they signed as that, and with whichever key; so is whoever
    signed as its author. Authors are stewards, and those who approve are approvers. Where neither is known, a steward
    approves nothing before the author has signed: it may be their own run.
    """
    if key is None:
        return SigningPermission(reason=Reason.NO_KEY)
    signers = [signers.of_key(key.key_id) for signers in approval.lists]
    then, today = signers
    if then is None or today is None or then.name != today.name:
        return SigningPermission(reason=Reason.NOT_LISTED)
    own = maker == user.id or then.name in approval.authors
    allowed = set[str]()
    if user.has(PageRole.STEWARD) and (own or maker is None):
        allowed |= {AUTHOR}
    authorless = maker is None and not approval.authors and user.has(PageRole.STEWARD)
    if user.has(PageRole.APPROVER) and not own and not authorless:
        allowed |= set(approval.asked.needed)
    mine = [role for role in approval.roles if role in allowed and not any(s.refusal(role, now) for s in (then, today))]
    if not mine:
        return SigningPermission(reason=Reason.OWN if own else Reason.AUTHOR_FIRST if authorless else Reason.NO_ROLE)
    left = tuple(role for role in mine if not _signed(approval, role, key))
    again = tuple(role for role in mine if role not in left)
    return SigningPermission(left, None if left else Reason.OWN if own else Reason.ALL_SIGNED, again)


def _signed(approval: Approval, role: str, key: PublicKey) -> bool:
    """Whether the key has signed every release in a role."""
    done = {each.release for each in approval.signed(role) if each.key_id == key.key_id and each.good}
    return done >= set(approval.releases)
