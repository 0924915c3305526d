"""A column whose values become other texts, value by value."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa

from ppdm_flow.tables.column import MISSING, Column


def used_values(column: Column) -> list[str]:
    """Return the values that occur, in the order of their codes."""
    values: list[str] = column.categories.take(pa.array(np.flatnonzero(column.in_use()))).to_pylist()
    return values


def relabelled(column: Column, labels: Sequence[str]) -> Column:
    """Return the column with ``labels`` in place of its :func:`used_values`; special cells stay."""
    categories = sorted(set(labels), key=str.encode)
    place = {label: i for i, label in enumerate(categories)}
    code_map = np.full(len(column.categories), MISSING, dtype=np.int32)
    code_map[np.flatnonzero(column.in_use())] = [place[label] for label in labels]
    return column.mapped(code_map, pa.array(categories, pa.string()))
