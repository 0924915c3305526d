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
    """Yield what is asked for; where that is nothing, and a ledger knows people, the largest k of k-anonymity."""
    given = policy.privacy.entries("cumulative_k")
    every = tuple(n for n, a in policy.attributes.items() if a.role is Role.QUASI_IDENTIFIER)
    usual = policy.privacy.entries("k_anonymity") if subject_of(policy) is not None else {}
    for name, asked in given.items():
        path = ("privacy", "cumulative_k", *([name] if name else []))
        grouped = asked.attributes or every
        yield CumulativeK(".".join(path), asked.k, grouped, places.key(*path), asked.releases or ())
    if usual and not given:
        names = tuple(dict.fromkeys(n for asked in usual.values() for n in asked.attributes or every))
        most = max(asked.k for asked in usual.values())
        yield CumulativeK("privacy.cumulative_k", most, names, places.key("privacy", "k_anonymity"))
