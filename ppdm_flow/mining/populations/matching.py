"""How many people of the population fit each released class."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from ppdm_flow.mining.populations.profiles import PopulationProfiles
from ppdm_flow.tables.column import SPECIALS

Ints = npt.NDArray[np.int64]
_AT_ONCE = 1 << 14
"""Profiles that are matched at a time: each may fit many classes."""


def fitting(classes: npt.NDArray[np.int32], population: PopulationProfiles) -> Ints:
    """Return the people of each class, shape (classes,); ``classes`` (classes, columns) are distinct."""
    steps, last = _trie(classes + SPECIALS)
    people = np.zeros(len(classes), dtype=np.int64)
    if not len(classes):
        return people
    lists = [_lists(each) for each in population.fits]
    for start in range(0, len(population.codes), _AT_ONCE):
        row = np.arange(start, min(start + _AT_ONCE, len(population.codes)))
        node = np.zeros(len(row), dtype=np.int64)
        for j, (keys, radix) in enumerate(steps):
            row, node = _down(row, node, population.codes[:, j], lists[j], keys, radix)
        np.add.at(people, last[node], population.people[row])
    return people


def _trie(dense: npt.NDArray[np.int32]) -> tuple[list[tuple[Ints, int]], Ints]:
    """Return for each column the sorted keys (node above, label) of its nodes, and the class of each last node."""
    steps: list[tuple[Ints, int]] = []
    node = np.zeros(len(dense), dtype=np.int64)
    for column in dense.T:
        radix = int(column.max(initial=0)) + 1
        keys, node = np.unique(node * radix + column, return_inverse=True)
        steps.append((keys, radix))
        node = node.reshape(-1)
    last = np.empty(len(dense), dtype=np.int64)
    last[node] = np.arange(len(dense))
    return steps, last


def _lists(fits: Sequence[Sequence[int]]) -> tuple[Ints, Ints]:
    begins = np.cumsum([0, *map(len, fits)], dtype=np.int64)
    return begins, np.array([label for fit in fits for label in fit], dtype=np.int64)


def _down(row: Ints, node: Ints, codes: Ints, fits: tuple[Ints, Ints], keys: Ints, radix: int) -> tuple[Ints, Ints]:
    """Go from each node to those below it whose label stands for the profile's value."""
    begins, labels = fits
    code = codes[row]
    many = begins[code + 1] - begins[code]
    at = np.repeat(begins[code] - np.concatenate([[0], np.cumsum(many)[:-1]]), many) + np.arange(int(many.sum()))
    label, row, node = labels[at], np.repeat(row, many), np.repeat(node, many)
    known = label < radix
    wanted = node * radix + label
    place = np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)
    hit = known & (keys[place] == wanted)
    return row[hit], place[hit]
