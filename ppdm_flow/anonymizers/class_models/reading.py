"""What classes are made of: distinct rows, or the rows one by one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ppdm_flow.anonymizers.class_models.required import SensitiveCodes
from ppdm_flow.anonymizers.naming import subject_of
from ppdm_flow.anonymizers.subject_column import people_of
from ppdm_flow.mining.class_people.seen import ClassPeople
from ppdm_flow.sdk.anonymizer import StepContext
from ppdm_flow.sdk.view import DataView
from ppdm_flow.tables.counts import Counts, weights_of
from ppdm_flow.tables.table import Table

Ints = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class ReadRowsOfModels:
    """``counts`` of distinct rows or, with their numbers ``rows`` (items,), of single ones.

    ``persons`` (items,), ascending: whose row each is, where people count.
    """

    counts: Counts
    rows: Ints
    persons: Ints | None = None


def by_row_or_value(data: DataView, columns: list[str], *, by_row: bool) -> ReadRowsOfModels:
    """Return distinct rows; ``by_row``: the rows in ascending order of their numbers."""
    if not by_row:
        return ReadRowsOfModels(data.counts(columns), np.zeros(0, dtype=np.int64))
    weight = data.schema.weight
    table = data.table(list(dict.fromkeys([*columns, *([weight] if weight else [])])))
    table = table.take(np.argsort(table.rows))
    weights = weights_of(table[weight]) if weight else np.ones(len(table), dtype=np.int64)
    return ReadRowsOfModels(single(table, columns, weights), table.rows)


def by_person(data: DataView, columns: list[str], ctx: StepContext) -> ReadRowsOfModels | None:
    """Return the rows in the order of their persons; None where rows count, or everybody has but one.

    Raises PluginError where a row is nobody's.
    """
    subject = subject_of(ctx.attributes)
    if ctx.people is None or subject is None or not data.row_count:
        return None
    table = data.table(list(dict.fromkeys([*columns, subject])))
    persons = people_of(table, subject)
    if _everybody_has_one(persons):
        return None
    by_number = np.argsort(table.rows, kind="stable")
    _, first, own = np.unique(persons[by_number], return_index=True, return_inverse=True)
    ranks = np.argsort(np.argsort(first))[own]  # by their first rows, however the subject is coded
    rank = np.argsort(ranks, kind="stable")
    order = by_number[rank]
    counts = single(table.take(order), columns, np.ones(len(order), dtype=np.int64))
    return ReadRowsOfModels(counts, table.rows[order], ranks[rank].astype(np.int64))


def _everybody_has_one(persons: Ints) -> bool:
    return int(np.bincount(persons).max()) == 1


def people_of_items(
    read: ReadRowsOfModels, sensitive: Sequence[SensitiveCodes], ctx: StepContext
) -> ClassPeople | None:
    """Return the people of what was read, as models see them; None where rows count."""
    if read.persons is None or ctx.people is None:
        return None
    codes, sizes = tuple(s.codes for s in sensitive), tuple(s.size for s in sensitive)
    return ClassPeople(read.persons, read.counts.counts, codes, sizes, ctx.people.known_rows)


def single(table: Table, columns: list[str], weights: Ints) -> Counts:
    """Return rows one by one in the form of counts."""
    cells = [table[c].compact() for c in columns]
    codes = np.stack([c.codes for c in cells], axis=1)
    return Counts(tuple(columns), tuple(c.categories for c in cells), codes, weights)
