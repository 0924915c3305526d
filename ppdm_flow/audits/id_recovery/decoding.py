"""Genetic encoding turned back: written from its description, not from the step."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from ppdm_flow.tables.column import Column

Integers = npt.NDArray[np.int64]


def decoded(codes: Integers, width: int, head: int, *, complement: bool = False) -> Integers:
    """Return the ids behind codes in the order in which they were encoded, shape (rows,).

    A row's own code still has its first bits; its last ones stand in the code of the row before.

    Examples
    --------
    >>> decoded(np.array([1, 2232, 3434]), 12, 4).tolist()
    [106, 257, 3000]
    """
    tail = width - head
    first, rest = codes >> tail, codes & ((1 << tail) - 1)
    if complement:
        own = (1 << head) - 1 - first
    else:
        bits = (first[:, None] >> np.arange(head)) & 1  # lowest first
        own = bits @ (1 << np.arange(head - 1, -1, -1, dtype=np.int64))
    return (own << tail) + np.roll(rest, 1)


def integers(column: Column) -> Integers | None:
    """Return a column as whole numbers from 0, shape (rows,), or None where a cell is none below 2^63."""
    used = column.compact()
    try:
        values = used.categories.cast(pa.int64()).to_numpy(zero_copy_only=False)
    except pa.ArrowInvalid:
        return None
    if (used.codes < 0).any() or (values < 0).any():
        return None
    return values[used.codes] if len(values) else np.zeros(0, dtype=np.int64)


def texts(numbers: Integers) -> Column:
    """Return whole numbers as a column of texts."""
    distinct, places = np.unique(numbers, return_inverse=True)
    return Column(places.astype(np.int32), pa.array(distinct).cast(pa.string()))
