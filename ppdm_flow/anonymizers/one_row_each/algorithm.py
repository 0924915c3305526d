"""One row each: a row of each person stays, and takes what its other rows say of some attributes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from ppdm_flow.anonymizers.naming import require, subject_of
from ppdm_flow.anonymizers.number_columns import kinds_of, numbers_of
from ppdm_flow.anonymizers.numeric_attributes import BEYOND
from ppdm_flow.anonymizers.one_row_each.spec import OneRowEachParams, contradictions
from ppdm_flow.anonymizers.subject_column import Ids, dense_ids, first_of_each, in_order, people_of
from ppdm_flow.core.diagnostics import Diagnostic
from ppdm_flow.core.draws import Draws
from ppdm_flow.core.errors import PluginError
from ppdm_flow.core.results import Figure
from ppdm_flow.core.roles import AttributeType
from ppdm_flow.sdk.anonymizer import Fitted, StepContext
from ppdm_flow.sdk.view import DataView
from ppdm_flow.tables.column import Column
from ppdm_flow.tables.numeric.column import NumericColumn, missing_mask
from ppdm_flow.tables.sets import Baskets, gathered
from ppdm_flow.tables.table import Table

_LARGEST = 2.0**63


class OneRowEach:
    """Counts the rows of each person, and has them become one."""

    def __init__(self, params: OneRowEachParams) -> None:
        self.params = params

    def fit(self, data: DataView, ctx: StepContext) -> Fitted:
        """Count. Raises PluginError where parameters clash, a row is nobody's, or numbers are asked of other cells."""
        params = self.params
        for problem in contradictions(params):
            raise PluginError(Diagnostic(problem.code, problem.message))
        subject = subject_of(ctx.attributes)
        if subject is None or data.schema.weight is not None:
            text = "making one row each needs a column that says whose row it is, and no weight"
            raise PluginError(Diagnostic("PPF780", text))
        numeric = [name for name, how in params.attributes.items() if how != "most_frequent"]
        require([subject, *params.attributes, *params.sets.values()], data.schema.names, ctx.step)
        kinds = kinds_of([*numeric, *([] if params.order is None else [params.order])], data, ctx)
        rows = np.bincount(people_of(data.table([subject]), subject))
        figures = {
            "people_touched": Figure(int((rows > 1).sum()), "people"),
            "rows_dropped": Figure(int((rows - 1).sum()) if len(rows) else 0, "rows"),
        }
        return Fitted(OneRowEachTransform(params, subject, kinds), figures)


@dataclass(frozen=True, slots=True)
class OneRowEachTransform:
    """Makes one row of a person's; ``kinds`` are the types of the attributes of numbers."""

    params: OneRowEachParams
    subject: str
    kinds: Mapping[str, AttributeType]

    @property
    def draws_per_row(self) -> int:
        """One, which settles ties of every other criterion."""
        return 1

    def apply_table(self, table: Table, draws: Draws) -> Mapping[str, Table]:
        """Return a row of each person, in the table's order. Raises PluginError where a row is nobody's."""
        people, params = people_of(table, self.subject), self.params
        order = () if params.order is None else in_order(table, params.order, self.kinds[params.order], params.keep)
        stays = np.flatnonzero(first_of_each(people, (table.rows, draws.words(table.rows)[:, 0], *order), 1))
        kept = np.zeros(len(stays), dtype=np.int64)
        kept[people[stays]] = stays
        made = {name: self._made(name, table, people, kept).take(people[stays]) for name in params.attributes}
        sets = {name: items_of(people, table[of], len(kept)).take(people[stays]) for name, of in params.sets.items()}
        one = table.take(stays).replaced(made)
        return {"": one.select([name for name in one.names if name not in params.sets.values()]).resettled(sets)}

    def describe(self) -> Mapping[str, Any]:
        """The parameters."""
        return self.params.model_dump(mode="json", exclude_none=True)

    def _made(self, name: str, table: Table, people: Ids, kept: Ids) -> Column:
        """Return the one cell of each person, shape (people,); ``kept`` (people,) are the rows that stay."""
        how, column = self.params.attributes[name], table[name]
        if how == "most_frequent":
            return column.take(most_frequent(people, column, table.rows, kept))
        numbers = numbers_of(column, name, self.kinds[name])
        if how == "count":
            return NumericColumn(np.bincount(people, minlength=len(kept)).astype(np.int64), numbers.kind, None)
        if how in ("smallest", "largest"):
            keep = "first" if how == "smallest" else "last"
            first = first_of_each(people, (table.rows, *in_order(table, name, self.kinds[name], keep)), 1)
            rows = np.zeros(len(kept), dtype=np.int64)
            rows[people[first]] = np.flatnonzero(first)
            return numbers.take(rows)
        return added(people, numbers, table.rows, len(kept), name, mean=how == "mean")


def items_of(people: Ids, column: Column, number: int) -> Baskets:
    """Return the values that each person's rows have, as sets: one for each of ``number`` people.

    Missing and suppressed cells are no items.
    """
    codes = column.codes
    there = np.flatnonzero(codes >= 0)
    return gathered(people[there], codes[there], number, column.categories)[0].compact()


def most_frequent(people: Ids, column: Column, rows: npt.NDArray[np.int64], kept: Ids) -> Ids:
    """Return a row with the most frequent cell of each person, shape (people,).

    Missing cells count where there are no others. Of cells that are as frequent it is that of the row that stays, else
    the one of the row with the lowest number.
    """
    cells = dense_ids(column)
    there = np.flatnonzero(~missing_mask(column))
    there = there[np.argsort(rows[there], kind="stable")]
    size = int(cells.max(initial=0)) + 1
    pairs, first, many = np.unique(people[there] * size + cells[there], return_index=True, return_counts=True)
    owner, cell, place = pairs // size, pairs % size, there[first]
    best = first_of_each(owner, (rows[place], cell != cells[kept[owner]], -many), 1)
    chosen = kept.copy()
    chosen[owner[best]] = place[best]
    return chosen


def added(
    people: Ids, column: NumericColumn, rows: npt.NDArray[np.int64], number: int, name: str, *, mean: bool
) -> NumericColumn:
    """Return the sum or the mean of each person's cells that are not missing, shape (people,); missing without any.

    Means of whole numbers and dates are rounded to the nearest one, halves to the even one. Floats are added in the
    order of rows. Raises PluginError where a sum is beyond all numbers of the type.
    """
    there = np.flatnonzero(~missing_mask(column))
    there = there[np.lexsort((rows[there], people[there]))]
    many = np.bincount(people[there], minlength=number)
    values = column.values[there]
    with np.errstate(over="ignore"):
        about = np.bincount(people[there], np.abs(values.astype(np.float64)), number)
    if not (np.abs(about) < (_LARGEST if values.dtype == np.int64 else np.inf)).all():
        raise PluginError(Diagnostic(BEYOND, f"the sum of `{name}` over the rows of one person is beyond its type"))
    sums = np.zeros(number, dtype=values.dtype)
    starts = np.cumsum(many) - many
    some = many > 0
    if some.any():
        sums[some] = np.add.reduceat(values, starts[some])
    if mean and values.dtype == np.int64:
        quotients, rest = np.divmod(sums, np.maximum(many, 1))
        sums = quotients + ((2 * rest > many) | ((2 * rest == many) & (quotients % 2 == 1) & some))
    elif mean:
        sums = sums / np.maximum(many, 1)
    return NumericColumn(sums + sums.dtype.type(0), column.kind, ~some)
