"""The second route to probabilistic linkage: pairs are compared, and patterns of agreement counted, in SQL."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from ppdm_flow.mining.exposure.numbers import Floats, Ints
from ppdm_flow.requirements.numeric_linkage.codes import Codes
from ppdm_flow.requirements.numeric_linkage.nearest import NearerCounts
from ppdm_flow.requirements.numeric_linkage.probabilistic import among, compared, weights_of, widths
from ppdm_flow.requirements.numeric_linkage.truth import Truth
from ppdm_flow.sdk.audit import Sql

_BLOCK = 4096
"""So many records are compared with every row by one query."""


def places_by_weight_sql(
    sql: Sql, known: Floats, released: Floats, truth: Truth, sample: Ints, codes: Codes
) -> NearerCounts:
    """Return the places that the first route computes."""
    wide = widths(known, released, truth)
    categories = compared(wide, codes)
    rows = {"owner": truth.owner} | {f"r{j}": pa.array(released[:, j], from_pandas=True) for j in range(len(wide))}
    rows |= {f"s{j}": codes.released[:, j] for j in range(categories)}
    shown = pa.table(rows)
    found = []
    for start in range(0, len(sample), _BLOCK):
        block = sample[start : start + _BLOCK]
        records = {"i": np.arange(len(block)), "whose": truth.whose[block]}
        records |= {f"o{j}": known[block, j] for j in range(len(wide))}
        records |= {f"k{j}": codes.known[block, j] for j in range(categories)}
        found.append(_counted(sql, pa.table(records), shown, wide, categories))
    counts, mine = (np.concatenate(each) for each in zip(*found, strict=True))
    return among(weights_of(counts.sum(axis=0), len(released)), counts, mine)


def _counted(sql: Sql, known: pa.Table, shown: pa.Table, wide: Floats, categories: int) -> tuple[Ints, Ints]:
    """Return how many rows have each pattern with each record, and how many of its own rows."""
    agree = [
        f"CASE WHEN r{j} BETWEEN o{j} - {size!r}::DOUBLE AND o{j} + {size!r}::DOUBLE THEN {1 << j} ELSE 0 END"
        for j, size in enumerate(wide.tolist())
    ]
    agree += [f"CASE WHEN s{j} = k{j} THEN {1 << (len(wide) + j)} ELSE 0 END" for j in range(categories)]
    mine = "SUM(CAST(owner = whose AS INTEGER))"
    text = f"SELECT i, {' + '.join(agree)} AS code, COUNT(*), {mine} FROM known, shown GROUP BY i, code"  # noqa: S608  # numbers and our own names
    read = np.array(sql.rows(text, (), {"shown": shown, "known": known}), dtype=np.int64).reshape(-1, 4)
    counts = np.zeros((2, len(known), 1 << len(agree)), np.int64)
    counts[:, read[:, 0], read[:, 1]] = read[:, 2:].T
    return counts[0], counts[1]
