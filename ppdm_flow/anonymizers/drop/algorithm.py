"""Drop: leave columns out."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ppdm_flow.anonymizers.deterministic import DeterministicTransform
from ppdm_flow.anonymizers.drop.spec import DropParams
from ppdm_flow.anonymizers.naming import require
from ppdm_flow.core.draws import Draws
from ppdm_flow.sdk.anonymizer import Fitted, StepContext
from ppdm_flow.sdk.view import DataView
from ppdm_flow.tables.table import Table


class Drop:
    """Leaves the named columns out."""

    def __init__(self, params: DropParams) -> None:
        self.params = params

    def fit(self, data: DataView, ctx: StepContext) -> Fitted:
        """Resolve the patterns. Raises PluginError for a name that no column has."""
        known = data.schema.names
        require(self.params.attributes, known, ctx.step)
        return Fitted(DropTransform(self.params.chosen(known)))


@dataclass(frozen=True, slots=True)
class DropTransform(DeterministicTransform):
    """Keeps all columns but ``attributes``."""

    attributes: tuple[str, ...]

    def apply(self, part: Table, _draws: Draws) -> Table:
        """Return the partition without them."""
        return part.select([name for name in part.names if name not in self.attributes])

    def describe(self) -> Mapping[str, Any]:
        """Name the dropped columns."""
        return {"attributes": list(self.attributes)}
