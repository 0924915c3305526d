"""The input of the search: combinations of cells with their weights, in codes, and trees of each attribute's values."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Codes = npt.NDArray[np.int64]
Weights = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]

Integers = npt.NDArray[np.int64]

TOP = -1
"""The parent of the topmost nodes: everything suppressed."""


@dataclass(frozen=True, slots=True, eq=False)
class Tree:
    """Nodes in the order that breaks ties: parents before children, siblings by label, the missing value last.

    ``parent`` (nodes,); ``leaf`` (values,) the node of each value; the values below a node are those whose ``place``
    (values,) lies in [``low``, ``high``) (nodes,). ``labels`` (nodes,), None for the missing value.
    """

    labels: tuple[str | None, ...]
    parent: Integers
    leaf: Integers
    place: Integers
    low: Integers
    high: Integers

    def __len__(self) -> int:
        return len(self.labels)

    @property
    def inner(self) -> npt.NDArray[np.bool_]:
        """Which nodes have children."""
        inner = np.zeros(len(self), dtype=np.bool_)
        inner[self.parent[self.parent >= 0]] = True
        return inner


def flat(values: Sequence[str | None]) -> Tree:
    """Return the tree of suppression: every value directly below ``⊥``."""
    size = len(values)
    every = np.arange(size, dtype=np.int64)
    return Tree(tuple(values), np.full(size, TOP, dtype=np.int64), every, every, every, every + 1)


def grown(values: Sequence[str | None], ancestors: Sequence[Sequence[str]]) -> Tree:
    """Return the tree over ``values`` with these ancestors each, nearest first.

    >>> tree = grown(["Bonn", "Paris", "Rome"], [["DE"], ["FR"], ["IT"]])
    >>> tree.labels, tree.parent.tolist()
    (('DE', 'Bonn', 'FR', 'Paris', 'IT', 'Rome'), [-1, 0, -1, 2, -1, 4])
    """
    paths = [
        (*(("" if label is None else label) for label in reversed(above)), value or "")
        for value, above in zip(values, ancestors, strict=True)
    ]
    order = sorted(range(len(values)), key=lambda i: (values[i] is None, [t.encode() for t in paths[i]]))
    labels: list[str | None] = []
    parent: list[int] = []
    low: list[int] = []
    high: list[int] = []
    leaf, place = np.zeros(len(values), dtype=np.int64), np.zeros(len(values), dtype=np.int64)
    open_: list[int] = []  # the nodes on the path of the value before
    before: tuple[str, ...] = ()
    for position, i in enumerate(order):
        path = paths[i]
        shared = _shared(before, path)
        for node in open_[shared:]:
            high[node] = position
        open_ = open_[:shared]
        for depth in range(shared, len(path)):
            parent.append(open_[-1] if open_ else TOP)
            labels.append(values[i] if depth == len(path) - 1 else path[depth])
            low.append(position)
            high.append(position + 1)
            open_.append(len(labels) - 1)
        leaf[i], place[i], before = len(labels) - 1, position, path
    for node in open_:
        high[node] = len(values)
    as_codes = (np.array(x, dtype=np.int64) for x in (parent,))
    return Tree(
        tuple(labels), next(as_codes), leaf, place, np.array(low, dtype=np.int64), np.array(high, dtype=np.int64)
    )


def _shared(before: tuple[str, ...], path: tuple[str, ...]) -> int:
    """How many ancestors two values share; a value itself is never shared."""
    limit = min(len(before), len(path)) - 1
    for depth in range(max(0, limit)):
        if before[depth] != path[depth]:
            return depth
    return max(0, limit)


@dataclass(frozen=True, slots=True, eq=False)
class Attribute:
    """An attribute whose values are disclosed one after another, node by node of ``tree``.

    ``codes`` of shape (combinations,): a value's number, or -1 where the cell stays suppressed whatever happens.
    """

    name: str
    codes: Codes
    tree: Tree


@dataclass(frozen=True, slots=True, eq=False)
class Template:
    """<IC -> pi, h> for one sensitive value. ``hits`` marks the combinations that count: those with the value.

    Of a negated template, <IC -> not pi, h>, they are those without it.
    """

    id: str
    hits: Bools
    confidence: float


@dataclass(frozen=True, slots=True, eq=False)
class Channel:
    """What has to hold in the groups over one channel. ``attributes`` are the places of its suppressible attributes.

    ``base`` numbers the combinations by their cells in the channel's other attributes, which stay as they are.
    No group may have fewer than ``least`` rows, because of the requirements ``floors``.
    """

    attributes: tuple[int, ...]
    base: Codes
    templates: tuple[Template, ...]
    least: int = 1
    floors: tuple[tuple[str, int], ...] = ()


@dataclass(frozen=True, slots=True, eq=False)
class Problem:
    """``weights`` are row counts above zero; ``classes`` (combinations,) numbers the class, or None."""

    attributes: tuple[Attribute, ...]
    channels: tuple[Channel, ...]
    weights: Weights
    classes: Codes | None

    @property
    def total(self) -> int:
        """The number of rows."""
        return int(self.weights.sum())
