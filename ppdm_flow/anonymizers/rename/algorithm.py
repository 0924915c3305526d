"""Rename: the same columns under other names."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ppdm_flow.anonymizers.deterministic import DeterministicTransform
from ppdm_flow.anonymizers.naming import require
from ppdm_flow.anonymizers.rename.spec import RenameParams
from ppdm_flow.core.diagnostics import Diagnostic
from ppdm_flow.core.draws import Draws
from ppdm_flow.core.errors import PluginError
from ppdm_flow.sdk.anonymizer import Fitted, StepContext
from ppdm_flow.sdk.view import DataView
from ppdm_flow.tables.table import Table


class Rename:
    """Gives columns other names, in place."""

    def __init__(self, params: RenameParams) -> None:
        self.params = params

    def fit(self, data: DataView, ctx: StepContext) -> Fitted:
        """Check the names. Raises PluginError for an absent column, or where two columns would have one name."""
        names = self.params.attributes
        require(names, data.schema.names, ctx.step)
        after = [names.get(name, name) for name in data.schema.names]
        twice = sorted({name for name in after if after.count(name) > 1})
        if twice:
            raise PluginError([Diagnostic("PPF607", f"`{name}` would be the name of two columns") for name in twice])
        return Fitted(RenameTransform(tuple(names.items())))


@dataclass(frozen=True, slots=True)
class RenameTransform(DeterministicTransform):
    """``names`` are (old, new)."""

    names: tuple[tuple[str, str], ...]

    def apply(self, part: Table, _draws: Draws) -> Table:
        """Return the partition with the new names, columns in the same order."""
        new = dict(self.names)
        columns = {new.get(name, name): column for name, column in part.columns.items()}
        return Table(columns, part.rows, {new.get(name, name): sets for name, sets in part.sets.items()})

    def describe(self) -> Mapping[str, Any]:
        """Old and new names."""
        return {"attributes": dict(self.names)}
