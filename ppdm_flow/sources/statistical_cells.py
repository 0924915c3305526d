"""Cells of statistical files as Arrow's arrays: numbers and moments as they are, or their texts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from ppdm_flow.core.roles import AttributeType
from ppdm_flow.sources.statistical_formats import NumberReading
from ppdm_flow.tables.numeric.texts import texts_of

_TEXTS = pa.dictionary(pa.int32(), pa.string())
_MICROSECONDS = 86_400_000_000


class OutsideCalendarError(Exception):
    """A moment before the year 1 or after 9999."""


class AmbiguousLabelError(Exception):
    """A code without a label is written like the label of another one."""


def texts(cells: Sequence[str | None]) -> pa.StringArray:
    """Return texts; the empty one, which is all that these formats have for a missing text, is null."""
    array = pa.array(cells, pa.string())
    return pc.if_else(pc.equal(array, ""), pa.scalar(None, pa.string()), array)


def numbers(cells: Sequence[float | None], *, single: bool) -> pa.Array:
    """Return numbers; ``single`` precision keeps its own type, so that 0.1 stays 0.1."""
    array = pa.array(cells, pa.float64(), from_pandas=True)
    return array.cast(pa.float32(), safe=False) if single else array


def moments(array: pa.Array, reading: NumberReading) -> pa.Array:
    """Return date32 where every cell is a whole day and dates are meant, else timestamp[us]."""
    micros, missing = _micros(array, reading)
    if reading.what == "date" and not (micros % _MICROSECONDS).any():
        return pa.array((micros // _MICROSECONDS).astype(np.int32), pa.date32(), mask=missing)
    return pa.array(micros, pa.timestamp("us"), mask=missing)


def written(array: pa.Array, reading: NumberReading) -> pa.DictionaryArray:
    """Return the texts of numbers, dates (a time of day only where there is one), moments or times."""
    coded = array.dictionary_encode()
    return _coded(_spelled(coded.dictionary, reading), coded.indices)


def labelled(array: pa.Array, reading: NumberReading, labels: Mapping[float | str, str]) -> pa.DictionaryArray:
    """Return labels in place of codes, and the text of codes that have none. Raises AmbiguousLabelError."""
    coded = array.dictionary_encode()
    codes = coded.dictionary.to_pylist()
    plain = coded.dictionary if pa.types.is_string(array.type) else _spelled(coded.dictionary, reading)
    known = set(labels.values())
    if known.intersection(t for code, t in zip(codes, plain.to_pylist(), strict=True) if code not in labels):
        raise AmbiguousLabelError
    named = [labels.get(code, text) for code, text in zip(codes, plain.to_pylist(), strict=True)]
    return _coded(pa.array(named, pa.string()), coded.indices)


def _coded(values: pa.StringArray, indices: pa.Array) -> pa.DictionaryArray:
    """Return coded texts; two numbers may have one text (0.0 and -0.0)."""
    again = values.dictionary_encode()
    places = again.indices.take(indices.cast(pa.int32()))
    return pa.DictionaryArray.from_arrays(places, again.dictionary)


def _spelled(values: pa.Array, reading: NumberReading) -> pa.StringArray:
    if reading.what == "time":
        return pa.array([_clock(seconds) for seconds in values.to_pylist()], pa.string())
    if reading.epoch is not None:
        micros, _ = _micros(values, reading)
        whole = (micros % _MICROSECONDS == 0) & (reading.what == "date")
        days = texts_of((micros // _MICROSECONDS).astype(np.int32), AttributeType.DATE)
        return pc.if_else(pa.array(whole), days, texts_of(micros, AttributeType.TIMESTAMP))
    if pa.types.is_float32(values.type):
        values = values.cast(pa.string()).cast(pa.float64())
    return texts_of(values.to_numpy(zero_copy_only=False), AttributeType.FLOAT)


def _clock(seconds: float) -> str:
    """Return hours (more than 24 of them for a duration), minutes and seconds, as ISO 8601 has times of day."""
    micros = round(abs(seconds) * 1_000_000)
    whole, rest = divmod(micros, 1_000_000)
    fraction = f".{rest:06d}".rstrip("0") if rest else ""
    sign = "-" if seconds < 0 and micros else ""
    return f"{sign}{whole // 3600:02d}:{whole // 60 % 60:02d}:{whole % 60:02d}{fraction}"


def _micros(array: pa.Array, reading: NumberReading) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.bool_]]:
    assert reading.epoch is not None  # noqa: S101  # the callers ask before
    missing = np.asarray(array.is_null().to_numpy(zero_copy_only=False), dtype=bool)
    ticks = array.cast(pa.float64()).fill_null(0.0).to_numpy(zero_copy_only=False)
    if not reading.epoch.within(ticks).all():
        raise OutsideCalendarError
    return reading.epoch.microseconds(ticks), missing
