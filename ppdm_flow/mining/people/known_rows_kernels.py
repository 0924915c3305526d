"""The kernels behind :mod:`ppdm_flow.mining.people.known_rows`: all multisets of a few classes, and who has some."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ppdm_flow.sdk.compiled import compiled

Ints = npt.NDArray[np.int64]
_ODD = (-7046029254386353131, -4417276706812531889, -3335678366873096957)
_LOW = (1 << 40) - 1


@compiled
def _bucket(one: int, two: int, three: int, buckets: int) -> int:
    """Return a number below ``buckets`` that is the same for equal classes; products wrap around."""
    mixed = one * _ODD[0] + two * _ODD[1] + three * _ODD[2]
    mixed ^= mixed >> 31
    mixed *= _ODD[1]
    return ((mixed >> 23) & _LOW) % buckets


@compiled
def multisets(
    begins: Ints,
    classes: Ints,
    copies: Ints,
    people: Ints,
    size: int,
    low: int,
    high: int,
    loads: Ints,
    keys: Ints,
    owners: Ints,
) -> int:
    """List the multisets of ``size`` (1 to 3) classes of each profile, each multiset once.

    Profile p has ``copies`` rows in each of ``classes[begins[p]:begins[p + 1]]``, which ascend, and ``people[p]``
    people. Multisets fall into ``len(loads)`` buckets. Without room in ``keys`` the people of each bucket are added to
    ``loads[0]`` and the multisets to ``loads[1]``; else those of the buckets from ``low`` to below ``high`` are written
    to ``keys`` (size, room), smallest class first, with their profiles in ``owners``. Returns how many.
    """
    at = 0
    writing = keys.shape[1] > 0
    buckets = loads.shape[1]
    for p in range(len(begins) - 1):
        end = begins[p + 1]
        for i in range(begins[p], end):
            for k in range(i, end if size > 1 else i + 1):
                if size > 1 and k == i and copies[i] < 2:
                    continue
                for j in range(k, end if size > 2 else k + 1):
                    if size > 2 and j == k and copies[j] < (3 if k == i else 2):
                        continue
                    bucket = _bucket(classes[i], classes[k], classes[j], buckets)
                    if not writing:
                        loads[0, bucket] += people[p]
                        loads[1, bucket] += 1
                    elif low <= bucket < high:
                        keys[0, at] = classes[i]
                        if size > 1:
                            keys[1, at] = classes[k]
                        if size > 2:
                            keys[2, at] = classes[j]
                        owners[at] = p
                    if low <= bucket < high:
                        at += 1
    return at


@compiled
def _holds(begins: Ints, classes: Ints, copies: Ints, profile: int, wanted: int, many: int) -> bool:
    low, high = begins[profile], begins[profile + 1]
    while low < high:
        middle = (low + high) // 2
        if classes[middle] < wanted:
            low = middle + 1
        else:
            high = middle
    if low == begins[profile + 1] or classes[low] != wanted:
        return False
    return bool(copies[low] >= many)


@compiled
def crowds_of_rarest(
    begins: Ints,
    classes: Ints,
    copies: Ints,
    people: Ints,
    posted: Ints,
    holders: Ints,
    rarest: Ints,
    order: Ints,
    least: int,
    steps: int,
    crowds: Ints,
) -> None:
    """Count the people that have the rarest classes of each profile, one row in each, in the ``order`` of profiles.

    ``holders[posted[c]:posted[c + 1]]`` are the profiles that have class c; ``rarest`` (profiles, m) are classes, -1
    for none. Stops at a crowd of ``least`` or after so many ``steps``; ``crowds`` (profiles,) not counted stay.
    """
    for p in order:
        first = rarest[p, 0]
        steps -= posted[first + 1] - posted[first]
        if steps < 0:
            return
        crowd = 0
        for h in range(posted[first], posted[first + 1]):
            q = holders[h]
            all_there = True
            for i in range(1, rarest.shape[1]):
                wanted = rarest[p, i]
                if wanted >= 0 and not _holds(begins, classes, copies, q, wanted, 1):
                    all_there = False
                    break
            if all_there:
                crowd += people[q]
        crowds[p] = crowd
        if crowd <= least:
            return
