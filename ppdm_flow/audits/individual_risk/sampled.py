"""The released keys: how often each occurs, and how many people of the population are estimated to have it."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from ppdm_flow.audits.individual_risk.spec import CODE
from ppdm_flow.core.diagnostics import Diagnostic
from ppdm_flow.core.errors import DataError
from ppdm_flow.mining.exposure.paired import paired_counts
from ppdm_flow.mining.releases.attributes import namesakes
from ppdm_flow.mining.samples.uniques import SampleKeys
from ppdm_flow.sdk.audit import AuditContext
from ppdm_flow.sdk.view import DataView
from ppdm_flow.tables.counts import Counts

Integers = npt.NDArray[np.int64]

UNPAIRED = "released rows cannot be paired with their originals, and no sampling weight is released unchanged"


def released_keys(
    columns: Sequence[str], original: DataView, candidate: DataView, ctx: AuditContext, fraction: float | None
) -> SampleKeys | None:
    """Return the keys over these released columns; None where nobody can tell the weights of released rows.

    The weights are those of the original rows, whatever a step made of the released ones. Raises DataError where
    there are none, and ``fraction``, the share of the population that was asked, is None.
    """
    weight = original.schema.sampling_weight
    if fraction is not None:
        return _with_fraction(candidate.counts(columns), columns, fraction)
    if weight is None:
        raise DataError(
            Diagnostic(
                CODE,
                "`individual_risk` has no sampling weights, and no `sampling_fraction`",
                help="give the survey weights `role: sampling_weight`",
            )
        )
    if ctx.pairs is not None:
        counted = paired_counts(candidate, ctx.pairs, columns, [weight])
        return _with_weights(counted, [f"r{i}" for i in range(len(columns))], "o0")
    unchanged = [c for c in namesakes(weight, candidate, ctx) if not ctx.attributes[c].changes]
    if not unchanged:
        return None
    return _with_weights(candidate.counts([*columns, unchanged[0]]), columns, unchanged[0])


def original_keys(columns: Sequence[str], original: DataView, fraction: float | None) -> SampleKeys | None:
    """Return the keys over these columns of the original, all rows of it."""
    if fraction is not None:
        return _with_fraction(original.counts(columns), columns, fraction)
    weight = original.schema.sampling_weight
    return None if weight is None else _with_weights(original.counts([*columns, weight]), columns, weight)


def _occurring(counts: Counts) -> Counts:
    kept = counts.counts > 0
    return Counts(counts.columns, counts.categories, counts.codes[kept], np.ascontiguousarray(counts.counts[kept]))


def _with_fraction(counted: Counts, columns: Sequence[str], fraction: float) -> SampleKeys:
    counts = _occurring(counted)
    codes, widths = _dense(counts, columns, np.arange(len(counts)))
    return SampleKeys(codes, widths, counts.counts, counts.counts / fraction)


def _with_weights(counted: Counts, columns: Sequence[str], weight: str) -> SampleKeys:
    """Add up the weights of each key. ``weight`` is a column of positive numbers."""
    counts = _occurring(counted)
    key, size = counts.groups(columns)
    first = np.full(size, len(counts), dtype=np.int64)
    np.minimum.at(first, key, np.arange(len(counts)))
    numbers = counts.names(weight).cast("float64").to_numpy(zero_copy_only=False)
    people = counts.counts * numbers[counts.of(weight)]
    codes, widths = _dense(counts, columns, first)
    frequencies = np.bincount(key, counts.counts, size).astype(np.int64)
    return SampleKeys(codes, widths, frequencies, np.bincount(key, people, size).astype(np.float64))


def _dense(counts: Counts, columns: Sequence[str], rows: Integers) -> tuple[Integers, tuple[int, ...]]:
    """Number the cells that occur in each column from 0; missing and suppressed ones are values of their own."""
    codes = np.empty((len(rows), len(columns)), dtype=np.int64)
    widths = []
    for i, column in enumerate(columns):
        distinct, codes[:, i] = np.unique(counts.of(column)[rows], return_inverse=True)
        widths.append(len(distinct))
    return codes, tuple(widths)
