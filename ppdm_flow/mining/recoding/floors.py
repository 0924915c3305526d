"""What every node costs at least, known from its levels alone: one number for each attribute and level, added up."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import numpy.typing as npt

from ppdm_flow.mining.recoding.lattice import Lattice, Node

Floats = npt.NDArray[np.float64]


def _same(total: Floats) -> Floats:
    return total


class Floors:
    """``terms[j][l]`` is what attribute j adds at level l; ``shape`` is monotone and makes the cost of their sum."""

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
