"""Lossy join: a cross join within each class."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from ppdm_flow.anonymizers.deterministic import DeterministicTransform
from ppdm_flow.anonymizers.lossy_join.spec import LossyJoinParams
from ppdm_flow.anonymizers.naming import require
from ppdm_flow.core.diagnostics import Diagnostic, Severity
from ppdm_flow.core.draws import Draws
from ppdm_flow.core.errors import PluginError
from ppdm_flow.core.results import Figure, Finding
from ppdm_flow.sdk.anonymizer import Fitted, StepContext
from ppdm_flow.sdk.view import DataView
from ppdm_flow.tables.table import Table

Integers = npt.NDArray[np.int64]


class LossyJoin:
    """Writes every pair of rows of a class."""

    def __init__(self, params: LossyJoinParams) -> None:
        self.params = params

    def fit(self, data: DataView, ctx: StepContext) -> Fitted:
        """Count the result. Raises PluginError where it would be too large, or a row has no class."""
        params = self.params
        require((params.key, *params.attributes), data.schema.names, ctx.step)
        part = data.table([params.key])[params.key]
        if (part.codes < 0).any():
            text = f"{int((part.codes < 0).sum()):,} rows have no value of the key `{params.key}`"
            raise PluginError(Diagnostic("PPF827", text, help="`assign_class_id` gives every row one"))
        sizes = np.bincount(part.codes).astype(object)  # exact for classes of any size
        tuples = int((sizes * sizes).sum()) if len(sizes) else 0
        if tuples > params.most_rows:
            text = f"joined by `{params.key}`, {data.row_count:,} rows become {tuples:,}, above {params.most_rows:,}"
            raise PluginError(Diagnostic("PPF828", text, help="make smaller classes, or raise `most_rows`"))
        figures = {
            "tuples": Figure(tuples, "rows"),
            "spurious_tuples": Figure(tuples - data.row_count, "rows", note="pairs that are of no person"),
        }
        text = "rows are pairs within a class and no longer people: a number of rows is no number of people"
        finding = Finding("PPF587", Severity.WARNING, text, ctx.step)
        return Fitted(LossyJoinTransform(params), figures, findings=(finding,))


@dataclass(frozen=True, slots=True)
class LossyJoinTransform(DeterministicTransform):
    """Rows are numbered anew, class by class."""

    params: LossyJoinParams

    def apply_table(self, table: Table, _draws: Draws) -> Mapping[str, Table]:
        """Return the pairs."""
        left, right = pairs(table[self.params.key].codes.astype(np.int64))
        moved = {name: table[name].take(right) for name in self.params.attributes}
        joined = table.take(left).replaced(moved)
        return {"": Table(joined.columns, np.arange(len(left), dtype=np.int64), joined.sets)}

    def describe(self) -> Mapping[str, Any]:
        """The parameters."""
        return self.params.model_dump(mode="json")


def pairs(classes: Integers) -> tuple[Integers, Integers]:
    """Return (left row, right row) of every pair of rows of one class, class by class, without a loop over rows.

    Examples
    --------
    >>> left, right = pairs(np.array([7, 9, 7]))
    >>> left.tolist(), right.tolist()
    ([0, 0, 2, 2, 1], [0, 2, 0, 2, 1])
    """
    order = np.argsort(classes, kind="stable")
    _, start, sizes = np.unique(classes[order], return_index=True, return_counts=True)
    size, first = np.repeat(sizes, sizes), np.repeat(start, sizes)
    left = np.repeat(np.arange(len(order)), size)
    begins = np.cumsum(size) - size
    right = np.arange(len(left)) - np.repeat(begins, size) + np.repeat(first, size)
    return order[left], order[right]
