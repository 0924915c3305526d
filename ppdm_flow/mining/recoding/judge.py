"""Looks at nodes for a search, counts them, and remembers the best."""

from __future__ import annotations

from bisect import insort
from collections.abc import Callable, Sequence

from ppdm_flow.mining.recoding.costs import Priced
from ppdm_flow.mining.recoding.ground import Ground
from ppdm_flow.mining.recoding.lattice import Lattice, Node
from ppdm_flow.mining.recoding.look import Look, Looking
from ppdm_flow.mining.recoding.models import Model

Watch = Callable[[int, int, float | None], bool]
"""Told (nodes looked at, nodes in all, best cost so far); False ends the search."""

EQUAL = 1e-12
"""Relative difference below which two costs are one."""
_SEEN = 64
"""Good nodes that are remembered."""


class Judge:
    """``going`` is False once ``most`` nodes were looked at, or where ``watch`` says so.

    Nodes of equal cost: the first in order of levels among those that were looked at.
    """

    def __init__(
        self,
        ground: Ground,
        models: Sequence[Model],
        priced: Priced,
        limit: int,
        at_released: bool,
        most: int | None,
        watch: Watch | None,
    ) -> None:
        self.lattice = Lattice(tuple(v.height for v in ground.levels))
        self.looking = Looking(ground, models, priced, limit, at_released=at_released)
        self.limit = limit
        self.most = most
        self.watch = watch
        self.best: Look | None = None
        self.seen: list[tuple[float, Node, int]] = []
        self.checked = 0
        self.going = True

    def __call__(self, node: Node) -> Look:
        """Look at a node."""
        look = self.looking(node)
        self.checked += 1
        if self.is_good(look):
            insort(self.seen, (look.cost, node, look.suppressed))
            del self.seen[_SEEN:]
            if self._is_better(look):
                self.best = look
        if self.most is not None and self.checked >= self.most:
            self.going = False
        so_far = None if self.best is None else self.best.cost
        if self.watch is not None and not self.watch(self.checked, self.lattice.size, so_far):
            self.going = False
        return look

    def is_good(self, look: Look) -> bool:
        """Whether a node suppresses no more than allowed."""
        return look.suppressed <= self.limit

    def _is_better(self, look: Look) -> bool:
        if self.best is None or look.cost < self.best.cost * (1.0 - EQUAL):
            return True
        same = look.cost <= self.best.cost * (1.0 + EQUAL)
        return same and look.grouping.node < self.best.grouping.node
