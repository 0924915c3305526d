"""The entry of a policy as a requirement."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ppdm_flow.core.requirement import Requirement
from ppdm_flow.policy.language.models import Policy
from ppdm_flow.policy.loaded import Places
from ppdm_flow.requirements.first_draw.requirement import FirstDraw


def implied(policy: Policy, others: Sequence[Requirement], places: Places) -> Iterator[Requirement]:
    """Yield that what is randomized was not randomized before, where a ledger remembers it."""
    randomized = tuple(dict.fromkeys(name for r in others if r.needs_operator for name in r.secrets))
    if randomized and policy.ledger is not None and policy.ledger.repeat == "refuse":
        yield FirstDraw("ledger.repeat", randomized, places.key("ledger"))
