"""The second route: SQL reads the numbers of the file, and every record is compared with every released row."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ppdm_flow.mining.exposure.numbers import Floats, Ints
from ppdm_flow.mining.exposure.numbers_query import Types, hold, number_of
from ppdm_flow.mining.exposure.paired import relation
from ppdm_flow.requirements.numeric_linkage.nearest import FLOOR, SLACK
from ppdm_flow.requirements.numeric_linkage.spaces import Space
from ppdm_flow.sdk.audit import Sql
from ppdm_flow.sdk.view import DataView, PairedView

_CELLS = 1 << 22
"""So many distances are looked at together."""


def numbers_again(
    sql: Sql,
    candidate: DataView,
    pairs: PairedView,
    attributes: Sequence[str],
    columns: Sequence[str],
    types: tuple[Types, Types],
) -> tuple[Floats, Floats]:
    """Return the numbers of ``attributes`` and of ``columns``, (rows, each), by row number; NaN where there is none."""
    tables = {"paired": relation(pairs, columns, attributes, candidate.schema.weight)}
    hold(sql, columns, types[1], candidate.schema.weight, tables)
    before = [number_of(f"o{i}", kind) for i, kind in enumerate(types[0])]
    after = [number_of(f"r{i}", kind) for i, kind in enumerate(types[1])]
    rows = sql.rows(f"SELECT {', '.join((*before, *after))} FROM paired ORDER BY row", (), tables)  # noqa: S608  # our own names
    read = np.array(rows, dtype=np.float64).reshape(len(rows), len(before) + len(after))
    return read[:, : len(before)], read[:, len(before) :]


def chances_again(space: Space, sample: Ints, candidates: int) -> Floats:
    """Return the chances by every distance, some records of the sample at a time."""
    hidden = np.isnan(space.released)
    forms, form_of_row = np.unique(hidden @ (1 << np.arange(hidden.shape[1])), return_inverse=True)
    groups = [np.flatnonzero(form_of_row.reshape(-1) == i) for i in range(len(forms))]
    block = max(1, _CELLS // max(1, len(space.released)))
    parts = [_of_block(space, groups, sample[i : i + block], candidates) for i in range(0, len(sample), block)]
    return np.concatenate(parts) if parts else np.zeros(0)


def _of_block(space: Space, groups: Sequence[Ints], sample: Ints, candidates: int) -> Floats:
    distance = np.empty((len(sample), len(space.released)))
    for rows in groups:
        hidden = np.isnan(space.released[rows[0]])
        shown = np.flatnonzero(~hidden)
        metric = np.linalg.inv(space.covariance[shown][:, shown])
        apart = [space.released[rows, j] - space.original[sample, j][:, np.newaxis] for j in shown]
        within = np.full((len(sample), len(rows)), space.hidden[hidden].sum())
        for a, b in zip(*np.nonzero(metric), strict=True):
            within += metric[a, b] * apart[a] * apart[b]
        distance[:, rows] = within
    own = distance[np.arange(len(sample)), sample][:, np.newaxis]
    nearer = (distance < own * (1 - SLACK) - FLOOR).sum(axis=1)
    ties = (distance <= own * (1 + SLACK) + FLOOR).sum(axis=1) - nearer
    return np.asarray(np.clip(candidates - nearer, 0, ties) / np.maximum(ties, 1))
