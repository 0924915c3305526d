"""The cost of a node, with records of classes that break a model suppressed; and a lower bound of that cost.

A cost is prepared for one ground. It then has two lower bounds: ``floors`` are known for all nodes beforehand, from
levels alone; ``bound`` of a node that was looked at is its cost if nothing were suppressed. No node
above it is cheaper.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Protocol, Self

import numpy as np
import numpy.typing as npt

from ppdm_flow.mining.recoding.grouping import Floors, RowGrouping, WeightedRows, largest
from ppdm_flow.mining.recoding.kernels import weighted

Bools = npt.NDArray[np.bool_]
Floats = npt.NDArray[np.float64]


class PreparedCost(Protocol):
    """A cost on one ground."""

    floors: Floors

    def of(self, grouping: RowGrouping, kept: Bools) -> float:
        """Return the cost of a node whose classes outside of ``kept`` are suppressed."""
        ...

    def bound(self, grouping: RowGrouping) -> float:
        """Return the cost of a node if nothing is suppressed, or 0 where ``floors`` say as much."""
        ...


class RecodingCost(Protocol):
    """Smaller is better."""

    @property
    def name(self) -> str:
        """What policies call it."""
        ...

    def prepare(self, ground: WeightedRows) -> PreparedCost:
        """Look at the ground once."""
        ...


@dataclass(frozen=True, slots=True)
class CostOfAttributes:
    """A cost that is a mean over attributes, with the ``importance`` of each (none: all are 1) as weights.

    Where all else is equal, the cheapest node of a more important attribute has no higher cost of that attribute: a sum
    A + w C that is smallest for each w has a C that never grows with w.
    """

    importance: tuple[float, ...] = field(default=(), kw_only=True)

    def weighted(self, importance: Sequence[float]) -> Self:
        """Return the same cost with other weights."""
        return replace(self, importance=tuple(importance))

    def weights(self, ground: WeightedRows) -> Floats:
        """Return the weight of each attribute of a ground. Raises ValueError for another number of them."""
        if self.importance and len(self.importance) != ground.attributes:
            raise ValueError(f"{len(self.importance)} weights for {ground.attributes} attributes")
        return np.array(self.importance) if self.importance else np.ones(ground.attributes)


@dataclass(frozen=True, slots=True)
class DomainLoss(CostOfAttributes):
    """Share of the domain, scaled so that no generalization is 0 and suppression 1; attributes by geometric mean.

    prod (1 + loss_j)^(w_j / sum w) - 1, with equal weights what ARX calls Loss. ``geometric`` False takes the mean;
    then, with shares by leaves, it is the normalized certainty penalty (Xu et al. 2006).
    """

    geometric: bool = True
    name: str = field(default="loss", init=False)

    def prepare(self, ground: WeightedRows) -> PreparedCost:
        """Find the loss of each attribute and level."""
        return _PricedLoss(ground, self.geometric, self.weights(ground))


class _PricedLoss:
    def __init__(self, ground: WeightedRows, geometric: bool, weights: Floats) -> None:
        self.ground = ground
        self.geometric = geometric
        self.weights = weights
        self.shares = LevelTables(
            ground, [[s[m] for m, s in zip(v.maps, v.shares, strict=True)] for v in ground.levels]
        )
        self.least = np.array([v.least for v in ground.levels])
        self.by_level = self.shares.totals()
        n = max(1, ground.records)
        parts = [self._shaped(self._scaled(t / n, j)) * weights[j] for j, t in enumerate(self.by_level)]
        self.floors = Floors(parts, self._mean)

    def of(self, grouping: RowGrouping, kept: Bools) -> float:
        """Return the loss."""
        lost = float(grouping.sizes[~kept].sum())
        total = np.array([t[level] for t, level in zip(self.by_level, grouping.node, strict=True)])
        total += lost - self.shares.outside(grouping, kept)
        each = [self._shaped(self._scaled(t, j)) for j, t in enumerate(total / max(1, self.ground.records))]
        parts = [part * weight for part, weight in zip(each, self.weights, strict=True)]
        return float(self._mean(np.array(sum(float(p) for p in parts))))

    def bound(self, _grouping: RowGrouping) -> float:
        """Return 0."""
        return 0.0

    def _scaled(self, value: Floats, j: int) -> Floats:
        """Return 0 for leaves and 1 for the whole domain."""
        least = self.least[j]
        return np.maximum(0.0, (value - least) / (1.0 - least)) if least < 1.0 else np.zeros_like(value)

    def _shaped(self, value: Floats) -> Floats:
        return np.log1p(value) if self.geometric else value

    def _mean(self, total: Floats) -> Floats:
        mean = total / (self.weights.sum() or 1.0)
        return np.expm1(mean) if self.geometric else mean


@dataclass(frozen=True, slots=True)
class Entropy(CostOfAttributes):
    """Non-uniform entropy: bits that generalization takes, as a share of those that the cells had (Gionis, Tassa 2009).

    A record's cell loses log2(n(generalized) / n(original)), a suppressed one log2(n / n(original)).
    """

    name: str = field(default="entropy", init=False)

    def prepare(self, ground: WeightedRows) -> PreparedCost:
        """Count the values of every level."""
        return _PricedEntropy(ground, self.weights(ground))


class _PricedEntropy:
    def __init__(self, ground: WeightedRows, weights: Floats) -> None:
        bits = [[w * level for level in _bits_left(ground, j)] for j, w in enumerate(weights)]
        self.left = LevelTables(ground, bits)
        left = self.left.totals()
        self.by_level = [t[0] - t for t in left]
        self.scale = float(sum(t[0] for t in left)) or 1.0
        self.floors = Floors([t / self.scale for t in self.by_level])

    def of(self, grouping: RowGrouping, kept: Bools) -> float:
        """Return the share of bits lost."""
        own = sum(float(t[level]) for t, level in zip(self.by_level, grouping.node, strict=True))
        return (own + float(self.left.outside(grouping, kept).sum())) / self.scale

    def bound(self, _grouping: RowGrouping) -> float:
        """Return 0."""
        return 0.0


def _bits_left(ground: WeightedRows, j: int) -> list[Floats]:
    """Return, for each level of attribute ``j``, log2(n / n(generalized)) of every leaf; 0 for unused leaves."""
    levels = ground.levels[j]
    counts = np.bincount(ground.codes[:, j], ground.weights, levels.domain)
    above = [np.bincount(at, counts)[at] for at in levels.maps]
    return [np.log2(max(1, ground.records) / np.where(n > 0, n, max(1, ground.records))) for n in above]


@dataclass(frozen=True, slots=True)
class Precision(CostOfAttributes):
    """Mean height of cells over the height of their hierarchy, suppressed cells 1 (Sweeney 2002, 1 - Prec)."""

    name: str = field(default="precision", init=False)

    def prepare(self, ground: WeightedRows) -> PreparedCost:
        """Return the cost of every node."""
        return _PricedPrecision(ground, self.weights(ground))


class _PricedPrecision:
    def __init__(self, ground: WeightedRows, weights: Floats) -> None:
        self.records = max(1, ground.records)
        shares = weights / (weights.sum() or 1.0)
        self.floors = Floors(
            [np.arange(v.height) / max(1, v.height - 1) * s for v, s in zip(ground.levels, shares, strict=True)]
        )

    def of(self, grouping: RowGrouping, kept: Bools) -> float:
        """Return the mean height."""
        share = float(grouping.sizes[~kept].sum()) / self.records
        return (1.0 - share) * self.floors.at(grouping.node) + share

    def bound(self, _grouping: RowGrouping) -> float:
        """Return 0."""
        return 0.0


class _UnforeseenCost:
    """A cost that is known only once a node is looked at."""

    def __init__(self, ground: WeightedRows) -> None:
        self.records = max(1, ground.records)
        self.floors = Floors([np.zeros(v.height) for v in ground.levels])


@dataclass(frozen=True, slots=True)
class Discernibility:
    """Sum of squared class sizes, suppressed records with the size of the table (Bayardo, Agrawal 2005)."""

    name: str = field(default="discernibility", init=False)

    def prepare(self, ground: WeightedRows) -> PreparedCost:
        """Nothing is known beforehand."""
        return _PricedDiscernibility(ground)


class _PricedDiscernibility(_UnforeseenCost):
    def of(self, grouping: RowGrouping, kept: Bools) -> float:
        """Return the sum of squares, and the penalty."""
        sizes = grouping.sizes.astype(np.float64)
        return float((sizes[kept] ** 2).sum() + sizes[~kept].sum() * self.records)

    def bound(self, grouping: RowGrouping) -> float:
        """Return the sum of all squares."""
        return float((grouping.sizes.astype(np.float64) ** 2).sum())


@dataclass(frozen=True, slots=True)
class ClassSize:
    """Records by classes, all suppressed ones one class (LeFevre et al. 2006, without the factor 1/k)."""

    name: str = field(default="average_class_size", init=False)

    def prepare(self, ground: WeightedRows) -> PreparedCost:
        """Nothing is known beforehand."""
        return _PricedClassSize(ground)


class _PricedClassSize(_UnforeseenCost):
    def of(self, grouping: RowGrouping, kept: Bools) -> float:
        """Return the mean size."""
        present = grouping.sizes > 0
        classes = int((kept & present).sum()) + bool((~kept & present).any())
        return self.records / max(1, classes)

    def bound(self, grouping: RowGrouping) -> float:
        """Return the mean size of all classes."""
        return self.records / max(1, int((grouping.sizes > 0).sum()))


@dataclass(frozen=True, slots=True)
class Misclassified:
    """Share of records that are suppressed or differ from their class's majority in the target (Iyengar 2002)."""

    attribute: int
    name: str = field(default="classification", init=False)

    def prepare(self, ground: WeightedRows) -> PreparedCost:
        """Nothing is known beforehand."""
        return _PricedMisclassified(ground, self.attribute)


class _PricedMisclassified(_UnforeseenCost):
    def __init__(self, ground: WeightedRows, attribute: int) -> None:
        super().__init__(ground)
        self.attribute = attribute

    def of(self, grouping: RowGrouping, kept: Bools) -> float:
        """Return the share."""
        return float(self._minority(grouping)[kept].sum() + grouping.sizes[~kept].sum()) / self.records

    def bound(self, grouping: RowGrouping) -> float:
        """Return the share of all minorities."""
        return float(self._minority(grouping).sum()) / self.records

    def _minority(self, grouping: RowGrouping) -> npt.NDArray[np.int64]:
        cells = grouping.cells[self.attribute]
        minority: npt.NDArray[np.int64] = grouping.sizes - largest(cells.begins, cells.count)
        return minority


class LevelTables:
    """``tables[j][l]`` (domain of j,): the number of each leaf of attribute j at level l; equal where codes are."""

    def __init__(self, ground: WeightedRows, tables: Sequence[Sequence[Floats]]) -> None:
        self.ground = ground
        self.tables = tables
        self.begins = np.cumsum([0, *(v.domain for v in ground.levels)], dtype=np.int64)[:-1]

    def totals(self) -> list[Floats]:
        """Return, for each attribute and level, the sum over all records."""
        ground = self.ground
        weights = [np.bincount(c, ground.weights, v.domain) for c, v in zip(ground.codes.T, ground.levels, strict=True)]
        return [np.array([w @ t for t in by_level]) for w, by_level in zip(weights, self.tables, strict=True)]

    def outside(self, grouping: RowGrouping, kept: npt.NDArray[np.bool_]) -> Floats:
        """Return, for each attribute, the sum over the records of classes that are not kept."""
        flat = [t[level] for t, level in zip(self.tables, grouping.node, strict=True)]
        joined = np.concatenate(flat) if flat else np.zeros(0)
        return weighted(self.ground.codes, grouping.first, grouping.sizes, kept, joined, self.begins)
