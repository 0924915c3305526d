"""The three forms together: stacking columns of sets."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

import numpy as np

from ppdm_flow.tables.column import union
from ppdm_flow.tables.sets.baskets import Baskets
from ppdm_flow.tables.sets.packed import PackedSets
from ppdm_flow.tables.sets.seeded import SeededSets

SetColumn = Baskets | PackedSets | SeededSets


def stacked(parts: Sequence[SetColumn]) -> SetColumn:
    """Stack columns of one form, in order, over the union of their alphabets, sorted by text.

    One alphabet that all share stays as it is. Raises ValueError for none, for unlike forms, and for seeds of unlike
    alphabets or expansions.
    """
    if not parts:
        raise ValueError("at least one column of sets was expected, not none")
    form = type(parts[0])
    if any(type(p) is not form for p in parts):
        raise ValueError(
            "columns of sets must have one form, not " + " and ".join(sorted({type(p).__name__ for p in parts}))
        )
    if len(parts) == 1:
        return parts[0]
    if isinstance(parts[0], SeededSets):
        return _seeds(cast("Sequence[SeededSets]", parts))
    first = parts[0].categories
    alphabet = first if all(p.categories.equals(first) for p in parts) else union(p.categories for p in parts)
    united = [p.onto(alphabet) for p in parts]
    if isinstance(parts[0], PackedSets):
        return _words(cast("Sequence[PackedSets]", united))
    return _baskets(cast("Sequence[Baskets]", united))


def _baskets(parts: Sequence[Baskets]) -> Baskets:
    offsets = [np.zeros(1, dtype=np.int64)]
    offset = 0
    for part in parts:
        offsets.append(part.offsets[1:] + offset)
        offset += len(part.items)
    return Baskets(np.concatenate(offsets), np.concatenate([p.items for p in parts]), parts[0].categories)


def _words(parts: Sequence[PackedSets]) -> PackedSets:
    words = np.concatenate([p.words for p in parts])
    return PackedSets(words, np.concatenate([p.sizes for p in parts]), parts[0].categories)


def _seeds(parts: Sequence[SeededSets]) -> SeededSets:
    first = parts[0]
    if any(p.expansion != first.expansion or not p.categories.equals(first.categories) for p in parts):
        raise ValueError("seeded sets must have one alphabet and one expansion to be stacked")
    seeds = np.concatenate([p.seeds for p in parts])
    return SeededSets(seeds, np.concatenate([p.sizes for p in parts]), first.categories, first.expansion)
