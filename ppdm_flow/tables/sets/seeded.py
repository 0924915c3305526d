"""Randomized sets given by a seed: a public function of the seed says for every item whether it is in."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from ppdm_flow.tables.sets.baskets import Sizes

Seeds = npt.NDArray[np.uint16]

LEVELS = 1 << 16
"""Insertion probabilities are multiples of 1 / LEVELS, and alphabets have at most LEVELS items."""


@dataclass(frozen=True, slots=True)
class Expansion:
    """What the expansion of seeds needs besides the seed: all of it is published.

    ``insertion[m]`` is the probability that the expansion has any given item from outside of an original transaction
    of m items: a multiple of 1/65536 within (0, 1), or 0 for a size that does not occur. ``spare`` is for how many
    items at once, besides the m own ones, a uniform seed's expansion is independent: sets of up to so many can be
    estimated. ``form`` names the function: `ppdm_flow.mining.transactions.randomize.seeded` says what it computes.
    """

    insertion: tuple[float, ...]
    spare: int = 4
    form: str = "polynomial"

    def __post_init__(self) -> None:
        if not self.insertion or not all(0.0 <= p < 1.0 and (p * LEVELS).is_integer() for p in self.insertion):
            raise ValueError("an expansion needs probabilities within [0, 1) that are multiples of 1/65536")
        if self.spare < 0:
            raise ValueError("an expansion cannot be independent for less than no items")

    @property
    def longest(self) -> int:
        """The largest size of an original transaction."""
        return len(self.insertion) - 1

    @property
    def width(self) -> int:
        """How many 16-bit words a seed has; one of an original transaction of m items uses the first m + spare."""
        return self.longest + self.spare


@dataclass(frozen=True, slots=True, eq=False)
class SeededSets:
    """``seeds`` uint16 (rows, expansion.width), unused words 0; ``sizes`` int32 (rows,) of the *original* transactions.

    The sets follow from seed, size, alphabet and ``expansion`` (the idea is that of Evfimievski, Gehrke and Srikant,
    PODS 2003, section 5); the alphabet's order is part of that, so that it never changes. Raises ValueError for
    shapes that do not fit, and for an alphabet of more than 65,536 items.
    """

    seeds: Seeds
    sizes: Sizes
    categories: pa.StringArray
    expansion: Expansion

    def __post_init__(self) -> None:
        if self.seeds.shape != (len(self.sizes), self.expansion.width):
            raise ValueError("seeds do not fit their sizes and expansion")
        if len(self.categories) > LEVELS:
            raise ValueError(f"an alphabet of more than {LEVELS} items")

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
        """Return the column where the alphabet is its own. Raises KeyError for any other alphabet."""
        if not self.categories.equals(categories):
            raise KeyError("seeds represent sets over one alphabet only")
        return self

    def compact(self) -> SeededSets:
        """Return the column as it is."""
        return self

    def valid(self) -> bool:
        """Whether the expansion says something of every size, and unused words are 0."""
        if len(self) == 0:
            return True
        if self.sizes.min() < 0 or self.sizes.max() > self.expansion.longest:
            return False
        known = np.asarray(self.expansion.insertion)[self.sizes] > 0
        unused = np.arange(self.expansion.width) >= self.sizes[:, None] + self.expansion.spare
        return bool(known.all()) and not bool((self.seeds * unused).any())
