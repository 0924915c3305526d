"""Approvals: who has to sign before anything is released, and which file says who may."""

from __future__ import annotations

from collections.abc import Iterator

from ppdm_flow.policy.language.models import Policy
from ppdm_flow.policy.order.clauses import ChangeVerdict, Clauses, ClauseText, ComparedClause, verdict
from ppdm_flow.policy.order.frame import ComparedPolicies

_PLACE = ("approvals",)
_ROLES = (*_PLACE, "roles")
_DISTINCT = (*_PLACE, "distinct")
_SIGNERS = (*_PLACE, "signers")
_DIGITS = 12
_NONE = "without approvals a run that holds is released at once"
_SIGNED = "each role is a signature that a release needs"
_PEOPLE = "where it is `true` each role takes another person"
_WAIVED = "what is waived needs the signature of this role before anything is released"


def approvals(old: Clauses, new: Clauses) -> Iterator[ComparedClause]:
    """Yield what has changed about who has to sign: roles, other people for each, and the roles that sign waivers."""
    before, after = old.policy.approvals, new.policy.approvals
    if (before is None) is not (after is None):
        judged = verdict(forward=before is None, backward=after is None)
        yield ComparedClause(
            "approvals", judged, _NONE, *(c.side(_PLACE) if c.policy.approvals else None for c in (old, new))
        )
    elif before is not None and after is not None:
        one, other = set(before.roles), set(after.roles)
        if one != other:
            judged = verdict(forward=one <= other, backward=other <= one)
            yield ComparedClause("approvals.roles", judged, _SIGNED, old.side(_ROLES), new.side(_ROLES))
        if before.distinct is not after.distinct:
            judged = verdict(
                forward=after.distinct or len(_needed(old.policy)) < 2,  # one role takes one person anyway
                backward=before.distinct or len(_needed(new.policy)) < 2,
            )
            texts = (str(each.distinct).lower() for each in (before, after))
            sides = (c.side(_DISTINCT, text) for c, text in zip((old, new), texts, strict=True))
            yield ComparedClause("approvals.distinct", judged, _PEOPLE, *sides)
    yield from _signed_waivers(old, new)


def _needed(policy: Policy) -> frozenset[str]:
    """Return every role that has to sign a release."""
    roles = policy.approvals.roles if policy.approvals else ()
    return frozenset((*roles, *(w.signed_by for w in policy.waivers.values() if w.signed_by)))


def _signed_waivers(old: Clauses, new: Clauses) -> Iterator[ComparedClause]:
    """Yield what is waived in both, and has to be signed otherwise: a role that signs every release signs it too."""
    before, after = _roles(old.policy), _roles(new.policy)
    for of, (name, role) in after.items():
        if of not in before or before[of][1] == role:
            continue
        was, earlier = before[of]
        signing = [
            {r, *(c.policy.approvals.roles if c.policy.approvals else ())} for c, r in ((old, earlier), (new, role))
        ]
        judged = verdict(forward=earlier in {"", *signing[1]}, backward=role in {"", *signing[0]})
        sides = (
            c.side(("waivers", each, "signed_by")) if r else None
            for c, each, r in ((old, was, earlier), (new, name, role))
        )
        yield ComparedClause(f"waivers of {of} signed by", judged, _WAIVED, *sides)


def _roles(policy: Policy) -> dict[str, tuple[str, str]]:
    """Return the name of each waiver and the role that signs it, by what is waived."""
    return {
        (w.of if w.at is None else f"{w.of} at {w.at}"): (name, w.signed_by or "") for name, w in policy.waivers.items()
    }


def signers(old: Clauses, new: Clauses, between: ComparedPolicies) -> Iterator[ComparedClause]:
    """Yield another list of signers, or another content of it: no rule knows whether these people are as careful."""
    before, after = old.policy.approvals, new.policy.approvals
    if before is None or after is None:
        return
    same = between.same_file(after.signers, before.signers)
    if same and before.signers != after.signers:
        why = "the same content under another name"
        yield ComparedClause("approvals.signers", ChangeVerdict.NEUTRAL, why, old.side(_SIGNERS), new.side(_SIGNERS))
    elif not same:
        contents = between.asked.contents(before.signers), between.given.contents(after.signers)
        sides = (_file(c, digest) for c, digest in zip((old, new), contents, strict=True))
        why = "other people may sign, or with other keys: whoever reviews this has to know them"
        yield ComparedClause("approvals.signers", ChangeVerdict.INCOMPARABLE, why, *sides)


def _file(clauses: Clauses, digest: str | None) -> ClauseText:
    """Return the file as the policy writes it, with what tells its content from another."""
    side = clauses.side(_SIGNERS)
    return ClauseText(f"{side.text} (sha256 {digest[:_DIGITS]}…)" if digest else side.text, side.span)
