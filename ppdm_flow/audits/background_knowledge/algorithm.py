"""For whom a sensitive value becomes certain to someone who can rule up to L others out.

Nobody in a class with at most L + 1 values is safe from an attacker who knows which L of them a person has not. The
worst posterior is that of a value once the L most frequent others of its class are ruled out.
"""

from __future__ import annotations

from ppdm_flow.audits.background_knowledge.spec import BackgroundKnowledgeParams
from ppdm_flow.audits.background_knowledge.wording import chart, findings
from ppdm_flow.audits.inference.examined import examined
from ppdm_flow.audits.inference.holdings import Holdings
from ppdm_flow.audits.inference.secrets import secrets_of
from ppdm_flow.audits.inference.summary import summarized
from ppdm_flow.audits.inference.truthful import NOT_TRUE
from ppdm_flow.core.results import AuditOutcome, Figure
from ppdm_flow.sdk.audit import AuditContext
from ppdm_flow.sdk.view import DataView

NAMES = {
    "certain": "share",
    "certain_uninformed": "share",
    "worst_posterior": "probability",
    "worst_posterior_uninformed": "probability",
}


class BackgroundKnowledgeAudit:
    """Looks at every sensitive released column; a bare figure is the worst over them."""

    def __init__(self, params: BackgroundKnowledgeParams) -> None:
        self.params = params

    def measure(self, original: DataView, candidate: DataView, ctx: AuditContext) -> AuditOutcome:
        """Return the share of rows whose value is certain and the highest posterior, with and without knowledge."""
        del original
        of = secrets_of(self.params.attributes, self.params.sensitive, candidate, ctx)
        if not of.secrets:
            return AuditOutcome(summarized({}, NAMES))
        seen = examined(of, self.params.targets, candidate, ctx)
        each = {s: _figures(h, self.params.excludes, seen.true[s]) for s, h in seen.held.items()}
        return AuditOutcome(
            summarized(each, NAMES) | seen.figures(),
            findings=tuple(findings(seen.sound, seen.sure, self.params, ctx)),
            charts=(chart(seen.held, self.params.excludes),),
        )


def _figures(held: Holdings, excluded: int, true: bool) -> dict[str, Figure]:
    some = held.total > 0
    note = "there are no rows" if not some else "" if true else NOT_TRUE
    values = {
        "certain": held.rows_of(held.certain(excluded)) / held.total if some else None,
        "certain_uninformed": held.rows_of(held.certain()) / held.total if some else None,
        "worst_posterior": held.worst_posterior(excluded),
        "worst_posterior_uninformed": held.worst_posterior(),
    }
    none = note or "no value is released"
    return {n: Figure(v, NAMES[n], note=none if v is None else note) for n, v in values.items()}
