"""Linking people by all of their rows, where a pseudonym shows which released rows are one person's.

The intruder takes for each of the records that it knows the nearest row of a pseudonym, adds these squared distances
up, and names the pseudonyms with the least sums.
"""

from __future__ import annotations

import numpy as np

from ppdm_flow.mining.exposure.numbers import Floats, Ints
from ppdm_flow.requirements.numeric_linkage.nearest import FLOOR, SLACK, NearerCounts, every_distance, patterns
from ppdm_flow.requirements.numeric_linkage.second_route import unlike, whitening
from ppdm_flow.requirements.numeric_linkage.spaces import Space
from ppdm_flow.requirements.numeric_linkage.units import Units

_CELLS = 1 << 22
"""So many distances are held together."""


def places_of_people(space: Space, units: Units) -> NearerCounts:
    """Return the place of each person's own rows among the people of the release, by every distance."""
    owner = space.truth.owner
    order = np.argsort(owner, kind="stable")
    people, firsts = np.unique(owner[order], return_index=True)
    found = [np.zeros((3, 0))]
    for some, records in units.blocks(max(1, _CELLS // max(1, len(owner)))):
        mine = units.records[records]
        squares = np.empty((len(mine), len(owner)))
        for block, members, distances in every_distance(space, space.known[mine], space.codes.known[mine]):
            squares[block, members] = distances
        least = np.minimum.reduceat(squares[:, order], firsts, axis=1)
        sums = np.add.reduceat(least, units.firsts[some] - records.start, axis=0)
        found.append(_placed(sums, np.searchsorted(people, space.truth.whose[units.records[units.firsts[some]]])))
    return NearerCounts(*np.hstack(found))


def places_of_people_sql(space: Space, units: Units) -> NearerCounts:
    """Return the same record by record, among the rows of each pattern of hidden attributes."""
    people, owner = np.unique(space.truth.owner, return_inverse=True)
    codes, owner = space.codes, owner.reshape(-1)
    found = [np.zeros((3, 0))]
    for some, records in units.blocks(max(1, _CELLS // max(1, len(people)))):
        mine = units.records[records]
        least = np.full((len(mine), len(people)), np.inf)
        for shown, members in patterns(space):
            whole = whitening(space, np.flatnonzero(shown))
            rows = space.released[np.ix_(members, shown)] @ whole
            for i, point in enumerate(space.known[np.ix_(mine, shown)] @ whole):
                squares = ((rows - point) ** 2).sum(axis=1) + space.penalty(shown)
                squares += unlike(codes.released[members], codes.known[mine[i]], codes)
                np.minimum.at(least[i], owner[members], squares)
        place = np.repeat(np.arange(some.stop - some.start), _sizes(units, some))
        sums = np.zeros((some.stop - some.start, len(people)))
        np.add.at(sums, place, least)
        found.append(_placed(sums, np.searchsorted(people, space.truth.whose[units.records[units.firsts[some]]])))
    return NearerCounts(*np.hstack(found))


def _sizes(units: Units, some: slice) -> Ints:
    return np.diff(units.firsts, append=len(units.records))[some]


def _placed(sums: Floats, own: Ints) -> Floats:
    """Return how many people are nearer, how many up to as near, and 1, each (units,)."""
    mine = sums[np.arange(len(own)), own][:, np.newaxis]
    nearer, upto = sums < mine * (1 - SLACK) - FLOOR, sums <= mine * (1 + SLACK) + FLOOR
    return np.stack((nearer.sum(axis=1), upto.sum(axis=1), np.ones(len(own)))).astype(np.float64)
