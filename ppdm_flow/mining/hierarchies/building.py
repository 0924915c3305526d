"""Hierarchies made from data: every value that occurs, with a label on each level."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Mapping, Sequence
from pathlib import Path

from ppdm_flow.core.attributes import HierarchySpec
from ppdm_flow.mining.hierarchies.ancestors import labels
from ppdm_flow.mining.hierarchies.coarsening import UnplacedError
from ppdm_flow.mining.hierarchies.hierarchy import Lines
from ppdm_flow.mining.hierarchies.ladder import ladder
from ppdm_flow.mining.hierarchies.numbers import decimals

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
    whole = round(number)
    return whole if math.isclose(number, whole, abs_tol=1e-9) else float(f"{number:.12g}")
