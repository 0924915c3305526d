"""What a ledger asks of every release: cumulative k, and no second draw."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ppdm_flow.core.requirement import Requirement
from ppdm_flow.core.roles import Role
from ppdm_flow.policy.language.models import Policy
from ppdm_flow.policy.loaded import Places
from ppdm_flow.requirements.cumulative_k.requirement import CumulativeK
from ppdm_flow.requirements.first_draw.requirement import FirstDraw
from ppdm_flow.requirements.itemset_breach.requirement import ItemsetBreach
from ppdm_flow.requirements.sensitivities.requirement import Sensitivity


def subject_of(policy: Policy) -> str | None:
    """Return the attribute that names the person behind a row; None without a ledger or such an attribute."""
    if policy.ledger is None:
        return None
    named = (name for name, a in policy.attributes.items() if a.role is Role.SUBJECT)
    return policy.ledger.subject or next(named, None)


def successive(policy: Policy, others: Sequence[Requirement], places: Places) -> Iterator[Requirement]:
    """Yield the requirements on several releases; with a ledger, cumulative k is that of ``k_anonymity`` by default."""
    given = policy.privacy.cumulative_k
    usual = policy.privacy.k_anonymity if subject_of(policy) is not None else None
    if (asked := given or usual) is not None:
        place = ("privacy", "cumulative_k") if given else ("privacy", "k_anonymity")
        every = tuple(n for n, a in policy.attributes.items() if a.role is Role.QUASI_IDENTIFIER)
        yield CumulativeK("privacy.cumulative_k", asked.k, asked.attributes or every, places.key(*place))
    randomized = tuple(dict.fromkeys(r.attribute for r in others if isinstance(r, Sensitivity | ItemsetBreach)))
    if randomized and policy.ledger is not None and policy.ledger.repeat == "refuse":
        yield FirstDraw("ledger.repeat", randomized, places.key("ledger"))
