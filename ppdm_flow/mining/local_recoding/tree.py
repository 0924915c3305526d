"""The tree of cuts: how it grows, which classes are its leaves, and how parts of it are taken back."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

Ints = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]


class Parts(NamedTuple):
    """Parts of the table while it is cut: items ``begins`` to ``ends``, and whether each keeps every model.

    ``place`` is that in the tree: 2 node + side. ``tries`` are as `kernels.proposed` reads them.
    """

    begins: Ints
    ends: Ints
    place: Ints
    tries: npt.NDArray[np.int8]
    kept: Bools

    def take(self, which: Bools) -> Parts:
        """Return some of them."""
        return Parts(self.begins[which], self.ends[which], self.place[which], self.tries[which], self.kept[which])


@dataclass(frozen=True, slots=True, eq=False)
class Partition:
    """Class c has the items ``order[begins[c]:ends[c]]``.

    ``cuts`` (nodes, 3) and ``after`` (nodes, 2) are the tree as `kernels.walked` reads it, right for strict cuts only.
    ``place`` (classes,) is where each class hangs in it. ``nodes`` are the parts that were cut.
    """

    order: Ints
    begins: Ints
    ends: Ints
    cuts: Ints
    after: Ints
    place: Ints
    nodes: Parts

    def __len__(self) -> int:
        return len(self.begins)

    @property
    def classes(self) -> Ints:
        """The class of each item."""
        out = np.empty(len(self.order), dtype=np.int64)
        out[self.order] = np.repeat(np.arange(len(self)), self.ends - self.begins)
        return out

    def taken_back(self, groups: Sequence[Ints]) -> Partition | None:
        """Return the partition without the cuts below the nearest part that holds all classes of a group and is kept.

        None where there is no such part for some of the groups.
        """
        first = np.array([self.begins[g].min() for g in groups])
        last = np.array([self.ends[g].max() for g in groups])
        at = np.array([self.place[g[0]] >> 1 for g in groups])
        if not len(self.cuts):
            return None
        while True:
            holds_group = (self.nodes.begins[at] <= first) & (self.nodes.ends[at] >= last) & self.nodes.kept[at]
            if holds_group.all():
                return self._without(np.unique(at))
            if (at[~holds_group] == 0).any():
                return None
            at = np.where(holds_group, at, self.nodes.place[at] >> 1)

    def _without(self, nodes: Ints) -> Partition:
        """Make classes of nodes: of one below another, the upper one."""
        begins, ends = self.nodes.begins[nodes], self.nodes.ends[nodes]
        rank = np.lexsort((-ends, begins))
        nodes, begins, ends = nodes[rank], begins[rank], ends[rank]
        reach = np.maximum.accumulate(np.concatenate([[-1], ends[:-1]]))
        top = ends > reach
        nodes, begins, ends = nodes[top], begins[top], ends[top]
        inside = np.searchsorted(begins, self.begins, side="right") - 1
        stay = (inside < 0) | (self.begins >= ends[inside])
        every = [np.concatenate(pair) for pair in ((self.begins[stay], begins), (self.ends[stay], ends))]
        place = np.concatenate([self.place[stay], self.nodes.place[nodes]])
        rank = np.argsort(every[0], kind="stable")
        cuts, after = self.cuts, self.after.copy().ravel()
        if (nodes == 0).any():
            cuts, after = cuts[:0], after[:0]
        else:
            after[place[rank]] = -1 - np.arange(len(rank))
        return Partition(
            self.order, every[0][rank], every[1][rank], cuts, after.reshape(-1, 2), place[rank], self.nodes
        )


@dataclass(slots=True, eq=False)
class Growth:
    """The tree while it grows; ``leaves`` are parts that no cut divides."""

    cuts: list[Ints] = field(default_factory=list)
    nodes: list[Parts] = field(default_factory=list)
    leaves: list[Parts] = field(default_factory=list)
    number: int = 0

    def grow(self, parts: Parts, cuts: Ints, middles: Ints, kept: Bools) -> Parts:
        """Add a node for each part and return the halves; ``kept`` (parts, 2) says which of these are kept."""
        place = 2 * (self.number + np.arange(len(middles)))
        self.number += len(middles)
        self.cuts.append(cuts[:, :3])
        self.nodes.append(parts)
        begins = np.stack([parts.begins, middles], axis=1).ravel()
        ends = np.stack([middles, parts.ends], axis=1).ravel()
        tries = np.zeros((len(begins), parts.tries.shape[1]), dtype=np.int8)
        return Parts(begins, ends, np.stack([place, place + 1], axis=1).ravel(), tries, kept.ravel())

    def finished(self, order: Ints) -> Partition:
        """Number the leaves by where they stand, so that the result does not depend on when they were found."""
        leaves = _joined(self.leaves)
        rank = np.argsort(leaves.begins)
        cuts = np.concatenate([np.empty((0, 3), dtype=np.int64), *self.cuts])
        after = np.empty(2 * len(cuts), dtype=np.int64)
        nodes = _joined(self.nodes) if len(cuts) else leaves.take(np.zeros(len(rank), dtype=np.bool_))
        place = leaves.place[rank]
        if len(cuts):
            after[nodes.place[1:]] = np.arange(1, len(nodes.place))
            after[place] = -1 - np.arange(len(place))
        return Partition(order, leaves.begins[rank], leaves.ends[rank], cuts, after.reshape(-1, 2), place, nodes)


def _joined(parts: Sequence[Parts]) -> Parts:
    return Parts(*(np.concatenate(each) for each in zip(*parts, strict=True)))


def nothing_cut(attributes: int) -> Partition:
    """Return the partition of no items."""
    none = np.zeros(0, dtype=np.int64)
    nodes = Parts(none, none, none, np.zeros((0, attributes), dtype=np.int8), np.zeros(0, dtype=np.bool_))
    return Partition(none, none, none, np.zeros((0, 3), dtype=np.int64), np.zeros((0, 2), dtype=np.int64), none, nodes)
