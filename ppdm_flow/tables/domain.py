"""Putting the categories of several columns under one roof."""

from __future__ import annotations

from collections.abc import Iterable

import pyarrow as pa
import pyarrow.compute as pc


def union(parts: Iterable[pa.StringArray]) -> pa.StringArray:
    """All categories of ``parts``, each once, in binary order of their UTF-8 text: the same for any partitioning."""
    arrays = list(parts)
    if not arrays:
        return pa.array([], pa.string())
    if all(a.equals(arrays[0]) for a in arrays[1:]):
        distinct = arrays[0]
    else:
        distinct = pc.unique(pa.chunked_array(arrays, pa.string()))
    return distinct.take(pc.sort_indices(distinct))
