"""Released rows beside their originals, counted, and as a relation for SQL."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import numpy as np

from ppdm_flow.core.diagnostics import Diagnostic
from ppdm_flow.core.errors import RunError
from ppdm_flow.sdk.paired_relation import PairedRelation, names_of, originals_first, pair_counts
from ppdm_flow.sdk.view import CountingPairs, DataView, PairedView
from ppdm_flow.tables.column import Column
from ppdm_flow.tables.counts import Counts


def paired_counts(candidate: DataView, pairs: PairedView, released: Sequence[str], original: Sequence[str]) -> Counts:
    """Count the combinations of released cells and original values over all rows.

    Raises RunError where the paired rows are not those of the file.
    """
    names, weight = names_of(released, original), candidate.schema.weight
    counting = pairs.counts if isinstance(pairs, CountingPairs) else partial(pair_counts, pairs)
    counts = counting(original, released, originals_first(released, original), weight).project(names)
    require_the_file(counts, candidate, released)
    return counts


def require_the_file(counts: Counts, candidate: DataView, released: Sequence[str]) -> None:
    """Hold the released side of paired rows against the file. Raises RunError where they differ."""
    distinct = list(dict.fromkeys(released))
    own = counts.project([f"r{released.index(c)}" for c in distinct])
    there = candidate.counts(distinct)
    if not _same(own, there):
        raise RunError(
            (
                Diagnostic(
                    "PPF836",
                    "the rows that were paired with their originals are not those of the released file",
                    help="a step gave other rows when it was asked again: this is a defect of that step",
                ),
            )
        )


def relation(pairs: PairedView, released: Sequence[str], original: Sequence[str], weight: str | None) -> PairedRelation:
    """Return the rows for SQL."""
    return PairedRelation(pairs, tuple(released), tuple(original), weight)


def _same(one: Counts, other: Counts) -> bool:
    """Whether both count the same rows; categories that do not occur are ignored."""
    some, others = one.counts > 0, other.counts > 0
    if not np.array_equal(one.counts[some], other.counts[others]):
        return False
    for i in range(len(one.categories)):
        first = Column(one.codes[some, i], one.categories[i]).compact()
        second = Column(other.codes[others, i], other.categories[i]).compact()
        if not (np.array_equal(first.codes, second.codes) and first.categories.equals(second.categories)):
            return False
    return True
