"""Cutting partitions: the loop over the records of each of them."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ppdm_flow.mining.local_recoding.scales import Scales
from ppdm_flow.sdk.compiled import compiled, wide

Ints = npt.NDArray[np.int64]
Codes = npt.NDArray[np.int32]
Tries = npt.NDArray[np.int8]
Floats = npt.NDArray[np.float64]

ANCESTOR = 1
SET = 2
WHOLE = -1
"""All records of a cut's last value go to the left."""
_EVEN = 1e-12


@compiled
def penalty(scales: Scales, j: int, low: int, high: int, values: int) -> float:
    """Return what the label of ``values`` different codes from ``low`` to ``high`` costs, in [0, 1]."""
    if low >= high:
        return 0.0
    size, begin = scales.size[j], scales.begins[j]
    if high >= size:
        return 1.0
    if scales.form[j] == SET:
        return float((values - 1) / max(1, scales.width[j] - 1))
    if scales.form[j] == ANCESTOR:
        for level in range(1, scales.height[j]):
            at = begin + level * size
            if scales.labels[at + low] == scales.labels[at + high]:
                return float(scales.numbers[at + low])
        return 1.0
    return float(scales.numbers[begin + high] - scales.numbers[begin + low])


@compiled
def profiled(codes: Codes, weights: Ints, members: Ints, j: int, sums: Ints, value: Ints, weight: Ints) -> int:
    """Fill ``value`` with the codes of attribute j among ``members``, ascending, and ``weight`` with their records.

    ``sums`` is as wide as the attribute and all zero, before and after.
    """
    low, high = 1 << 60, -1
    for i in range(len(members)):
        code = codes[members[i], j]
        low = min(low, code)
        high = max(high, code)
        sums[code] += weights[members[i]]
    count = 0
    if high - low > 16 * len(members):
        every = np.sort(codes[:, j][members])
        for i in range(len(every)):
            if i == 0 or every[i] != every[i - 1]:
                value[count] = every[i]
                weight[count] = sums[every[i]]
                sums[every[i]] = 0
                count += 1
        return count
    for code in range(low, high + 1):
        if sums[code] > 0:
            value[count] = code
            weight[count] = sums[code]
            sums[code] = 0
            count += 1
    return count


@compiled
def best_gain(
    scales: Scales, j: int, value: Ints, weight: Ints, k: int, relaxed: bool, crowds: ValueCrowds
) -> tuple[float, int, int, int]:
    """Return the cut of one attribute that saves most: (saved, first and last code of the left side, its records).

    The left side is a prefix of the values. The records are `WHOLE`, or those to take where a relaxed cut divides the
    last value.
    """
    n = len(value)
    total = weight.sum()
    here = penalty(scales, j, value[0], value[n - 1], n) * total
    saved, low, high, take = 0.0, 0, 0, WHOLE
    left = 0
    for i in range(n):
        before = left
        left += weight[i]
        if i < n - 1 and crowds.left[i] >= k and crowds.right[i] >= k:
            cost = penalty(scales, j, value[0], value[i], i + 1) * left
            cost += penalty(scales, j, value[i + 1], value[n - 1], n - 1 - i) * (total - left)
            if here - cost > saved + _EVEN:
                saved, low, high, take = here - cost, value[0], value[i], WHOLE
        if relaxed:
            for wanted in (crowds.least[i], crowds.most[i]):
                if before < wanted < left:
                    cost = penalty(scales, j, value[0], value[i], i + 1) * wanted
                    cost += penalty(scales, j, value[i], value[n - 1], n - i) * (total - wanted)
                    if here - cost > saved + _EVEN:
                        saved, low, high, take = here - cost, value[0], value[i], wanted
    return saved, low, high, take


@compiled
def below_one_label(
    scales: Scales, j: int, value: Ints, weight: Ints, k: int, part: tuple[Codes, Ints, Ints], index: Ints
) -> tuple[float, int, int]:
    """Return the cut that saves most of those that put the values under one label of a hierarchy to the left.

    Prefixes of the values are left out: `best_gain` has them. ``part`` are the codes, the members and all persons.
    """
    n, size = len(value), scales.size[j]
    total = weight.sum()
    here = penalty(scales, j, value[0], value[n - 1], n) * total
    saved, low, high = 0.0, 0, 0
    group, inside, outside = np.empty(n, dtype=np.int64), np.empty(n, dtype=np.int64), np.empty(n, dtype=np.int64)
    for level in range(scales.height[j] - 1):
        at = scales.begins[j] + level * size
        groups = wide(0)
        for i in range(n):
            new = i == 0 or value[i] >= size or scales.labels[at + value[i]] != scales.labels[at + value[i - 1]]
            groups += 1 if new else 0
            group[i] = groups - 1
        below_labels(part[0], part[1], part[2], j, group, groups, weight, index, value, inside, outside)
        i = 0
        while i < n:
            end, records = i + 1, weight[i]
            while end < n and group[end] == group[i]:
                records += weight[end]
                end += 1
            if i > 0 and end < n and inside[group[i]] >= k and outside[group[i]] >= k:
                cost = penalty(scales, j, value[i], value[end - 1], end - i) * records
                cost += penalty(scales, j, value[0], value[n - 1], n - end + i) * (total - records)
                if here - cost > saved + _EVEN:
                    saved, low, high = here - cost, value[i], value[end - 1]
            i = end
    return saved, low, high


@compiled
def median(value: Ints, weight: Ints, k: int, relaxed: bool, crowds: ValueCrowds) -> tuple[int, int, int]:
    """Return the cut nearest to half of the records as `best_gain` does, without what it saves; (0, -1, …) for none."""
    n = len(value)
    total = weight.sum()
    nearest, high, take = 1 << 62, -1, WHOLE
    left = 0
    for i in range(n):
        before = left
        left += weight[i]
        off = abs(2 * left - total)
        if i < n - 1 and crowds.left[i] >= k and crowds.right[i] >= k and off < nearest:
            nearest, high, take = off, value[i], WHOLE
        half = total // 2
        if relaxed and before < half < left and crowds.least[i] >= 0:
            half = min(max(half, crowds.least[i]), crowds.most[i])
            if abs(2 * half - total) < nearest:
                nearest, high, take = abs(2 * half - total), value[i], half
    return (value[0] if high >= 0 else 0), high, take


@compiled
def choice(
    codes: Codes, weights: Ints, members: Ints, persons: Ints, tries: Tries,
    k: int, by_gain: bool, relaxed: bool, scales: Scales, desk: tuple[Ints, Ints, Ints], crowds: ValueCrowds,
) -> tuple[int, int, int, int]:  # fmt: skip
    """Return the cut of one partition: attribute or -1, first and last code, records; `proposed` says which.

    ``desk`` is room for `profiled`.
    """
    d, records = codes.shape[1], weights[members].sum()
    sums, value, weight = desk
    most, wide = 0.0, 0.0
    best, middle = (-1, 0, 0, WHOLE), (-1, 0, 0, WHOLE)
    for j in range(d):
        n = 0 if tries[j] > 1 else profiled(codes, weights, members, j, sums, value, weight)
        if n < 2:
            continue
        width = penalty(scales, j, value[0], value[n - 1], n) * scales.importance[j]
        gaining = by_gain and tries[j] == 0 and width * records > most
        if not gaining and width <= wide + _EVEN:
            continue
        if len(persons):
            count_people(codes, weights, members, persons, j, value[:n], sums, k, relaxed, crowds)
        else:
            count_records(weight[:n], k, crowds)
        if width > wide + _EVEN:
            low, high, take = median(value[:n], weight[:n], k, relaxed, crowds)
            if high >= 0:
                wide, middle = width, (j, low, high, take)
        if gaining:
            saved, low, high, take = best_gain(scales, j, value[:n], weight[:n], k, relaxed, crowds)
            if scales.form[j] == ANCESTOR:
                part = (codes, members, persons)
                more, first, last = below_one_label(scales, j, value[:n], weight[:n], k, part, sums)
                if more > saved + _EVEN:
                    saved, low, high, take = more, first, last, WHOLE
            saved *= scales.importance[j]
            if saved > most + _EVEN * records:
                most, best = saved, (j, low, high, take)
    return best if best[0] >= 0 else middle


@compiled
def proposed(
    codes: Codes, weights: Ints, order: Ints, begins: Ints, ends: Ints, persons: Ints, tries: Tries,
    k: int, by_gain: bool, relaxed: bool, scales: Scales,
) -> Ints:  # fmt: skip
    """Return a cut for each partition ``order[begins[p]:ends[p]]``: attribute or -1, first, last code, records (p, 4).

    ``tries`` (p, attributes) is 1 where the cut that saves most is not wanted, 2 where none is. The attribute with the
    widest label is cut at its median where no cut saves anything, and without ``by_gain``. ``persons`` are as `crowds`
    has them.
    """
    out = np.full((len(begins), 4), -1, dtype=np.int64)
    widest = scales.width.max() if codes.shape[1] else 0
    desk = (np.zeros(widest, dtype=np.int64), np.empty(widest, dtype=np.int64), np.empty(widest, dtype=np.int64))
    crowds = room(widest)
    for p in range(len(begins)):
        members = order[begins[p] : ends[p]]
        if codes.shape[1] and weights[members].sum() >= 2 * k:
            out[p, 0], out[p, 1], out[p, 2], out[p, 3] = choice(
                codes, weights, members, persons, tries[p], k, by_gain, relaxed, scales, desk, crowds
            )
    return out


@compiled
def divided(codes: Codes, weights: Ints, order: Ints, begins: Ints, ends: Ints, cuts: Ints) -> Ints:
    """Put the left side of each partition first, in ``order`` itself and without changing the order of either side.

    Returns where the right sides begin; where a cut is none, the end.
    """
    middles = ends.copy()
    late = np.empty(len(order), dtype=np.int64)
    for p in range(len(begins)):
        j, low, high, take = cuts[p]
        if j < 0:
            continue
        limit = 1 << 62
        if take >= 0:  # records of the last value that are still to go left
            limit = take
            for at in range(begins[p], ends[p]):
                if low <= codes[order[at], j] < high:
                    limit -= weights[order[at]]
        left, right = begins[p], 0
        for at in range(begins[p], ends[p]):
            item = order[at]
            code = codes[item, j]
            inside = low <= code <= high
            if inside and code == high and take >= 0:
                inside = weights[item] <= limit
                limit -= weights[item] if inside else limit
            if inside:
                order[left] = item
                left += 1
            else:
                late[right] = item
                right += 1
        order[left : ends[p]] = late[:right]
        middles[p] = left
    return middles


@compiled
def partition_sizes(weights: Ints, order: Ints, begins: Ints, ends: Ints) -> Ints:
    """Return the records of each partition."""
    out = np.zeros(len(begins), dtype=np.int64)
    for p in range(len(begins)):
        for at in range(begins[p], ends[p]):
            out[p] += weights[order[at]]
    return out


@compiled
def edges(codes: Codes, order: Ints, begins: Ints, ends: Ints, scales: Scales) -> tuple[Codes, Codes, Floats]:
    """Return least and greatest code of each partition and attribute (p, attributes), and what their label costs."""
    d = codes.shape[1]
    low = np.zeros((len(begins), d), dtype=np.int32)
    high = np.zeros((len(begins), d), dtype=np.int32)
    cost = np.zeros((len(begins), d))
    widest = scales.width.max() if d else 0
    sums = np.zeros(widest, dtype=np.int64)
    value, weight = np.empty(widest, dtype=np.int64), np.empty(widest, dtype=np.int64)
    ones = np.ones(len(codes), dtype=np.int64)
    for p in range(len(begins)):
        members = order[begins[p] : ends[p]]
        for j in range(d):
            n = profiled(codes, ones, members, j, sums, value, weight)
            low[p, j], high[p, j] = value[0], value[n - 1]
            cost[p, j] = penalty(scales, j, value[0], value[n - 1], n)
    return low, high, cost


@compiled
def walked(codes: Codes, cuts: Ints, after: Ints) -> Ints:
    """Return the leaf of each row below ``cuts`` (nodes, 3: attribute, first, last code), ``after`` (nodes, 2).

    Children from 0 on are nodes, below that leaves: leaf l is -1 - l.
    """
    out = np.empty(len(codes), dtype=np.int64)
    for i in range(len(codes)):
        at = 0 if len(cuts) else -1
        while at >= 0:
            j, low, high = cuts[at]
            at = after[at, 0] if low <= codes[i, j] <= high else after[at, 1]
        out[i] = -1 - at
    return out


# How many records, or people, a cut of one partition leaves on either side: the numbers that must be at least k.
#
# Where people count, the items of a partition that are one person's stand side by side, persons ascending, so that what
# a person has is one run of items. `persons` (items,) numbers them; without any, records count.


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
