"""The values of a secret in each class, where people are counted.

Rows are not linked. An adversary who rules a value out leaves out its rows, and every person with a row left may still
be meant. A value is certain where everybody who is left has it, in any of the rows there. A person is found who has no
value that is ruled out. With one row a person this is the same as
:class:`ppdm_flow.audits.inference.people.ClassValues` of rows.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import numpy.typing as npt
import pyarrow as pa
from scipy.special import gammaln

from ppdm_flow.core.roles import Nulls
from ppdm_flow.mining.exposure.columns import ReadingMethod, RevealingColumns, ValueColumns
from ppdm_flow.mining.exposure.faults import UnmeasuredError
from ppdm_flow.mining.exposure.paired import paired_counts
from ppdm_flow.mining.exposure.rows import ReleasedRows
from ppdm_flow.mining.people.groups import GroupEntries
from ppdm_flow.mining.people.known import KnownRows, may_link
from ppdm_flow.mining.people.known_query import KnownQuery
from ppdm_flow.sdk.audit import AuditContext
from ppdm_flow.sdk.view import DataView
from ppdm_flow.tables.column import SPECIALS, SUPPRESSED_TEXT
from ppdm_flow.tables.counts import Counts
from ppdm_flow.tables.numbering import joined

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
Truths = npt.NDArray[np.bool_]

UNCOUNTED = "what linked rows of people tell together is not counted"
_LARGE = np.iinfo(np.int64).max >> 1
_AT_A_TIME = 1 << 22
"""Cells of classes and values that are looked at together."""
Integers = npt.NDArray[np.int64]


# People for whom a value is certain, by rows that are seen to be one person's.
#
# An adversary who knows the classes of up to `known_rows` rows of a person finds the linked people who have them all,
# with all that their linked rows say. A value is certain if each of them has it in any of these rows.


@dataclass(frozen=True, slots=True, eq=False)
class ByLinks:
    """``certain_people`` are the numbers of the people for whom a value is certain, ``share`` the highest of one value.

    ``any_linked``: some row is. ``complete`` is false where nobody looks at all of them: combinations of
    classes are too many, or sets may link rows.
    """

    certain_people: Ints
    share: float = 0.0
    any_linked: bool = False
    complete: bool = True


NOTHING = ByLinks(np.zeros(0, dtype=np.int64))


@dataclass(frozen=True, eq=False)
class PeopleHoldings:
    """Entries are (class, person, value), each once: ``group``, ``person`` and ``rows`` (entries,).

    ``codes`` (entries,) are -1 and -2 for a missing and a suppressed secret, which may be any value. ``by_rows`` is the
    same of rows. ``certain`` people are found by ruling out the values that most people of a class have.
    """

    group: Ints
    person: Ints
    codes: Ints
    rows: Ints
    by_rows: ClassValues
    unit: str = "people"
    linked: ByLinks = NOTHING

    @property
    def linked_rows_note(self) -> str:
        """What a figure's note says of rows that are seen to be one person's; empty where none is."""
        if not self.linked.complete:
            return UNCOUNTED
        return "with what rows tell together that are seen to be one person's" if self.linked.any_linked else ""

    def of_kinds(self, kind: Ints) -> PeopleHoldings:
        """Return the same where values count as their kinds: ``kind`` (values,) are numbers from 0."""
        values = self.by_rows
        shown = self.codes >= 0
        codes = np.where(shown, kind[np.where(shown, self.codes, 0)] if len(kind) else self.codes, self.codes)
        every = joined(joined(self.group, self.person), codes + SPECIALS)
        _, first, place = np.unique(every, return_index=True, return_inverse=True)
        rows = np.bincount(place.reshape(-1), self.rows, len(first)).astype(np.int64)
        by_rows = ClassValues(
            values.group, kind[values.codes], values.rows, values.rank, values.sizes, values.blank, values.names
        )
        return PeopleHoldings(self.group[first], self.person[first], codes[first], rows, by_rows)

    @property
    def total(self) -> int:
        """The people who have a released row."""
        return len(np.unique(self.person))

    @cached_property
    def _pair(self) -> Ints:
        """The number of the class and the person of each entry."""
        return np.unique(joined(self.group, self.person), return_inverse=True)[1].reshape(-1).astype(np.int64)

    @cached_property
    def _first(self) -> Ints:
        """An entry of each pair of a class and a person."""
        first = np.zeros(int(self._pair.max(initial=-1)) + 1, dtype=np.int64)
        first[self._pair] = np.arange(len(self._pair))
        return first

    @cached_property
    def sizes(self) -> Ints:
        """The people of each class (classes,)."""
        return np.bincount(self.group[self._first], minlength=len(self.by_rows.sizes)).astype(np.int64)

    @cached_property
    def _values(self) -> tuple[Ints, Ints, Ints, Ints]:
        """Return shown entries; of each its pair of class and value; the class and the people of these pairs."""
        shown = np.flatnonzero(self.codes >= 0)
        _, first, value, people = np.unique(
            joined(self.group[shown], self.codes[shown]), return_index=True, return_inverse=True, return_counts=True
        )
        group = self.group[shown[first]] if len(shown) else shown
        return shown, value.reshape(-1).astype(np.int64), group, people.astype(np.int64)

    @cached_property
    def _ranks(self) -> tuple[Ints, Ints]:
        """Return the place of each value among those of its class, from 0, most people first; and that of entries.

        A missing or suppressed secret comes last: nobody rules it out.
        """
        shown, value, group, people = self._values
        order = np.lexsort((-people, group))
        rank = np.empty(len(order), dtype=np.int64)
        rank[order] = np.arange(len(order)) - np.searchsorted(group[order], group[order])
        of_entry = np.full(len(self.group), _LARGE)
        of_entry[shown] = rank[value]
        return rank, of_entry

    def _left(self, excluded: int) -> tuple[Ints, Truths]:
        """Return who is left beside each value once the ``excluded`` most common others are ruled out.

        That is (values,), and which entries are of people who have no value that is ruled out (shown entries,).
        """
        shown, value, group, _ = self._values
        rank, of_entry = self._ranks
        highest = np.full(len(self._first), -1)
        np.maximum.at(highest, self._pair, of_entry)
        within = rank < excluded
        classes, own = len(self.sizes), self.group[self._first]
        beyond = [np.bincount(own[highest >= excluded + more], minlength=classes) for more in (0, 1)]
        only_low = highest[self._pair[shown]] <= excluded
        alone = np.bincount(value[only_low], minlength=len(group)).astype(np.int64)
        left = np.where(within, beyond[1][group] + alone, beyond[0][group])
        low = [
            np.bincount(self._pair[of_entry < excluded + more], minlength=len(self._first))[self._pair[shown]]
            for more in (0, 1)
        ]
        return left.astype(np.int64), np.where(within[value], low[1] == 1, low[0] == 0)

    def _certain(self, excluded: int) -> Iterator[Ints]:
        """Yield the shown entries whose value is certain, for each number of values that are ruled out."""
        shown, value, _, people = self._values
        most = int(self._ranks[0].max(initial=0))
        for number in range(min(excluded, most) + 1):
            left, spared = self._left(number)
            yield shown[(left == people)[value] & spared]

    def count_certain(self, excluded: int = 0) -> int:
        """Return how many people have a value that is certain to someone who rules out so many others at most."""
        each = list(self._certain(excluded))
        return len(np.unique(np.concatenate([self.linked.certain_people, *(self.person[entries] for entries in each)])))

    @property
    def certain_classes(self) -> Ints:
        """The people of each class in which everybody has one value."""
        (entries,) = self._certain(0)
        return self.sizes[np.unique(self.group[entries])]

    def worst_posterior(self, excluded: int = 0) -> float | None:
        """Return the highest share of people or of rows with one value, once so many others at most are ruled out."""
        by_rows = self.by_rows.worst_posterior(excluded)
        if by_rows is None:
            return None
        _, _, _, people = self._values
        most = int(self._ranks[0].max(initial=0))
        shares = [float((people / self._left(n)[0]).max()) for n in range(min(excluded, most) + 1)]
        return max(by_rows, self.linked.share, *shares)

    def certain_by_chance(self) -> float | None:
        """Return the most people, as a share, who are expected to be found if the values are dealt to the rows.

        That everybody of a class has some value is at most as likely as the chances of all values added up.
        """
        known = self.by_rows.known
        if not self.total or len(known) == 0:
            return None
        chance = self._alike(known)
        escaped = np.log1p(-np.minimum(chance, 1.0 - 1e-16))
        of_person = np.bincount(self.person[self._first], escaped[self.group[self._first]])
        return float(-np.expm1(of_person[np.unique(self.person)]).mean())

    def _alike(self, known: Ints) -> Floats:
        """Return the chance that everybody of a class has one value, at most, for each class (classes,).

        ``known`` are the rows of each value. People with several rows are taken to get theirs independently of others:
        as cells are dealt without replacement, that is never less likely.
        """
        total = self.by_rows.total
        rows = np.bincount(self._pair, self.rows).astype(np.int64)
        numbers, place = np.unique(rows, return_inverse=True)
        classes = len(self.sizes)
        key = self.group[self._first] * len(numbers) + place.reshape(-1)
        many = np.bincount(key, minlength=classes * len(numbers)).reshape(classes, len(numbers))
        kinds, kind = np.unique(many, axis=0, return_inverse=True)
        single = numbers == 1
        singles, others = kinds[:, single].sum(axis=1), kinds[:, ~single]
        has = np.log(-np.expm1(dealt(total - known, numbers[~single, None], total)))
        step = max(1, _AT_A_TIME // len(known))
        parts = [
            np.exp(others[i : i + step] @ has + dealt(known, singles[i : i + step, None], total)).sum(axis=1)
            for i in range(0, len(kinds), step)
        ]
        return np.asarray(np.concatenate(parts)[kind.reshape(-1)])


def people_holdings(
    candidate: DataView, columns: Sequence[str], secret: str, ctx: AuditContext, *, links: bool = False
) -> PeopleHoldings:
    """Count a secret of people within the classes over ``columns``; missing and suppressed cells there are values.

    ``links``: what several rows of a person tell is wanted as well, where somebody has several.
    Raises ValueError where nothing says whose the rows are.
    """
    if ctx.people is None or ctx.pairs is None:
        raise ValueError("no column says whose the released rows are, so people cannot be counted")
    named = (*columns, secret)
    paired = paired_counts(candidate, ctx.pairs, named, [ctx.people.subject])
    kept = paired.counts > 0
    counts = Counts((*named, PERSON), paired.categories, paired.codes[kept], paired.counts[kept])
    group, _ = counts.groups(tuple(columns))
    codes = counts.of(secret).astype(np.int64)
    person = counts.of(PERSON).astype(np.int64) + SPECIALS
    by_rows = holdings_of(counts.project(named), columns, secret)
    several = int(counts.counts.sum()) > len(np.unique(person))
    linked = by_links(candidate, columns, secret, ctx) if links and several else NOTHING
    return PeopleHoldings(group.astype(np.int64), person, codes, counts.counts, by_rows, linked=linked)


@dataclass(frozen=True, slots=True)
class InferenceCounts:
    """The counts of SQL with no value ruled out: ``certain_people`` in ``classes`` of ``people`` in all.

    ``posterior`` is the highest share of people or of rows with one value; None where no value is released. ``links``:
    somebody has several rows, and some are linked, so that there may be more than this.
    """

    certain_people: int
    classes: int
    people: int
    posterior: float | None
    links: bool = False

    @property
    def certain(self) -> float | None:
        """The share of the people who are found."""
        return self.certain_people / self.people if self.people else None


def found_sql(candidate: DataView, columns: Sequence[str], secret: str, ctx: AuditContext) -> InferenceCounts | None:
    """Count by the second route; None without a database."""
    if ctx.people is None or ctx.sql is None:
        return None
    relation = ReleasedRows(candidate, ctx).relation((*columns, secret), (ctx.people.subject,))
    if relation is None:
        return None
    cells = ", ".join(f"c{i}" for i in range(len(columns))) or "1"
    v, p = f"c{len(columns)}", f"c{len(columns) + 1}"
    text = f"""
        WITH had AS MATERIALIZED (
            SELECT DENSE_RANK() OVER (ORDER BY {cells}) AS id, {v} AS v, {p} AS p, n FROM ({relation.text})),
        sizes AS (SELECT id, COUNT(DISTINCT p) AS people, SUM(n) AS rows FROM had GROUP BY id),
        each AS MATERIALIZED (
            SELECT id, ANY_VALUE(people) AS people, COUNT(DISTINCT p) AS holders, SUM(n) / ANY_VALUE(rows) AS share
            FROM had JOIN sizes USING (id) WHERE v IS NOT NULL AND v <> '{SUPPRESSED_TEXT}' GROUP BY id, v),
        sure AS (SELECT DISTINCT id FROM each WHERE holders = people)
        SELECT (SELECT COUNT(DISTINCT p) FROM had SEMI JOIN sure USING (id)), (SELECT COUNT(*) FROM sure),
            (SELECT COUNT(DISTINCT p) FROM had), (SELECT SUM(n) FROM had),
            (SELECT MAX(GREATEST(holders / people, share)) FROM each)"""  # noqa: S608  # our own names
    certain_people, classes, people, rows, posterior = ctx.sql.rows(text, (), relation.tables)[0]
    links = int(rows or 0) > int(people) and links_sql(candidate, columns, ctx)
    return InferenceCounts(
        int(certain_people), int(classes), int(people), None if posterior is None else float(posterior), links
    )


PERSON = "\0person"
"""What counts call the column of people."""


# Which values of a secret each class of a release holds, and how often.


@dataclass(frozen=True, slots=True, eq=False)
class ClassValues:
    """Entries are (class, value) with ``rows`` each, sorted by class, the most frequent value first.

    ``sizes`` (classes,) counts all rows, ``blank`` those whose secret is missing or suppressed: they may have any
    value. ``rank`` is the place of an entry within its class, from 0.
    """

    group: Integers
    codes: Integers
    rows: Integers
    rank: Integers
    sizes: Integers
    blank: Integers
    names: pa.StringArray
    unit: str = "rows"

    @property
    def total(self) -> int:
        """The released rows."""
        return int(self.sizes.sum())

    @property
    def linked_rows_note(self) -> str:
        """What a figure's note says of linked rows: nothing, where rows are counted."""
        return ""

    @property
    def kinds(self) -> Integers:
        """How many values each class has."""
        return np.bincount(self.group, minlength=len(self.sizes)).astype(np.int64)

    def certain(self, excluded: int = 0) -> Truths:
        """Return which classes have at most one value beside ``excluded`` others: ruling these out reveals it."""
        certain: Truths = (self.blank == 0) & (self.kinds >= 1) & (self.kinds <= excluded + 1)
        return certain

    def rows_of(self, chosen: Truths) -> int:
        """Return the rows in these classes."""
        return int(self.sizes[chosen].sum())

    def count_certain(self, excluded: int = 0) -> int:
        """Return the rows whose value is certain to someone who rules out so many others."""
        return self.rows_of(self.certain(excluded))

    @property
    def certain_classes(self) -> Integers:
        """The rows of each class whose value is certain."""
        return self.sizes[self.certain()]

    def worst_posterior(self, excluded: int = 0) -> float | None:
        """Return the highest probability of a value once the ``excluded`` most frequent others are ruled out.

        That is n_v / (n - n_1 - … - n_L), with the L largest of the others (Martin et al. 2007, negated atoms).
        """
        if len(self.rows) == 0:
            return None
        first = np.searchsorted(self.group, np.arange(len(self.sizes)))
        sums = np.concatenate([[0], np.cumsum(self.rows)])
        last = np.append(first[1:], len(self.rows))
        within = self.rank < excluded  # such a value is not ruled out itself: the next one is, in its place
        until = np.minimum(first[self.group] + excluded + within, last[self.group])
        others = sums[until] - sums[first[self.group]] - np.where(within, self.rows, 0)
        posterior: Floats = self.rows / (self.sizes[self.group] - others)
        return float(posterior.max())

    def certain_by_chance(self) -> float | None:
        """Return the share of rows in classes of one value that is expected if the values are dealt to the rows."""
        known = self.known
        if self.total == 0 or len(known) == 0:
            return None
        sizes, many = np.unique(self.sizes, return_counts=True)
        alike = np.array([float(np.exp(dealt(known, size, self.total)).sum()) for size in sizes])
        return float((alike * sizes * many).sum() / self.total)

    @property
    def known(self) -> Integers:
        """The rows of each value that occurs, in all classes together."""
        rows = np.bincount(self.codes, self.rows).astype(np.int64)
        return rows[rows > 0]


def dealt(alike: npt.NDArray[np.integer], rows: npt.ArrayLike, total: int) -> Floats:
    """Return the logarithm of the chance that so many rows all get one of ``alike`` of ``total`` cells.

    The cells are dealt without replacement: C(alike, rows) / C(total, rows). ``alike`` and ``rows`` are broadcast.
    """
    left = np.subtract(alike, rows)
    chance = gammaln(alike + 1) - gammaln(np.maximum(left, 0) + 1) - gammaln(total + 1)
    return np.where(left >= 0, chance + gammaln(total - np.asarray(rows) + 1), -np.inf)


def holdings(candidate: DataView, columns: Sequence[str], secret: str) -> ClassValues:
    """Count a secret within the classes over ``columns``; missing and suppressed cells there are values."""
    return holdings_of(candidate.counts((*columns, secret)), columns, secret)


def holdings_of(counts: Counts, columns: Sequence[str], secret: str) -> ClassValues:
    """Read counts over ``columns`` and the secret."""
    kept = counts.counts > 0
    counts = Counts(counts.columns, counts.categories, counts.codes[kept], counts.counts[kept])
    group, number = counts.groups(tuple(columns))
    codes, rows = counts.of(secret).astype(np.int64), counts.counts
    sizes, blank = np.zeros(number, dtype=np.int64), np.zeros(number, dtype=np.int64)
    np.add.at(sizes, group, rows)
    np.add.at(blank, group[codes < 0], rows[codes < 0])
    shown = np.flatnonzero(codes >= 0)
    order = shown[np.lexsort((codes[shown], -rows[shown], group[shown]))]
    mine = group[order].astype(np.int64)
    rank = np.arange(len(order)) - np.searchsorted(mine, mine)
    return ClassValues(mine, codes[order], rows[order], rank, sizes, blank, counts.names(secret))


def by_links(candidate: DataView, columns: Sequence[str], secret: str, ctx: AuditContext) -> ByLinks:
    """Look at the combinations of classes that linked people have; a missing cell there is a value of its own."""
    formed, own = _read(columns, ctx)
    certain_people, share = [], 0.0
    try:
        if not may_link(formed, candidate, own):
            return NOTHING
        known = KnownRows.of(formed, ValueColumns(secret, ReadingMethod.SHOWN, (secret,)), candidate, own)
        if not known.linked.total:
            return NOTHING
        for number, entries in known.entries():
            persons, most = _certain(number, entries)
            certain_people.append(persons)
            share = max(share, most)
    except UnmeasuredError:
        return ByLinks(NOTHING.certain_people, 0.0, any_linked=True, complete=False)
    places = np.unique(np.concatenate([NOTHING.certain_people, *certain_people]))
    return ByLinks(known.class_profiles.holdings.persons[places], share, any_linked=True)


def _certain(number: int, entries: GroupEntries) -> tuple[Ints, float]:
    """Return who is in one of so many groups where everybody has one value, and the highest share of people or rows."""
    if not len(entries.owner):
        return np.zeros(0, dtype=np.int64), 0.0
    pairs = np.unique(np.stack([entries.owner, entries.person]), axis=1)
    people = np.bincount(pairs[0], minlength=number)
    rows = np.bincount(entries.owner, entries.amount, number)
    shown = entries.value >= SPECIALS
    keys = np.stack([entries.owner[shown], entries.value[shown]])
    cells, place, holders = np.unique(keys, axis=1, return_inverse=True, return_counts=True)
    amounts = np.bincount(place.reshape(-1), entries.amount[shown], cells.shape[1])
    owner = cells[0]
    shares = np.maximum(holders / people[owner], amounts / rows[owner])
    sure = np.zeros(number, dtype=np.bool_)
    sure[owner[holders == people[owner]]] = True
    return np.unique(pairs[1][sure[pairs[0]]]), float(shares.max(initial=0.0))


def links_sql(candidate: DataView, columns: Sequence[str], ctx: AuditContext) -> bool:
    """Whether some row is or may be linked, by the second route. Raises ValueError without a database."""
    if ctx.sql is None:
        raise ValueError("nothing to ask")
    formed, own = _read(columns, ctx)
    try:
        return KnownQuery.of_known(ctx.sql, formed, None, candidate, own).links()
    except UnmeasuredError:
        return True


def _read(columns: Sequence[str], ctx: AuditContext) -> tuple[RevealingColumns, AuditContext]:
    return RevealingColumns(tuple(columns)), replace(ctx, nulls=Nulls.OWN_CATEGORY)
