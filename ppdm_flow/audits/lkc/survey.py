"""Every combination of a few known columns: how few rows fit, and how sure a sensitive value can be."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from ppdm_flow.audits.classes.histograms import histograms
from ppdm_flow.audits.k_anonymity.classes import classes
from ppdm_flow.core.roles import Nulls
from ppdm_flow.mining.recoding.measures import added, shares
from ppdm_flow.tables.column import SPECIALS
from ppdm_flow.tables.counts import Counts

Columns = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Target:
    """A released sensitive column, and the values of which nobody should be found to have one."""

    column: str
    values: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Survey:
    """The worst of all ``combinations``: the smallest ``k`` is by knowing ``fewest``, the ``confidence`` by ``surest``.

    ``k`` is 0 and ``confidence`` 0 where there is no row. ``left_out`` are the rows that all of them leave out.
    ``each`` is (what is known, the smallest group, the highest confidence), for every combination.
    """

    combinations: int
    k: int
    confidence: float
    fewest: Columns
    surest: Columns
    left_out: int
    each: tuple[tuple[Columns, int, float], ...] = ()


def chosen(columns: Sequence[str], known: int, nulls: Nulls) -> Iterator[Columns]:
    """Yield what somebody may know.

    Whoever knows more has smaller groups, and one of them has a share at least as high as the group that they make up.
    With missing values as wildcards or left out, groups do not nest, so that all combinations are looked at.
    """
    most = min(known, len(columns))
    least = most if nulls is Nulls.OWN_CATEGORY else min(1, most)
    for size in range(least, most + 1):
        yield from combinations(columns, size)


def survey(counts: Counts, columns: Sequence[str], targets: Sequence[Target], known: int, nulls: Nulls) -> Survey:
    """Look at every combination; ``counts`` are over ``columns`` and the targets' columns."""
    every = list(chosen(columns, known, nulls))
    found = [classes(counts.project(c), nulls) for c in every]
    sizes = [f.k for f in found]
    worst = [max((_confidence(counts, c, t, nulls) for t in targets), default=0.0) for c in every]
    first, second = int(np.argmin(sizes)), int(np.argmax(worst))
    left = min(f.left_out for f in found)
    each = tuple(zip(every, sizes, worst, strict=True))
    return Survey(len(every), sizes[first], worst[second], every[first], every[second], left, each)


def _confidence(counts: Counts, columns: Columns, target: Target, nulls: Nulls) -> float:
    found = histograms(counts.project((*columns, target.column)), nulls)
    meant = np.isin(found.names.to_pylist(), target.values)
    share = np.where(
        np.concatenate([np.zeros(SPECIALS, np.bool_), meant])[found.cells.value], shares(found.cells, found.sizes), 0.0
    )
    return float(added(found.cells, share).max(initial=0.0))


def by_column(pairs: Sequence[tuple[str, str]], carriers: Mapping[str, Sequence[str]]) -> tuple[Target, ...]:
    """Return the targets: each sensitive attribute's released columns with its values."""
    values: dict[str, list[str]] = {}
    for attribute, value in pairs:
        values.setdefault(attribute, []).append(value)
    return tuple(Target(c, tuple(v)) for attribute, v in values.items() for c in carriers[attribute])
