"""Sample: every row by a draw of its own, or exactly so many rows."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ppdm_flow.anonymizers.sample.spec import SampleParams
from ppdm_flow.core.diagnostics import Diagnostic
from ppdm_flow.core.draws import Draws
from ppdm_flow.core.errors import PluginError
from ppdm_flow.core.records import dataclass
from ppdm_flow.sdk.anonymizer import Fitted, StepContext
from ppdm_flow.sdk.view import DataView
from ppdm_flow.tables.table import Table


class Sample:
    """``fraction``: Bernoulli sampling, row by row. ``size``: simple random sampling without replacement."""

    def __init__(self, params: SampleParams) -> None:
        self.params = params

    def fit(self, data: DataView, _ctx: StepContext) -> Fitted:
        """Choose the kind. Raises PluginError where ``size`` exceeds the number of rows, or the parameters clash."""
        fraction, size = self.params.fraction, self.params.size
        if fraction is not None and size is None:
            return Fitted(FractionTransform(fraction))
        if size is None or fraction is not None:
            raise PluginError(Diagnostic("PPF782", "give either `fraction` or `size`"))
        if size > data.row_count:
            text = f"a sample of {size} rows was asked for, and the table has {data.row_count}"
            raise PluginError(Diagnostic("PPF792", text))
        return Fitted(SizeTransform(size))


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
