"""One node of the lattice, looked at: its classes, which of them keep the models, and what that costs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ppdm_flow.mining.recoding.costs import Priced
from ppdm_flow.mining.recoding.ground import Ground
from ppdm_flow.mining.recoding.grouping import Grouping, at_bottom, regrouped
from ppdm_flow.mining.recoding.lattice import Node
from ppdm_flow.mining.recoding.models import Model

Bools = npt.NDArray[np.bool_]
Floats = npt.NDArray[np.float64]

_REMEMBERED = 48
"""Nodes from whose classes those of others are made."""
_NEVER = float("inf")


@dataclass(frozen=True, slots=True, eq=False)
class Look:
    """``kept`` (classes,): those that are released; ``suppressed`` records are in the others.

    ``surely``: how many every node below suppresses at least; where these are too many, the node is not priced.
    ``bound``: what every node above costs at least.
    """

    grouping: Grouping
    kept: Bools
    suppressed: int
    surely: float
    cost: float
    bound: float


class Looking:
    """Looks at nodes, and remembers small groupings to make others from.

    ``at_released``: models that compare with the whole table compare with the released one, so that suppressing a
    class may break another, which then is suppressed as well, until none is broken.
    """

    def __init__(
        self, ground: Ground, models: Sequence[Model], priced: Priced, limit: int, *, at_released: bool = True
    ) -> None:
        self.ground = ground
        self.priced = priced
        self.limit = limit
        self.at_released = at_released
        self.models = models
        self.drift = limit / max(1, ground.records) if at_released else 0.0
        self._remembered = [at_bottom(ground)]
        self._levels = np.zeros((1, ground.attributes), dtype=np.int64)

    def __call__(self, node: Node) -> Look:
        """Group, suppress and price."""
        grouping = self._grouping(node)
        surely, bound = self._surely(grouping), self.priced.bound(grouping)
        if surely > self.limit:
            kept = np.zeros(len(grouping), dtype=np.bool_)
            return Look(grouping, kept, _records(grouping, ~kept), surely, _NEVER, bound)
        kept = self._kept(grouping)
        suppressed = _records(grouping, ~kept)
        cost = self.priced.of(grouping, kept) if suppressed <= self.limit else _NEVER
        return Look(grouping, kept, suppressed, surely, cost, bound)

    def _grouping(self, node: Node) -> Grouping:
        """Group the classes of the smallest remembered node below."""
        below = np.flatnonzero((self._levels <= np.array(node)).all(axis=1))
        near = min((self._remembered[i] for i in below), key=len)
        found = near if near.node == node else regrouped(self.ground, near, node)
        if len(found) * 4 < len(near) * 3:
            self._remember(found)
        return found

    def _remember(self, found: Grouping) -> None:
        """Keep the bottom, and the latest others."""
        self._remembered = [self._remembered[0], *self._remembered[1:][-_REMEMBERED:], found]
        self._levels = np.array([g.node for g in self._remembered])

    def _surely(self, grouping: Grouping) -> float:
        """Return how many records all nodes below suppress at least: of each class the largest share by any model."""
        share = np.zeros(len(grouping))
        everything = np.ones(len(grouping), dtype=np.bool_)
        for model in self.models:
            base = self._base(grouping, model, everything)
            np.maximum(share, model.lost(grouping, base, self.drift), out=share)
        return float(grouping.sizes @ share) * (1.0 - 1e-9)

    def _kept(self, grouping: Grouping) -> Bools:
        """Suppress until every released class keeps every model; without any left there is nothing to keep."""
        kept = np.ones(len(grouping), dtype=np.bool_)
        while True:
            now = kept.copy()
            for model in self.models:
                now &= model.keeps(grouping, self._base(grouping, model, kept)) | (grouping.sizes == 0)
            settled = bool((now == kept).all()) or not self.at_released
            kept = now
            if settled or not _records(grouping, kept):
                return kept

    def _base(self, grouping: Grouping, model: Model, kept: Bools) -> Floats:
        """Return the distribution of the model's attribute in the table that it compares with."""
        return grouping.base(model.attribute, self.ground.values, kept if self.at_released else None)


def _records(grouping: Grouping, which: Bools) -> int:
    return int(grouping.sizes[which].sum())
