"""Numeric linkage: every original record held against every released row, in four ways."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from math import exp, inf, log
from typing import Any

import numpy as np

from adversary.crowds import Release
from adversary.numbers.estimates import best
from adversary.numbers.reading import LabelError, kind_of, originals, shown
from adversary.oracle import Judged, _judged, _nothing_told

Floats = np.ndarray[tuple[int, ...], np.dtype[np.float64]]
ROUNDS, LEAST = 100, 1e-6


def judged(clause: Mapping[str, Any], policy: Mapping[str, Any], release: Release) -> Iterator[Judged]:
    """Judge the share of records that are found, and what of it exceeds naming rows at random."""
    id_, bounds = "privacy.numeric_linkage", {"share_bound": float(clause["max"])}
    if "max_excess" in clause:
        bounds["excess_bound"] = float(clause["max_excess"])
    names = [a for a in clause["attributes"] if release.carriers(a)]
    if not names:
        yield from (_nothing_told(id_, metric, bound, at_most=True) for metric, bound in bounds.items())
        return
    try:
        known, seen = _numbers(names, policy, release)
    except LabelError:
        known = seen = np.zeros((0, len(names)))
    records = [i for i, row in enumerate(known) if not np.isnan(row).any()]
    if not records:
        yield from (_judged(id_, metric, None, bound, at_most=True) for metric, bound in bounds.items())
        return
    candidates, rows = int(clause.get("candidates", "1")), len(seen)
    ways = [[_place(d, i) for i, d in zip(records, way, strict=True)] for way in _ways(known, seen, records)]
    shares = [float(np.mean([_chance(*p, candidates) for p in way])) for way in ways]
    yield _judged(id_, "share_bound", max(shares), bounds["share_bound"], at_most=True)
    if "excess_bound" in bounds:
        beyond = [_excess(ways, c, rows) for c in range(1, min(candidates, rows - 1) + 1)]
        yield _judged(id_, "excess_bound", max(beyond, default=None), bounds["excess_bound"], at_most=True)


def _excess(ways: Sequence[Sequence[tuple[int, int]]], named: int, rows: int) -> float:
    share = max(float(np.mean([_chance(*p, named) for p in way])) for way in ways)
    return max(-1.0, (share - named / rows) / (1 - named / rows))


def _numbers(names: Sequence[str], policy: Mapping[str, Any], release: Release) -> tuple[Floats, Floats]:
    """Return the original numbers and the best estimates, (rows, attributes), NaN where there is none."""
    before = [originals(release, n, policy) for n in names]
    every = [[shown(release, c, kind_of(n, policy)) for c in release.carriers(n)] for n in names]
    after = [best(own, columns) for own, columns in zip(before, every, strict=True)]
    return _floats(before), _floats(after)


def _floats(columns: Sequence[Sequence[Any]]) -> Floats:
    rows = [[np.nan if c is None else float(c) for c in row] for row in zip(*columns, strict=True)]
    return np.array(rows, dtype=float).reshape(-1, len(columns))


def _place(distances: Sequence[float], own: int) -> tuple[int, int]:
    """Return how many rows are nearer than the own one, and how many as near, the own one included."""
    slack = 1e-9 * abs(distances[own]) + 1e-12
    nearer = sum(d < distances[own] - slack for d in distances)
    return nearer, sum(abs(d - distances[own]) <= slack for d in distances)


def _chance(nearer: int, alike: int, named: int) -> float:
    """Return how likely the own row is named, where equally near ones share the places that are left."""
    return min(1.0, max(0, named - nearer) / alike)


def _ways(known: Floats, seen: Floats, records: Sequence[int]) -> Iterator[list[list[float]]]:
    """Yield the distances of each record to each row, way by way."""
    middle = np.nanmean(known, axis=0)
    spread = np.nanstd(known, axis=0)
    spread[spread == 0] = 1
    plain = (known - middle) / spread, (seen - middle) / spread
    width = known.shape[1]
    yield _squares(*plain, np.eye(width), records)
    yield _squares(*plain, _moments(plain[1] - plain[0]), records)
    yield _squares(_ranks(known), _ranks(seen), np.eye(width), records)
    yield _weights(known, seen, records)


def _moments(errors: Floats) -> Floats:
    """Return the second moments of the errors; of too few rows, only the variances."""
    whole = [e for e in errors if not np.isnan(e).any()]
    if len(whole) > 2 * errors.shape[1]:
        found = sum(np.outer(e, e) for e in whole) / len(whole)
    else:
        found = np.diag([_mean([x**2 for x in column if not np.isnan(x)]) for column in errors.T])
    return np.asarray(found + np.diag(1e-9 + 1e-6 * np.diag(found)))


def _mean(numbers: Sequence[float]) -> float:
    return float(sum(numbers) / len(numbers)) if numbers else 0.0


def _squares(known: Floats, seen: Floats, covariance: Floats, records: Sequence[int]) -> list[list[float]]:
    """Return squared distances over what a row shows; for what it hides, what own rows are apart on average."""
    hidden = [
        _mean([(b - a) ** 2 for a, b in zip(x, y, strict=True) if not np.isnan(a + b)]) / covariance[j, j]
        for j, (x, y) in enumerate(zip(known.T, seen.T, strict=True))
    ]
    found = []
    for i in records:
        row = []
        for cells in seen:
            there = np.flatnonzero(~np.isnan(cells))
            apart = (cells - known[i])[there]
            square = apart @ np.linalg.inv(covariance[np.ix_(there, there)]) @ apart if len(there) else 0.0
            row.append(float(square) + sum(h for j, h in enumerate(hidden) if j not in there))
        found.append(row)
    return found


def _ranks(numbers: Floats) -> Floats:
    """Return the middle place of each number in its column, as a share of all."""
    found = np.full(numbers.shape, np.nan)
    for j, column in enumerate(numbers.T):
        there = [x for x in column if not np.isnan(x)]
        for i, x in enumerate(column):
            if not np.isnan(x):
                found[i, j] = (sum(y < x for y in there) + sum(y <= x for y in there)) / 2 / len(there)
    return found


def _weights(known: Floats, seen: Floats, records: Sequence[int]) -> list[list[float]]:
    """Return the negative weights by which attributes agree, m and u from all pairs by EM."""
    width = known.shape[1]
    wide = []
    for x, y in zip(known.T, seen.T, strict=True):
        errors = [abs(a - b) for a, b in zip(x, y, strict=True) if not np.isnan(a + b)]
        middle = float(np.median(errors)) if errors else 0.0
        wide.append(middle + 1e-9 * (middle + float(np.nanmax(np.abs(x)))))
    patterns = [[tuple(abs(row[j] - known[i, j]) <= wide[j] for j in range(width)) for row in seen] for i in records]
    every = [p for row in patterns for p in row]
    u = _agreeing(every, [1.0] * len(every), width)
    m = [0.9] * width
    for _ in range(ROUNDS):
        odds = [exp(_weight(p, m, u)) / max(1, len(seen) - 1) for p in every]
        match = [o / (1 + o) for o in odds]
        m, u = _agreeing(every, match, width), _agreeing(every, [1 - x for x in match], width)
    return [[-round(_weight(p, m, u), 6) for p in row] for row in patterns]


def _agreeing(every: Sequence[Sequence[bool]], shares: Sequence[float], width: int) -> list[float]:
    whole = max(sum(shares), LEAST)
    found = [sum(s for p, s in zip(every, shares, strict=True) if p[j]) / whole for j in range(width)]
    return [min(1 - LEAST, max(LEAST, f)) for f in found]


def _weight(pattern: Sequence[bool], m: Sequence[float], u: Sequence[float]) -> float:
    terms = [log(a / b) if yes else log((1 - a) / (1 - b)) for yes, a, b in zip(pattern, m, u, strict=True)]
    return sum(terms, -0.0) if terms else inf
