"""Applying a suppression: one code map a column."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ppdm_flow.anonymizers.deterministic import Deterministic
from ppdm_flow.anonymizers.progressive_disclosure.outcome import Outcome
from ppdm_flow.core.draws import Draws
from ppdm_flow.tables.column import MISSING, SUPPRESSED, Column
from ppdm_flow.tables.table import Table


@dataclass(frozen=True, slots=True)
class SuppressTransform(Deterministic):
    """Writes the suppression mark over every cell whose value was not disclosed, unknown values included."""

    outcomes: tuple[Outcome, ...]

    def apply(self, part: Table, _draws: Draws) -> Table:
        """Suppress."""
        return part.replaced({o.attribute: _suppressed(part[o.attribute], o) for o in self.outcomes})

    def describe(self) -> Mapping[str, Any]:
        """How many values were suppressed, by attribute; none is named."""
        return {
            "attributes": {
                o.attribute: {
                    "disclosed_values": o.disclosed,
                    "suppressed_values": o.hidden,
                    "suppressed_cells": o.cells,
                }
                for o in self.outcomes
            }
        }


def _suppressed(column: Column, outcome: Outcome) -> Column:
    """The column in the disclosed categories alone: not even its dictionary keeps a suppressed value."""
    shown = pa.array(outcome.shown, pa.string())
    place = pc.index_in(column.categories, value_set=shown)
    code_map = place.fill_null(SUPPRESSED).to_numpy(zero_copy_only=False).astype(np.int32)
    found = column.mapped(code_map, shown)
    if outcome.missing_shown:
        return found
    return Column(np.where(found.codes == MISSING, np.int32(SUPPRESSED), found.codes), shown)
