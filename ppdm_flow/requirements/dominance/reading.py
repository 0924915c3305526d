"""The numbers behind a group and those that it shows, and what each class has of them: the first route."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from ppdm_flow.core.roles import AttributeType
from ppdm_flow.mining.exposure.columns import (
    ReadingMethod,
    RevealingColumns,
    ValueColumns,
    carriers,
    columns,
    facts_of,
    unchanged,
)
from ppdm_flow.mining.exposure.faults import require_true_values
from ppdm_flow.mining.exposure.numbers import UnnumberedError, require_numbers
from ppdm_flow.mining.exposure.repeated import as_they_were, of_originals, repeated
from ppdm_flow.mining.exposure.rows import CountedRows
from ppdm_flow.mining.exposure.values import values
from ppdm_flow.mining.people.values import people_values
from ppdm_flow.mining.releases.attributes import namesakes
from ppdm_flow.requirements.dominance.concentration import Concentrations, concentrations, of_people
from ppdm_flow.requirements.dominance.requirement import Dominance
from ppdm_flow.sdk.audit import AuditContext
from ppdm_flow.sdk.view import DataView
from ppdm_flow.tables.column import SPECIALS
from ppdm_flow.tables.numeric.parsing import parsed

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class DominanceGroups:
    """The groups by one way to read their numbers. ``rows`` (groups,) belong to each of them."""

    reading: ValueColumns
    each: Concentrations
    rows: npt.NDArray[np.int64]
    left_out: int


@dataclass(frozen=True, slots=True)
class ReadRows:
    """Rows to look at and how their numbers are read; ``strict``: a label is a fault, else it contributes nothing."""

    rows: CountedRows
    reading: ValueColumns
    strict: bool


def revealing(requirement: Dominance, candidate: DataView, ctx: AuditContext) -> RevealingColumns:
    """Return the columns that form groups: all that are computed from a grouping attribute.

    One that is computed from the number as well forms groups like the others. What people can tell by it are unions of
    these groups, and a union of groups that keep the rules keeps them.
    """
    return of_originals(columns(requirement.attributes, (requirement.attribute,), candidate, ctx))


def looked_at(requirement: Dominance, rows: CountedRows, candidate: DataView, ctx: AuditContext) -> list[ReadRows]:
    """Return every way to add up numbers; none where nothing that is released tells of them.

    The numbers that rows had in the source count, and beside them those that changed columns show. Where rows cannot be
    paired with the source the columns count as they are. Raises UnmeasuredError.
    """
    name = requirement.attribute
    carrying = carriers(name, candidate, ctx)
    if not carrying:
        return []
    require_true_values(name, carrying, ctx)
    changed = [c for c in carrying if not unchanged(ctx.attributes.get(c))]
    if ctx.pairs is None or not changed:
        as_they_are = carrying if changed else carrying[:1]
        for column in as_they_are:
            require_numbers(column, ctx)
        ways = [ReadRows(rows, ValueColumns(name, ReadingMethod.SHOWN, (c,)), strict=True) for c in as_they_are]
    else:
        copies = {*namesakes(name, candidate, ctx), *(c for c in changed if _numeric(c, ctx))}
        shown = [c for c in changed if c in copies and not facts_of(c, ctx).keyed]
        ways = [ReadRows(rows, each, strict=True) for each in as_they_were(name)]
        ways.extend(ReadRows(rows, ValueColumns(name, ReadingMethod.SHOWN, (c,)), strict=False) for c in shown)
    originals = repeated(requirement.attributes, (name,), (name,), candidate, ctx)
    if originals is not None:
        ways.extend(ReadRows(originals, each, strict=True) for each in as_they_were(name))
    return ways


def _numeric(column: str, ctx: AuditContext) -> bool:
    facts = ctx.attributes.get(column)
    return facts is not None and facts.is_numeric


def side(requirement: Dominance, looked: ReadRows, by: RevealingColumns, ctx: AuditContext) -> DominanceGroups:
    """Group the rows and measure each group, by people where these count. Raises UnmeasuredError."""
    if ctx.people is not None:
        (own,) = people_values(by, [looked.reading], looked.rows, ctx.nulls, ctx.people, values_known=False)
        groups = own.groups
        numbers = numbers_of(groups.names, requirement.attribute, strict=looked.strict)
        each = of_people(groups.entries, numbers, len(groups.rows), requirement.n, requirement.q)
        return DominanceGroups(looked.reading, each, groups.rows, groups.left_out)
    (read,) = values(by, [looked.reading], looked.rows, ctx.nulls, values_known=False)
    found = read.histograms
    numbers = numbers_of(found.names, requirement.attribute, strict=looked.strict)
    each = concentrations(found.cells, numbers, requirement.n, requirement.q)
    return DominanceGroups(looked.reading, each, found.rows, found.left_out)


def numbers_of(names: pa.StringArray, attribute: str, *, strict: bool) -> Floats:
    """Return the number of each dense code; what is suppressed or missing contributes nothing, as 0 does.

    Raises UnnumberedError for a label where that is a fault.
    """
    read = parsed(names.cast(pa.string()), AttributeType.FLOAT)
    if strict and read.bad.any():
        raise UnnumberedError(f"Some cells of `{attribute}` are labels and no numbers, so they cannot be added up.")
    return np.concatenate((np.zeros(SPECIALS), read.values.astype(np.float64)))
