"""Random steps on tiny tables by their exact likelihoods: from what each step means, not from its draws."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from itertools import combinations, permutations, product
from math import comb, factorial
from typing import Any

Pair = tuple[str, str]
Carried = list[tuple[Pair, tuple[str, ...]]]
"""Of each released row, the pair that it was and its cells."""


def sampled(world: Sequence[Pair], size: int) -> Iterator[tuple[Fraction, Carried]]:
    """Yield every sample of ``size`` rows: all are as likely."""
    for rows in combinations(world, size):
        yield Fraction(1, comb(len(world), size)), [(pair, pair) for pair in rows]


def swapped(world: Sequence[Pair]) -> Iterator[tuple[Fraction, Carried]]:
    """Yield what becomes of s where its values go round in one cycle of all rows: all cycles are as likely."""
    first, *others = range(len(world))
    for order in permutations(others):
        cycle = (first, *order)
        giver = dict(zip(cycle, (*cycle[1:], first), strict=True))
        cells = [(pair, (pair[0], world[giver[i]][1])) for i, pair in enumerate(world)]
        yield Fraction(1, factorial(len(world) - 1)), cells


Matrix = Mapping[tuple[str, str], Fraction]
"""P(y | x) by (x, y)."""


def perturbed(world: Sequence[Pair], operator: Matrix) -> Iterator[tuple[Fraction, Carried]]:
    """Yield what becomes of s where each row draws by ``operator``."""
    shown = sorted({y for _, y in operator})
    for drawn in product(shown, repeat=len(world)):
        chance = Fraction(1)
        for (_, s), y in zip(world, drawn, strict=True):
            chance *= operator[s, y]
        if chance:
            yield chance, [(pair, (pair[0], y)) for pair, y in zip(world, drawn, strict=True)]


def matrix(domain: Sequence[Any], retention: Sequence[float]) -> Matrix:
    """Return the operator that keeps value x with its retention and draws one of all values otherwise."""
    kept = [Fraction(p).limit_denominator(10**9) for p in retention]
    return {
        (str(x), str(y)): (p if x == y else 0) + (1 - p) / len(domain)
        for x, p in zip(domain, kept, strict=True)
        for y in domain
    }


def posterior_bound(operator: Matrix, prior: Fraction) -> Fraction:
    """Return the largest posterior of a value whose prior is ``prior``, over all priors of the others."""
    values = sorted({x for x, _ in operator})
    worst = prior
    for v, y in operator:
        others = [operator[x, y] for x in values if x != v]
        rest = (1 - prior) * min(others) if others else Fraction(0)
        if operator[v, y]:
            worst = max(worst, prior * operator[v, y] / (prior * operator[v, y] + rest))
    return worst
