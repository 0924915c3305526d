"""Mondrian and MDAV once more: lists of records, recursion, nothing remembered."""

from __future__ import annotations

from bisect import bisect_right
from itertools import accumulate

EVEN = 1e-12


def cost(scale, codes):
    """``scale`` is (form, size, extra): positions of an interval, maps of ancestors, number of codes of sets."""
    form, size, extra = scale
    low, high = min(codes), max(codes)
    if low == high:
        return 0.0
    if high >= size:
        return 1.0
    if form == "interval":
        return extra[high] - extra[low]
    if form == "set":
        return (len(set(codes)) - 1) / max(1, extra - 1)
    for labels in extra[1:]:
        if labels[low] == labels[high]:
            return (sum(x == labels[low] for x in labels) - 1) / max(1, size - 1)
    return 1.0


def sides(records, j, inside, take=None):
    """Divide; ``take``: (value, how many records of it go left)."""
    left, right, taken = [], [], 0
    for r in records:
        go = inside(r[0][j])
        if go and take is not None and r[0][j] == take[0]:
            go = taken < take[1]
            taken += 1
        (left if go else right).append(r)
    return left, right


def cuts_by_gain(records, j, scale, k, relaxed):
    """Every cut that may be wanted, as (left, right), in the order in which ties are decided."""
    values = sorted({r[0][j] for r in records})
    count = {v: sum(r[0][j] == v for r in records) for v in values}
    before = 0
    for i, v in enumerate(values):
        if i < len(values) - 1:
            yield sides(records, j, lambda c, v=v: c <= v)
        if relaxed:
            after = before + count[v]
            for wanted in (max(k, before + 1), min(len(records) - k, after - 1)):
                if before < wanted < after:
                    yield sides(records, j, lambda c, v=v: c <= v, (v, wanted - before))
        before += count[v]
    form, size, extra = scale
    if form != "ancestor":
        return
    for labels in extra[:-1]:
        for label in dict.fromkeys(labels[v] for v in values if v < size):
            under = [v for v in values if v < size and labels[v] == label]
            if values[0] not in under and values[-1] not in under:
                yield sides(records, j, lambda c, under=under: c in under)
        for v in values:
            if v >= size and v not in (values[0], values[-1]):
                yield sides(records, j, lambda c, v=v: c == v)


def median_cut(records, j, k, relaxed):
    values = sorted({r[0][j] for r in records})
    counts = [sum(r[0][j] == v for r in records) for v in values]
    sums, total = list(accumulate(counts)), len(records)
    found = []
    half = total // 2
    for i, v in enumerate(values[:-1]):
        if sums[i] >= k and total - sums[i] >= k:
            found.append((abs(2 * sums[i] - total), i, v, None))
    at = bisect_right(sums, half)
    if relaxed and half >= k and at < len(values) and half > sums[at] - counts[at]:
        found.append((abs(2 * half - total), at + 0.5, values[at], half - sums[at] + counts[at]))
    if not found:
        return None
    _, _, v, take = min(found, key=lambda f: f[:2])
    return sides(records, j, lambda c: c <= v, None if take is None else (v, take))


def mondrian(records, scales, k, *, by_gain, relaxed, importance=()):
    """``records`` of (codes, name). Returns the classes as lists of names, sorted."""
    best, most = None, 0.0
    weight = importance or [1.0] * len(scales)
    for j, scale in enumerate(scales):
        here = cost(scale, [r[0][j] for r in records]) * len(records)
        for left, right in cuts_by_gain(records, j, scale, k, relaxed) if by_gain else ():
            if len(left) < k or len(right) < k:
                continue
            parts = (left, right)
            saved = (here - sum(cost(scale, [r[0][j] for r in p]) * len(p) for p in parts)) * weight[j]
            if saved > most + EVEN * len(records):
                best, most = parts, saved
    wide = 0.0
    if best is None:
        for j, scale in enumerate(scales):
            width = cost(scale, [r[0][j] for r in records]) * weight[j]
            if width > wide + EVEN and (found := median_cut(records, j, k, relaxed)):
                best, wide = found, width
    if best is None:
        return [sorted(r[1] for r in records)]
    options = {"by_gain": by_gain, "relaxed": relaxed, "importance": importance}
    return sorted(c for part in best for c in mondrian(part, scales, k, **options))
