"""Randomized sets given by a seed: a public function of the seed says for every item whether it is in."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from ppdm_flow.tables.sets.baskets import Sizes

Seeds = npt.NDArray[np.uint64]


@dataclass(frozen=True, slots=True)
class Expansion:
    """What the expansion of seeds needs besides the seed: all of it is published.

    ``insertion[m]`` is the probability, in [0, 1], that the expansion has any given item, for an original transaction
    of m items; larger ones, and those of an unknown size, have the last. ``salt`` keys the expansion, one a release.
    """

    insertion: tuple[float, ...]
    salt: int = 0
    form: str = "splitmix64"

    def __post_init__(self) -> None:
        if not self.insertion or not all(0.0 <= p <= 1.0 for p in self.insertion):
            raise ValueError("an expansion needs probabilities within [0, 1]")

    def probabilities(self, sizes: Sizes) -> npt.NDArray[np.float64]:
        """Return the insertion probability of each row, shape (rows,)."""
        known = np.asarray(self.insertion, dtype=np.float64)
        last = len(known) - 1
        places = np.where(sizes < 0, last, np.minimum(sizes, last))
        return known[places]


@dataclass(frozen=True, slots=True, eq=False)
class SeededSets:
    """``seeds`` uint64 (rows,); ``sizes`` int32 (rows,) of the *original* transactions, -1 where not published.

    The sets follow from seed, size, alphabet and ``expansion`` (after Evfimievski, Gehrke and Srikant, PODS 2003,
    section 5); the alphabet's order is part of that, so that it never changes. Raises ValueError for unlike shapes.
    """

    seeds: Seeds
    sizes: Sizes
    categories: pa.StringArray
    expansion: Expansion

    def __post_init__(self) -> None:
        if self.seeds.shape != self.sizes.shape:
            raise ValueError("seeds and sizes differ in number")

    def __len__(self) -> int:
        return len(self.seeds)

    @property
    def nbytes(self) -> int:
        """Bytes held."""
        return int(self.seeds.nbytes + self.sizes.nbytes + self.categories.nbytes)

    def take(self, rows: npt.NDArray[Any] | slice) -> SeededSets:
        """Return the sets at ``rows``: positions, a boolean mask, or a slice."""
        return SeededSets(self.seeds[rows], self.sizes[rows], self.categories, self.expansion)

    def onto(self, categories: pa.StringArray) -> SeededSets:
        """Return the column where the alphabet is its own. Raises KeyError for any other: seeds do not survive it."""
        if not self.categories.equals(categories):
            raise KeyError("seeds stand for sets over one alphabet only")
        return self

    def compact(self) -> SeededSets:
        """Return the column as it is."""
        return self

    def valid(self) -> bool:
        """Whether sizes are -1 or more."""
        return bool((self.sizes >= -1).all())
