"""The confidence of the inferences that privacy templates forbid, before and after.

A template <IC -> pi, h> holds if no group over the channel IC lets one infer pi with more confidence than h; several
sensitive values are several templates (Wang, Fung, Yu 2005, section 3). A negated one is about not having the value:
its confidence is the share of rows without it. A support bounds the rows of the smallest group over the channel.
Channel attributes that are not released drop out, and where the sensitive attribute is not released there is nothing
to infer.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from ppdm_flow.core.diagnostics import Diagnostic, Severity
from ppdm_flow.core.phrases import counted
from ppdm_flow.core.requirement import TOLERANCE, within
from ppdm_flow.core.results import AuditOutcome, Chart, Figure, FigureSeries, Finding, Measured
from ppdm_flow.core.roles import Nulls, ValuesAbsent
from ppdm_flow.mining.classes.wording import as_they_are, intersected, unmeasured, unrepeated
from ppdm_flow.mining.exposure.columns import RevealingColumns, ValueColumns, made_of
from ppdm_flow.mining.exposure.faults import UnmeasuredError
from ppdm_flow.mining.exposure.histograms import Histograms, ValueHistograms
from ppdm_flow.mining.exposure.together import beside_all, beside_all_sql, findings_of_unaccounted, unaccounted
from ppdm_flow.mining.people.known import KnownRows
from ppdm_flow.mining.people.known_query import KnownQuery
from ppdm_flow.mining.people.wording import KNOWN, known_sentence
from ppdm_flow.mining.releases.attributes import all_known, classes, crowds, listed
from ppdm_flow.requirements.templates.of_people import (
    ALL_OTHERS,
    TemplateSurvey,
    TemplateTarget,
    asked_of,
    by_attribute,
    inferences_of,
    survey,
)
from ppdm_flow.requirements.templates.released_template import (
    LastValues,
    ReleasedTemplate,
    figures_sql,
    originals_of,
    released_template,
    smallest_sql,
    survey_of,
    together_confidence,
    together_sql,
)
from ppdm_flow.requirements.templates.requirement import InferenceTemplate, chosen
from ppdm_flow.sdk.audit import AuditContext, Sql
from ppdm_flow.sdk.view import DataView, share_of
from ppdm_flow.tables.schema import Schema

Targets = Sequence[tuple[TemplateTarget, tuple[ValueColumns, ...]]]


class UnchosenError(UnmeasuredError):
    """The sensitive values of a template still wait for data."""

    code = "PPF492"


class TemplatesAudit:
    """Counts channel and sensitive attribute together, in the original and in the release."""

    def __init__(self, params: Any) -> None:
        self.params = params

    def measure(self, original: DataView, candidate: DataView, ctx: AuditContext) -> AuditOutcome:
        """Return the worst confidence, and how many inferences exceed the template's, for each template."""
        figures: dict[str, Figure] = {}
        measured: list[Measured] = []
        findings: list[Finding] = []
        charts: list[Chart] = []
        last = LastValues(candidate, ctx)
        for template in _own(ctx):
            if template.awaits_data:
                fault = UnchosenError("its sensitive values were not chosen from the data")
                measured.extend(_unmeasured(template, fault))
                findings.append(unmeasured(template.id, fault))
                continue
            released = released_template(template, original, candidate, ctx)
            channel, targets = released.columns.every, released.targets
            try:
                after = survey_of(released, candidate, ctx, last)
                known = known_confidence(released.columns, released.targets, template, candidate, ctx)
            except UnmeasuredError as fault:
                measured.extend(_unmeasured(template, fault))
                findings.append(unmeasured(template.id, fault))
                continue
            before = _before(template, original, ctx)
            own = _figures(template, before, after)
            figures |= own
            name = f"{template.id}.confidence"
            text = sentence(template, channel, before, after) + made_of(_columns(released), ctx)
            measured.append(Measured(template.id, name, own[name], template.confidence, at_most=True, sentence=text))
            beside = _together(released, candidate, ctx)
            findings.extend(findings_of_unaccounted(beside))
            further = [*known, *beside]
            figures |= {m.metric: m.figure for m in further}
            measured.extend(further)
            if template.smallest_group > 1 and targets:
                least = beside_all(
                    template.id, "together_smallest_group", template.smallest_group, template.channel, ctx
                )
                figures |= {m.metric: m.figure for m in least}
                measured.extend(least)
                findings.extend(findings_of_unaccounted(least))
                unaffected = after.repeated == 0 and candidate.row_count > 0
                bounded = _support(template, own, support(template, channel, after))
                measured.append(unrepeated(template.id) if unaffected else bounded)
                figures[measured[-1].metric] = measured[-1].figure
            findings.extend((*choice(template), *recoded(template, after), *absent(template, original)))
            secret = tuple(by_attribute(template))
            findings.extend(as_they_are(template.id, (*template.channel, *secret), secret, candidate, ctx))
            charts.append(chart(template, before, after))
        return AuditOutcome(figures, tuple(measured), tuple(findings), tuple(charts))

    def recheck(self, original: DataView, candidate: DataView, ctx: AuditContext) -> Mapping[str, float | int | None]:
        """Count again, in SQL over the released file and the original."""
        figures: dict[str, float | int | None] = {}
        if ctx.sql is None:
            return figures
        templates = [released_template(t, original, candidate, ctx) for t in _own(ctx) if not t.awaits_data]
        after = figures_sql(templates, candidate, ctx, ctx.sql)
        before = _before_sql([released.template for released in templates], original, ctx, ctx.sql)
        for released in templates:
            template = released.template
            try:
                known = known_sql(released.columns, released.targets, template, candidate, ctx, ctx.sql)
            except UnmeasuredError:
                continue
            if template.id not in after:
                continue
            figures |= {f"{template.id}.{name}": value for name, value in after[template.id].items()}
            figures |= known
            with suppress(UnmeasuredError):
                if together_confidence(released, candidate, ctx) is not None:
                    figures[f"{template.id}.together_confidence"] = together_sql(released, candidate, ctx, ctx.sql)
            if template.smallest_group > 1:
                figures[f"{template.id}.smallest_group"] = smallest_sql(released, candidate, ctx, ctx.sql)
                if released.targets:
                    name = f"{template.id}.together_smallest_group"
                    figures |= beside_all_sql(name, template.channel, ctx)
                originals = originals_of(released, candidate, ctx)
                repeated = 1 if originals is None else originals.original_rows_sql(released.columns.every)
                if repeated == 0 and released.targets and candidate.row_count > 0:
                    figures[f"{template.id}.repeated"] = 0
            figures |= {f"{template.id}.{name}_before": value for name, value in before[template.id].items()}
        return figures


def _together(released: ReleasedTemplate, candidate: DataView, ctx: AuditContext) -> list[Measured]:
    """Judge what the run's other releases leave of possible values; nothing where they tell nothing of it."""
    template = released.template
    metric, bound = f"{template.id}.together_confidence", template.confidence
    try:
        joint = together_confidence(released, candidate, ctx)
    except UnmeasuredError as fault:
        return [unaccounted(template.id, metric, "probability", bound, fault, at_most=True)]
    if joint is None:
        return []
    worst, names = joint
    text = intersected("the confidence", worst, f"at most {bound:.1%} is accepted", 0, names)
    return [Measured(template.id, metric, Figure(worst, "probability"), bound, at_most=True, sentence=text)]


def _own(ctx: AuditContext) -> list[InferenceTemplate]:
    return [r for r in ctx.requirements if isinstance(r, InferenceTemplate)]


def _columns(released: ReleasedTemplate) -> tuple[str, ...]:
    return (*released.columns.every, *(c for _, ways in released.targets for way in ways for c in way.shown))


def _unmeasured(template: InferenceTemplate, fault: UnmeasuredError) -> Iterator[Measured]:
    """Yield what cannot be said of it."""
    bounds = {"confidence": (template.confidence, "probability", True)}
    if template.smallest_group > 1:
        bounds["smallest_group"] = (float(template.smallest_group), "rows", False)
    for name, (bound, unit, at_most) in bounds.items():
        figure = Figure(None, unit, note=fault.text)
        yield Measured(template.id, f"{template.id}.{name}", figure, bound, at_most, fault.text, verifiable=False)


def _targets_before(template: InferenceTemplate, original: DataView) -> tuple[TemplateTarget, ...]:
    return tuple(
        TemplateTarget(attribute, attribute, {v: frozenset((v,)) for v in values})
        for attribute, values in by_attribute(template).items()
        if attribute in original.schema
    )


def _channel_before(template: InferenceTemplate, original: DataView) -> tuple[str, ...]:
    return tuple(c for c in dict.fromkeys(template.channel) if c in original.schema)


def _before(template: InferenceTemplate, original: DataView, ctx: AuditContext) -> TemplateSurvey:
    targets = _targets_before(template, original)
    return survey(template, original, _channel_before(template, original), targets, ctx.nulls)


def _before_sql(
    templates: Iterable[InferenceTemplate], original: DataView, ctx: AuditContext, sql: Sql
) -> dict[str, dict[str, float | int]]:
    """Return the figures of the original by the second route, by template; those alike share their query."""
    shared: dict[tuple[tuple[str, ...], tuple[str, ...], bool], list[InferenceTemplate]] = defaultdict(list)
    for template in templates:
        columns = tuple(target.column for target in _targets_before(template, original))
        shared[_channel_before(template, original), columns, template.negated].append(template)
    figures: dict[str, dict[str, float | int]] = {}
    for (channel, _, negated), some in shared.items():
        query = InferenceQuery(sql, "original", original.schema, channel, ctx.nulls)
        asked = [(_targets_before(template, original), template.confidence) for template in some]
        each = query.figures(asked, negated=negated)
        figures |= {template.id: dict(own) for template, own in zip(some, each, strict=True)}
        bounded = [template.id for template in some if template.smallest_group > 1]
        smallest = query.smallest() if bounded else 0
        for name in bounded:
            figures[name]["smallest_group"] = smallest
    return figures


def _support(template: InferenceTemplate, own: Mapping[str, Figure], text: str) -> Measured:
    name = f"{template.id}.smallest_group"
    return Measured(template.id, name, own[name], float(template.smallest_group), at_most=False, sentence=text)


def _figures(template: InferenceTemplate, before: TemplateSurvey, after: TemplateSurvey) -> dict[str, Figure]:
    figures: dict[str, Figure] = {}
    for suffix, surveyed in (("", after), ("_before", before)):
        groups, rows = surveyed.groups(template.confidence)
        figures[f"{template.id}.confidence{suffix}"] = Figure(surveyed.worst, "probability")
        figures[f"{template.id}.inferences{suffix}"] = Figure(surveyed.inferences(template.confidence), "inferences")
        figures[f"{template.id}.violating_groups{suffix}"] = Figure(groups, "groups")
        figures[f"{template.id}.violating_rows{suffix}"] = Figure(rows, "rows")
        if template.smallest_group > 1:
            figures[f"{template.id}.smallest_group{suffix}"] = Figure(surveyed.smallest, "rows")
    return figures


# The confidence of somebody who knows several rows of a person, or sees which rows are one person's, by two routes.


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
                    inferences = inferences_of([ValueHistograms(way, histograms)], images, negated=False)
                    worst = max(worst or 0.0, inferences.worst)
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


# What the confidences of a template mean, in sentences, findings and a picture.


LEVELS = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9)


def sentence(template: InferenceTemplate, channel: Sequence[str], before: TemplateSurvey, after: TemplateSurvey) -> str:
    """Return the sentence for the report; it names values that the policy names, and none that the data chose."""
    missing = [a for a in by_attribute(template) if a not in {t.attribute for t in after.targets}]
    gone = f" {listed(missing)} {'is' if len(missing) == 1 else 'are'} not released." if missing else ""
    if not after.targets:
        return f"There is nothing to infer.{gone}"
    pair = after.worst_pair
    if pair is None and template.negated:
        return f"Every row of the release has the value: nobody is without it.{gone}"
    if pair is None:
        return f"No group that counts holds a sensitive value of this template.{gone}"
    knowing = f"A reader who knows {listed(channel)}" if channel else "A reader who knows nothing of a person"
    relation = "≠" if template.negated else "="
    value = "a value that was chosen" if template.chosen_from_data else f"`{pair[1]}`"
    sure = f"{knowing} can infer `{pair[0]}` {relation} {value} with a confidence of at most {after.worst:.1%}"
    change = f" (before: {before.worst:.1%} for the worst value); at most {template.confidence:.1%} is accepted."
    if within(after.worst, template.confidence, at_most=True):
        return sure + change + gone
    groups, rows = after.groups(template.confidence)
    return f"{sure}{change} {counted(rows, 'row')} in {counted(groups, 'group')} allow more.{gone}"


def support(template: InferenceTemplate, channel: Sequence[str], after: TemplateSurvey) -> str:
    """Return the sentence on the smallest group."""
    if not after.smallest:
        return "There is no row to measure, so nothing can be said of it."
    among = f"equal {listed(channel)}" if channel else "nothing to tell them apart"
    rows = "row" if after.repeated is None else "original row"
    text = f"The smallest group of people with {among} has {counted(after.smallest, rows)}"
    return f"{text}; at least {template.smallest_group:,} are required."


def choice(template: InferenceTemplate) -> Iterator[Finding]:
    """Yield what was chosen from the data, by numbers."""
    if template.chosen_from_data:
        text = f"its sensitive values were chosen from the data: {chosen(template)}"
        yield Finding("PPF492", Severity.INFO, text, template.id)


def recoded(template: InferenceTemplate, after: TemplateSurvey) -> Iterator[Finding]:
    """Yield a finding for each sensitive attribute with values that only a run could decode."""
    for target in after.targets:
        if any(len(image) > 1 for image in target.images.values()):
            yield Finding(
                "PPF820",
                Severity.WARNING,
                f"`{target.attribute}` has values in the release that it has not in the original, and rows cannot be"
                " paired here: each of them is counted as each sensitive value",
                f"{template.id}.{target.attribute}",
            )


def absent(template: InferenceTemplate, original: DataView) -> Iterator[Finding]:
    """Yield a finding for each sensitive attribute some of whose values, as the policy writes them, never occur."""
    for attribute, values in by_attribute(template).items():
        if attribute not in original.schema or template.values_absent is ValuesAbsent.ALLOWED:
            continue
        known = pc.is_in(pa.array(values, pa.string()), original.domain(attribute)).to_pylist()
        never = [v for v, occurs in zip(values, known, strict=True) if not occurs]
        if never:
            which = f"{len(never)} chosen" if template.chosen_from_data else listed(never)
            yield Finding(
                "PPF821",
                Severity.WARNING,
                f"{which} of `{attribute}` never occurs in the original: check the spelling in the policy",
                f"{template.id}.{attribute}",
            )


def chart(template: InferenceTemplate, before: TemplateSurvey, after: TemplateSurvey) -> Chart:
    """Return the number of inferences above each level of confidence, before and after."""
    return Chart(
        id=f"{template.id}.inferences",
        title=f"Inferences of the template {template.name} above a confidence",
        kind="bars",
        x=tuple(f"> {level:.0%}" for level in LEVELS),
        series=tuple(
            FigureSeries(name, tuple(float(survey.inferences(level)) for level in LEVELS))
            for name, survey in (("original", before), ("released", after))
        ),
        x_label="confidence",
        y_label="inferences",
        note=f"{template.confidence:.1%} is accepted",
        group=template.id,
    )


_FIGURES = ("confidence", "inferences", "violating_groups", "violating_rows")


class InferenceQuery:
    """The inferences from ``channel`` in one relation (``candidate`` or ``original``)."""

    def __init__(self, sql: Sql, relation: str, schema: Schema, channel: Sequence[str], nulls: Nulls) -> None:
        self.sql = sql
        self.relation = relation
        self.schema = schema
        self.nulls = nulls
        self.channel = tuple(channel)

    def smallest(self) -> int:
        """Return the number of rows of the smallest group."""
        query = f"SELECT COALESCE(MIN(n), 0) FROM ({self._combinations()})"  # noqa: S608  # identifiers are quoted
        if self.nulls is Nulls.WILDCARD:
            query = f"""
                WITH groups AS MATERIALIZED (
                    SELECT *, ROW_NUMBER() OVER () AS id FROM ({self._combinations()})),
                pairs AS ({crowds("groups", "groups", len(self.channel), "a.id, b.n")})
                SELECT COALESCE(MIN(n), 0) FROM (SELECT SUM(n) AS n FROM pairs GROUP BY id)"""  # noqa: S608  # as above
        return int(self.sql.rows(query)[0][0])

    def figures(
        self, asked: Sequence[tuple[Sequence[TemplateTarget], float]], *, negated: bool
    ) -> list[Mapping[str, float | int]]:
        """Return the figures of templates to the same columns, each with its threshold.

        ``negated``: of not having each value.
        """
        nothing: Mapping[str, float | int] = dict.fromkeys(_FIGURES, 0) | {"confidence": 0.0}
        figures = [nothing] * len(asked)
        merged, of_template = [], []
        for place, one in enumerate(asked[0][0]):
            images = [image for targets, _ in asked for image in targets[place].images.values()]
            merged.append(replace(one, images={str(i): image for i, image in enumerate(images)}))
            owners = [template for template, (targets, _) in enumerate(asked) for _ in targets[place].images]
            of_template += [
                f"({place}, {value}, {template}, {asked[template][1]!r}::DOUBLE)"
                for value, template in enumerate(owners)
            ]
        if not of_template:
            return figures
        parameters = [text for t in merged for image in t.images.values() for text in sorted(image)]
        union = " UNION ALL ".join(self._inferences(i, t, negated=negated) for i, t in enumerate(merged))
        query = f"""
            WITH every AS MATERIALIZED ({self._combinations(*(t.column for t in merged))}),
            groups AS MATERIALIZED (
                SELECT *, ROW_NUMBER() OVER () AS id FROM ({self._summed()})),
            inferences AS ({union}),
            asked(target, value, template, bound) AS (VALUES {", ".join(of_template)}),
            told AS MATERIALIZED (
                SELECT template, id, confidence, NOT (confidence <= bound + {TOLERANCE!r}::DOUBLE) AS beyond
                FROM inferences JOIN asked USING (target, value)),
            hit AS (
                SELECT template, COUNT(*) AS groups, SUM(n) AS rows
                FROM (SELECT DISTINCT template, id FROM told WHERE beyond) JOIN groups USING (id) GROUP BY template)
            SELECT template, worst, inferences, COALESCE(groups, 0), COALESCE(rows, 0)
            FROM (SELECT template, MAX(confidence) AS worst, COUNT(*) FILTER (beyond) AS inferences
                  FROM told GROUP BY template) LEFT JOIN hit USING (template)"""  # noqa: S608  # identifiers are quoted, values are parameters
        for template, worst, *many in self.sql.rows(query, parameters):
            figures[template] = dict(zip(_FIGURES, (float(worst), *map(int, many)), strict=True))
        return figures

    def _combinations(self, *more: str) -> str:
        """Return the distinct combinations of the channel, and of further columns: the one look at the relation."""
        kept = all_known(self.channel) if self.nulls is Nulls.EXCLUDE else ""
        return classes(self.relation, (*self.channel, *more), self.schema, kept)

    def _summed(self, target: int | None = None) -> str:
        """Return the distinct combinations of the channel, and of one target, out of ``every``."""
        columns = [f"c{i}" for i in range(len(self.channel))]
        columns += [] if target is None else [f"c{len(self.channel) + target} AS cell"]
        grouped = (
            f" GROUP BY {', '.join(str(i + 1) for i in range(len(columns)))}" if columns else " HAVING COUNT(*) > 0"
        )
        return f"SELECT {''.join(f'{c}, ' for c in columns)}SUM(n) AS n FROM every{grouped}"  # noqa: S608  # our own names

    def _inferences(self, number: int, target: TemplateTarget, *, negated: bool) -> str:
        """Return a SELECT of (id of the group, value, confidence) for one sensitive column."""
        width = len(self.channel)
        values = ", ".join(f"({i}, ?)" for i, image in enumerate(target.images.values()) for _ in sorted(image))
        hits = f"""
            SELECT hits.*, value
            FROM ({self._summed(number)}) AS hits
            JOIN (VALUES {values}) AS sensitive(value, wanted) ON hits.cell = wanted"""  # noqa: S608  # as above
        if self.nulls is Nulls.WILDCARD:
            total = f"SELECT id, SUM(n) AS n FROM ({crowds('groups', 'groups', width, 'a.id, b.n')}) GROUP BY id"  # noqa: S608  # as above
            hit = crowds("groups", f"hits{number}", width, "a.id, b.value, b.n")
        else:
            same = " AND ".join(f"a.c{i} IS NOT DISTINCT FROM b.c{i}" for i in range(width)) or "TRUE"
            total = "SELECT id, n FROM groups"
            hit = f"SELECT a.id, b.value, b.n FROM groups a JOIN hits{number} b ON {same}"  # noqa: S608  # as above
        confidence = f"""
            SELECT id, {number} AS target, value, CAST(summed.n AS DOUBLE) / CAST(totals.n AS DOUBLE) AS confidence
            FROM summed JOIN totals USING (id)"""  # noqa: S608  # as above
        if negated:
            confidence = f"""
                SELECT totals.id, {number} AS target, v.value,
                       CAST(totals.n - COALESCE(summed.n, 0) AS DOUBLE) / CAST(totals.n AS DOUBLE) AS confidence
                FROM totals CROSS JOIN range({len(target.images)}) AS v(value)
                LEFT JOIN summed ON summed.id = totals.id AND summed.value = v.value
                WHERE totals.n > COALESCE(summed.n, 0)"""  # noqa: S608  # as above
        return f"""(
            WITH hits{number} AS MATERIALIZED ({hits}), totals AS ({total}),
            summed AS (SELECT id, value, SUM(n) AS n FROM ({hit}) GROUP BY id, value)
            {confidence})"""  # noqa: S608  # as above


def foresee(requirement: InferenceTemplate, view: DataView, people: int) -> Iterator[Diagnostic]:
    """Yield why even the most suppressed table breaks it (Wang, Fung, Yu 2005, Lemma 3.3).

    With every channel attribute suppressed, the confidence is the value's frequency (negated: that of all else), and
    the only group has all rows. Each template that fails does so by itself, and all the others can hold together.
    """
    if requirement.chosen_from_data:
        text = f"template `{requirement.name}` protects values that were chosen from the data: {chosen(requirement)}"
        yield Diagnostic("PPF492", text, requirement.span, Severity.INFO)
    if people < requirement.smallest_group:
        text = f"template `{requirement.name}` cannot hold: there are {people} rows in all"
        yield Diagnostic("PPF784", text, requirement.span)
    for attribute, value in requirement.pairs:
        share = share_of(view, attribute, value, people)
        if share is None:
            continue
        confidence = 1.0 - share if requirement.negated else share
        if not within(confidence, requirement.confidence, at_most=True):
            yield _impossible(requirement, attribute, value, confidence)


def _impossible(template: InferenceTemplate, attribute: str, value: str, confidence: float) -> Diagnostic:
    named = "a value that was chosen" if template.chosen_from_data else f"`{value}`"
    what = f"anything but {named}" if template.negated else named
    text = f"template `{template.name}` cannot hold: {what} is {confidence:.1%} of `{attribute}`, above the"
    lowest = math.ceil(confidence * 1e6 - 1e-6) / 1e6
    note = f"it fails by itself, without the other requirements; the lowest confidence that it could have is {lowest:g}"
    return Diagnostic(
        "PPF784",
        f"{text} confidence of {template.confidence:.1%} even where every channel attribute is suppressed",
        template.span,
        notes=(note,),
    )
