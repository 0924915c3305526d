"""Shuffle rows: a random key a row; the engine sorts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from ppdm_flow.anonymizers.shuffle_rows.spec import ShuffleParams
from ppdm_flow.core.draws import Draws
from ppdm_flow.sdk.anonymizer import Fitted, StepContext
from ppdm_flow.sdk.view import DataView
from ppdm_flow.tables.table import Table


class ShuffleRows:
    """Puts rows in the order of independent 64-bit draws: a uniform permutation, up to ties (row number decides)."""

    def __init__(self, params: ShuffleParams) -> None:
        self.params = params

    def fit(self, _data: DataView, _ctx: StepContext) -> Fitted:
        """Nothing is to be fitted."""
        return Fitted(ShuffleTransform())


@dataclass(frozen=True, slots=True)
class ShuffleTransform:
    """One word a row, as its key."""

    @property
    def draws_per_row(self) -> int:
        """One."""
        return 1

    def keys(self, part: Table, draws: Draws) -> npt.NDArray[np.uint64]:
        """Return the keys, shape (rows,)."""
        return draws.words(part.rows)[:, 0]

    def describe(self) -> Mapping[str, Any]:
        """Nothing but what it is."""
        return {"order": "random"}
