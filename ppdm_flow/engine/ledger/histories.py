"""What the releases of a run tell beside each other, and beside those that were released before."""

from __future__ import annotations

import secrets
from collections.abc import Mapping, Sequence

from ppdm_flow.engine.candidates.building import Candidate
from ppdm_flow.engine.ledger.key import LedgerKey
from ppdm_flow.engine.ledger.membership import membership
from ppdm_flow.plan.definition import Plan
from ppdm_flow.plan.together import read_together
from ppdm_flow.policy.language.kinds import over_releases
from ppdm_flow.sdk.history import Earlier, History, Membership


def beside(
    candidates: Sequence[Candidate], members: Mapping[str, Membership | None], before: tuple[Earlier, ...] = ()
) -> Mapping[str, History]:
    """Return for each release whom it is about, and all that was released ``before`` or precedes it in the run."""
    histories: dict[str, History] = {}
    siblings: tuple[Earlier, ...] = ()
    for c in candidates:
        own = members[c.release.name]
        histories[c.release.name] = History(own, (*before, *siblings))
        name, sources = f"release {c.release.name} of this run", frozenset(a.source for a in c.release.attributes)
        siblings = (*siblings, Earlier(name, sources, own, c.generated, same_run=True))
    return histories


def of_run(plan: Plan, candidates: Sequence[Candidate]) -> Mapping[str, History]:
    """Return the same without a ledger, where somebody asks: the people are the rows of the source."""
    asked = any(node.bound.info.name == over_releases().name for node in plan.audits)
    if not asked or not read_together(plan):
        return {}
    key = LedgerKey(secrets.token_bytes())
    members = {
        c.release.name: membership(plan, c.release, None if c.generated else c.subject.pairs, c.rows, key)
        for c in candidates
    }
    return beside(candidates, members)
