"""Vertical partition: columns by table."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ppdm_flow.anonymizers.deterministic import DeterministicTransform
from ppdm_flow.anonymizers.naming import require
from ppdm_flow.anonymizers.vertical_partition.spec import VerticalPartitionParams
from ppdm_flow.core.diagnostics import Diagnostic
from ppdm_flow.core.draws import Draws
from ppdm_flow.core.errors import PluginError
from ppdm_flow.core.results import Figure
from ppdm_flow.sdk.anonymizer import Fitted, StepContext
from ppdm_flow.sdk.view import DataView
from ppdm_flow.tables.table import Table


class VerticalPartition:
    """Splits a table by its columns."""

    def __init__(self, params: VerticalPartitionParams) -> None:
        self.params = params

    def fit(self, data: DataView, ctx: StepContext) -> Fitted:
        """Look at the key. Raises PluginError where it is missing in a row: such rows would join with each other."""
        tables = {table: (self.params.key, *names) for table, names in self.params.tables.items()}
        require((n for names in tables.values() for n in names), data.schema.names, ctx.step)
        counts = data.counts([self.params.key])
        codes = counts.of(self.params.key)
        if (codes < 0).any():
            text = f"{int(counts.counts[codes < 0].sum()):,} rows have no value of the key `{self.params.key}`"
            raise PluginError(Diagnostic("PPF827", text, help="`assign_class_id` gives every row one"))
        figures = {"classes": Figure(len(counts), "classes")}
        return Fitted(VerticalPartitionTransform(tuple(tables.items())), figures)


@dataclass(frozen=True, slots=True)
class VerticalPartitionTransform(DeterministicTransform):
    """``tables`` are (output, its columns). There is no output of the step's own: that would be the whole table."""

    tables: tuple[tuple[str, tuple[str, ...]], ...]

    def apply_table(self, table: Table, _draws: Draws) -> Mapping[str, Table]:
        """Return the tables."""
        return {name: table.select(columns) for name, columns in self.tables}

    def describe(self) -> Mapping[str, Any]:
        """The columns of each table."""
        return {"tables": {name: list(columns) for name, columns in self.tables}}
