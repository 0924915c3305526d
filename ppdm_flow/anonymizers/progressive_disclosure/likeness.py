"""Values that cannot be told apart but by their name: whatever is disclosed, of these the first is as good as any."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ppdm_flow.anonymizers.progressive_disclosure.candidates import Candidates
from ppdm_flow.anonymizers.progressive_disclosure.combinations import collapsed
from ppdm_flow.anonymizers.progressive_disclosure.problem import Problem

Integers = npt.NDArray[np.int64]
Hashes = npt.NDArray[np.uint64]

_MANY = 1_000
"""Values of an attribute from which it pays to look for alike ones."""
NOBODY = -1


def followers(problem: Problem, candidates: Candidates) -> Integers:
    """Return the next candidate that is like each one, -1 for none, shape (C,).

    Alike are values of one attribute, on one shelf, whose rows agree in all other attributes, in class and hits: they
    gain, and raise confidences, by the same all the time, and the first of them is disclosed first. Rows are compared
    by the sum of 64-bit hashes.
    """
    found = np.full(len(candidates), NOBODY, dtype=np.int64)
    for place, attribute in enumerate(problem.attributes):
        if len(attribute.tree.leaf) >= _MANY:
            leaves = attribute.tree.leaf + candidates.offset[place]
            marks = _marks(problem, place)
            order = np.lexsort((leaves, marks, candidates.shelf[leaves]))
            sorted_, first, second = leaves[order], order[:-1], order[1:]
            shelf = candidates.shelf[sorted_]
            same = (marks[first] == marks[second]) & (shelf[1:] == shelf[:-1])
            found[sorted_[:-1][same]] = sorted_[1:][same]
    return found


def _marks(problem: Problem, place: int) -> Hashes:
    """Hash the rows of each value of an attribute, that attribute left out, shape (values,)."""
    own = problem.attributes[place]
    columns = [a.codes for i, a in enumerate(problem.attributes) if i != place]
    columns += [channel.base for channel in problem.channels]
    columns += [t.hits.astype(np.int64) for channel in problem.channels for t in channel.templates]
    columns += [] if problem.classes is None else [problem.classes]
    rest, _ = collapsed(columns)
    hashes = _mixed(_mixed(rest.astype(np.uint64)) + problem.weights.astype(np.uint64))
    found = np.zeros(len(own.tree.leaf) + 1, dtype=np.uint64)
    np.add.at(found, own.codes, hashes)  # the last one takes the cells that stay suppressed
    return found[:-1]


def _mixed(values: Hashes) -> Hashes:
    """Mix the bits (the finalizer of SplitMix64)."""
    mixed = values + np.uint64(0x9E3779B97F4A7C15)
    mixed = (mixed ^ (mixed >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return mixed ^ (mixed >> np.uint64(31))
