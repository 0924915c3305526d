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
    """Writes disclosed values, or what generalizes them, and the suppression mark over all else, unknown values too."""

    outcomes: tuple[Outcome, ...]
    named: Mapping[str, tuple[str, ...]]

    def apply(self, part: Table, _draws: Draws) -> Table:
        """Suppress."""
        return part.replaced({o.attribute: _suppressed(part[o.attribute], o) for o in self.outcomes})

    def describe(self) -> Mapping[str, Any]:
        """How many values were suppressed, by attribute; only such are named as the policy itself names."""
        return {"attributes": {o.attribute: _account(o, self.named.get(o.attribute, ())) for o in self.outcomes}}


def _account(outcome: Outcome, named: tuple[str, ...]) -> Mapping[str, Any]:
    coarse = {"generalized_values": outcome.coarse, "generalized_cells": outcome.coarse_cells}
    return {
        "disclosed_values": outcome.disclosed,
        **(coarse if outcome.coarse else {}),
        "suppressed_values": outcome.hidden,
        "suppressed_cells": outcome.cells,
        **({"suppressed": list(named)} if named else {}),
    }


def _suppressed(column: Column, outcome: Outcome) -> Column:
    """The column in the written labels alone: not even its dictionary keeps a suppressed value."""
    known = pa.array(outcome.values, pa.string())
    labels = pa.array(sorted(set(outcome.labels), key=str.encode), pa.string())
    code_of = pc.index_in(pa.array(outcome.labels, pa.string()), value_set=labels).to_numpy(zero_copy_only=False)
    place = pc.index_in(column.categories, value_set=known).fill_null(-1).to_numpy(zero_copy_only=False)
    code_map = np.append(code_of.astype(np.int32), np.int32(SUPPRESSED))[place]
    found = column.mapped(code_map, labels)
    if outcome.missing_shown:
        return found
    return Column(np.where(found.codes == MISSING, np.int32(SUPPRESSED), found.codes), labels)
