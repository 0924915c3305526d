"""Weighted rows written out, for what counts people and not rows."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ppdm_flow.tables.counts import weights_of
from ppdm_flow.tables.table import Table


def written_out(table: Table, names: Sequence[str], weight: str | None) -> Table:
    """Return the columns ``names`` with each row as often as its ``weight`` says; as they are without one.

    Copies share their row's number. Raises ValueError where a weight is none.
    """
    if weight is None:
        return table.select(names)
    return table.select(names).take(np.repeat(np.arange(len(table)), weights_of(table[weight])))
