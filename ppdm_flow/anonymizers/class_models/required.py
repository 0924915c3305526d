"""From requirements to the models that the search enforces, and the sensitive columns that these look at."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ppdm_flow.anonymizers.class_models.people import RecodingTask
from ppdm_flow.anonymizers.naming import subject_of
from ppdm_flow.anonymizers.subject_column import people_of
from ppdm_flow.core.attributes import AttributeFacts
from ppdm_flow.core.diagnostics import Diagnostic
from ppdm_flow.core.errors import PluginError
from ppdm_flow.core.roles import Nulls
from ppdm_flow.mining.class_people.seen import ClassPeople
from ppdm_flow.mining.recoding.models import ClassModel, KAnonymous
from ppdm_flow.sdk.anonymizer import StepContext
from ppdm_flow.sdk.spec import imported
from ppdm_flow.sdk.view import DataView
from ppdm_flow.tables.column import MISSING, SPECIALS
from ppdm_flow.tables.counts import Counts, weights_of
from ppdm_flow.tables.table import Table

Codes = npt.NDArray[np.int32]
Ints = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class SensitiveCodes:
    """The values of a sensitive column as codes.

    ``codes`` (combinations,) of one attribute below ``size``; ``place`` is the code of each value.
    """

    name: str
    codes: Codes
    size: int
    place: Mapping[str, int]


def dense(counts: Counts, name: str, nulls: Nulls) -> SensitiveCodes:
    """Return an attribute's values after the two marks: suppressed and missing cells are values too.

    Raises PluginError where the null semantics leave out rows that the search would count.
    """
    codes = counts.of(name)
    if nulls is Nulls.EXCLUDE and (codes[counts.counts > 0] == MISSING).any():
        text = f"the column `{name}` has missing values, which `nulls: exclude` leaves out of every class"
        raise PluginError(Diagnostic("PPF807", text, help="`incomplete_rows: drop` drops them"))
    names = counts.names(name).to_pylist()
    place = {value: i + SPECIALS for i, value in enumerate(names)}
    return SensitiveCodes(name, np.ascontiguousarray(codes + np.int32(SPECIALS)), len(names) + SPECIALS, place)


class RequiredModels:
    """The largest ``k`` of rows, the ``others`` beside it, and the ``sensitive`` columns that their places mean.

    ``by_requirement`` are the models of each requirement beside the attributes that it groups by.
    """

    def __init__(self, task: RecodingTask, counts: Counts, ctx: StepContext, extra: Sequence[str] = ()) -> None:
        self.counts = counts
        self.sensitive = [dense(counts, name, ctx.nulls) for name in dict.fromkeys((*extra, *task.sensitive))]
        self._places = {s.name: i for i, s in enumerate(self.sensitive)}
        self._attributes = ctx.attributes
        self.by_requirement = [(r.grouping, list[ClassModel](imported(r.classes)(r, self))) for r in task.enforced]
        every = [model for _, models in self.by_requirement for model in models]
        self.k = max((m.k for m in every if isinstance(m, KAnonymous)), default=1)
        self.others = [m for m in every if not isinstance(m, KAnonymous)]

    @property
    def models(self) -> list[ClassModel]:
        """All models."""
        return [*([KAnonymous(self.k)] if self.k > 1 else []), *self.others]

    @property
    def compares(self) -> bool:
        """Whether a model compares with the whole table."""
        return any(model.compares for model in self.others)

    def facts(self, name: str) -> AttributeFacts | None:
        """Return what is known of an attribute."""
        return self._attributes.get(name)

    def place(self, name: str) -> int:
        """Return the place of a sensitive attribute."""
        return self._places[name]

    def codes(self, name: str, values: Sequence[str]) -> tuple[int, ...]:
        """Return the codes of values; one that nothing has, where none of those that are asked does."""
        own = self.sensitive[self.place(name)]
        return tuple(own.place.get(value, own.size) for value in values)

    def add(self, name: str, codes: Codes, size: int) -> int:
        """Add a column of codes."""
        self.sensitive.append(SensitiveCodes(name, codes, size, {}))
        return len(self.sensitive) - 1


# What classes are made of: distinct rows, or the rows one by one.


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
