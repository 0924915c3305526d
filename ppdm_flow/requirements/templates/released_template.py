"""The inferences that a release allows, by the lineage of its columns and the values that their cells cover."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import chain

import pyarrow as pa
import pyarrow.compute as pc

from ppdm_flow.core.people import PeopleFigure
from ppdm_flow.core.requirement import TOLERANCE
from ppdm_flow.mining.exposure.columns import ReadingMethod, RevealingColumns, ValueColumns, carriers, columns, readings
from ppdm_flow.mining.exposure.faults import UnmeasuredError, require_pairs_of_nulls, require_true_values
from ppdm_flow.mining.exposure.histograms import ValueHistograms, values
from ppdm_flow.mining.exposure.query import SIZE, ClassQuery, classes, crowds
from ppdm_flow.mining.exposure.repeated import Repetitions, as_they_were, of_originals, repeated
from ppdm_flow.mining.exposure.rows import CountedRows, ReleasedRows
from ppdm_flow.mining.exposure.together import joint_tables, joint_values
from ppdm_flow.mining.people.figures import require_people
from ppdm_flow.mining.people.known_query import require_linkable_sql
from ppdm_flow.mining.people.query import PeopleQuery, people_in_classes
from ppdm_flow.requirements.templates.of_people import (
    TemplateSurvey,
    TemplateTarget,
    asked_of,
    by_attribute,
    confidences_of,
    inferences_of,
    of_people,
    people_queries,
)
from ppdm_flow.requirements.templates.requirement import InferenceTemplate
from ppdm_flow.sdk.audit import AuditContext, Sql
from ppdm_flow.sdk.view import DataView


@dataclass(frozen=True, slots=True)
class ReleasedTemplate:
    """The columns of a release that one template is about, and how each sensitive attribute is read."""

    template: InferenceTemplate
    columns: RevealingColumns
    targets: tuple[tuple[TemplateTarget, tuple[ValueColumns, ...]], ...]


def released_template(
    template: InferenceTemplate, original: DataView, candidate: DataView, ctx: AuditContext
) -> ReleasedTemplate:
    """Return the columns of the channel and of the sensitive attributes."""
    sensitive = by_attribute(template)
    targets = []
    for attribute, wanted in sensitive.items():
        ways = readings(attribute, candidate, ctx)
        if ways:
            images = {v: _images(v, ways, template, original, candidate, ctx) for v in wanted}
            targets.append((TemplateTarget(attribute, ways[0].name, images), ways))
    return ReleasedTemplate(template, columns(template.channel, sensitive, candidate, ctx), tuple(targets))


def _images(
    value: str,
    ways: Sequence[ValueColumns],
    template: InferenceTemplate,
    original: DataView,
    candidate: DataView,
    ctx: AuditContext,
) -> frozenset[str]:
    """Return the texts that count as ``value``: where rows cannot be paired, also what the original never has.

    The confidence that follows is then an upper bound. Of a negated template only the value itself counts as having it.
    """
    attribute = ways[0].attribute
    if template.negated or ctx.pairs is not None or attribute not in original.schema:
        return frozenset((value,))
    facts = ctx.original_attributes.get(attribute)
    known = pa.array((facts.domain if facts else None) or (), pa.string())
    foreign: set[str] = set()
    for column in (c for way in ways for c in way.shown):
        domain = candidate.domain(column)
        new = pc.invert(pc.or_(pc.is_in(domain, original.domain(attribute)), pc.is_in(domain, known)))
        foreign |= set(domain.filter(new).to_pylist())
    return frozenset((value, *foreign))


class LastValues:
    """The values of the columns that were read last: templates over one channel follow each other in most policies."""

    def __init__(self, candidate: DataView, ctx: AuditContext) -> None:
        self._rows, self._nulls = ReleasedRows(candidate, ctx), ctx.nulls
        self._columns: tuple[RevealingColumns, tuple[ValueColumns, ...]] | None = None
        self._values: list[ValueHistograms] = []

    def read(self, columns: RevealingColumns, ways: tuple[ValueColumns, ...]) -> list[ValueHistograms]:
        """Return the values by each of the ways. Raises UnmeasuredError as `values` does."""
        if self._columns != (columns, ways):
            self._values = values(columns, ways, self._rows, self._nulls, values_known=False)
            self._columns = columns, ways
        return self._values


def survey_of(released: ReleasedTemplate, candidate: DataView, ctx: AuditContext, last: LastValues) -> TemplateSurvey:
    """Measure a template on the release. Raises UnmeasuredError where null semantics and crowds do not go together."""
    rows, template = ReleasedRows(candidate, ctx), released.template
    require_readable(released, candidate, ctx)
    originals = originals_of(released, candidate, ctx)
    by_target = []
    for target, ways in released.targets:
        if ctx.people is not None:
            by_target.append(
                of_people(released.columns, target, ways, ReleasedRows(candidate, ctx), ctx, negated=template.negated)
            )
            continue
        read = last.read(released.columns, ways)
        each = inferences_of(read, target.images, negated=template.negated)
        if originals is not None:
            way = as_they_were(target.attribute)
            read = values(of_originals(released.columns), way, originals, ctx.nulls, values_known=False)
            each = each.beside(inferences_of(read, target.images, negated=template.negated))
        by_target.append(each)
    smallest = _smallest(released.columns, originals or rows, ctx) if template.smallest_group > 1 else 0
    repeated_rows = None if originals is None else originals.counts(released.columns.every).total
    return TemplateSurvey(tuple(target for target, _ in released.targets), tuple(by_target), smallest, repeated_rows)


def originals_of(released: ReleasedTemplate, candidate: DataView, ctx: AuditContext) -> Repetitions | None:
    """Return the original rows that generated ones repeat, where anything is revealed: shares are the worse of both.

    Raises UncountedError.
    """
    if not released.targets:
        return None
    secret = tuple(target.attribute for target, _ in released.targets)
    return repeated(released.columns.known, by_attribute(released.template), secret, candidate, ctx)


def _smallest(columns: RevealingColumns, rows: CountedRows, ctx: AuditContext) -> int:
    if ctx.people is not None:
        return people_in_classes(columns, rows, ctx.nulls, ctx.people).k
    return (crowds(columns, rows, ctx.nulls) if columns.mixed else classes(rows.counts(columns.every), ctx.nulls)).k


def require_readable(released: ReleasedTemplate, candidate: DataView, ctx: AuditContext) -> None:
    """Raise UnmeasuredError for randomized values, and where null semantics and crowds do not go together."""
    if ctx.people is not None:
        require_people(ctx.people, ctx)
    require_pairs_of_nulls(released.columns, ctx.nulls)
    for target, _ in released.targets:
        require_true_values(target.attribute, carriers(target.attribute, candidate, ctx), ctx)


def figures_sql(
    every: Iterable[ReleasedTemplate], candidate: DataView, ctx: AuditContext, sql: Sql
) -> dict[str, Mapping[str, float | int]]:
    """Return the figures of the release by the second route, by template; none of those that cannot be measured.

    Templates over one channel and the same sensitive attributes share their queries.
    """
    shared: dict[Hashable, list[ReleasedTemplate]] = defaultdict(list)
    for released in every:
        ways = tuple((target.attribute, ways) for target, ways in released.targets)
        question = released.columns, ways, tuple(by_attribute(released.template)), released.template.negated
        shared[question if ctx.people is None else released.template.id].append(released)
    figures: dict[str, Mapping[str, float | int]] = {}
    for some in shared.values():
        with suppress(UnmeasuredError):
            figures |= _figures_sql(some, candidate, ctx, sql)
    return figures


def _figures_sql(
    some: Sequence[ReleasedTemplate], candidate: DataView, ctx: AuditContext, sql: Sql
) -> dict[str, Mapping[str, float | int]]:
    """Return the figures of templates that share their queries. Raises UnmeasuredError as the first route."""
    first = some[0]
    require_readable(first, candidate, ctx)
    if ctx.people is not None:
        require_linkable_sql(sql, first.columns, candidate, ctx, chances=bool(first.targets))
    worst = [0.0] * len(some)
    beyond: list[dict[tuple[int, int, tuple[int, int]], int]] = [{} for _ in some]
    for side, place, query in _queries(first, candidate, ctx, sql):
        own = [released.targets[place][0].images for released in some]
        asked = [(template, number) for template, images in enumerate(own) for number in range(len(images))]
        every_image = chain.from_iterable(each.values() for each in own)
        images = own[0] if len(some) == 1 else {str(i): image for i, image in enumerate(every_image)}
        text, parameters = asked_of(query, images, negated=first.template.negated)
        if query.mixed:
            text, parameters = query.with_means(text), [*parameters, *parameters]
        bounds = ", ".join(f"({i}, {some[t].template.confidence!r}::DOUBLE)" for i, (t, _) in enumerate(asked))
        rows = query.ask(
            f"""
            WITH every AS MATERIALIZED ({text}), bounds(value, bound) AS (VALUES {bounds})
            SELECT NULL AS id, value, NULL AS own, MAX(confidence) AS confidence FROM every GROUP BY value
            UNION ALL SELECT id, value, own, confidence FROM every JOIN bounds USING (value) JOIN sizes USING (id)
            WHERE NOT (confidence <= bound + {TOLERANCE!r}::DOUBLE)""",  # noqa: S608  # our own query
            parameters,
        )
        for group, value, size, confidence in rows:
            template, number = asked[int(value)]
            worst[template] = max(worst[template], float(confidence))
            if group is not None:
                beyond[template][place, number, (side, int(group))] = round(size)
    figures: dict[str, Mapping[str, float | int]] = {}
    for released, confidence, inferences in zip(some, worst, beyond, strict=True):
        groups = {group: rows for (_, _, group), rows in inferences.items()}
        figures[released.template.id] = {
            "confidence": confidence,
            "inferences": len(inferences),
            "violating_groups": len(groups),
            "violating_rows": sum(groups.values()),
        }
    return figures


def together_confidence(
    released: ReleasedTemplate, candidate: DataView, ctx: AuditContext
) -> tuple[float, tuple[str, ...]] | None:
    """Return the highest confidence beside the run's other releases, and which they are; None where they tell nothing.

    Raises UnmeasuredError as the survey of one release.
    """
    require_readable(released, candidate, ctx)
    worst, names = None, dict[str, None]()
    for attribute, wanted in by_attribute(released.template).items():
        read = joint_values(released.template.channel, attribute, ctx)
        if read is not None:
            images = {value: frozenset((value,)) for value in wanted}
            for histograms in read.histograms:
                value_histograms = ValueHistograms(ValueColumns(attribute, ReadingMethod.ORIGINAL, ()), histograms)
                inferred = inferences_of([value_histograms], images, negated=released.template.negated)
                worst = max(worst or 0.0, inferred.worst, read.together)
            names |= dict.fromkeys(read.names)
    return None if worst is None else (worst, tuple(names))


def together_sql(released: ReleasedTemplate, candidate: DataView, ctx: AuditContext, sql: Sql) -> float:
    """Return the same confidence by the second route."""
    require_readable(released, candidate, ctx)
    worst, channel = 0.0, released.template.channel
    for attribute, wanted in by_attribute(released.template).items():
        read = joint_values(channel, attribute, ctx)
        if read is None:
            continue
        images = {value: frozenset((value,)) for value in wanted}
        text, parameters = confidences_of(images, negated=released.template.negated)
        for tables in joint_tables(channel, attribute, ctx, sql, PeopleFigure.CONFIDENCE):
            top = sql.rows(f"SELECT COALESCE(MAX(confidence), 0) FROM ({text})", parameters, tables)  # noqa: S608  # our own query
            worst = max(worst, read.together, float(top[0][0]))
    return worst


def smallest_sql(released: ReleasedTemplate, candidate: DataView, ctx: AuditContext, sql: Sql) -> int:
    """Return the rows of the smallest group by the second route."""
    rows = originals_of(released, candidate, ctx) or ReleasedRows(candidate, ctx)
    query = ClassQuery.of_rows(sql, rows, released.columns, None, ctx.nulls)
    if ctx.people is not None:
        query = PeopleQuery.of_people(sql, rows, released.columns, None, ctx.nulls, ctx.people)
    return round(query.worst(SIZE, 0.0, at_most=False)["worst"] or 0)


def _queries(
    released: ReleasedTemplate, candidate: DataView, ctx: AuditContext, sql: Sql
) -> Iterator[tuple[int, int, ClassQuery]]:
    """Yield the queries of each target, by number: 0 on the released rows, 1 on the original ones that they repeat."""
    rows, originals = ReleasedRows(candidate, ctx), originals_of(released, candidate, ctx)
    for place, (target, ways) in enumerate(released.targets):
        if ctx.people is not None:
            yield from (
                (0, place, q)
                for q in people_queries(
                    released.columns, target, ways, rows, ctx, sql, negated=released.template.negated
                )
            )
            continue
        for way in ways:
            query = ClassQuery.of_rows(sql, rows, released.columns, way, ctx.nulls, values_known=False)
            yield 0, place, query
        if originals is not None:
            for way in as_they_were(target.attribute):
                columns = of_originals(released.columns)
                yield 1, place, ClassQuery.of_rows(sql, originals, columns, way, ctx.nulls, values_known=False)
