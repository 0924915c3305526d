"""Kernels of the second route: rows are looked at outwards along one sorted attribute, as far as they can matter."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ppdm_flow.sdk.compiled import compiled

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]


@compiled
def count_near(
    sorted_numbers: Floats,
    orders: Ints,
    released: Floats,
    whitening: Floats,
    points: Floats,
    axes: Ints,
    begins: Ints,
    ends: Ints,
    low: Floats,
    high: Floats,
    categories: Ints,
    known: Ints,
    unseen: Floats,
    candidates: int,
    nearer: Ints,
    as_near: Ints,
) -> None:
    """Add to ``nearer`` and ``as_near`` the rows at squared distances below ``low``, and from there up to ``high``.

    ``released`` (rows, attributes); ``whitening`` (attributes, attributes) makes distances plain. ``sorted_numbers``
    and ``orders`` (attributes, rows): each attribute ascending, and the rows in that order. Point i of ``points``
    (points, attributes) looks at the places ``begins[i]`` to ``ends[i]`` of attribute ``axes[i]``, nearest first along
    it. ``categories`` (rows, columns) add 1 where they are not those ``known`` (points, columns), and ``unseen``
    (columns,) where they are -1. One that has ``candidates`` nearer rows is done: it is not found, whatever else there
    is.
    """
    size = released.shape[1]
    for i in range(len(points)):
        axis, here = axes[i], points[i, axes[i]]
        up = begins[i] + np.searchsorted(sorted_numbers[axis, begins[i] : ends[i]], here)
        down = up - 1
        while nearer[i] < candidates and (down >= begins[i] or up < ends[i]):
            upwards = down < begins[i]
            if not upwards and up < ends[i]:
                upwards = sorted_numbers[axis, up] - here < here - sorted_numbers[axis, down]
            if upwards:
                row = orders[axis, up]
                up += 1
            else:
                row = orders[axis, down]
                down -= 1
            distance = 0.0
            for b in range(size):
                apart = 0.0
                for a in range(size):
                    apart += (released[row, a] - points[i, a]) * whitening[a, b]
                distance += apart * apart
            for c in range(len(unseen)):
                if categories[row, c] == -1:
                    distance += unseen[c]
                elif categories[row, c] != known[i, c]:
                    distance += 1.0
            if distance < low[i]:
                nearer[i] += 1
            elif distance <= high[i]:
                as_near[i] += 1


@compiled
def nearest_along(
    points: Floats,
    rows: Floats,
    owner: Ints,
    but: Ints,
    categories: Ints,
    known: Ints,
    unseen: Floats,
    found: Floats,
) -> None:
    """Write into ``found`` (points,) the squared distance to the nearest of ``rows`` that are not those ``but``.

    ``rows`` (rows, attributes) ascend in their first attribute, along which they are looked at outwards; ``owner``
    (rows,) says whose each is, ``but`` (points,) whose do not count. Distances are plain, and categories count as in
    `count_near`. Where there is no row it is infinite.
    """
    size = rows.shape[1]
    for i in range(len(points)):
        least = np.inf
        here = points[i, 0]
        up = np.searchsorted(rows[:, 0], here)
        down = up - 1
        while down >= 0 or up < len(rows):
            upwards = down < 0 or (up < len(rows) and rows[up, 0] - here < here - rows[down, 0])
            row = up if upwards else down
            gap = rows[row, 0] - here
            if gap * gap >= least:
                break
            if upwards:
                up += 1
            else:
                down -= 1
            if owner[row] != but[i]:
                distance = 0.0
                for a in range(size):
                    apart = rows[row, a] - points[i, a]
                    distance += apart * apart  # a power is not the same to the last bit in Python
                for c in range(len(unseen)):
                    if categories[row, c] == -1:
                        distance += unseen[c]
                    elif categories[row, c] != known[i, c]:
                        distance += 1.0
                least = min(least, distance)
        found[i] = least


@compiled
def least_by_owner(
    points: Floats,
    rows: Floats,
    owner: Ints,
    penalty: float,
    categories: Ints,
    known: Ints,
    unseen: Floats,
    least: Floats,
) -> None:
    """Lower ``least`` (points, owners) to the squared distance of the nearest of the ``rows`` that an owner has.

    ``owner`` (rows,); distances are plain, with ``penalty`` for what all these rows hide. Categories count as above.
    """
    for i in range(len(points)):
        for row in range(len(rows)):
            distance = penalty
            for a in range(rows.shape[1]):
                apart = rows[row, a] - points[i, a]
                distance += apart * apart  # a power is not the same to the last bit in Python
            for c in range(len(unseen)):
                if categories[row, c] == -1:
                    distance += unseen[c]
                elif categories[row, c] != known[i, c]:
                    distance += 1.0
            least[i, owner[row]] = min(least[i, owner[row]], distance)
