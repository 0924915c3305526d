"""Special uniques: for each row every set of so many attributes, held against every other row."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from itertools import combinations
from typing import Any

from adversary.crowds import Release, classes
from adversary.lineage import Made, grouping, sensitive
from adversary.oracle import Judged, _judged
from adversary.shares import MISSING


def judged(clause: Mapping[str, Any], policy: Mapping[str, Any], release: Release) -> Judged:
    """Judge the share of rows that some set of attributes singles out."""
    id_, bound = "privacy.special_uniques", float(clause["max_share"])
    rows = len(release.cells)
    if not rows:
        return _judged(id_, "share", None, bound, at_most=True)
    known = [a for a in grouping(clause, policy) if a not in sensitive(policy) and release.carriers(a)]
    found: set[int] = set()
    for size in range(1, min(int(clause["size"]), len(known)) + 1):
        for some in combinations(known, size):
            columns = [c for c in release.columns.values() if c.computed & set(some)]
            found |= _alone(release, columns)
    return _judged(id_, "share", Fraction(len(found), rows), bound, at_most=True)


def _alone(release: Release, columns: Sequence[Made]) -> set[int]:
    """Return the rows that nobody else's could be, by these columns."""
    rows = range(len(release.cells))
    counted = [i for i in rows if release.nulls != "exclude" or MISSING not in release.shown(i, columns)]
    return {own[0] for own, crowd in classes(release, columns, counted) if len(own) == len(crowd) == 1}
