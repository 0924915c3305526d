"""Released counts by group, as reconstruction takes them: a row for each group, a column for each value."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from ppdm_flow.mining.reconstruction.channel import Floats
from ppdm_flow.mining.reconstruction.estimate import Reconstruction
from ppdm_flow.tables.column import MISSING, SUPPRESSED, SUPPRESSED_TEXT
from ppdm_flow.tables.counts import Counts

FEW = 30
"""Below so many rows the normal approximation of the intervals is rough."""


@dataclass(frozen=True, slots=True, eq=False)
class ReconstructedGroups:
    """``keys`` are the groups' texts in the grouping columns (None is missing), ``released`` has shape (groups, m).

    ``outside`` is the number of rows whose value is not in the operator's domain; they are in no group's counts.
    """

    columns: tuple[str, ...]
    keys: tuple[tuple[str | None, ...], ...]
    released: Floats
    outside: int


def groups(counts: Counts, attribute: str, domain: Sequence[str | None], by: Sequence[str] = ()) -> ReconstructedGroups:
    """Lay out ``counts`` by the columns ``by`` and the values of ``attribute``; groups are sorted, missing first.

    Without ``by`` there is one group. Raises KeyError for a column that is not counted.
    """
    absent = [c for c in (*by, attribute) if c not in counts.columns]
    if absent:
        raise KeyError(absent[0])
    places = positions(counts.names(attribute), domain)[counts.of(attribute)]
    group, size = counts.groups(by)
    matrix = np.zeros((size, len(domain) + 1))
    np.add.at(matrix, (group, places), counts.counts)  # the last column takes what is outside the domain
    first = np.zeros(size, dtype=np.intp)
    first[group[::-1]] = np.arange(len(group))[::-1]
    columns = [_texts(counts, name, first) for name in by]
    keys = tuple(zip(*columns, strict=True)) if columns else ((),) * size
    return ReconstructedGroups(tuple(by), keys, matrix[:, :-1], int(matrix[:, -1].sum()))


def positions(names: pa.StringArray, domain: Sequence[str | None]) -> npt.NDArray[np.intp]:
    """Return where each category stands in the domain, and at the end where suppressed and missing cells do.

    So ``positions(...)[codes]`` works for the special codes -2 and -1 too. Outside the domain is -1.
    """
    values = pa.array(domain, pa.string())
    places = pc.index_in(names, value_set=values).fill_null(-1).to_numpy(zero_copy_only=False)
    special = {SUPPRESSED: -1, MISSING: domain.index(None) if None in domain else -1}
    return np.concatenate([places, [special[SUPPRESSED], special[MISSING]]]).astype(np.intp)


def too_small(estimates: Reconstruction) -> npt.NDArray[np.bool_]:
    """Return which groups say little: fewer than 30 rows, or not one value whose interval excludes 0; shape (...)."""
    low = (
        estimates.low
        if estimates.together is None
        else np.append(estimates.low, estimates.together.low[..., None], axis=-1)
    )
    return np.asarray((estimates.total < FEW) | ~(low > 0).any(axis=-1))


def _texts(counts: Counts, column: str, rows: npt.NDArray[np.intp]) -> list[str | None]:
    names = [*counts.names(column).to_pylist(), SUPPRESSED_TEXT, None]  # places -2 and -1
    return [names[c] for c in counts.of(column)[rows].tolist()]
