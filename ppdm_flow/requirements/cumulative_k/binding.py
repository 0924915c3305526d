"""The entry of a policy as a requirement."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ppdm_flow.core.requirement import Requirement
from ppdm_flow.core.roles import Role
from ppdm_flow.policy.language.models import Policy
from ppdm_flow.policy.loaded import Places
from ppdm_flow.policy.successive import subject_of
from ppdm_flow.requirements.cumulative_k.requirement import CumulativeK


def implied(policy: Policy, _others: Sequence[Requirement], places: Places) -> Iterator[Requirement]:
    """Yield what the policy asks for; with a ledger that knows people, the k of k-anonymity where it says nothing."""
    given = policy.privacy.entries("cumulative_k")
    usual = policy.privacy.entries("k_anonymity") if subject_of(policy) is not None else {}
    for kind, entries in (("cumulative_k", given), ("k_anonymity", usual)):
        for asked in entries.values():
            every = tuple(n for n, a in policy.attributes.items() if a.role is Role.QUASI_IDENTIFIER)
            span = places.key("privacy", kind)
            yield CumulativeK("privacy.cumulative_k", asked.k, asked.attributes or every, span)
            return
