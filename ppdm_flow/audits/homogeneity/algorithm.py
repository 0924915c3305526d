"""For whom a sensitive value is certain: classes of people who look alike and all have the same.

A class in which a value is missing or suppressed somewhere leaves a doubt, and is not counted.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from ppdm_flow.audits.homogeneity.spec import HomogeneityParams
from ppdm_flow.audits.inference.holdings import Holdings
from ppdm_flow.audits.inference.secrets import Secrets, secrets_of, summarized
from ppdm_flow.audits.inference.targets import Inference, attacked_classes
from ppdm_flow.audits.records.columns import NOT_TRUE
from ppdm_flow.core.diagnostics import Severity
from ppdm_flow.core.phrases import counted
from ppdm_flow.core.results import AuditOutcome, Chart, Figure, Finding, Series
from ppdm_flow.mining.releases.attributes import listed
from ppdm_flow.sdk.audit import AuditContext
from ppdm_flow.sdk.view import DataView

NAMES = {"certain": "share", "certain_rows": "rows", "certain_classes": "classes", "by_chance": "share"}


def findings(
    held: Mapping[str, Holdings], inferences: Sequence[Inference], of: Secrets, ctx: AuditContext
) -> Iterator[Finding]:
    """Yield a finding for each secret that is certain for somebody, and for each target."""
    for secret, values in held.items():
        certain = values.certain()
        rows = values.rows_of(certain)
        if rows:
            one = int(values.sizes[certain].min())
            alone = ", some of them of a single row" if one == 1 else f" of {counted(one, 'row')} or more"
            who = listed(of.beside(secret)) if of.beside(secret) else "only that somebody is in the release"
            text = (
                f"whoever knows a person's {who} knows `{secret}` for certain for {rows:,} of {values.total:,} rows:"
                f" all rows of their class have the same value, in {int(certain.sum()):,}"
                f" {'class' if certain.sum() == 1 else 'classes'}{alone}"
            )
            yield Finding("PPF892", Severity.WARNING, text, f"{ctx.release}.homogeneity.{secret}")
    for inference in inferences:
        if inference.certain:
            text = (
                f"`{inference.secret}` of the target `{inference.target}` is certain: all"
                f" {counted(inference.rows, 'row')} that fit have one value ({inference.value})"
            )
            subject = f"{ctx.release}.homogeneity.{inference.target}.{inference.secret}"
            yield Finding("PPF892", Severity.WARNING, text, subject)


def chart(held: Mapping[str, Holdings]) -> Chart:
    """Return bars: the share of the rows whose value is certain, beside what chance would do."""
    certain = [h.rows_of(h.certain()) / max(1, h.total) for h in held.values()]
    return Chart(
        id="certain",
        title="Rows whose sensitive value is certain",
        kind="bars",
        x=tuple(held),
        series=(
            Series("release", tuple(certain)),
            Series("values dealt at random", tuple(h.certain_by_chance() or 0.0 for h in held.values())),
        ),
        x_label="attribute",
        y_label="share of rows",
        note="all people who look alike have the same value",
    )


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
        seen = attacked_classes(of, self.params.targets, candidate, ctx)
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
    note_of_chance = "if the values were dealt to the rows at random" if chance is not None else "no value is released"
    return {
        "certain": Figure(rows / held.total if some else None, "share", note=note),
        "certain_rows": Figure(rows, "rows", note=note),
        "certain_classes": Figure(int(certain.sum()), "classes", note=note),
        "by_chance": Figure(chance, "share", note=note_of_chance),
    }
