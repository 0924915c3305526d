"""Interval disclosure, row by row and exactly."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

from adversary.crowds import Release
from adversary.numbers.estimates import estimates
from adversary.numbers.reading import LabelError, Number, kind_of, originals, shown
from adversary.oracle import Judged, _judged, _nothing_told


def judged(name: str, clause: Mapping[str, Any], policy: Mapping[str, Any], release: Release) -> Judged:
    """Judge the largest share of rows that show a number near to the original one."""
    id_, bound = f"privacy.interval_disclosure.{name}", float(clause["max"])
    carriers = release.carriers(name)
    if not carriers:
        return _nothing_told(id_, "share", bound, at_most=True)
    try:
        columns = [shown(release, c, kind_of(name, policy)) for c in carriers]
    except LabelError:
        return _judged(id_, "share", None, bound, at_most=True)
    original = originals(release, name, policy)
    rows = [i for i, o in enumerate(original) if o is not None]
    exact = [o for o in original if o is not None]
    every = estimates(exact, [[c[i] for i in rows] for c in columns])
    shares = [Fraction(sum(near(e, exact, clause["width"])), len(rows)) if rows else Fraction(0) for e in every]
    return _judged(id_, "share", max(shares), bound, at_most=True)


def near(estimate: Sequence[Number], original: Sequence[Fraction], width: Mapping[str, str]) -> list[bool]:
    """Return which estimates are within a width of the original number; None is not."""
    ((form, size),) = width.items()
    wide = Fraction(size)
    mean = sum(original, Fraction(0)) / len(original)
    variance = sum(((o - mean) ** 2 for o in original), Fraction(0)) / len(original)
    found = []
    for guess, o in zip(estimate, original, strict=True):
        if guess is None:
            found.append(False)
        elif form == "rank":
            apart = abs(_rank(guess, original) - _rank(o, original))
            found.append(apart <= wide * len(original))
        elif form == "sd":
            found.append((guess - o) ** 2 <= wide**2 * variance)
        else:
            found.append(abs(guess - o) <= (wide if form == "absolute" else wide * abs(o)))
    return found


def _rank(guess: Fraction, original: Sequence[Fraction]) -> Fraction:
    """Return the middle of the places that a number has or would have among the original ones."""
    return Fraction(sum(o < guess for o in original) + sum(o <= guess for o in original), 2)
