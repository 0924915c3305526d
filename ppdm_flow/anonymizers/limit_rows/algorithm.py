"""Limit rows: so many of a person's rows stay, or the rows of so many different values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from ppdm_flow.anonymizers.limit_rows.spec import LimitRowsParams, contradictions
from ppdm_flow.anonymizers.naming import require, subject_of
from ppdm_flow.anonymizers.number_columns import kinds_of
from ppdm_flow.anonymizers.subject_column import Ids, dense_ids, first_of_each, in_order, people_of
from ppdm_flow.core.diagnostics import Diagnostic
from ppdm_flow.core.draws import Draws
from ppdm_flow.core.errors import PluginError
from ppdm_flow.core.results import Figure
from ppdm_flow.core.roles import AttributeType
from ppdm_flow.sdk.anonymizer import Fitted, StepContext
from ppdm_flow.sdk.view import DataView
from ppdm_flow.tables.table import Table

Mask = npt.NDArray[np.bool_]


class LimitRows:
    """Counts the rows of each person, and has the rest left out."""

    def __init__(self, params: LimitRowsParams) -> None:
        self.params = params

    def fit(self, data: DataView, ctx: StepContext) -> Fitted:
        """Count. Raises PluginError where parameters clash, a row is nobody's, or ``order`` has no numbers."""
        params = self.params
        for problem in contradictions(params):
            raise PluginError(Diagnostic(problem.code, problem.message))
        subject = subject_of(ctx.attributes)
        if subject is None or data.schema.weight is not None:
            text = "limiting rows needs a column that says whose row it is, and no weight"
            raise PluginError(Diagnostic("PPF780", text))
        wanted = [name for name in (subject, params.order, params.attribute) if name is not None]
        require(wanted, data.schema.names, ctx.step)
        kind = None if params.order is None else kinds_of([params.order], data, ctx)[params.order]
        table = data.table([subject] if params.attribute is None else [subject, params.attribute])
        people = people_of(table, subject)
        touched, dropped = self._lost(people, None if params.attribute is None else dense_ids(table[params.attribute]))
        note = "" if params.attribute is None else "expected: which values stay is drawn"
        figures = {
            "people_touched": Figure(touched, "people"),
            "rows_dropped": Figure(dropped, "rows", note=note),
        }
        return Fitted(LimitRowsTransform(params, subject, kind), figures)

    def _lost(self, people: Ids, values: Ids | None) -> tuple[int, float]:
        """Return how many people lose rows, and how many rows go (of values: as expected)."""
        rows = np.bincount(people)
        if values is None:
            most = int(self.params.rows or 1)
            return int((rows > most).sum()), int(np.maximum(rows - most, 0).sum())
        most = int(self.params.values or 1)
        pairs = np.unique(people * (int(values.max(initial=0)) + 1) + values) // (int(values.max(initial=0)) + 1)
        different = np.bincount(pairs, minlength=len(rows))
        over = different > most
        return int(over.sum()), float((rows[over] * (1.0 - most / different[over])).sum())


@dataclass(frozen=True, slots=True)
class LimitRowsTransform:
    """Keeps rows; ``kind`` is the type of the attribute that ``keep`` goes by."""

    params: LimitRowsParams
    subject: str
    kind: AttributeType | None

    @property
    def draws_per_row(self) -> int:
        """One, which settles ties of every other criterion."""
        return 1

    def apply_table(self, table: Table, draws: Draws) -> Mapping[str, Table]:
        """Return the rows that stay, in the table's order. Raises PluginError where a row is nobody's."""
        people = people_of(table, self.subject)
        lots = draws.words(table.rows)[:, 0]
        if self.params.attribute is not None:
            values = dense_ids(table[self.params.attribute])
            return {"": table.take(of_few_values(people, values, table.rows, lots, int(self.params.values or 1)))}
        keys: tuple[npt.NDArray[Any], ...] = (table.rows, lots)
        if self.params.order is not None and self.kind is not None:
            keys += in_order(table, self.params.order, self.kind, self.params.keep)
        return {"": table.take(first_of_each(people, keys, int(self.params.rows or 1)))}

    def describe(self) -> Mapping[str, Any]:
        """The parameters."""
        return self.params.model_dump(mode="json", exclude_none=True)


def of_few_values(
    people: Ids, values: Ids, rows: npt.NDArray[np.int64], lots: npt.NDArray[np.uint64], most: int
) -> Mask:
    """Return a mask of the rows with ``most`` of their person's values, shape (rows,), each choice as likely.

    A value of a person has the lot of its first row by number, so that frequent values are no likelier to stay.
    """
    by_number = np.argsort(rows, kind="stable")
    pairs = people * (int(values.max(initial=0)) + 1) + values
    _, first, own = np.unique(pairs[by_number], return_index=True, return_inverse=True)
    places = by_number[first]
    stays = first_of_each(people[places], (rows[places], lots[places]), most)
    mask = np.zeros(len(people), dtype=bool)
    mask[by_number] = stays[own]
    return mask
