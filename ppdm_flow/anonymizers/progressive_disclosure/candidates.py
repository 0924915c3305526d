"""What can be disclosed: the nodes of all attributes' trees, numbered in the order that breaks ties."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ppdm_flow.anonymizers.progressive_disclosure.problem import Problem

Integers = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class Candidates:
    """Nodes that some row has, or may have. A *shelf* is what a candidate is taken from: the rest of its parent.

    ``attribute`` (C,) and ``offset`` (attributes + 1,): the first node of each; ``shelf`` (C,) numbers the shelves,
    the top of attribute a being a, then one for each inner node; ``own_shelf`` (C,) that of the node itself, -1 for a
    leaf; ``counts`` (C, classes) rows of the node; ``stuck`` (attributes, classes) rows that stay suppressed.
    """

    attribute: Integers
    offset: Integers
    shelf: Integers
    own_shelf: Integers
    child_begin: Integers
    children: npt.NDArray[np.int32]
    counts: Integers
    stuck: Integers

    @classmethod
    def of(cls, problem: Problem) -> Candidates:
        """Number the nodes and count their rows."""
        trees = [a.tree for a in problem.attributes]
        sizes = [len(t) for t in trees]
        offset = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
        attribute = np.repeat(np.arange(len(trees)), sizes)
        shift = offset[attribute]
        parent = np.concatenate([t.parent for t in trees]) if trees else np.zeros(0, dtype=np.int64)
        inner = np.concatenate([t.inner for t in trees]) if trees else np.zeros(0, dtype=np.bool_)
        below = parent >= 0
        own_shelf = np.where(inner, np.cumsum(inner) - 1 + len(trees), -1)
        shelf = attribute.copy()
        shelf[below] = own_shelf[(parent + shift)[below]]
        children = np.flatnonzero(below)[np.argsort((parent + shift)[below], kind="stable")]
        number = np.bincount((parent + shift)[below], minlength=len(parent))
        counted = [_counts(problem, a) for a in range(len(trees))]
        return cls(
            attribute=attribute,
            offset=offset,
            shelf=shelf,
            own_shelf=own_shelf,
            child_begin=np.concatenate([[0], np.cumsum(number)]).astype(np.int64),
            children=children.astype(np.int32),
            counts=np.concatenate([c[:-1] for c in counted]) if counted else np.zeros((0, 1), dtype=np.int64),
            stuck=np.stack([c[-1] for c in counted]) if counted else np.zeros((0, 1), dtype=np.int64),
        )

    def __len__(self) -> int:
        return len(self.attribute)

    @property
    def topmost(self) -> npt.NDArray[np.bool_]:
        """Which candidates stand directly below ``⊥``, shape (C,)."""
        return self.shelf < len(self.offset) - 1

    def range(self, attribute: int) -> slice:
        """Return where the nodes of an attribute stand."""
        return slice(int(self.offset[attribute]), int(self.offset[attribute + 1]))

    def below(self, candidate: int) -> npt.NDArray[np.int32]:
        """Return the children."""
        return self.children[self.child_begin[candidate] : self.child_begin[candidate + 1]]


def _counts(problem: Problem, attribute: int) -> Integers:
    """Rows of every node (last: of stuck cells) in each class, shape (nodes + 1, classes)."""
    own = problem.attributes[attribute]
    values = len(own.tree.leaf)
    classes = np.zeros(len(own.codes), dtype=np.int64) if problem.classes is None else problem.classes
    width = int(classes.max(initial=0)) + 1
    at = np.where(own.codes < 0, values, np.append(own.tree.place, 0)[own.codes])
    by_place = np.bincount(at * width + classes, weights=problem.weights, minlength=(values + 1) * width)
    leaves = by_place.astype(np.int64).reshape(values + 1, width)
    running = np.concatenate([np.zeros((1, width), dtype=np.int64), np.cumsum(leaves[:-1], axis=0)])
    return np.concatenate([running[own.tree.high] - running[own.tree.low], leaves[-1:]])
