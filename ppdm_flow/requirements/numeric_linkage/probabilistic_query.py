"""The second route to probabilistic linkage: pairs are compared, and patterns of agreement counted, in SQL."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from ppdm_flow.mining.exposure.numbers import Floats, Ints
from ppdm_flow.requirements.numeric_linkage.nearest import Places
from ppdm_flow.requirements.numeric_linkage.probabilistic import among, weights_of, widths
from ppdm_flow.requirements.numeric_linkage.truth import Truth
from ppdm_flow.sdk.audit import Sql

_BLOCK = 4096
"""So many records are compared with every row by one query."""


def places_by_weight_again(sql: Sql, known: Floats, released: Floats, truth: Truth, sample: Ints) -> Places:
    """Return the places that the first route computes."""
    wide = widths(known, released, truth)
    blocks = [sample[i : i + _BLOCK] for i in range(0, len(sample), _BLOCK)]
    found = [_counted(sql, known[block], truth.whose[block], released, truth.owner, wide) for block in blocks]
    counts, mine = (np.concatenate(each) for each in zip(*found, strict=True))
    return among(weights_of(counts.sum(axis=0), len(released)), counts, mine)


def _counted(sql: Sql, known: Floats, whose: Ints, released: Floats, owner: Ints, wide: Floats) -> tuple[Ints, Ints]:
    """Return how many rows have each pattern with each record, and how many of its own rows."""
    every = range(len(wide))
    rows = {"owner": owner} | {f"r{j}": pa.array(released[:, j], from_pandas=True) for j in every}
    records = {"i": np.arange(len(known)), "whose": whose} | {f"o{j}": known[:, j] for j in every}
    tables: dict[str, object] = {"shown": pa.table(rows), "known": pa.table(records)}
    agreements = " + ".join(
        f"CASE WHEN r{j} BETWEEN o{j} - {size!r}::DOUBLE AND o{j} + {size!r}::DOUBLE THEN {1 << j} ELSE 0 END"
        for j, size in enumerate(wide.tolist())
    )
    mine = "SUM(CAST(owner = whose AS INTEGER))"
    text = f"SELECT i, {agreements} AS code, COUNT(*), {mine} FROM known, shown GROUP BY i, code"  # noqa: S608  # numbers and our own names
    read = np.array(sql.rows(text, (), tables), dtype=np.int64).reshape(-1, 4)
    counts = np.zeros((2, len(known), 1 << len(wide)), np.int64)
    counts[:, read[:, 0], read[:, 1]] = read[:, 2:].T
    return counts[0], counts[1]
