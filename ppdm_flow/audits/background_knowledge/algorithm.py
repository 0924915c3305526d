"""People whose sensitive value becomes certain to an adversary who can rule out up to L other values.

Nobody in a class with at most L + 1 values is safe from an attacker who knows which L of them a person has not. The
worst posterior is that of a value once the L most frequent others of its class are ruled out. Where the policy counts
people, these are the values that most people have, and the share is that of rows or of people, whichever is larger.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from ppdm_flow.audits.background_knowledge.spec import BackgroundKnowledgeParams
from ppdm_flow.audits.inference.people import UNCOUNTED, found_sql
from ppdm_flow.audits.inference.secrets import secrets_of, summarized
from ppdm_flow.audits.inference.targets import SecretValues, TargetInference, amount, attacked_classes, units
from ppdm_flow.audits.records.columns import NOT_TRUE
from ppdm_flow.audits.records.members import counts_people, refuse_rows, untold
from ppdm_flow.core.diagnostics import Severity
from ppdm_flow.core.phrases import counted
from ppdm_flow.core.results import AuditOutcome, Chart, Figure, FigureSeries, Finding
from ppdm_flow.sdk.audit import AuditContext
from ppdm_flow.sdk.view import DataView

NAMES = {
    "certain": "share",
    "certain_uninformed": "share",
    "worst_posterior": "probability",
    "worst_posterior_uninformed": "probability",
}

MOST = 6
"""Values ruled out up to which the picture goes at least."""


def findings(
    values_by_secret: Mapping[str, SecretValues],
    inferences: Sequence[TargetInference],
    params: BackgroundKnowledgeParams,
    ctx: AuditContext,
) -> Iterator[Finding]:
    """Yield a finding for each secret that becomes certain by knowledge, and for each target."""
    for secret, each in values_by_secret.items():
        after, before = (each.count_certain(n) for n in (params.excludes, 0))
        if after > before:
            text = (
                f"`{secret}` becomes certain for {after - before:,} of {each.total:,} {each.unit} to someone who can"
                f" rule out {counted(params.excludes, 'value')} for a person: so few values does the person's class"
                " have"
            )
            yield Finding("PPF893", Severity.WARNING, text, f"{ctx.release}.background_knowledge.{secret}")
    for inference in inferences:
        if inference.certain:
            text = (
                f"`{inference.secret}` of the target `{inference.target}` is certain: what is known leaves"
                f" {amount(inference.rows, inference.unit)} with one value ({inference.value})"
            )
            subject = f"{ctx.release}.background_knowledge.{inference.target}.{inference.secret}"
            yield Finding("PPF893", Severity.WARNING, text, subject)


def chart(values_by_secret: Mapping[str, SecretValues], excluded: int) -> Chart:
    """Return lines: the share of the rows whose value is certain, by how many values can be ruled out."""
    every = range(max(MOST, min(excluded, 2 * MOST)) + 1)
    lines = {s: [h.count_certain(n) / max(1, h.total) for n in every] for s, h in values_by_secret.items()}
    return Chart(
        id="ruled_out",
        title="What ruling values out reveals",
        kind="lines",
        x=tuple(str(n) for n in every),
        series=tuple(FigureSeries(s, tuple(line)) for s, line in lines.items()),
        x_label="values that the attacker can rule out",
        y_label=f"share of {units(values_by_secret)} whose value is certain",
        note="whichever values these are: the worst case",
    )


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
        seen = attacked_classes(of, self.params.targets, candidate, ctx)
        each = {
            s: _figures(h, self.params.excludes, seen.true[s], untold(ctx)) for s, h in seen.values_by_secret.items()
        }
        outcome = AuditOutcome(
            summarized(each, NAMES) | seen.figures(),
            findings=tuple(findings(seen.sound, seen.sure, self.params, ctx)),
            charts=(chart(seen.values_by_secret, self.params.excludes),),
        )
        return refuse_rows(outcome, ctx)

    def recheck(self, original: DataView, candidate: DataView, ctx: AuditContext) -> Mapping[str, float | int | None]:
        """Count people in SQL, for each sensitive column, without knowledge; nothing where rows are counted."""
        del original
        if not counts_people(ctx):
            return {}
        of = secrets_of(self.params.attributes, self.params.sensitive, candidate, ctx)
        figures: dict[str, float | int | None] = {}
        for secret in of.secrets:
            counts = found_sql(candidate, of.beside(secret), secret, ctx)
            if counts is not None and not counts.links:
                figures[f"{secret}.certain_uninformed"] = counts.certain
                figures[f"{secret}.worst_posterior_uninformed"] = counts.posterior
        return figures


def _figures(secret_values: SecretValues, excluded: int, true: bool, counted_by: str) -> dict[str, Figure]:
    some = secret_values.total > 0
    if secret_values.linked_rows_note == UNCOUNTED:
        return {n: Figure(None, unit, note=UNCOUNTED) for n, unit in NAMES.items()}
    note = "there are no rows" if not some else (counted_by or secret_values.linked_rows_note) if true else NOT_TRUE
    values = {
        "certain": secret_values.count_certain(excluded) / secret_values.total if some else None,
        "certain_uninformed": secret_values.count_certain() / secret_values.total if some else None,
        "worst_posterior": secret_values.worst_posterior(excluded),
        "worst_posterior_uninformed": secret_values.worst_posterior(),
    }
    none = note or "no value is released"
    return {n: Figure(v, NAMES[n], note=none if v is None else note) for n, v in values.items()}
