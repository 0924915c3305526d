"""Where a person has several rows: what was drawn for it, one draw for each of its different values."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from ppdm_flow.core.roles import Role
from ppdm_flow.mining.reconstruction.histogram import Domain, ValueHistogram, operator_input, places, places_of, tally
from ppdm_flow.requirements.sensitivities.fit.joint import JointCounts
from ppdm_flow.sdk.anonymizer import ValueOperator
from ppdm_flow.sdk.audit import AuditContext
from ppdm_flow.sdk.view import DataView
from ppdm_flow.tables.column import Column
from ppdm_flow.tables.table import concat

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]

MERGED = "its operator drew by a column that does not tell people apart as the source does, so that people share draws"
UNTRACED = "released rows cannot be traced to the people whose they are"


@dataclass(frozen=True, slots=True, eq=False)
class PersonRows:
    """Each released row: ``person``, the ``value`` that the operator was given, and the ``released`` one.

    Persons are numbered, values are places in the operator's domain, -1 outside of it; all of shape (rows,). ``merged``
    says that the operator drew by a column that does not tell the same people apart as the source does.
    """

    person: Integers
    value: Integers
    released: Integers
    merged: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class PersonDraws:
    """``joint`` are the draws, each counted once: (person, value) beside what was released for it.

    ``most`` is the largest number of different values of a person; ``unequal`` the number of (person, value) whose
    rows were released with different values, each of which enters ``joint``; ``repeated`` says whether any has several
    rows at all. ``fault`` says why nothing is known, or is empty.
    """

    fault: str = ""
    joint: JointCounts | None = None
    released: Integers | None = None
    most: int = 1
    unequal: int = 0
    repeated: bool = False


def whose_rows(ctx: AuditContext) -> str | None:
    """Return the attribute of the source that says whose row it is; None where rows are people."""
    return next((name for name, a in ctx.original_attributes.items() if a.role is Role.SUBJECT), None)


def person_draws(
    operator: ValueOperator, column: str, subject: str, original: DataView, ctx: AuditContext
) -> PersonDraws:
    """Find the draws behind the released ``column``: one for each person and different value."""
    if original.schema.weight is not None:
        return PersonDraws("a row with a weight stands for several people, whose draws cannot be told apart")
    rows = person_rows(operator, column, subject, original, ctx)
    if rows is None or (rows.value < 0).any():
        return PersonDraws(UNTRACED)
    drawn = draws_among(rows, operator.size)
    return replace(drawn, fault=MERGED) if rows.merged else drawn


def shares_before(view: DataView, name: str, before: ValueHistogram, domain: Domain) -> Floats:
    """Return the shares of the values in the table that an operator was given, shape (m,): its draws, counted once.

    ``before`` are its rows, each of which is a draw where the table has no subject.
    """
    subject = view.schema.having(Role.SUBJECT)[:1]
    if not subject or view.schema.weight is not None:
        return before.frequency
    pairs = view.counts((subject[0], name))
    return tally(places(pairs, name, domain), np.ones(len(pairs), dtype=np.int64), len(domain)).frequency


def person_rows(
    operator: ValueOperator, column: str, subject: str, original: DataView, ctx: AuditContext
) -> PersonRows | None:
    """Return the released rows with the people of the source; None where a row's person or value is not known."""
    given = operator_input(operator, column, original, ctx)
    if given is None or ctx.pairs is None or subject not in original.schema:
        return None
    both = list(ctx.pairs.pairs([subject], [column]))
    if not both:
        return None
    left, right = (concat(side) for side in zip(*both, strict=True))
    drew_by = given[0].schema.having(Role.SUBJECT)[:1]
    before = concat(given[0].partitions([given[1], *drew_by]))
    order = np.argsort(before.rows, kind="stable")
    at = np.minimum(np.searchsorted(before.rows[order], left.rows), max(0, len(order) - 1))
    person = left[subject].codes.astype(np.int64)
    if not len(order) or (before.rows[order[at]] != left.rows).any() or (person < 0).any():
        return None
    merged = operator.per_person is not None
    if merged and drew_by:
        merged = not _same_people(person, before[drew_by[0]].codes[order[at]].astype(np.int64))
    value = places_of(before[given[1]], operator.domain)[order[at]]
    return PersonRows(person, value, places_of(right[column], operator.domain), merged)


def _same_people(mine: Integers, theirs: Integers) -> bool:
    """Whether two codings of the rows tell the same people apart; none of either is negative."""
    if theirs.min() < 0:
        return False
    both = len(np.unique(mine * (theirs.max() + 1) + theirs))
    return both == len(np.unique(mine)) == len(np.unique(theirs))


def draws_among(rows: PersonRows, size: int) -> PersonDraws:
    """Count rows of one person with equal values once, for a domain of ``size`` values; there is a row at least."""
    order = np.lexsort((rows.released, rows.value, rows.person))
    person, value, released = rows.person[order], rows.value[order], rows.released[order]
    other = (person[1:] != person[:-1]) | (value[1:] != value[:-1])
    first = np.concatenate([[True], other])
    drawn = np.concatenate([[True], other | (released[1:] != released[:-1])])
    pair = np.cumsum(first) - 1
    unequal = int((np.bincount(pair[drawn]) > 1).sum())
    keys, counts = np.unique((value[drawn] + 1) * (size + 1) + released[drawn] + 1, return_counts=True)
    joint = JointCounts(keys // (size + 1) - 1, keys % (size + 1) - 1, counts.astype(np.int64))
    most = int(np.bincount(person[first]).max())
    return PersonDraws("", joint, rows.released, most, unequal, bool(len(person) > first.sum()))


def counted_sql(
    operator: ValueOperator, column: str, subject: str, original: DataView, ctx: AuditContext
) -> dict[str, float]:
    """Count in SQL how many different values a person has, and for how many of these different ones were released."""
    given = operator_input(operator, column, original, ctx)
    if ctx.sql is None or ctx.pairs is None or given is None or subject not in original.schema:
        return {}
    both = list(ctx.pairs.pairs([subject], [column]))
    parts = list(given[0].partitions([given[1]]))
    if not both or not parts:
        return {}
    people = pa.concat_tables(
        pa.table({"n": left.rows, "person": _texts(left[subject]), "shown": _texts(right[column])})
        for left, right in both
    )
    values = pa.concat_tables(pa.table({"n": part.rows, "value": _texts(part[given[1]])}) for part in parts)
    texts = [v for v in operator.domain if v is not None]
    stranger = "value NOT IN (SELECT UNNEST(?::VARCHAR[]))"
    if None not in operator.domain:
        stranger = f"value IS NULL OR {stranger}"
    query = f"""
        SELECT MAX(different), SUM(unequal), SUM(untraced) FROM (
            SELECT person, COUNT(*) AS different, SUM(CASE WHEN shown > 1 THEN 1 ELSE 0 END) AS unequal,
                SUM(untraced) AS untraced FROM (
                SELECT person, value, COUNT(DISTINCT COALESCE('=' || shown, '-')) AS shown,
                    SUM(CASE WHEN person IS NULL OR given.n IS NULL OR {stranger} THEN 1 ELSE 0 END) AS untraced
                FROM people LEFT JOIN given ON people.n = given.n GROUP BY person, value)
            GROUP BY person)"""  # noqa: S608  # our own words, values are a parameter
    most, unequal, untraced = ctx.sql.rows(query, [texts], tables={"people": people, "given": values})[0]
    return {} if untraced else {"values_per_person": int(most), "unequal_draws": int(unequal)}


def tally_draws(view: DataView, name: str, subject: str) -> Counter[str | None]:
    """Count by Arrow how many different people have each value; a missing value is None."""
    parts = (pa.table({"p": _texts(t[subject]), "v": _texts(t[name])}) for t in view.partitions((subject, name)))
    pairs = pa.concat_tables(parts).group_by(["p", "v"]).aggregate([])
    counted = pairs.group_by("v").aggregate([("v", "count", pc.CountOptions(mode="all"))])
    return Counter(dict(zip(counted["v"].to_pylist(), counted["v_count"].to_pylist(), strict=True)))


def _texts(column: Column) -> pa.StringArray:
    """Return the cells as texts; what is missing or suppressed is null."""
    codes = column.codes
    return column.categories.take(pa.array(np.maximum(codes, 0), mask=codes < 0))
