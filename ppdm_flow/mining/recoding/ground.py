"""What a search over generalizations works on: distinct rows with weights, and each attribute's levels."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Codes = npt.NDArray[np.int32]
Weights = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class Levels:
    """One attribute's hierarchy over its leaf codes 0 … domain - 1.

    ``maps[l]`` (domain,) is the code of every leaf at level l, level 0 the leaves themselves; each level is a
    coarsening of the one before. ``shares[l]`` (codes at l,) is the share of the domain that a code stands for, above 0
    and at most 1. ``values`` is how many values the domain has, where the leaves are only some of them.
    """

    maps: tuple[Codes, ...]
    shares: tuple[Floats, ...]
    values: int | None = None

    def __post_init__(self) -> None:
        for below, above in zip(self.maps, self.maps[1:], strict=False):
            if len(np.unique(np.stack([below, above]), axis=1).T) != len(np.unique(below)):
                raise ValueError("a level of a hierarchy is no coarsening of the one below it")

    @property
    def height(self) -> int:
        """How many levels there are, the leaves included."""
        return len(self.maps)

    @property
    def domain(self) -> int:
        """How many leaves there are."""
        return len(self.maps[0])

    @property
    def least(self) -> float:
        """The share of a leaf."""
        return 1.0 / (self.domain if self.values is None else self.values)

    def width(self, level: int) -> int:
        """Return how many codes a level has."""
        return len(self.shares[level])


@dataclass(frozen=True, slots=True, eq=False)
class WeightedRows:
    """``codes`` (rows, attributes) leaf codes of distinct rows, ``weights`` (rows,) how many records each stands for.

    ``sensitive``: one array of codes (rows,) for each attribute that models and costs ask about, beside its number of
    values. ``population`` (rows,): how many people of a population table have the row's quasi-identifiers, for k-map;
    such rows may have the weight 0.
    """

    codes: Codes
    weights: Weights
    levels: tuple[Levels, ...]
    sensitive: tuple[Codes, ...] = ()
    values: tuple[int, ...] = ()
    population: Weights | None = None

    def __post_init__(self) -> None:
        if self.codes.shape != (len(self.weights), len(self.levels)):
            raise ValueError("codes, weights and levels differ in length")
        if len(self.sensitive) != len(self.values):
            raise ValueError("a sensitive attribute without its number of values")

    @property
    def records(self) -> int:
        """How many records there are."""
        return int(self.weights.sum())

    @property
    def attributes(self) -> int:
        """How many quasi-identifiers there are."""
        return len(self.levels)
