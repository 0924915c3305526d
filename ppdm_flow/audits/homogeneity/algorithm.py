"""For whom a sensitive value is certain: classes of people who look alike and all have the same.

A class in which a value is missing or suppressed somewhere leaves a doubt, and is not counted.
"""

from __future__ import annotations

from ppdm_flow.audits.homogeneity.spec import HomogeneityParams
from ppdm_flow.audits.homogeneity.wording import chart, findings
from ppdm_flow.audits.inference.examined import examined
from ppdm_flow.audits.inference.holdings import Holdings
from ppdm_flow.audits.inference.secrets import secrets_of
from ppdm_flow.audits.inference.summary import summarized
from ppdm_flow.audits.inference.truthful import NOT_TRUE
from ppdm_flow.core.results import AuditOutcome, Figure
from ppdm_flow.sdk.audit import AuditContext
from ppdm_flow.sdk.view import DataView

NAMES = {"certain": "share", "certain_rows": "rows", "certain_classes": "classes", "by_chance": "share"}


class HomogeneityAudit:
    """Looks at every sensitive released column; a bare figure is the worst over them."""

    def __init__(self, params: HomogeneityParams) -> None:
        self.params = params

    def measure(self, original: DataView, candidate: DataView, ctx: AuditContext) -> AuditOutcome:
        """Return the rows whose value is certain, beside what chance would do, and what is learned of the targets."""
        del original
        of = secrets_of(self.params.attributes, self.params.sensitive, candidate, ctx)
        if not of.secrets:
            return AuditOutcome(summarized({}, NAMES))
        seen = examined(of, self.params.targets, candidate, ctx)
        each = {s: _figures(h, seen.true[s]) for s, h in seen.held.items()}
        return AuditOutcome(
            summarized(each, NAMES) | seen.figures(),
            findings=tuple(findings(seen.sound, seen.sure, of, ctx)),
            charts=(chart(seen.held),),
        )


def _figures(held: Holdings, true: bool) -> dict[str, Figure]:
    certain, some = held.certain(), held.total > 0
    note = "there are no rows" if not some else "" if true else NOT_TRUE
    rows = held.rows_of(certain)
    chance = held.certain_by_chance()
    told = "if the values were dealt to the rows at random" if chance is not None else "no value is released"
    return {
        "certain": Figure(rows / held.total if some else None, "share", note=note),
        "certain_rows": Figure(rows, "rows", note=note),
        "certain_classes": Figure(int(certain.sum()), "classes", note=note),
        "by_chance": Figure(chance, "share", note=told),
    }
