"""People of a table, evenly spaced, each with all of its rows or as many as are known: the original's in two groups.

A person has the place of their first row, so that with one row a person the rows are those of
:mod:`ppdm_flow.audits.records.sampling`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ppdm_flow.sdk.audit import AuditContext
from ppdm_flow.sdk.holdout import Holdout
from ppdm_flow.sdk.view import DataView, PairedView
from ppdm_flow.tables.table import Table, concat

Ints = npt.NDArray[np.int64]
Truths = npt.NDArray[np.bool_]
Parts = Callable[[Sequence[str]], Iterator[tuple[Table, Table]]]
"""Yields partitions with the subject, and the same rows with the columns that are asked for."""


@dataclass(frozen=True, slots=True, eq=False)
class PersonSample:
    """Row i of ``table`` is the person's with number ``whose[i]``, from 0, of ``available`` people in the group."""

    table: Table
    whose: Ints
    available: int

    @property
    def people(self) -> int:
        """How many people are here."""
        return int(self.whose.max(initial=-1)) + 1

    def fewer(self, people: int) -> PersonSample:
        """Return so many of the people, evenly spaced, with all of their rows."""
        if people >= self.people:
            return self
        kept = np.full(self.people, -1, dtype=np.int64)
        kept[np.arange(people) * self.people // max(1, people)] = np.arange(people)
        rows = np.flatnonzero(kept[self.whose] >= 0)
        return PersonSample(self.table.take(rows), kept[self.whose[rows]], self.available)


def knows_people(original: DataView, ctx: AuditContext) -> bool:
    """Whether the policy counts people, and the original says whose its rows are."""
    return ctx.people is not None and ctx.people.subject in original.schema


def original_people(
    original: DataView,
    columns: Sequence[str],
    ctx: AuditContext,
    *,
    outside: bool = False,
    most_rows: int | None = None,
    most_people: int | None = None,
    known_rows: int | None = None,
) -> PersonSample:
    """Return people of the original: those that a generator learned from, or those ``outside``, held out of it.

    At most ``most_people``, or as many as have about ``most_rows``; with ``known_rows`` each with so many of its rows,
    chosen by a hash of their numbers. Raises ValueError where people are not counted.
    """
    if ctx.people is None:
        raise ValueError("the policy has no attribute with role `subject`, so people cannot be counted")
    subject, holdout = ctx.people.subject, ctx.holdout

    def chosen(rows: Ints) -> Truths:
        if holdout is None:
            return np.full(len(rows), not outside)
        held_out = holdout.held_out(rows)
        return held_out if outside else ~held_out

    def parts(wanted: Sequence[str]) -> Iterator[tuple[Table, Table]]:
        for part in original.partitions(list(dict.fromkeys((*wanted, subject)))):
            yield part.select([subject]), part.select(wanted)

    return _sampled(parts, subject, columns, chosen, most_rows, most_people, known_rows)


def released_people(pairs: PairedView, columns: Sequence[str], ctx: AuditContext, most_rows: int) -> PersonSample:
    """Return people with their released rows, as many as have about ``most_rows``."""
    if ctx.people is None:
        raise ValueError("the policy has no attribute with role `subject`, so people cannot be counted")
    subject = ctx.people.subject

    def parts(wanted: Sequence[str]) -> Iterator[tuple[Table, Table]]:
        yield from pairs.pairs([subject], list(wanted))

    return _sampled(parts, subject, columns, lambda rows: np.ones(len(rows), dtype=np.bool_), most_rows, None, None)


def _sampled(
    parts: Parts,
    subject: str,
    columns: Sequence[str],
    chosen: Callable[[Ints], Truths],
    most_rows: int | None,
    most_people: int | None,
    known_rows: int | None,
) -> PersonSample:
    subjects = concat(left for left, _ in parts(()))
    _, person = np.unique(subjects[subject].codes, return_inverse=True)
    person, place = person.reshape(-1).astype(np.int64), np.arange(len(subjects))
    number = int(person.max(initial=-1)) + 1
    group = chosen(subjects.rows)
    first = np.full(number, len(subjects))
    np.minimum.at(first, person[group], place[group])
    among = np.argsort(first, kind="stable")[: int((first < len(subjects)).sum())]
    wished = len(among) if most_people is None else min(most_people, len(among))
    if most_rows is not None and int(group.sum()) > most_rows:
        wished = min(wished, max(1, most_rows * len(among) // int(group.sum())))
    number_of = np.full(number, -1, dtype=np.int64)
    number_of[among[np.arange(wished) * len(among) // max(1, wished)]] = np.arange(wished)
    taken = group & (number_of[person] >= 0)
    if known_rows is not None:
        taken[taken] = _known(person[taken], subjects.rows[taken], known_rows)
    pieces, seen = [], 0
    for _, right in parts(columns):
        pieces.append(right.take(taken[seen : seen + len(right)]))
        seen += len(right)
    return PersonSample(concat(pieces), number_of[person[taken]], len(among))


def _known(person: Ints, rows: Ints, most: int) -> Truths:
    """Return so many rows of each person, by a hash of their numbers."""
    order = np.lexsort((Holdout.hashed(rows), person))
    ordered = person[order]
    kept = np.zeros(len(person), dtype=np.bool_)
    kept[order] = np.arange(len(person)) - np.searchsorted(ordered, ordered) < most
    return kept
