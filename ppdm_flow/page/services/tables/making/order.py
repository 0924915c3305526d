"""One file of a copied table: the numbers of all rows in the order of a column."""

from __future__ import annotations

from pathlib import Path

import numpy as np


def write_order(codes: Path, width: int, order: Path) -> None:
    """Write the numbers of the rows by ascending code; rows with one code stay in the order of the file."""
    ascending = np.argsort(np.fromfile(codes, f"<u{width}"), kind="stable")
    ascending.astype("<u4").tofile(order)
