"""Figures of one histogram: shares of values among the people that somebody may be, against those of everybody.

Shares are fractions, so that equality is equality. Formulas are those that the papers define.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from datetime import date
from decimal import Decimal, InvalidOperation
from fractions import Fraction

MISSING = "\0missing"
SUPPRESSED = "\0suppressed"
MARKS = (MISSING, SUPPRESSED)

Shares = Mapping[str, Fraction]


class UnrankedError(Exception):
    """A value has no place in the order."""


def total(parts: Iterable[tuple[Fraction, Shares]]) -> dict[str, Fraction]:
    """Add up weighted histograms."""
    found: dict[str, Fraction] = {}
    for weight, part in parts:
        for value, share in part.items():
            if weight * share:
                found[value] = found.get(value, Fraction(0)) + weight * share
    return found


def normal(weights: Shares) -> dict[str, Fraction]:
    """Return shares that add up to 1."""
    whole = sum(weights.values(), Fraction(0))
    return {v: w / whole for v, w in weights.items() if w}


def entropy_l(shares: Shares) -> float:
    """Return exp of the entropy."""
    return math.exp(-sum(float(p) * math.log(p) for p in shares.values()))


def recursive_l(counts: Shares, c: Fraction) -> int:
    """Return the largest l with r_1 < c (r_l + … + r_m); 0 where there is none."""
    ordered = sorted(counts.values(), reverse=True)
    return max((i + 1 for i in range(len(ordered)) if ordered[0] < c * sum(ordered[i:])), default=0)


def matching(rows: Sequence[Iterable[str]]) -> int:
    """Return the most rows that can be given different values, each one that it can have (augmenting paths)."""
    owner: dict[str, int] = {}

    def placed(row: int, tried: set[str]) -> bool:
        for value in rows[row]:
            if value not in tried:
                tried.add(value)
                if value not in owner or placed(owner[value], tried):
                    owner[value] = row
                    return True
        return False

    return sum(placed(i, set()) for i in range(len(rows)))


def alpha(shares: Shares, values: Sequence[str]) -> Fraction:
    """Return the largest share, of ``values`` where some are named."""
    return max((p for v, p in shares.items() if not values or v in values), default=Fraction(0))


def equal_t(shares: Shares, base: Shares) -> Fraction:
    """Return the distance where all values are equally far from each other."""
    return sum((max(p - base.get(v, Fraction(0)), Fraction(0)) for v, p in shares.items()), Fraction(0))


def ordered_t(shares: Shares, base: Shares, order: Sequence[str], kind: str) -> Fraction:
    """Return the distance by ranks; marks are as far from everything as the lowest value from the highest.

    What differs at marks is moved first, the values then in proportion.
    """
    ranks = ranked([v for v in base if v not in MARKS], order, kind)
    apart = [shares.get(m, Fraction(0)) - base.get(m, Fraction(0)) for m in MARKS]
    moved = max(sum(d for d in apart if d > 0), sum(-d for d in apart if d < 0), Fraction(0))
    here, there = (sum((s.get(v, Fraction(0)) for v in ranks), Fraction(0)) for s in (shares, base))
    if len(ranks) < 2 or not here or not there:
        return Fraction(moved)
    p = q = way = Fraction(0)
    for value in ranks[:-1]:
        p, q = p + shares.get(value, Fraction(0)) / here, q + base[value] / there
        way += abs(p - q)
    return moved + min(here, there) * way / (len(ranks) - 1)


def ranked(values: Iterable[str], order: Sequence[str], kind: str) -> list[str]:
    """Return values from low to high: as ``order`` says, else as numbers or dates. Raises UnrankedError."""
    try:
        if order:
            place = {v: i for i, v in enumerate(order)}
            return sorted(values, key=lambda v: place[v])
        if kind == "date":
            return sorted(values, key=date.fromisoformat)
        return sorted(values, key=lambda v: (Decimal(v), v))
    except (KeyError, ValueError, InvalidOperation):
        raise UnrankedError from None


def delta(shares: Shares, base: Shares) -> float:
    """Return the largest |ln(share / share of everybody)|; infinite where a value lacks."""
    if any(not shares.get(v) for v, q in base.items() if q):
        return math.inf
    return max(abs(math.log(shares[v] / q)) for v, q in base.items() if q)


def beta(shares: Shares, base: Shares) -> Fraction:
    """Return the largest relative gain."""
    return max((p / base[v] - 1 for v, p in shares.items()), default=Fraction(0))
