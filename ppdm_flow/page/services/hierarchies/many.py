"""Counts of very many values, read piece by piece and as columns: no loop over them, little memory."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as pa_csv

from ppdm_flow.mining.hierarchies.intervals import decimals
from ppdm_flow.page.services.hierarchies.spread import FARTHEST, POINTS, CumulativeCounts

Rows = npt.NDArray[np.int64]
_PIECE = 1 << 20


def sums(file: Path, delimiter: str) -> tuple[int, int]:
    """Return how many values a file of counts has, and how many rows they have together."""
    pieces = [(len(values), int(rows.sum())) for values, rows in _pieces(file, delimiter)]
    return sum(values for values, _ in pieces), sum(rows for _, rows in pieces)


def spread_of_many(file: Path, delimiter: str, values: int) -> CumulativeCounts | None:
    """Return the spread of so many values that are numbers and ascend; None where they are not."""
    stride = -(-values // POINTS)
    points: list[Decimal] = []
    up_to: list[int] = []
    low, seen, total, all_integers, last = Decimal(0), 0, 0, True, -np.inf
    for texts, rows in _pieces(file, delimiter):
        numbers = _numbers(texts, last)
        if numbers is None:
            return None
        if seen == 0:
            (low,) = decimals([texts[0].as_py()])
        places = np.arange(seen + 1, seen + len(numbers) + 1)
        kept = np.flatnonzero((places % stride == 0) | (places == values))
        points += decimals(texts.take(kept).to_pylist())
        up_to += (total + np.cumsum(rows)[kept]).tolist()
        all_integers = all_integers and bool((numbers == np.floor(numbers)).all())
        seen, total, last = seen + len(numbers), total + int(rows.sum()), float(numbers[-1])
    return CumulativeCounts(tuple(points), tuple(up_to), low, stride == 1, all_integers)


def _numbers(texts: pa.Array, last: float) -> npt.NDArray[np.float64] | None:
    """Return texts as numbers; None where one is none or too far from 0, or they do not ascend from the last one on."""
    try:
        numbers: npt.NDArray[np.float64] = pc.cast(texts, pa.float64()).to_numpy(zero_copy_only=False)
    except pa.ArrowInvalid:
        return None
    return numbers if (np.abs(numbers) <= FARTHEST).all() and (np.diff(numbers, prepend=last) >= 0).all() else None


def _pieces(file: Path, delimiter: str) -> Iterator[tuple[pa.Array, Rows]]:
    reader = pa_csv.open_csv(
        file,
        read_options=pa_csv.ReadOptions(column_names=["value", "rows"], use_threads=False, block_size=_PIECE),
        parse_options=pa_csv.ParseOptions(delimiter=delimiter, newlines_in_values=True),
        convert_options=pa_csv.ConvertOptions(
            column_types={"value": pa.string(), "rows": pa.int64()}, strings_can_be_null=False
        ),
    )
    with reader:
        for piece in reader:
            if piece.num_rows:
                yield piece.column(0), piece.column(1).to_numpy()
    pa.default_memory_pool().release_unused()
