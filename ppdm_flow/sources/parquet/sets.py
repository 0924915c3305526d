"""Sets in Parquet: list columns, and what a file says of packed or seeded ones."""

from __future__ import annotations

import json
from collections.abc import Mapping

import numpy as np
import pyarrow as pa

from ppdm_flow.sources.item_sets import merged, ranked
from ppdm_flow.sources.parquet.rendering import texts
from ppdm_flow.tables.sets import Baskets
from ppdm_flow.tables.sets.arrow import KEY


def lists(array: pa.Array, *, merge: bool) -> tuple[pa.LargeListArray, int]:
    """Return lists of coded texts, and how many repeated items were left out.

    Raises NotText for lists of what is no text. A missing list, or an item that is missing, stays one.
    """
    offsets = array.offsets.to_numpy(zero_copy_only=False).astype(np.int64)
    coded = texts(array.values.slice(offsets[0], offsets[-1] - offsets[0]))
    offsets = offsets - offsets[0]
    repeated = 0
    if merge and not array.null_count and not coded.null_count:
        alphabet, rank = ranked(coded.dictionary)
        raw = Baskets(offsets, rank[coded.indices.to_numpy()], alphabet)
        found, repeated = merged(raw)
        offsets, coded = found.offsets, pa.DictionaryArray.from_arrays(pa.array(found.items, pa.int32()), alphabet)
    mask = array.is_null() if array.null_count else None
    return pa.LargeListArray.from_arrays(pa.array(offsets, pa.int64()), coded, mask=mask), repeated


def documents(metadata: Mapping[bytes, bytes] | None) -> Mapping[str, Mapping[bytes, bytes]]:
    """Return the metadata of each column whose sets a file's own metadata explains; nothing where it is damaged."""
    try:
        told = json.loads((metadata or {}).get(KEY, b"{}"))
        return {str(name): {KEY: json.dumps(document).encode()} for name, document in told.items()}
    except (ValueError, AttributeError):
        return {}
