"""Groups of records with k people in each: those with fewer join the groups that are nearest to them."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ppdm_flow.mining.local_recoding.groups import ItemGroups
from ppdm_flow.mining.local_recoding.suppression import people_in

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]


def with_people(groups: ItemGroups, points: Floats, items: Ints, persons: Ints, k: int) -> ItemGroups:
    """Join groups until each has ``k`` different people.

    Parameters
    ----------
    groups
        The group of each item.
    points
        (items, axes) where the items are.
    items, persons
        (rows,) the item of each row, and whose row it is.
    k
        How many people a group must have.

    Raises
    ------
    ValueError
        There are fewer people than that.

    In a round each group with too few people joins the group whose mean is nearest; so rounds are logarithmic.
    """
    from scipy.sparse import coo_matrix  # noqa: PLC0415  # most tables have a row for each person
    from scipy.sparse.csgraph import connected_components  # noqa: PLC0415  # the same
    from scipy.spatial import cKDTree  # noqa: PLC0415  # the same

    if len(np.unique(persons)) < k:
        raise ValueError(f"a group needs k = {k} people, but there are fewer people than that")
    group, size = groups.group, groups.size
    weights = np.bincount(items, minlength=len(points)).astype(np.float64)
    while True:
        small = np.flatnonzero(people_in(group[items], size, persons) < k)
        if not len(small):
            return ItemGroups(group, size, groups.slices)
        records = np.bincount(group, weights, size)
        sums = [np.bincount(group, weights * axis, size) for axis in points.T]
        means = np.stack([s / np.maximum(records, 1.0) for s in sums], axis=1)
        nearest = np.asarray(cKDTree(means).query(means[small], k=2)[1])
        other = np.where(nearest[:, 0] == small, nearest[:, 1], nearest[:, 0])
        links = coo_matrix((np.ones(len(small)), (small, other)), shape=(size, size))
        size, joined = connected_components(links, directed=False)
        group = joined.astype(np.int64)[group]
