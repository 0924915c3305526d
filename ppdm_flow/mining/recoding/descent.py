"""Search of a lattice that is too large to be written down: best first, from the most general node downwards.

Keeps no more than the nodes that it looked at and their neighbours. What it finds holds; that nothing is cheaper it
cannot say.
"""

from __future__ import annotations

import heapq

from ppdm_flow.mining.recoding.floors import Floors
from ppdm_flow.mining.recoding.judge import Judge
from ppdm_flow.mining.recoding.lattice import Node

AFFORDED = 2_000
"""Nodes that are looked at unless it is said how many."""


class Descent:
    """Of the good nodes it specializes the cheapest first; of its neighbours it looks first at those that cost least.

    Nodes are known by their floors before they are looked at: one whose floor reaches the best cost is left out.
    """

    def __init__(self, judge: Judge, floors: Floors) -> None:
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
