"""Evaluates one node of the lattice: its classes, which of them keep the models, and the cost."""

from __future__ import annotations

from bisect import insort
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import numpy.typing as npt

from ppdm_flow.mining.recoding.costs import PreparedCost
from ppdm_flow.mining.recoding.grouping import Lattice, Node, RowGrouping, WeightedRows, at_bottom, regrouped
from ppdm_flow.mining.recoding.models import ClassModel

Bools = npt.NDArray[np.bool_]
Floats = npt.NDArray[np.float64]

_REMEMBERED = 48
"""Nodes from whose classes those of others are made."""

_NEVER = float("inf")

Watch = Callable[[int, int, float | None], bool]
"""Told (nodes looked at, nodes in all, best cost so far); False ends the search."""

EQUAL = 1e-12
"""Relative difference below which two costs are one."""

_SEEN = 64
"""Good nodes that are remembered."""


@dataclass(frozen=True, slots=True, eq=False)
class NodeResult:
    """``kept`` (classes,): those that are released; ``suppressed`` records are in the others.

    ``surely``: how many every node below suppresses at least; where these are too many, the node is not priced.
    ``bound``: what every node above costs at least.
    """

    grouping: RowGrouping
    kept: Bools
    suppressed: int
    surely: float
    cost: float
    bound: float


class CountedPeople(Protocol):
    """Decides on classes where people count: see `mining.class_people.nodes`."""

    def surely(self, grouping: RowGrouping) -> float:
        """Return how many rows every node below suppresses at least."""
        ...

    def kept(self, grouping: RowGrouping, *, at_released: bool) -> Bools:
        """Return which classes are released."""
        ...


class NodeEvaluator:
    """Looks at nodes, and remembers small groupings to make others from.

    ``at_released``: models that compare with the whole table compare with the released one, so that suppressing a
    class may break another, which then is suppressed as well, until none is broken. ``people`` decide in place of
    models where they count; costs are of rows.
    """

    def __init__(
        self,
        ground: WeightedRows,
        models: Sequence[ClassModel],
        priced: PreparedCost,
        limit: int,
        *,
        at_released: bool = True,
        people: CountedPeople | None = None,
    ) -> None:
        self.ground = ground
        self.priced = priced
        self.limit = limit
        self.at_released = at_released
        self.models = models
        self.people = people
        self.drift = limit / max(1, ground.records) if at_released else 0.0
        self._remembered = [at_bottom(ground)]
        self._levels = np.zeros((1, ground.attributes), dtype=np.int64)

    def __call__(self, node: Node) -> NodeResult:
        """Group, suppress and price."""
        grouping = self._grouping(node)
        surely, bound = self._surely(grouping), self.priced.bound(grouping)
        if surely > self.limit:
            kept = np.zeros(len(grouping), dtype=np.bool_)
            return NodeResult(grouping, kept, _records(grouping, ~kept), surely, _NEVER, bound)
        kept = self._kept(grouping)
        suppressed = _records(grouping, ~kept)
        cost = self.priced.of(grouping, kept) if suppressed <= self.limit else _NEVER
        return NodeResult(grouping, kept, suppressed, surely, cost, bound)

    def _grouping(self, node: Node) -> RowGrouping:
        """Group the classes of the smallest remembered node below."""
        below = np.flatnonzero((self._levels <= np.array(node)).all(axis=1))
        near = min((self._remembered[i] for i in below), key=len)
        grouping = near if near.node == node else regrouped(self.ground, near, node)
        if len(grouping) * 4 < len(near) * 3:
            self._remember(grouping)
        return grouping

    def _remember(self, grouping: RowGrouping) -> None:
        """Keep the bottom, and the latest others."""
        self._remembered = [self._remembered[0], *self._remembered[1:][-_REMEMBERED:], grouping]
        self._levels = np.array([g.node for g in self._remembered])

    def _surely(self, grouping: RowGrouping) -> float:
        """Return how many records all nodes below suppress at least: of each class the largest share by any model."""
        if self.people is not None:
            return self.people.surely(grouping)
        share = np.zeros(len(grouping))
        everything = np.ones(len(grouping), dtype=np.bool_)
        for model in self.models:
            base = self._base(grouping, model, everything)
            np.maximum(share, model.lost(grouping, base, self.drift), out=share)
        return float(grouping.sizes @ share) * (1.0 - 1e-9)

    def _kept(self, grouping: RowGrouping) -> Bools:
        """Suppress until every released class keeps every model; without any left there is nothing to keep."""
        if self.people is not None:
            return self.people.kept(grouping, at_released=self.at_released)
        kept = np.ones(len(grouping), dtype=np.bool_)
        while True:
            now = kept.copy()
            for model in self.models:
                now &= model.keeps(grouping, self._base(grouping, model, kept)) | (grouping.sizes == 0)
            settled = bool((now == kept).all()) or not self.at_released
            kept = now
            if settled or not _records(grouping, kept):
                return kept

    def _base(self, grouping: RowGrouping, model: ClassModel, kept: Bools) -> Floats:
        """Return the distribution of the model's attribute in the table that it compares with."""
        return grouping.base(model.attribute, self.ground.values, kept if self.at_released else None)


def _records(grouping: RowGrouping, which: Bools) -> int:
    return int(grouping.sizes[which].sum())


class CountingEvaluator:
    """Looks at nodes for a search, counts them, and remembers the best.

    ``going`` is False once ``most`` nodes were looked at, or where ``watch`` says so.

    Nodes of equal cost: the first in order of levels among those that were looked at.
    """

    def __init__(
        self,
        ground: WeightedRows,
        models: Sequence[ClassModel],
        priced: PreparedCost,
        limit: int,
        at_released: bool,
        most: int | None,
        watch: Watch | None,
        people: CountedPeople | None = None,
    ) -> None:
        self.lattice = Lattice(tuple(v.height for v in ground.levels))
        self.looking = NodeEvaluator(ground, models, priced, limit, at_released=at_released, people=people)
        self.limit = limit
        self.most = most
        self.watch = watch
        self.best: NodeResult | None = None
        self.seen: list[tuple[float, Node, int]] = []
        self.checked = 0
        self.going = True

    def __call__(self, node: Node) -> NodeResult:
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

    def is_good(self, look: NodeResult) -> bool:
        """Whether a node suppresses no more than allowed."""
        return look.suppressed <= self.limit

    def _is_better(self, look: NodeResult) -> bool:
        if self.best is None or look.cost < self.best.cost * (1.0 - EQUAL):
            return True
        same = look.cost <= self.best.cost * (1.0 + EQUAL)
        return same and look.grouping.node < self.best.grouping.node
