"""The confidence of somebody who knows several rows of a person, or sees which rows are one person's, by two routes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ppdm_flow.core.results import Figure, Measured
from ppdm_flow.mining.exposure.columns import RevealingColumns, ValueColumns
from ppdm_flow.mining.exposure.histograms import Histograms
from ppdm_flow.mining.exposure.values import ValueHistograms
from ppdm_flow.mining.people.known import KnownRows
from ppdm_flow.mining.people.known_query import KnownQuery
from ppdm_flow.mining.people.wording import KNOWN, known_sentence
from ppdm_flow.requirements.templates.confidences import inferences_of
from ppdm_flow.requirements.templates.of_people import ALL_OTHERS, asked_of
from ppdm_flow.requirements.templates.requirement import InferenceTemplate
from ppdm_flow.requirements.templates.survey import TemplateTarget
from ppdm_flow.sdk.audit import AuditContext, Sql
from ppdm_flow.sdk.view import DataView

Targets = Sequence[tuple[TemplateTarget, tuple[ValueColumns, ...]]]


def known_confidence(
    columns: RevealingColumns, targets: Targets, template: InferenceTemplate, candidate: DataView, ctx: AuditContext
) -> list[Measured]:
    """Return the highest confidence; nothing where rows are counted, or one unlinked row is known.

    Raises UnmeasuredError where there are too many combinations.
    """
    if ctx.people is None:
        return []
    worst: float | None = None
    linked = ""
    for target, ways in targets:
        for way in ways:
            known = KnownRows.of(columns, way, candidate, ctx, values_known=False, chances=True)
            linked = linked or known.linked_by
            for value, image in target.images.items():
                images = {value: ALL_OTHERS if template.negated else image}
                for histograms in _histograms(known, value if template.negated else None):
                    told = inferences_of([ValueHistograms(way, histograms)], images, negated=False)
                    worst = max(worst or 0.0, told.worst)
    if worst is None:
        return []
    figure = Figure(worst, "probability")
    text = known_sentence("a confidence", figure, template.confidence, ctx.people, at_most=True) + linked
    return [Measured(template.id, f"{template.id}.{KNOWN}confidence", figure, template.confidence, True, text)]


def _histograms(known: KnownRows, without: str | None) -> Iterator[Histograms]:
    about = known if without is None else known.merging((without,))
    yield from about.histograms(confidences=True)
    yield from about.chances()


def known_sql(
    columns: RevealingColumns,
    targets: Targets,
    template: InferenceTemplate,
    candidate: DataView,
    ctx: AuditContext,
    sql: Sql,
) -> dict[str, float]:
    """Return the figure by the second route."""
    if ctx.people is None:
        return {}
    worst: list[float] = []
    for target, ways in targets:
        for way in ways:
            for merged in [(value,) for value in target.images] if template.negated else (None,):
                query = KnownQuery.of_known(
                    sql, columns, way, candidate, ctx, values_known=False, confidences=True, merged=merged
                )
                text, parameters = asked_of(query, target.images, negated=template.negated)
                each = f"SELECT confidence AS v FROM ({text})"  # noqa: S608  # our own query
                if query.links():
                    worst.append(query.worst_figure(each, parameters, at_most=True) or 0.0)
                chances = query.chances_query(sql)
                if chances is not None:
                    worst.append(chances.worst_figure(each, parameters, at_most=True) or 0.0)
    return {f"{template.id}.{KNOWN}confidence": max(worst)} if worst else {}
