"""A hierarchy over codes as numbers: every node a range of codes, with what it costs to say no more than the node."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from ppdm_flow.mining.combinations.owners import Codes, Ints

NONE = -1
"""No node: above a root, and where a code is left out."""


class CodeTree(NamedTuple):
    """Nodes 0 to n - 1, of which a code begins as the one that ``leaf`` says; ``place`` is the code's in an order.

    In that order the codes below node u are those from ``low[u]`` up to ``high[u]``. ``up`` is the nearest node above
    with more codes below it, or NONE. ``price`` says how many values of the domain a node stands for, 0 for a value
    itself; ``whole`` is the price of saying nothing. Their share is the normalized certainty penalty.
    """

    low: Ints
    high: Ints
    up: Ints
    price: Ints
    leaf: Ints
    place: Codes
    whole: int


def tree_of(parents: Sequence[int], leaf: Sequence[int], values: Sequence[int], whole: int) -> CodeTree:
    """Return the tree of nodes by their parents (-1 for a root), for codes that begin at the nodes ``leaf``, each own.

    ``values`` are the values of the domain that each node stands for. Raises ValueError where a node is above itself,
    or two codes begin at one node.
    """
    nodes = len(parents)
    code_of = {node: code for code, node in enumerate(leaf)}
    if len(code_of) != len(leaf):
        raise ValueError("two codes begin at one node")
    below: list[list[int]] = [[] for _ in range(nodes)]
    for node, parent in enumerate(parents):
        if parent != NONE:
            below[parent].append(node)
    low, high, place = np.zeros(nodes, np.int64), np.full(nodes, -1, np.int64), np.zeros(len(leaf), np.int32)
    up = np.full(nodes, NONE, dtype=np.int64)
    placed = 0
    stack = [(root, False) for root in reversed(range(nodes)) if parents[root] == NONE]
    while stack:
        node, done = stack.pop()
        if done:
            high[node] = placed
            continue
        low[node] = placed
        if node in code_of:
            place[code_of[node]] = placed
            placed += 1
        stack.append((node, True))
        stack += [(child, False) for child in reversed(below[node])]
    if (high < 0).any():
        raise ValueError("a node is above itself")
    for node, parent in enumerate(parents):
        above = parent
        while above != NONE and high[above] - low[above] == high[node] - low[node]:
            above = parents[above]
        up[node] = above
    inner = np.asarray(values, dtype=np.int64)
    return CodeTree(low, high, up, np.where(inner > 1, inner, 0), np.asarray(leaf, np.int64), place, whole)


def flat(width: int) -> CodeTree:
    """Return the tree of codes with nothing above them."""
    own = np.arange(width, dtype=np.int64)
    none = np.full(width, NONE, dtype=np.int64)
    return CodeTree(own, own + 1, none, np.zeros(width, np.int64), own, own.astype(np.int32), width)
