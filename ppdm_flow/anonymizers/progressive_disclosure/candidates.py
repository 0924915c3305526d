"""What can be disclosed: the nodes of all attributes' trees, numbered in the order that breaks ties."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ppdm_flow.anonymizers.progressive_disclosure.problem import Problem

Integers = npt.NDArray[np.int64]
Hashes = npt.NDArray[np.uint64]

_MANY = 1_000
"""Values of an attribute from which it pays to look for alike ones."""

NO_FOLLOWER = -1


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


def collapsed(columns: Sequence[Integers]) -> tuple[Integers, Integers]:
    """Number the distinct rows of ``columns``, whose codes are -1 at least; also the first row of each."""
    key = np.zeros(len(columns[0]), dtype=np.int64)
    radix = 1
    for column in columns:
        width = int(column.max(initial=-1)) + 2
        if radix * width >= 1 << 62:
            distinct, key = np.unique(key, return_inverse=True)
            radix = max(1, len(distinct))
        key = key * width + (column + 1)
        radix *= width
    _, first, inverse = np.unique(key, return_index=True, return_inverse=True)
    return inverse, first


def sums(places: Integers, weights: Integers, size: int) -> Integers:
    """Add up ``weights`` by place. Exact: row counts stay below 2^53."""
    return np.bincount(places, weights=weights, minlength=size).astype(np.int64)


def followers(problem: Problem, candidates: Candidates) -> Integers:
    """Return the next candidate that is like each one, -1 for none, shape (C,).

    Alike are values of one attribute, on one shelf, whose rows agree in all other attributes, in class and hits: they
    gain, and raise confidences, by the same all the time, and the first of them is disclosed first. Rows are compared
    by the sum of 64-bit hashes.
    """
    followers_of = np.full(len(candidates), NO_FOLLOWER, dtype=np.int64)
    for place, attribute in enumerate(problem.attributes):
        if len(attribute.tree.leaf) >= _MANY:
            leaves = attribute.tree.leaf + candidates.offset[place]
            marks = _marks(problem, place)
            order = np.lexsort((leaves, marks, candidates.shelf[leaves]))
            sorted_, first, second = leaves[order], order[:-1], order[1:]
            shelf = candidates.shelf[sorted_]
            same = (marks[first] == marks[second]) & (shelf[1:] == shelf[:-1])
            followers_of[sorted_[:-1][same]] = sorted_[1:][same]
    return followers_of


def _marks(problem: Problem, place: int) -> Hashes:
    """Hash the rows of each value of an attribute, that attribute left out, shape (values,)."""
    own = problem.attributes[place]
    columns = [a.codes for i, a in enumerate(problem.attributes) if i != place]
    columns += [channel.base for channel in problem.channels]
    columns += [t.hits.astype(np.int64) for channel in problem.channels for t in channel.templates]
    columns += [] if problem.classes is None else [problem.classes]
    rest, _ = collapsed(columns)
    hashes = _mixed(_mixed(rest.astype(np.uint64)) + problem.weights.astype(np.uint64))
    marks = np.zeros(len(own.tree.leaf) + 1, dtype=np.uint64)
    np.add.at(marks, own.codes, hashes)  # the last one takes the cells that stay suppressed
    return marks[:-1]


def _mixed(values: Hashes) -> Hashes:
    """Mix the bits (the finalizer of SplitMix64)."""
    mixed = values + np.uint64(0x9E3779B97F4A7C15)
    mixed = (mixed ^ (mixed >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return mixed ^ (mixed >> np.uint64(31))
