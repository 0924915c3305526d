"""The numbers behind a group and the numbers that it shows, and their figures by class: the first route."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from ppdm_flow.core.requirement import TOLERANCE
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
from ppdm_flow.mining.exposure.histograms import values
from ppdm_flow.mining.exposure.numbers import UnnumberedError, require_numbers
from ppdm_flow.mining.exposure.repeated import as_they_were, of_originals, repeated
from ppdm_flow.mining.exposure.rows import CountedRows
from ppdm_flow.mining.people.groups import GroupEntries
from ppdm_flow.mining.people.values import people_values
from ppdm_flow.mining.recoding.grouping import ClassCells
from ppdm_flow.mining.releases.attributes import namesakes
from ppdm_flow.requirements.dominance.requirement import Dominance
from ppdm_flow.sdk.audit import AuditContext
from ppdm_flow.sdk.view import DataView
from ppdm_flow.tables.column import SPECIALS
from ppdm_flow.tables.numeric.column import parsed

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]


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
    """Return every way to add up numbers; none where no released column depends on them.

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
    histograms = read.histograms
    numbers = numbers_of(histograms.names, requirement.attribute, strict=looked.strict)
    each = concentrations(histograms.cells, numbers, requirement.n, requirement.q)
    return DominanceGroups(looked.reading, each, histograms.rows, histograms.left_out)


def numbers_of(names: pa.StringArray, attribute: str, *, strict: bool) -> Floats:
    """Return the number of each dense code; what is suppressed or missing contributes nothing, as 0 does.

    Raises UnnumberedError for a label where that is a fault.
    """
    read = parsed(names.cast(pa.string()), AttributeType.FLOAT)
    if strict and read.bad.any():
        raise UnnumberedError(f"Some cells of `{attribute}` are labels and no numbers, so they cannot be added up.")
    return np.concatenate((np.zeros(SPECIALS), read.values.astype(np.float64)))


# How much of each group's total its largest contributors have, by sums of whole numbers that round nowhere.
#
# The rules compare sums within one group, so a group is measured in units of its largest number: x becomes the whole
# part of x / x_1 times 2^61, or 1 where that is 0. These are added up as whole numbers, in three parts of 21 bits. So a
# sum does not depend on the order of rows, and the second route, whose database adds up integers of 128 bits, finds the
# same figures to the last bit. What that changes is at most 2^-52 of each number, or 2^-61 of the largest.


UNIT = 2.0**61
"""What the largest number of a group becomes."""
_PART = 21
_MASK = (1 << _PART) - 1
HIGH = 1 << (2 * _PART)
"""A sum is told as a multiple of this and a rest, both of which are exact in 64 bits."""


@dataclass(frozen=True, slots=True, eq=False)
class Concentrations:
    """One figure for each group; those of a group whose total is 0 are 0, infinite, and 0.

    ``share``: that of the n largest contributors in the total. ``margin``: what others than the two largest contribute,
    in percent of the largest, times q/100. ``contributors``: how many numbers are not 0.
    """

    share: Floats
    margin: Floats
    contributors: Ints

    @property
    def some(self) -> npt.NDArray[np.bool_]:
        """Which groups have a total."""
        return self.contributors > 0


def concentrations(cells: ClassCells, numbers: Floats, n: int, q: float) -> Concentrations:
    """Return the figures of each class.

    Parameters
    ----------
    cells : the values of each class, each value once, with how many contributors have it
    numbers : shape (values,), the number of each value: finite, of any sign; 0 contributes nothing
    n : how many of the largest contributors count together
    q : percent by which everybody knows every contributor
    """
    groups = len(cells.begins) - 1
    size = np.abs(numbers)[cells.value]
    there = (size > 0) & (cells.count > 0)
    owner, size, count = cells.owner[there], size[there], cells.count[there]
    order = np.lexsort((-size, owner))
    owner, size, count = owner[order], size[order], count[order]
    first = np.searchsorted(owner, np.arange(groups))
    contributors = np.zeros(groups, dtype=np.int64)
    np.add.at(contributors, owner, count)
    if not len(owner):
        return Concentrations(np.zeros(groups), np.full(groups, np.inf), contributors)
    largest = size[np.minimum(first, len(size) - 1)]
    parts = _parts_of(size, largest[owner])
    upto = np.cumsum(count)
    begins = np.concatenate(([0], upto))[first]
    before = upto - count - begins[owner]
    two = np.clip(2 - before, 0, count)
    total, top, rest = (
        _summed(owner, parts, times, groups) for times in (count, np.clip(n - before, 0, count), count - two)
    )
    some = contributors > 0
    share = np.divide(top, total, out=np.zeros(groups), where=some)
    return Concentrations(share, np.where(some, q * (rest / UNIT), np.inf), contributors)


def of_people(entries: GroupEntries, numbers: Floats, groups: int, n: int, q: float) -> Concentrations:
    """Return the figures of groups in which each person is one contributor, with the sum of its absolute numbers.

    A person's sum is made of whole parts of the group's largest single number, and rounded once. Parameters are those
    of :func:`concentrations`; ``entries`` has the rows that each person of a group has of each value.
    """
    size, times = np.abs(numbers)[entries.value], np.rint(entries.amount).astype(np.int64)
    there = (size > 0) & (times > 0)
    owner, person, size, times = entries.owner[there], entries.person[there], size[there], times[there]
    largest = np.zeros(groups)
    np.maximum.at(largest, owner, size)
    parts = _parts_of(size, largest[owner])
    new = np.ones(len(owner), dtype=np.bool_)
    new[1:] = (owner[1:] != owner[:-1]) | (person[1:] != person[:-1])
    sums = _summed(np.cumsum(new) - 1, parts, times, int(new.sum()))
    begins = np.searchsorted(owner[new], np.arange(groups + 1)).astype(np.int64)
    each = ClassCells(begins, np.arange(len(sums), dtype=np.int32), np.ones(len(sums), dtype=np.int64))
    return concentrations(each, sums, n, q)


def _parts_of(size: Floats, largest: Floats) -> Ints:
    """Return each number as whole parts of the largest, one at least."""
    return np.maximum(np.floor(size / largest * UNIT), 1.0).astype(np.int64)


def _summed(owner: Ints, numbers: Ints, times: Ints, groups: int) -> Floats:
    """Add up whole ``numbers``, each so many ``times``, by owner: exactly, and then rounded.

    Raises ValueError where somebody counts more people than 64 bits hold parts of.
    """
    if int(times.sum()) >= 1 << 62 - _PART:
        raise ValueError("too many contributors to add up")
    parts = np.zeros((3, groups), dtype=np.int64)
    for i in range(3):
        np.add.at(parts[i], owner, ((numbers >> (i * _PART)) & _MASK) * times)
    parts[1] += parts[0] >> _PART
    parts[2] += parts[1] >> _PART
    low = ((parts[1] & _MASK) << _PART) | (parts[0] & _MASK)
    return np.asarray(parts[2].astype(np.float64) * float(HIGH) + low.astype(np.float64))


# The worst group by each rule, over all ways to read the numbers.


RULES = ("share", "margin", "contributors")
UNITS = {"share": "share", "margin": "percent", "contributors": "contributors"}


def bounds(requirement: Dominance) -> dict[str, float]:
    """Return the bounds by figure: upper bounds for shares, lower bounds for all other figures."""
    limits = {"share": requirement.share, "margin": requirement.p, "contributors": requirement.contributors}
    return {name: float(bound) for name, bound in limits.items() if bound is not None}


def broken(requirement: Dominance, each: Concentrations, slack: float = TOLERANCE) -> Bools:
    """Return which groups break a rule; one without a total breaks none."""
    out = np.zeros(len(each.share), dtype=np.bool_)
    for name, bound in bounds(requirement).items():
        room = slack * max(1.0, abs(bound))
        figure = getattr(each, name)
        out |= figure > bound + room if name == "share" else figure < bound - room
    return np.asarray(out & each.some)


def summary(requirement: Dominance, sides: Sequence[DominanceGroups]) -> dict[str, float | int | None]:
    """Return the figures of groups that were read in several ways; None for one that no group has."""
    read = [s for s in sides if len(s.rows)]
    out = [broken(requirement, s.each) for s in sides]
    return {
        **worst(read),
        "groups": len(sides[0].rows),
        "groups_with_total": max(int(s.each.some.sum()) for s in sides),
        "groups_beyond": max(int(b.sum()) for b in out),
        "rows_beyond": max(int(s.rows[b].sum()) for s, b in zip(sides, out, strict=True)),
    }


def worst(sides: Sequence[DominanceGroups]) -> Mapping[str, float | int | None]:
    """Return the largest share, the least margin and the fewest contributors of all groups that have a total."""
    worst_by_rule: dict[str, float | int | None] = dict.fromkeys(RULES)
    for one in sides:
        for name, value, worse in zip(RULES, largest_and_least(one.each), (max, min, min), strict=True):
            before = worst_by_rule[name]
            worst_by_rule[name] = value if before is None else before if value is None else worse(before, value)
    return worst_by_rule


def largest_and_least(each: Concentrations) -> tuple[float | int | None, ...]:
    """Return the figures of :func:`worst` for some groups; None where none of these has a total."""
    some = each.some
    if not some.any():
        return (None,) * len(RULES)
    return float(each.share[some].max()), float(each.margin[some].min()), int(each.contributors[some].min())
