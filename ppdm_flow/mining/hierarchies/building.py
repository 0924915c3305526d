"""Hierarchies made from data, and checks whether one is valid and covers the data."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

from ppdm_flow.core.attributes import HierarchySpec
from ppdm_flow.mining.hierarchies.coarsening import UnplacedError
from ppdm_flow.mining.hierarchies.intervals import decimals
from ppdm_flow.mining.hierarchies.ladder import Lines, height, labels, ladder, lies

TOP = "*"


def of_spec(column: str, own: HierarchySpec, values: Sequence[str]) -> Lines:
    """Return the values' ancestors by a hierarchy of the policy language, ``*`` last.

    Raises PluginError, naming the column, where a value has no place in it.
    """
    steps = ladder(column, own, Path())
    every = [labels(column, values, rung) for rung in steps.rungs]
    if not every or len(set(every[-1])) > 1 or set(every[-1]) != {TOP}:
        every.append([TOP] * len(values))
    return dict(zip(values, zip(*every, strict=True), strict=True))


def by_frequency(counts: Mapping[str, int], at_least: Sequence[int], label: str) -> Lines:
    """Put values together that occur in fewer rows than ``at_least`` says, level by level; the others stay.

    >>> by_frequency({"flu": 90, "gout": 3, "mumps": 12}, [10, 50], "(other)")
    {'flu': ('flu', 'flu', '*'), 'gout': ('(other)', '(other)', '*'), 'mumps': ('mumps', '(other)', '*')}
    """
    return {
        value: (*(label if rows < least else value for least in sorted(at_least)), TOP)
        for value, rows in counts.items()
    }


def edges_of(values: Sequence[str], width: float) -> tuple[float, ...]:
    """Return edges at multiples of ``width`` that enclose all values. Raises UnplacedError where one is no number.

    >>> edges_of(["3", "17"], 10)
    (0, 10, 20)
    """
    numbers = decimals(values)
    if not numbers:
        raise UnplacedError("PPF786", 0, "are there")
    first, last = math.floor(float(min(numbers)) / width), math.floor(float(max(numbers)) / width) + 1
    return tuple(_plain(place * width) for place in range(first, last + 1))


def in_order(values: Sequence[str]) -> tuple[str, ...]:
    """Return values by number, where all are numbers, else by text."""
    try:
        keys = decimals(values)
    except UnplacedError:
        return tuple(sorted(values))
    return tuple(v for _, v in sorted(zip(keys, values, strict=True)))


def by_number_or_rows(counts: Mapping[str, int]) -> tuple[str, ...]:
    """Return values by number, where all are numbers, else the most frequent first.

    >>> by_number_or_rows({"b": 1, "a": 1, "c": 5})
    ('c', 'a', 'b')
    """
    try:
        decimals(tuple(counts))
    except UnplacedError:
        return tuple(sorted(counts, key=lambda value: (-counts[value], value)))
    return in_order(tuple(counts))


def until_one(size: int, fanout: int) -> tuple[int, ...]:
    """Return as many joins of ``fanout`` neighbours as make ``size`` values one.

    >>> until_one(10, 3)
    (3, 3, 3)
    """
    return (fanout,) * max(1, math.ceil(math.log(max(size, 2)) / math.log(fanout) - 1e-9))


def written(lines: Lines, delimiter: str) -> str:
    """Return a hierarchy as CSV: the value first, ``*`` last, no header."""
    out = io.StringIO()
    writer = csv.writer(out, delimiter=delimiter, lineterminator="\n")
    writer.writerows((value, *above) for value, above in lines.items())
    return out.getvalue()


def _plain(number: float) -> float:
    rounded = round(number)
    return rounded if math.isclose(number, rounded, abs_tol=1e-9) else float(f"{number:.12g}")


@dataclass(frozen=True, slots=True)
class HierarchyCheck:
    """What was counted. ``labels`` of each level above the values; ``split`` are levels that divide the one below.

    ``absent`` of ``values`` distinct values (``absent_rows`` of ``rows``) stand in no line; ``unused`` of ``leaves`` do
    not occur. ``lies``: labels that are spelled like a value which has another label.
    """

    leaves: int
    labels: tuple[int, ...]
    split: tuple[int, ...]
    lies: int
    values: int
    absent: int
    rows: int
    absent_rows: int
    unused: int

    @property
    def holds(self) -> bool:
        """Whether it can be used for this data."""
        return not (self.absent or self.split or self.lies)


def checked(lines: Lines, counts: Mapping[str, int]) -> HierarchyCheck:
    """Hold a hierarchy against the values of the data, with their numbers of rows."""
    levels = [list(lines), *([above[i] for above in lines.values()] for i in range(height(lines)))]
    split = tuple(
        level
        for level, (low, high) in enumerate(pairwise(levels), start=1)
        if len(set(zip(low, high, strict=True))) > len(set(low))
    )
    absent = [v for v in counts if v not in lines]
    return HierarchyCheck(
        leaves=len(lines),
        labels=tuple(len(set(level)) for level in levels[1:]),
        split=split,
        lies=sum(lies(levels[0], level) for level in levels[1:]),
        values=len(counts),
        absent=len(absent),
        rows=sum(counts.values()),
        absent_rows=sum(counts[v] for v in absent),
        unused=sum(v not in counts for v in lines),
    )
