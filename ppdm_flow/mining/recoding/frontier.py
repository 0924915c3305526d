"""Which nodes of a lattice are still to be decided, and what each costs at least."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ppdm_flow.mining.recoding.judge import EQUAL
from ppdm_flow.mining.recoding.lattice import Lattice, Node

Floats = npt.NDArray[np.float64]


class Frontier:
    """``bounds`` and ``open`` have the lattice's shape."""

    def __init__(self, lattice: Lattice, bounds: Floats) -> None:
        self.lattice = lattice
        self.bounds = bounds
        self.open = np.ones(lattice.heights, dtype=np.bool_)

    def least(self) -> Node | None:
        """Return the open node of the least bound, the first in order of levels among equals; None after the last."""
        at = int(np.argmin(np.where(self.open, self.bounds, np.inf)))
        if not self.open.flat[at]:
            return None
        return tuple(int(i) for i in np.unravel_index(at, self.lattice.heights))

    def chain(self, start: Node) -> list[Node]:
        """Return a chain of open nodes upwards, always to the successor of the least bound."""
        path = [start]
        while True:
            above = [n for n in self.lattice.successors(path[-1]) if self.open[n]]
            if not above:
                return path
            path.append(min(above, key=lambda n: (self.bounds[n], n)))

    def decide(self, node: Node, bound: float) -> None:
        """Close a node that was looked at; no node above it can cost less than ``bound``."""
        self.open[node] = False
        above = self.bounds[self.lattice.above(node)]
        np.maximum(above, bound, out=above)

    def fail(self, node: Node) -> None:
        """Close all nodes that ``node`` generalizes: it surely loses too many records, so do they."""
        self.open[self.lattice.below(node)] = False

    def cut(self, cost: float) -> None:
        """Close what cannot be cheaper than ``cost``."""
        self.open &= self.bounds < cost * (1.0 - EQUAL)
