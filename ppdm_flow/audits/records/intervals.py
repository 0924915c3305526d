"""Numbers as the intervals that the policy declares for them."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ppdm_flow.tables.column import Codes, Column


def labelled(column: Column, edges: Sequence[float]) -> Column:
    """Return the column with each number as its interval ``[a, b)``; other cells stay as they are.

    Numbers below the first or from the last of the ascending ``edges`` on are ``< a`` and ``>= b``.
    """
    used = column.compact()
    names = [*interval_names(edges), *used.categories.to_pylist()]
    place = np.arange(len(edges) + 1, len(names), dtype=np.int32)
    numbers = pc.if_else(_is_number(used.categories), used.categories, None).cast(pa.float64())
    known = numbers.is_valid().to_numpy(zero_copy_only=False)
    inside = np.searchsorted(np.asarray(edges), numbers.to_numpy(zero_copy_only=False)[known], side="right")
    place[known] = inside
    return _merged(used.codes, place, names)


def _is_number(names: pa.StringArray) -> pa.BooleanArray:
    return pc.match_substring_regex(names, r"^[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]{1,2})?$")


def interval_names(edges: Sequence[float]) -> list[str]:
    """Return what the intervals of ascending ``edges`` are called."""
    texts = [str(int(e)) if e == int(e) else repr(e) for e in edges]
    return [f"< {texts[0]}", *(f"[{a}, {b})" for a, b in pairwise(texts)), f">= {texts[-1]}"]


def _merged(codes: Codes, place: Codes, names: list[str]) -> Column:
    """Code once what has one name: a released interval may already be written as one."""
    coded = pa.array(names, pa.string()).dictionary_encode()
    name_codes = coded.indices.to_numpy(zero_copy_only=False).astype(np.int32)
    marks = np.array([-2, -1], dtype=np.int32)
    return Column(np.concatenate([name_codes[place], marks])[codes], coded.dictionary)
