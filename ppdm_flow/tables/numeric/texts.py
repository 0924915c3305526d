"""The canonical text of numbers: the shortest that reads back as the same number (twin: `core/texts.py`)."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from ppdm_flow.core.roles import AttributeType
from ppdm_flow.core.texts import LARGE, float_text

_ARROW_POSITIONAL = 1e10
"""From here on Arrow writes floats with an exponent; we do from 1e16 on."""

UNREADABLE = "\ue000"
"""Begins a text of digits that the reader of a file takes for no number: a character that no text has."""


def texts_of(values: npt.NDArray[np.generic], kind: AttributeType) -> pa.StringArray:
    """Return the text of each number; equal numbers have equal texts, others have other ones."""
    if kind is AttributeType.INTEGER:
        return pc.cast(pa.array(values), pa.string())
    if kind is AttributeType.FLOAT:
        return _floats(values.astype(np.float64, copy=False))
    if kind is AttributeType.DATE:
        return pc.cast(arrow_numbers(values, kind), pa.string())
    texts = pc.replace_substring(pc.cast(arrow_numbers(values, kind), pa.string()), " ", "T")
    return pc.replace_substring_regex(pc.replace_substring_regex(texts, r"\.0+$", ""), r"(\.[0-9]*[1-9])0+$", r"\1")


def _floats(values: npt.NDArray[np.float64]) -> pa.StringArray:
    texts = pc.cast(pa.array(values + 0.0), pa.string())  # -0.0 + 0.0 is 0.0
    size = np.abs(values)
    large = (size >= _ARROW_POSITIONAL) & (size < LARGE)
    if not large.any():
        return texts
    spelled = pa.array([float_text(number) for number in values[large].tolist()], pa.string())
    return pc.replace_with_mask(texts, pa.array(large), spelled)


def arrow_numbers(
    values: npt.NDArray[np.generic], kind: AttributeType, missing: npt.NDArray[np.bool_] | None = None
) -> pa.Array:
    """Return the numbers as Arrow has the type: int64, double, date32 or timestamp in microseconds."""
    if kind is AttributeType.DATE:
        return pa.array(values.astype(np.int32), pa.date32(), mask=missing)
    if kind is AttributeType.TIMESTAMP:
        return pa.array(values, pa.timestamp("us"), mask=missing)
    return pa.array(values, mask=missing)


def texts_of_arrow(array: pa.Array) -> pa.StringArray:
    """Return the text of each of Arrow's int64, double, date32 or timestamp[us], null where it is null."""
    kind = _KINDS[array.type]
    numbers = array.cast(pa.int32()) if kind is AttributeType.DATE else array
    numbers = numbers if kind is AttributeType.FLOAT else numbers.cast(pa.int64())
    texts = texts_of(numbers.fill_null(0).to_numpy(zero_copy_only=False), kind)
    return pc.if_else(array.is_valid(), texts, pa.scalar(None, pa.string())) if array.null_count else texts


_KINDS = {
    pa.int64(): AttributeType.INTEGER,
    pa.float64(): AttributeType.FLOAT,
    pa.date32(): AttributeType.DATE,
    pa.timestamp("us"): AttributeType.TIMESTAMP,
}
