"""The lattice of generalizations: one level for each attribute, ordered attribute by attribute."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np
import numpy.typing as npt

Node = tuple[int, ...]
"""A level for each attribute."""

Floats = npt.NDArray[np.float64]


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
    """What every node costs at least, known from its levels alone: one number for each attribute and level, added up.

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
