"""Sample: every row by a draw of its own, exactly so many rows, or so many of each group."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from ppdm_flow.anonymizers.naming import matching, require
from ppdm_flow.anonymizers.row_groups import groups_of
from ppdm_flow.anonymizers.sample.spec import SampleParams, contradictions
from ppdm_flow.anonymizers.subject_column import first_of_each
from ppdm_flow.core.diagnostics import Diagnostic
from ppdm_flow.core.draws import Draws
from ppdm_flow.core.errors import PluginError
from ppdm_flow.core.results import Figure
from ppdm_flow.sdk.anonymizer import Fitted, StepContext
from ppdm_flow.sdk.view import DataView
from ppdm_flow.tables.table import Table


class SampleTransform:
    """``fraction``: Bernoulli sampling, row by row. ``size``: simple random sampling without replacement.

    ``by``: simple random sampling within each group. One row of each group of people who look alike is the third phase
    of perturbed generalization (Tao, Xiao, Li, Zhang, ICDE 2008).
    """

    def __init__(self, params: SampleParams) -> None:
        self.params = params

    def fit(self, data: DataView, ctx: StepContext) -> Fitted:
        """Choose the kind. Raises PluginError where ``size`` exceeds the number of rows, or the parameters clash."""
        params = self.params
        for problem in contradictions(params):
            raise PluginError(Diagnostic(problem.code, problem.message))
        if params.fraction is not None:
            return Fitted(FractionTransform(params.fraction))
        if params.by is not None:
            return self._by_group(params.by, params.rows or 1, data, ctx)
        size = params.size or 1
        if size > data.row_count:
            text = f"a sample of {size} rows was asked for, and the table has {data.row_count}"
            raise PluginError(Diagnostic("PPF792", text))
        return Fitted(SizeTransform(size))

    def _by_group(self, by: tuple[str, ...], rows: int, data: DataView, ctx: StepContext) -> Fitted:
        require(by, data.schema.names, ctx.step)
        names = tuple(dict.fromkeys(name for pattern in by for name in matching(pattern, data.schema.names)))
        sizes = data.counts(names).counts
        sizes = sizes[sizes > 0]
        smallest = int(sizes.min()) if len(sizes) else None
        figures = {
            "groups": Figure(len(sizes), "groups"),
            "smallest_group": Figure(smallest, "rows", note="" if len(sizes) else "there are no rows"),
            "certain_rows": Figure(int(sizes[sizes <= rows].sum()), "rows"),
        }
        return Fitted(GroupTransform(names, rows), figures)


@dataclass(frozen=True, slots=True)
class FractionTransform:
    """Keeps a row where its draw lies below ``fraction``."""

    fraction: float

    @property
    def draws_per_row(self) -> int:
        """One."""
        return 1

    def apply(self, part: Table, draws: Draws) -> Table:
        """Return the rows that stay."""
        return part.take(draws.uniform(part.rows)[:, 0] < self.fraction)

    def describe(self) -> Mapping[str, Any]:
        """Return the fraction."""
        return {"fraction": self.fraction}


@dataclass(frozen=True, slots=True)
class SizeTransform:
    """Keeps the ``size`` rows with the smallest draws (ties: smallest row number), in the table's order."""

    size: int

    @property
    def draws_per_row(self) -> int:
        """One."""
        return 1

    def apply_table(self, table: Table, draws: Draws) -> Mapping[str, Table]:
        """Return the rows that stay."""
        order = np.lexsort((table.rows, draws.words(table.rows)[:, 0]))
        return {"": table.take(np.sort(order[: self.size]))}

    def describe(self) -> Mapping[str, Any]:
        """Return the size."""
        return {"size": self.size}


@dataclass(frozen=True, slots=True)
class GroupTransform:
    """Keeps the ``size`` rows of each group with the smallest draws, in the table's order.

    A group are the rows that are equal in every one of ``names``; missing and suppressed cells are values.
    """

    names: tuple[str, ...]
    size: int

    @property
    def draws_per_row(self) -> int:
        """One."""
        return 1

    def apply_table(self, table: Table, draws: Draws) -> Mapping[str, Table]:
        """Return the rows that stay."""
        groups = groups_of([table[name] for name in self.names], len(table))
        lots = draws.words(table.rows)[:, 0]
        return {"": table.take(first_of_each(groups, (table.rows, lots), self.size))}

    def describe(self) -> Mapping[str, Any]:
        """Return the attributes and the size."""
        return {"by": list(self.names), "rows": self.size}
