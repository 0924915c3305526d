"""The cheapest node at which the models hold and no more records are suppressed than allowed.

The optimum is exact: a node is left out only where a lower bound of its cost reaches the best cost found, or where a
node above it shows that it suppresses too many records (predictive tagging and search by halves along chains,
Kohlmayer et al., "Flash", 2012; for models that merging may break, by the share that convexity dooms, see models).
Lattices of more than :data:`WRITTEN` nodes are searched downwards instead, and nothing is proven.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ppdm_flow.mining.recoding.costs import Cost
from ppdm_flow.mining.recoding.descent import AFFORDED, Descent
from ppdm_flow.mining.recoding.frontier import Frontier
from ppdm_flow.mining.recoding.ground import Ground
from ppdm_flow.mining.recoding.judge import Judge, Watch
from ppdm_flow.mining.recoding.lattice import Node
from ppdm_flow.mining.recoding.look import Look
from ppdm_flow.mining.recoding.models import Model

WRITTEN = 2_000_000
"""Nodes that the exact search keeps a number for: nine bytes each, and a look over all of them for each chain."""


@dataclass(frozen=True, slots=True, eq=False)
class Solution:
    """The best node that was found, as it was looked at; None where none is good enough.

    ``checked`` of ``size`` nodes were looked at. ``proven`` is False where the search was ended before every node was
    decided. ``seen`` are the cheapest of the nodes that are good enough among them, cheapest first, each with its cost
    and how many records it suppresses.
    """

    best: Look | None
    checked: int
    size: int
    proven: bool
    seen: tuple[tuple[Node, float, int], ...] = ()

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
    written: int = WRITTEN,
) -> Solution:
    """Search the lattice. ``limit`` records may be suppressed; at most ``most`` nodes are looked at.

    Nodes of equal cost: the first in order of levels among those that were looked at. ``written``: the largest lattice
    that is searched exactly.
    """
    priced = cost.prepare(ground)
    judge = Judge(ground, models, priced, limit, at_released, most, watch)
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


def _halve(judge: Judge, frontier: Frontier, path: list[Node]) -> None:
    """Look for the lowest good node of a chain."""
    low, high = 0, len(path) - 1
    while low <= high and judge.going:
        middle = (low + high) // 2
        if not frontier.open[path[middle]] or _is_good(judge, frontier, path[middle]):  # closed: cut by the best cost
            high = middle - 1
        else:
            low = middle + 1


def _is_good(judge: Judge, frontier: Frontier, node: Node) -> bool:
    before = judge.best
    look = judge(node)
    frontier.decide(node, look.bound)
    if look.surely > judge.limit:
        frontier.fail(node)
    if judge.best is not None and judge.best is not before:
        frontier.cut(judge.best.cost)
    return judge.is_good(look)
