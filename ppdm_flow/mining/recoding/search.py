"""The cheapest node at which the models hold and no more records are suppressed than allowed.

The optimum is exact: a node is left out only where a lower bound of its cost reaches the best cost found, or where a
node above it shows that it suppresses too many records (predictive tagging and search by halves along chains,
Kohlmayer et al., "Flash", 2012; for models that merging may break, by the share that convexity dooms, see models).
Lattices of more than :data:`WRITTEN` nodes are searched downwards instead, and nothing is proven.

Search of a lattice that is too large to be written down: best first, from the most general node downwards. Keeps no
more than the nodes that it looked at and their neighbours. Its result keeps the models, but a cheaper node may exist.
"""

from __future__ import annotations

import heapq
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ppdm_flow.mining.recoding.costs import RecodingCost
from ppdm_flow.mining.recoding.evaluation import EQUAL, CountedPeople, CountingEvaluator, NodeResult, Watch
from ppdm_flow.mining.recoding.grouping import Floors, Lattice, Node, WeightedRows
from ppdm_flow.mining.recoding.models import ClassModel

WRITTEN = 2_000_000
"""Nodes that the exact search keeps a number for: nine bytes each, and a look over all of them for each chain."""

AFFORDED = 2_000
"""Nodes that are looked at unless it is said how many."""

Floats = npt.NDArray[np.float64]


class Frontier:
    """The undecided nodes of a lattice, with a lower bound of each node's cost.

    ``bounds`` and ``open`` have the lattice's shape.
    """

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


class Descent:
    """A descent that specializes the cheapest good node first, and visits its cheapest neighbours first.

    Nodes are known by their floors before they are looked at: one whose floor reaches the best cost is left out.
    """

    def __init__(self, judge: CountingEvaluator, floors: Floors) -> None:
        self.judge = judge
        self.floors = floors
        self.known: set[Node] = set()
        self.open: list[tuple[float, Node]] = []

    def run(self) -> bool:
        """Search until nothing is left to try or the nodes are spent; return whether every node was decided."""
        self._try(self.judge.lattice.top)
        while self.open and self.judge.going:
            price, node = heapq.heappop(self.open)
            self._specialize(node, price)
        return self.judge.lattice.size == self.judge.checked

    def _specialize(self, node: Node, _price: float) -> None:
        below = [n for n in self.judge.lattice.predecessors(node) if n not in self.known]
        for near in sorted(below, key=lambda n: (self.floors.at(n), n)):
            if not self.judge.going:
                return
            self._try(near)

    def _try(self, node: Node) -> None:
        self.known.add(node)
        best = self.judge.best
        if best is not None and self.floors.at(node) >= best.cost:
            return  # it costs no less, and what lies below it is reached by cheaper ways
        look = self.judge(node)
        if self.judge.is_good(look):
            heapq.heappush(self.open, (look.cost, node))


@dataclass(frozen=True, slots=True, eq=False)
class Solution:
    """The best node that was found, as it was looked at; None where none is good enough.

    ``checked`` of ``size`` nodes were looked at. ``proven`` is False where the search was ended before every node was
    decided. ``seen`` are the cheapest of the nodes that are good enough among them, cheapest first, each with its cost
    and how many records it suppresses.
    """

    best: NodeResult | None
    checked: int
    size: int
    proven: bool
    seen: tuple[tuple[Node, float, int], ...] = ()

    @property
    def node(self) -> Node | None:
        """The levels."""
        return None if self.best is None else self.best.grouping.node


def optimum(
    ground: WeightedRows,
    models: Sequence[ClassModel],
    cost: RecodingCost,
    limit: int,
    *,
    at_released: bool = True,
    most: int | None = None,
    watch: Watch | None = None,
    written: int = WRITTEN,
    people: CountedPeople | None = None,
) -> Solution:
    """Search the lattice. ``limit`` records may be suppressed; at most ``most`` nodes are looked at.

    Nodes of equal cost: the first in order of levels among those that were looked at. ``written``: the largest lattice
    that is searched exactly. ``people``: where they count.
    """
    priced = cost.prepare(ground)
    judge = CountingEvaluator(ground, models, priced, limit, at_released, most, watch, people)
    if judge.lattice.size > written:
        judge.most = AFFORDED if most is None else most
        proven = Descent(judge, priced.floors).run()
    else:
        frontier = Frontier(judge.lattice, priced.floors.every(judge.lattice))
        while judge.going and (start := frontier.least()) is not None:
            _halve(judge, frontier, frontier.chain(start))
        proven = frontier.least() is None
    seen = tuple((node, price, lost) for price, node, lost in judge.seen)
    return Solution(judge.best, judge.checked, judge.lattice.size, proven, seen)


def _halve(judge: CountingEvaluator, frontier: Frontier, path: list[Node]) -> None:
    """Look for the lowest good node of a chain."""
    low, high = 0, len(path) - 1
    while low <= high and judge.going:
        middle = (low + high) // 2
        if not frontier.open[path[middle]] or _is_good(judge, frontier, path[middle]):  # closed: cut by the best cost
            high = middle - 1
        else:
            low = middle + 1


def _is_good(judge: CountingEvaluator, frontier: Frontier, node: Node) -> bool:
    before = judge.best
    look = judge(node)
    frontier.decide(node, look.bound)
    if look.surely > judge.limit:
        frontier.fail(node)
    if judge.best is not None and judge.best is not before:
        frontier.cut(judge.best.cost)
    return judge.is_good(look)
