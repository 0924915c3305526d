"""What ruling values out reveals, in sentences and a picture."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from ppdm_flow.audits.background_knowledge.spec import BackgroundKnowledgeParams
from ppdm_flow.audits.inference.holdings import Holdings
from ppdm_flow.audits.inference.targets import Inference
from ppdm_flow.core.diagnostics import Severity
from ppdm_flow.core.phrases import counted
from ppdm_flow.core.results import Chart, Finding, Series
from ppdm_flow.sdk.audit import AuditContext

MOST = 6
"""Values ruled out up to which the picture goes at least."""


def findings(
    held: Mapping[str, Holdings], told: Sequence[Inference], params: BackgroundKnowledgeParams, ctx: AuditContext
) -> Iterator[Finding]:
    """Yield a finding for each secret that becomes certain by knowledge, and for each target."""
    for secret, found in held.items():
        after, before = (found.rows_of(found.certain(n)) for n in (params.excludes, 0))
        if after > before:
            text = (
                f"`{secret}` becomes certain for {after - before:,} of {found.total:,} rows to someone who can rule out"
                f" {counted(params.excludes, 'value')} for a person: so few values does the person's class have"
            )
            yield Finding("PPF893", Severity.WARNING, text, f"{ctx.release}.background_knowledge.{secret}")
    for inference in told:
        if inference.certain:
            text = (
                f"`{inference.secret}` of the target `{inference.target}` is certain: what is known leaves"
                f" {counted(inference.rows, 'row')} with one value ({inference.value})"
            )
            subject = f"{ctx.release}.background_knowledge.{inference.target}.{inference.secret}"
            yield Finding("PPF893", Severity.WARNING, text, subject)


def chart(held: Mapping[str, Holdings], excluded: int) -> Chart:
    """Return lines: the share of the rows whose value is certain, by how many values can be ruled out."""
    every = range(max(MOST, min(excluded, 2 * MOST)) + 1)
    lines = {s: [h.rows_of(h.certain(n)) / max(1, h.total) for n in every] for s, h in held.items()}
    return Chart(
        id="ruled_out",
        title="What ruling values out reveals",
        kind="lines",
        x=tuple(str(n) for n in every),
        series=tuple(Series(s, tuple(line)) for s, line in lines.items()),
        x_label="values that the attacker can rule out",
        y_label="share of rows whose value is certain",
        note="whichever values these are: the worst case",
    )
