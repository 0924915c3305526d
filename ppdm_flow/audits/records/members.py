"""The people of classes, for audits that count people where the policy says whose rows the rows are.

A missing and a suppressed cell are values of their own. A person with one row counts as that row does. So with one row
a person every figure equals that of rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ppdm_flow.core.attributes import Change
from ppdm_flow.core.results import AuditOutcome, Figure
from ppdm_flow.mining.exposure.paired import paired_counts
from ppdm_flow.mining.exposure.rows import ReleasedRows
from ppdm_flow.sdk.audit import AuditContext
from ppdm_flow.sdk.view import DataView
from ppdm_flow.tables.column import SPECIALS
from ppdm_flow.tables.counts import Counts

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]

_PERSON = "\0person"


@dataclass(frozen=True, slots=True, eq=False)
class Members:
    """Pairs of a class and one of its people, each once: ``group`` and ``person`` (pairs,), and ``rows`` of them.

    ``classes`` are the combinations of cells, in the order of ``group``; their counts are different people. ``person``
    are numbers from 0, not all of which need occur.
    """

    classes: Counts
    group: Ints
    person: Ints
    rows: Ints

    @property
    def sizes(self) -> Ints:
        """The different people of each class (classes,)."""
        return self.classes.counts

    @property
    def numbers(self) -> Ints:
        """The different people, ascending (people,)."""
        return np.flatnonzero(np.bincount(self.person))

    def largest(self, of_class: Floats) -> Floats:
        """Return the largest of a number that classes have, over the rows of each person (people,)."""
        return self._of_people(np.maximum, -np.inf, of_class)

    def smallest_size(self) -> Ints:
        """Return the size of the smallest class that each person has a row in (people,)."""
        return self._of_people(np.minimum, np.inf, self.sizes.astype(np.float64)).astype(np.int64)

    def _of_people(self, worse: np.ufunc, start: float, of_class: Floats) -> Floats:
        worst = np.full(int(self.person.max(initial=-1)) + 1, start)
        worse.at(worst, self.person, of_class[self.group])
        return worst[self.numbers]


def untold(ctx: AuditContext) -> str:
    """Return why rows are counted where the policy counts people, for a figure's note; empty where people are."""
    generated = ctx.generation is not None or any(f.was(Change.GENERATED) for f in ctx.attributes.values())
    return "counts rows: generated rows belong to nobody" if ctx.people is not None and generated else ""


def refuse_rows(outcome: AuditOutcome, ctx: AuditContext) -> AuditOutcome:
    """Take all figures back where people ought to be counted, and nothing says whose the rows are.

    A gate on them does not hold then: rows look like more people than they are.
    """
    if ctx.people is None or ctx.pairs is not None or untold(ctx):
        return outcome
    why = "people cannot be counted: nothing says whose the released rows are, but in a run"
    return AuditOutcome({n: Figure(None, f.unit, note=why) for n, f in outcome.figures.items()})


def counts_people(ctx: AuditContext) -> bool:
    """Whether people are counted, and not rows."""
    return ctx.people is not None and ctx.pairs is not None and not untold(ctx)


def members_of_release(candidate: DataView, columns: Sequence[str], ctx: AuditContext) -> Members:
    """Return the people of the released classes over ``columns``. Raises ValueError where people are not counted."""
    if ctx.people is None or ctx.pairs is None:
        raise ValueError("no column says whose the released rows are, so people cannot be counted")
    return _members(columns, paired_counts(candidate, ctx.pairs, columns, [ctx.people.subject]))


def members_of_original(original: DataView, columns: Sequence[str], ctx: AuditContext) -> Members:
    """Return the people of the original's classes. Raises ValueError where people are not counted."""
    if ctx.people is None:
        raise ValueError("the policy has no attribute with role `subject`, so people cannot be counted")
    every = (*columns, ctx.people.subject)
    return _members(columns, original.counts(list(dict.fromkeys(every))).project(every))


def _members(columns: Sequence[str], counts: Counts) -> Members:
    """Read counts over ``columns`` and, last, the person."""
    kept = counts.counts > 0
    each = Counts((*columns, _PERSON), counts.categories, counts.codes[kept], np.ones(int(kept.sum()), dtype=np.int64))
    group, _ = each.groups(tuple(columns))
    person = each.of(_PERSON).astype(np.int64) + SPECIALS
    return Members(each.project(columns), group.astype(np.int64), person, counts.counts[kept])


def classes_sql(candidate: DataView, columns: Sequence[str], ctx: AuditContext) -> list[tuple[int, int, int]]:
    """Return the rows, the people, and the people who are in no larger class, of each class, by the second route.

    Nothing without a database. The third number counts each person at one of the smallest classes that it is in.
    """
    if ctx.people is None or ctx.sql is None:
        return []
    relation = ReleasedRows(candidate, ctx).relation(tuple(columns), (ctx.people.subject,))
    if relation is None:
        return []
    cells = ", ".join(f"c{i}" for i in range(len(columns)))
    text = f"""
        WITH every AS MATERIALIZED ({relation.text}),
        had AS (SELECT c{len(columns)} AS p, DENSE_RANK() OVER (ORDER BY {cells or "1"}) AS id, n FROM every),
        sizes AS (SELECT id, SUM(n) AS n, COUNT(DISTINCT p) AS people FROM had GROUP BY id),
        placed AS (
            SELECT id, p, ROW_NUMBER() OVER (PARTITION BY p ORDER BY people, id) AS place
            FROM had JOIN sizes USING (id))
        SELECT ANY_VALUE(n), ANY_VALUE(people), COUNT(*) FILTER (place = 1)
        FROM placed JOIN sizes USING (id) GROUP BY id ORDER BY id"""  # noqa: S608  # our own names
    return [(int(n), int(people), int(own)) for n, people, own in ctx.sql.rows(text, (), relation.tables)]
