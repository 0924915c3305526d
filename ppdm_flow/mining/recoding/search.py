"""The cheapest node at which the models hold and no more records are suppressed than allowed.

The optimum is exact: a node is left out only where a lower bound of its cost reaches the best cost found, or where a
node above it shows that it suppresses too many records (predictive tagging and search by halves along chains,
Kohlmayer et al., "Flash", 2012; for models that merging may break, by the share that convexity dooms, see models).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from ppdm_flow.mining.recoding.costs import Cost
from ppdm_flow.mining.recoding.frontier import EQUAL, Frontier
from ppdm_flow.mining.recoding.ground import Ground
from ppdm_flow.mining.recoding.lattice import Lattice, Node
from ppdm_flow.mining.recoding.look import Look, Looking
from ppdm_flow.mining.recoding.models import Model

Watch = Callable[[int, int, float | None], bool]
"""Told (nodes looked at, nodes in all, best cost so far); False ends the search."""


@dataclass(frozen=True, slots=True, eq=False)
class Solution:
    """The best node that was found, as it was looked at; None where none is good enough.

    ``checked`` of ``size`` nodes were looked at. ``proven`` is False where the search was ended before every node was
    decided.
    """

    best: Look | None
    checked: int
    size: int
    proven: bool

    @property
    def node(self) -> Node | None:
        """The levels."""
        return None if self.best is None else self.best.grouping.node


def optimum(
    ground: Ground,
    models: Sequence[Model],
    cost: Cost,
    limit: int,
    *,
    at_released: bool = True,
    most: int | None = None,
    watch: Watch | None = None,
) -> Solution:
    """Search the whole lattice. ``limit`` records may be suppressed; at most ``most`` nodes are looked at.

    Nodes of equal cost: the first in order of levels among those that were looked at.
    """
    search = _Search(ground, models, cost, limit, at_released, most, watch)
    while search.going and (start := search.frontier.least()) is not None:
        search.halve(search.frontier.chain(start))
    return search.solution()


class _Search:
    def __init__(
        self,
        ground: Ground,
        models: Sequence[Model],
        cost: Cost,
        limit: int,
        at_released: bool,
        most: int | None,
        watch: Watch | None,
    ) -> None:
        self.lattice = Lattice(tuple(v.height for v in ground.levels))
        priced = cost.prepare(ground, self.lattice)
        self.looking = Looking(ground, models, priced, limit, at_released=at_released)
        self.frontier = Frontier(self.lattice, priced.static.copy())
        self.limit = limit
        self.most = most
        self.watch = watch
        self.best: Look | None = None
        self.checked = 0
        self.going = True

    def solution(self) -> Solution:
        """Return what was found."""
        return Solution(self.best, self.checked, self.lattice.size, self.frontier.least() is None)

    def halve(self, path: list[Node]) -> None:
        """Look for the lowest good node of a chain."""
        low, high = 0, len(path) - 1
        while low <= high and self.going:
            middle = (low + high) // 2
            if not self.frontier.open[path[middle]] or self._is_good(path[middle]):  # closed: cut by the best cost
                high = middle - 1
            else:
                low = middle + 1

    def _is_good(self, node: Node) -> bool:
        look = self._look(node)
        if look.surely > self.limit:
            self.frontier.fail(node)
        if look.suppressed > self.limit:
            return False
        if self._is_better(look):
            self.best = look
            self.frontier.cut(look.cost)
        return True

    def _look(self, node: Node) -> Look:
        look = self.looking(node)
        self.checked += 1
        self.frontier.decide(node, look.bound)
        if self.most is not None and self.checked >= self.most:
            self.going = False
        so_far = None if self.best is None else self.best.cost
        if self.watch is not None and not self.watch(self.checked, self.lattice.size, so_far):
            self.going = False
        return look

    def _is_better(self, look: Look) -> bool:
        if self.best is None or look.cost < self.best.cost * (1.0 - EQUAL):
            return True
        same = look.cost <= self.best.cost * (1.0 + EQUAL)
        return same and look.grouping.node < self.best.grouping.node
