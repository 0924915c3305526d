"""People whose sensitive value is certain: all people of their class look alike and have the same value.

A class in which a value is missing or suppressed somewhere leaves a doubt, and is not counted. Where the policy counts
people, a value is certain if everybody of a class has it, in any row there.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from ppdm_flow.audits.homogeneity.spec import HomogeneityParams
from ppdm_flow.audits.inference.people import UNCOUNTED, found_sql
from ppdm_flow.audits.inference.secrets import Secrets, secrets_of, summarized
from ppdm_flow.audits.inference.targets import SecretValues, TargetInference, amount, attacked_classes, units
from ppdm_flow.audits.records.columns import NOT_TRUE
from ppdm_flow.audits.records.members import counts_people, refuse_rows, untold
from ppdm_flow.core.diagnostics import Severity
from ppdm_flow.core.results import AuditOutcome, Chart, Figure, FigureSeries, Finding
from ppdm_flow.mining.releases.attributes import listed
from ppdm_flow.sdk.audit import AuditContext
from ppdm_flow.sdk.view import DataView

NAMES = {"certain": "share", "certain_rows": "rows", "certain_classes": "classes", "by_chance": "share"}


def findings(
    values_by_secret: Mapping[str, SecretValues], inferences: Sequence[TargetInference], of: Secrets, ctx: AuditContext
) -> Iterator[Finding]:
    """Yield a finding for each secret that is certain for somebody, and for each target."""
    for secret, values in values_by_secret.items():
        classes = values.certain_classes
        if values.count_certain():
            one = int(classes.min(initial=values.total))
            number = amount(one, values.unit)
            alone = f", some of them of a single {number[2:]}" if one == 1 else f" of {number} or more"
            alone = (
                f"{alone if len(classes) else ''}{f', {values.linked_rows_note}' if values.linked_rows_note else ''}"
            )
            who = listed(of.beside(secret)) if of.beside(secret) else "only that somebody is in the release"
            why = "all rows of their class have the same value"
            if values.unit == "people":
                why = "all people of a class that they are in have one value"
            text = (
                f"a reader who knows a person's {who} knows `{secret}` for certain for {values.count_certain():,} of"
                f" {values.total:,} {values.unit}: {why}, in {len(classes):,}"
                f" {'class' if len(classes) == 1 else 'classes'}{alone}"
            )
            yield Finding("PPF892", Severity.WARNING, text, f"{ctx.release}.homogeneity.{secret}")
    for inference in inferences:
        if inference.certain:
            text = (
                f"`{inference.secret}` of the target `{inference.target}` is certain: all"
                f" {amount(inference.rows, inference.unit)} that fit have one value ({inference.value})"
            )
            subject = f"{ctx.release}.homogeneity.{inference.target}.{inference.secret}"
            yield Finding("PPF892", Severity.WARNING, text, subject)


def chart(values_by_secret: Mapping[str, SecretValues]) -> Chart:
    """Return bars: the share of the rows whose value is certain, beside what chance would do."""
    certain = [h.count_certain() / max(1, h.total) for h in values_by_secret.values()]
    unit = units(values_by_secret)
    return Chart(
        id="certain",
        title=f"{unit.capitalize()} whose sensitive value is certain",
        kind="bars",
        x=tuple(values_by_secret),
        series=(
            FigureSeries("release", tuple(certain)),
            FigureSeries(
                "values dealt at random", tuple(h.certain_by_chance() or 0.0 for h in values_by_secret.values())
            ),
        ),
        x_label="attribute",
        y_label=f"share of {unit}",
        note="all people who look alike have the same value",
    )


class HomogeneityAudit:
    """Looks at every sensitive released column; a bare figure is the worst over them."""

    def __init__(self, params: HomogeneityParams) -> None:
        self.params = params

    def measure(self, original: DataView, candidate: DataView, ctx: AuditContext) -> AuditOutcome:
        """Return the rows whose value is certain, the number expected by chance, and the inferences on the targets."""
        del original
        of = secrets_of(self.params.attributes, self.params.sensitive, candidate, ctx)
        if not of.secrets:
            return AuditOutcome(summarized({}, NAMES))
        seen = attacked_classes(of, self.params.targets, candidate, ctx)
        each = {s: _figures(h, seen.true[s], untold(ctx)) for s, h in seen.values_by_secret.items()}
        outcome = AuditOutcome(
            summarized(each, NAMES) | seen.figures(),
            findings=tuple(findings(seen.sound, seen.sure, of, ctx)),
            charts=(chart(seen.values_by_secret),),
        )
        return refuse_rows(outcome, ctx)

    def recheck(self, original: DataView, candidate: DataView, ctx: AuditContext) -> Mapping[str, float | int | None]:
        """Count people in SQL, for each sensitive column; nothing where rows are counted."""
        del original
        if not counts_people(ctx):
            return {}
        of = secrets_of(self.params.attributes, self.params.sensitive, candidate, ctx)
        figures: dict[str, float | int | None] = {}
        for secret in of.secrets:
            counts = found_sql(candidate, of.beside(secret), secret, ctx)
            if counts is not None:
                figures[f"{secret}.certain_classes"] = counts.classes
                if not counts.links:
                    figures[f"{secret}.certain"] = counts.certain
                    figures[f"{secret}.certain_rows"] = counts.certain_people
        return figures


def _figures(secret_values: SecretValues, true: bool, counted: str) -> dict[str, Figure]:
    some = secret_values.total > 0
    certain_rows = secret_values.count_certain() if secret_values.linked_rows_note != UNCOUNTED else None
    note = (
        "there are no rows"
        if not some
        else (counted or secret_values.linked_rows_note)
        if true or certain_rows is None
        else NOT_TRUE
    )
    chance = secret_values.certain_by_chance()
    dealt = "if the values were dealt to the rows at random"
    if secret_values.unit == "people":
        dealt = f"at most, {dealt}"
    return {
        "certain": Figure(
            certain_rows / secret_values.total if some and certain_rows is not None else None, "share", note=note
        ),
        "certain_rows": Figure(certain_rows, secret_values.unit, note=note),
        "certain_classes": Figure(
            len(secret_values.certain_classes), "classes", note=note if certain_rows is not None else ""
        ),
        "by_chance": Figure(chance, "share", note=dealt if chance is not None else "no value is released"),
    }
