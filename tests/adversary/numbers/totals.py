"""Dominance: the largest contributors to every group's total, exactly."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from typing import Any

from adversary.crowds import Question, Release, classes, kept
from adversary.lineage import Made, grouping
from adversary.numbers.reading import LabelError, Number, kind_of, number, originals
from adversary.oracle import Judged, _judged, _nothing_told

RULES = {"share": ("share", True), "margin": ("p", False), "contributors": ("contributors", False)}
"""Of each figure the parameter that bounds it, and whether it may be at most as large."""


def judged(name: str, clause: Mapping[str, Any], policy: Mapping[str, Any], release: Release) -> Iterator[Judged]:
    """Judge the rules that are asked for, in every group and by every way to read its numbers."""
    id_ = f"privacy.dominance.{name}"
    asked = {figure: (float(clause[key]), most) for figure, (key, most) in RULES.items() if key in clause}
    carriers = release.carriers(name)
    if not carriers:
        yield from (_nothing_told(id_, figure, bound, at_most=most) for figure, (bound, most) in asked.items())
        return
    if any(c.drawn and name not in c.true for c in carriers):
        yield from (_judged(id_, figure, None, bound, at_most=most) for figure, (bound, most) in asked.items())
        return
    known = tuple(a for a in grouping(clause, policy) if a != name)
    question = Question(known, ())
    by = [c for c in release.columns.values() if c.computed & set(known)]
    groups = [members for _, members in classes(release, by, kept(release, question))]
    figures = [
        found
        for numbers in _sides(name, policy, release, carriers)
        for members in groups
        if (found := _figures([abs(numbers[i] or Fraction(0)) for i in members], clause)) is not None
    ]
    if groups and not figures:
        yield _judged(id_, "groups_with_total", 0, 0.0, at_most=True)
        return
    for figure, (bound, most) in asked.items():
        each = [f[figure] for f in figures]
        yield _judged(id_, figure, (max(each) if most else min(each)) if each else None, bound, at_most=most)


def _sides(name: str, policy: Mapping[str, Any], release: Release, carriers: Sequence[Made]) -> Iterator[list[Number]]:
    """Yield the original numbers, and what each changed column of numbers shows; labels add nothing."""
    yield originals(release, name, policy)
    for column in carriers:
        if len(column.way) > 1 and not column.computed - column.bare:
            cells = [row[column.name] for row in release.cells]
            own = column.way[0]
            if own == name or (own in policy["attributes"] and _are_numbers(cells, kind_of(own, policy))):
                yield [_or_nothing(cell) for cell in cells]


def _are_numbers(cells: Sequence[str], kind: str) -> bool:
    return kind in ("integer", "float") and all(_or_nothing(c) is not None or c[:1] == "\0" for c in cells)


def _or_nothing(cell: str) -> Number:
    try:
        return number(cell, "float")
    except LabelError:
        return None


def _figures(numbers: Sequence[Fraction], clause: Mapping[str, Any]) -> dict[str, Fraction] | None:
    """Return the figures of one group; None where there is no total."""
    falling = sorted((n for n in numbers if n), reverse=True)
    if not falling:
        return None
    rest = sum(falling[2:], Fraction(0))
    return {
        "share": sum(falling[: int(clause.get("n", "1"))], Fraction(0)) / sum(falling),
        "margin": Fraction(clause.get("q", "100")) * rest / falling[0],
        "contributors": Fraction(len(falling)),
    }
