"""How many records, or people, a cut of one partition leaves on either side: the numbers that must be at least k.

Where people count, the items of a partition that are one person's stand side by side, persons ascending, so that what a
person has is one run of items. ``persons`` (items,) numbers them; without any, records count.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ppdm_flow.sdk.compiled import compiled

Ints = npt.NDArray[np.int64]
Codes = npt.NDArray[np.int32]
NONE = -1
"""No number of records of a value can be taken."""


class ValueCrowds(NamedTuple):
    """For each value of a partition, in order (all arrays are as wide as the widest attribute).

    ``left`` counts those that have this value or one before it, ``right`` those that have one after it. ``least`` and
    ``most`` are the fewest and most records of the left side that leave k on either, where the records of the value are
    divided; `NONE` where there are no such.
    """

    left: Ints
    right: Ints
    least: Ints
    most: Ints


@compiled
def room(widest: int) -> ValueCrowds:
    """Return empty crowds."""
    return ValueCrowds(
        np.zeros(widest, dtype=np.int64),
        np.zeros(widest, dtype=np.int64),
        np.full(widest, NONE, dtype=np.int64),
        np.full(widest, NONE, dtype=np.int64),
    )


@compiled
def count_records(weight: Ints, k: int, crowds: ValueCrowds) -> None:
    """Count the records of values (values,) that have ``weight`` each."""
    total, left = weight.sum(), 0
    for i in range(len(weight)):
        before = left
        left += weight[i]
        crowds.left[i], crowds.right[i] = left, total - left
        least, most = max(k, before + 1), min(total - k, left - 1)
        crowds.least[i] = least if total - least >= k else NONE
        crowds.most[i] = most if most >= k else NONE


@compiled
def count_people(
    codes: Codes, weights: Ints, members: Ints, persons: Ints, j: int, value: Ints, index: Ints, k: int,
    relaxed: bool, crowds: ValueCrowds,
) -> None:  # fmt: skip
    """Count people by the values of attribute j, which has those in ``value``.

    ``index`` is as wide as the attribute and all zero, before and after.
    """
    n = len(value)
    for i in range(n):
        index[value[i]] = i
        crowds.left[i], crowds.right[i] = 0, 0
        crowds.least[i], crowds.most[i] = NONE, NONE
    first, last = np.empty(len(members), dtype=np.int64), np.empty(len(members), dtype=np.int64)
    people, begin = 0, 0
    while begin < len(members):
        end, low, high = begin, n, -1
        while end < len(members) and persons[members[end]] == persons[members[begin]]:
            place = index[codes[members[end], j]]
            low, high = min(low, place), max(high, place)
            end += 1
        first[begin:end], last[begin:end] = low, high
        crowds.left[low] += 1
        crowds.right[high] += 1
        people += 1
        begin = end
    ended = 0
    for i in range(n):
        ended += crowds.right[i]
        crowds.right[i] = people - ended
        if i > 0:
            crowds.left[i] += crowds.left[i - 1]
    if relaxed:
        _divide_values(codes, weights, members, persons, j, n, index, k, people, first, last, crowds)
    for i in range(n):
        index[value[i]] = 0


@compiled
def _divide_values(
    codes: Codes, weights: Ints, members: Ints, persons: Ints, j: int, n: int, index: Ints, k: int,
    people: int, first: Ints, last: Ints, crowds: ValueCrowds,
) -> None:  # fmt: skip
    """Find how many records of each value may go to the left, the first ones first."""
    records = np.zeros(n, dtype=np.int64)
    items = np.zeros(n + 1, dtype=np.int64)
    for at in range(len(members)):
        place = index[codes[members[at], j]]
        records[place] += weights[members[at]]
        items[place + 1] += 1
    begins = np.cumsum(items)
    free = begins[:-1].copy()
    of_value = np.empty(len(members), dtype=np.int64)
    for at in range(len(members)):
        place = index[codes[members[at], j]]
        of_value[free[place]] = at
        free[place] += 1
    before = 0
    for i in range(n):
        left = crowds.left[i - 1] if i > 0 else 0
        right = crowds.right[i - 1] if i > 0 else people
        taken = before
        for q in range(begins[i], begins[i + 1] - 1):
            at = of_value[q]
            person, following = persons[members[at]], persons[members[of_value[q + 1]]]
            new = q == begins[i] or persons[members[of_value[q - 1]]] != person
            left += 1 if new and first[at] == i else 0
            right -= 1 if following != person and last[at] == i else 0
            taken += weights[members[at]]
            if left >= k and right >= k:
                if crowds.least[i] == NONE:
                    crowds.least[i] = taken
                crowds.most[i] = taken
        before += records[i]


@compiled
def below_labels(
    codes: Codes, members: Ints, persons: Ints, j: int, group: Ints, groups: int, weight: Ints, index: Ints,
    value: Ints, inside: Ints, outside: Ints,
) -> None:  # fmt: skip
    """Count who has a value of each group, and who has one of another; ``group`` (values,) is that of each value.

    ``index`` is as `count_people` has it.
    """
    inside[:groups], outside[:groups] = 0, 0
    total = 0
    if not len(persons):
        for i in range(len(weight)):
            inside[group[i]] += weight[i]
            total += weight[i]
        for g in range(groups):
            outside[g] = total - inside[g]
        return
    for i in range(len(value)):
        index[value[i]] = i
    seen = np.full(groups, -1, dtype=np.int64)
    begin = 0
    while begin < len(members):
        end, different, g = begin, 0, 0
        while end < len(members) and persons[members[end]] == persons[members[begin]]:
            g = group[index[codes[members[end], j]]]
            if seen[g] != begin:
                seen[g] = begin
                inside[g] += 1
                different += 1
            end += 1
        if different == 1:
            outside[g] -= 1
        total += 1
        begin = end
    for g in range(groups):
        outside[g] += total
    for i in range(len(value)):
        index[value[i]] = 0


@compiled
def held_people(persons: Ints, order: Ints, begins: Ints, ends: Ints) -> Ints:
    """Return the people of each partition."""
    out = np.zeros(len(begins), dtype=np.int64)
    for p in range(len(begins)):
        for at in range(begins[p], ends[p]):
            if at == begins[p] or persons[order[at]] != persons[order[at - 1]]:
                out[p] += 1
    return out
