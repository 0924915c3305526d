"""Sizes in bits after the minimum description length principle: data and code table apart."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Counts = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Sizes:
    """``data`` = L(D|CT) and ``table`` = L(CT|D), in bits."""

    data: float
    table: float

    @property
    def total(self) -> float:
        """Both together: what KRIMP minimizes."""
        return self.data + self.table


def encoded(usages: Counts, standard: Floats) -> Sizes:
    """Return the sizes of data and code table for the usages of all codes.

    ``standard`` are the codes' sizes in bits under the standard code table. A code of usage u out of t costs
    log2(t/u) bits; codes that are not in use cost nothing (Vreeken, van Leeuwen, Siebes 2011, definitions 2 to 4).
    """
    used = usages > 0
    counts = usages[used].astype(np.float64)
    lengths = np.log2(max(counts.sum(), 1)) - np.log2(counts)
    return Sizes(float(counts @ lengths), float((standard[used] + lengths).sum()))
