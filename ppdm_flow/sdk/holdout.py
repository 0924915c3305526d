"""Rows that a generator did not learn from: the control group of attacks on generated data."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_MIX = (np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB))


@dataclass(frozen=True, slots=True)
class Holdout:
    """About ``share`` (0 to 1, ends excluded) of the source's rows, chosen by a hash of their row numbers alone.

    Which rows these are is the same in every run and needs no secret: they take no part in what is released. The hash
    is the finalizer of SplitMix64 (Steele, Lea, Flood, "Fast splittable pseudorandom number generators", 2014).

    >>> bool(Holdout(0.5).held_out(np.arange(10)).any())
    True
    """

    share: float

    def __post_init__(self) -> None:
        if not 0.0 < self.share < 1.0:
            raise ValueError("a holdout's share lies strictly between 0 and 1")

    def held_out(self, rows: npt.NDArray[np.int64]) -> npt.NDArray[np.bool_]:
        """Return which of these source rows are held out, shape (len(rows),)."""
        with np.errstate(over="ignore"):
            z = rows.astype(np.uint64) * _GOLDEN + _GOLDEN
            z = (z ^ (z >> np.uint64(30))) * _MIX[0]
            z = (z ^ (z >> np.uint64(27))) * _MIX[1]
            z ^= z >> np.uint64(31)
        chosen: npt.NDArray[np.bool_] = z < np.uint64(int(self.share * 2.0**64))
        return chosen
