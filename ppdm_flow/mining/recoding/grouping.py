"""The equivalence classes at one node of the lattice, made from finer ones, and measures of them."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np
import numpy.typing as npt

from ppdm_flow.mining.recoding.kernels import keys_of, merged, numbered, summed

_KEY_LIMIT = 1 << 62
Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
Node = tuple[int, ...]
"""A level for each attribute."""
Codes = npt.NDArray[np.int32]
Weights = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class ClassCells:
    """How often each value of one sensitive attribute occurs in each class, values that a class lacks left out.

    Class c has ``value[begins[c]:begins[c + 1]]``, each value once, beside ``count``.
    """

    begins: Ints
    value: npt.NDArray[np.int32]
    count: Ints

    @property
    def owner(self) -> Ints:
        """The class of each cell."""
        return np.repeat(np.arange(len(self.begins) - 1), np.diff(self.begins))


@dataclass(frozen=True, slots=True, eq=False)
class RowGrouping:
    """``first`` (classes,): a row of the ground in each class; ``sizes`` (classes,) records; ``cells`` by attribute.

    ``people`` (classes,) counts a population table, where there is one. Where people count, ``sizes`` are people, cells
    the figures that a model bounds, times the people, and ``distinct`` (classes,) the values that can be told apart.
    """

    node: Node
    first: Ints
    sizes: Ints
    cells: tuple[ClassCells, ...]
    people: Ints | None = None
    distinct: Ints | None = None

    def __len__(self) -> int:
        return len(self.sizes)

    def different(self, attribute: int) -> Ints:
        """Return the number of values of an attribute in each class."""
        return distinct(self.cells[attribute]) if self.distinct is None else self.distinct

    def base(
        self, attribute: int | None, values: tuple[int, ...], kept: npt.NDArray[np.bool_] | None = None
    ) -> npt.NDArray[np.float64]:
        """Return the shares of an attribute's values in the table, or in its ``kept`` classes; nothing for None."""
        if attribute is None:
            return np.zeros(0)
        cells = self.cells[attribute]
        count = cells.count if kept is None else np.where(kept[cells.owner], cells.count, 0)
        total = np.bincount(cells.value, count, values[attribute])
        return total / max(1.0, float(total.sum()))


def at_bottom(ground: WeightedRows) -> RowGrouping:
    """Return the classes before anything is generalized."""
    rows = np.arange(len(ground.weights), dtype=np.int64)
    some = ground.weights > 0  # a row that nobody has has no sensitive value either
    ends = np.concatenate([[0], np.cumsum(some)]).astype(np.int64)
    cells = tuple(ClassCells(ends, s[some], ground.weights[some]) for s in ground.sensitive)
    each = RowGrouping((0,) * ground.attributes, rows, ground.weights, cells, ground.population)
    return regrouped(ground, each, each.node)


def regrouped(ground: WeightedRows, below: RowGrouping, node: Node) -> RowGrouping:
    """Merge the classes of ``below``, a node that ``node`` generalizes."""
    ids, kept = numbered(keys_at(ground, below.first, node))
    size = len(kept)
    people = None if below.people is None else summed(ids, below.people, size)
    cells = tuple(
        ClassCells(*merged(c.begins, c.value, c.count, ids, size, v))
        for c, v in zip(below.cells, ground.values, strict=True)
    )
    return RowGrouping(node, below.first[kept], summed(ids, below.sizes, size), cells, people)


def keys_at(ground: WeightedRows, rows: Ints, node: Node) -> Ints:
    """Return a number for each combination of generalized values of ``rows``, at one node.

    They are renumbered in between where 62 bits do not hold them.
    """
    tables: list[Ints] = []
    radix, begin = 1, 0
    keys: Ints | None = None
    for j, level in enumerate(node):
        levels = ground.levels[j]
        width = levels.width(level)
        if radix * width >= _KEY_LIMIT:
            keys, radix = _so_far(ground, rows, keys, tables, begin)
            tables, begin = [], j
        tables.append(levels.maps[level].astype(np.int64) * radix)
        radix *= width
    return _added(ground, rows, keys, tables, begin)


def _so_far(ground: WeightedRows, rows: Ints, keys: Ints | None, tables: list[Ints], begin: int) -> tuple[Ints, int]:
    ids, kept = numbered(_added(ground, rows, keys, tables, begin))
    return ids, len(kept)


def _added(ground: WeightedRows, rows: Ints, keys: Ints | None, tables: list[Ints], begin: int) -> Ints:
    begins = np.cumsum([0, *map(len, tables)], dtype=np.int64)[:-1]
    flat = np.concatenate(tables) if tables else np.zeros(0, dtype=np.int64)
    own_keys = keys_of(ground.codes[:, begin : begin + len(tables)], rows, flat, begins)
    return own_keys if keys is None else own_keys + keys


def as_one(grouping: RowGrouping, which: npt.NDArray[np.intp]) -> RowGrouping:
    """Return a grouping of the single class that the classes ``which`` (at least one) make together."""
    sizes = np.array([grouping.sizes[which].sum()], dtype=np.int64)
    people = None if grouping.people is None else np.array([grouping.people[which].sum()], dtype=np.int64)
    cells = tuple(_together(c, which) for c in grouping.cells)
    return RowGrouping(grouping.node, grouping.first[which[:1]], sizes, cells, people)


def _together(cells: ClassCells, which: npt.NDArray[np.intp]) -> ClassCells:
    chosen = np.isin(cells.owner, which)
    value, count = cells.value[chosen], cells.count[chosen]
    begins = np.arange(len(value) + 1, dtype=np.int64)
    ids = np.zeros(len(value), dtype=np.int64)
    return ClassCells(*merged(begins, value, count, ids, 1, int(value.max(initial=0)) + 1))


def distinct(cells: ClassCells) -> Ints:
    """Return the number of values in each class."""
    return np.diff(cells.begins)


def shares(cells: ClassCells, sizes: Ints) -> Floats:
    """Return the share of each cell in its class."""
    parts: Floats = cells.count / np.repeat(np.where(sizes > 0, sizes, 1), distinct(cells))
    return parts


def added(cells: ClassCells, terms: Floats) -> Floats:
    """Add up one number for each cell, class by class."""
    return np.bincount(cells.owner, terms, len(cells.begins) - 1).astype(np.float64)


def largest(begins: Ints, count: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Return the largest of each class's numbers, 0 for a class without any."""
    out = np.zeros(len(begins) - 1, dtype=count.dtype)
    some = begins[:-1] < begins[1:]
    if some.any():
        out[some] = np.maximum.reduceat(count, begins[:-1][some])
    return out


# The lattice of generalizations: one level for each attribute, ordered attribute by attribute.


@dataclass(frozen=True, slots=True)
class Lattice:
    """``heights`` are the numbers of levels (Samarati 2001, section 3)."""

    heights: tuple[int, ...]

    @property
    def size(self) -> int:
        """How many nodes there are."""
        return math.prod(self.heights)

    @property
    def bottom(self) -> Node:
        """Nothing is generalized."""
        return (0,) * len(self.heights)

    @property
    def top(self) -> Node:
        """Everything is."""
        return tuple(h - 1 for h in self.heights)

    def __iter__(self) -> Iterator[Node]:
        """Yield every node, lexicographically."""
        return product(*(range(h) for h in self.heights))

    def successors(self, node: Node) -> Iterator[Node]:
        """Yield the nodes one level above."""
        for i, level in enumerate(node):
            if level + 1 < self.heights[i]:
                yield (*node[:i], level + 1, *node[i + 1 :])

    def predecessors(self, node: Node) -> Iterator[Node]:
        """Yield the nodes one level below."""
        for i, level in enumerate(node):
            if level:
                yield (*node[:i], level - 1, *node[i + 1 :])

    def below(self, node: Node) -> tuple[slice, ...]:
        """Return the places of all nodes that ``node`` generalizes, itself included, in an array of this shape."""
        return tuple(slice(0, level + 1) for level in node)

    def above(self, node: Node) -> tuple[slice, ...]:
        """Return the places of all nodes that generalize ``node``, itself included."""
        return tuple(slice(level, None) for level in node)

    def full(self, value: float) -> npt.NDArray[np.float64]:
        """Return an array with a number for each node."""
        return np.full(self.heights, value)


def is_below(one: Node, other: Node) -> bool:
    """Whether ``other`` generalizes ``one``, or is it.

    >>> is_below((0, 2), (1, 2)), is_below((0, 2), (1, 1))
    (True, False)
    """
    return all(a <= b for a, b in zip(one, other, strict=True))


def _same(total: Floats) -> Floats:
    return total


class Floors:
    """Lower bounds of every node's cost by its levels alone: the sum of one number for each attribute and level.

    ``terms[j][l]`` is what attribute j adds at level l; ``shape`` is monotone and makes the cost of their sum.
    """

    def __init__(self, terms: Sequence[Floats], shape: Callable[[Floats], Floats] = _same) -> None:
        self.terms = terms
        self.shape = shape

    def at(self, node: Node) -> float:
        """Return the floor of one node."""
        return float(self.shape(np.array(sum(float(t[level]) for t, level in zip(self.terms, node, strict=True)))))

    def every(self, lattice: Lattice) -> Floats:
        """Return the floors of all nodes, in the lattice's shape."""
        out = lattice.full(0.0)
        for j, term in enumerate(self.terms):
            out += term.reshape([-1 if i == j else 1 for i in range(len(self.terms))])
        return self.shape(out)


@dataclass(frozen=True, slots=True, eq=False)
class Levels:
    """One attribute's hierarchy over its leaf codes 0 … domain - 1.

    ``maps[l]`` (domain,) is the code of every leaf at level l, level 0 the leaves themselves; each level is a
    coarsening of the one before. ``shares[l]`` (codes at l,) is the share of the domain that a code covers, above 0 and
    at most 1. ``values`` is how many values the domain has, where the leaves are only some of them.
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
    """``codes`` (rows, attributes) leaf codes of distinct rows, ``weights`` (rows,) the number of records of each.

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
