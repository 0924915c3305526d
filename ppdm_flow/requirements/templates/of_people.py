"""The inferences that a release allows of people who can have several rows, by two routes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from ppdm_flow.mining.exposure.columns import RevealingColumns, ValueColumns
from ppdm_flow.mining.exposure.query import ClassQuery
from ppdm_flow.mining.exposure.rows import CountedRows
from ppdm_flow.mining.exposure.values import ValueHistograms
from ppdm_flow.mining.people.groups import OTHER
from ppdm_flow.mining.people.query import PeopleQuery
from ppdm_flow.mining.people.values import PeopleValues, people_values
from ppdm_flow.requirements.templates.confidences import confidences_of, inferences_of
from ppdm_flow.requirements.templates.inference import Images, Inferences
from ppdm_flow.requirements.templates.survey import TemplateTarget
from ppdm_flow.sdk.audit import AuditContext, Sql

ALL_OTHERS = frozenset((OTHER,))
"""What counts as having another value."""


def of_people(
    columns: RevealingColumns,
    target: TemplateTarget,
    ways: Sequence[ValueColumns],
    rows: CountedRows,
    ctx: AuditContext,
    *,
    negated: bool,
) -> Inferences:
    """Return the highest confidence of each (group, value): the larger share of rows and of people who have it.

    ``negated``: of each (group, value) that somebody has another value.
    """
    if ctx.people is None:
        raise ValueError("the policy counts no people")
    every = people_values(columns, ways, rows, ctx.nulls, ctx.people, values_known=False)
    if not negated:
        return inferences_of([_confidences(read) for read in every], target.images, negated=False)
    each = [
        inferences_of([_confidences(read.merged((value,))) for read in every], {value: ALL_OTHERS}, negated=False)
        for value in target.images
    ]
    return Inferences(
        np.concatenate([one.confidence for one in each]),
        np.concatenate([one.group for one in each]),
        np.concatenate([one.value + number for number, one in enumerate(each)]),
        each[0].rows,
    )


def _confidences(read: PeopleValues) -> ValueHistograms:
    if read.reading is None:
        raise ValueError("the values must be read")
    return ValueHistograms(read.reading, *read.confidences)


def people_queries(
    columns: RevealingColumns,
    target: TemplateTarget,
    ways: Sequence[ValueColumns],
    rows: CountedRows,
    ctx: AuditContext,
    sql: Sql,
    *,
    negated: bool,
) -> Iterator[PeopleQuery]:
    """Yield the second route to each way of reading; of negated templates for each value."""
    if ctx.people is None:
        raise ValueError("the policy counts no people")
    for way in ways:
        for merged in [(value,) for value in target.images] if negated else (None,):
            yield PeopleQuery.of_people(
                sql,
                rows,
                columns,
                way,
                ctx.nulls,
                ctx.people,
                values_known=False,
                confidences=True,
                merged=merged,
            )


def asked_of(query: ClassQuery, images: Images, *, negated: bool) -> tuple[str, list[str]]:
    """Return a SELECT of (id, value, confidence), and its parameters, for any query over ``cells`` and ``sizes``."""
    if not isinstance(query, PeopleQuery):
        return confidences_of(images, negated=negated)
    if query.merged is not None:
        images = {value: ALL_OTHERS if value in query.merged else frozenset() for value in images}
    return confidences_of(images, negated=False)
