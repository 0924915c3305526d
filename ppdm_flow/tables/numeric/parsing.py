"""From texts and Arrow's own types to numbers of one type, with a mask of the cells that are none."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from ppdm_flow.core.roles import AttributeType
from ppdm_flow.core.texts import canonical
from ppdm_flow.tables.numeric.column import Mask, Numbers, dtype_of

_ARROW = {
    AttributeType.INTEGER: pa.int64(),
    AttributeType.FLOAT: pa.float64(),
    AttributeType.DATE: pa.date32(),
    AttributeType.TIMESTAMP: pa.timestamp("us"),
}
_UTC = pa.timestamp("us", "UTC")
_DAYS = (-719_162, 2_932_896)
"""The first day of the year 1 and the last one of the year 9999."""
_MICROSECONDS = 86_400_000_000
_HEX = "x"
_OFFSET = r"[T ].*(Z|[+-][0-9]{2}(:?[0-9]{2})?)$"


@dataclass(frozen=True, slots=True, eq=False)
class ParsedNumbers:
    """``values`` with 0 where the cell is ``missing`` or ``bad``, masks of shape (rows,): bad cells are no number.

    ``zoned``: of timestamps, whether the cells say their offset from UTC (they are in UTC then); None for none.
    """

    values: Numbers
    missing: Mask
    bad: Mask
    zoned: bool | None = None


def parsed(array: pa.Array, kind: AttributeType) -> ParsedNumbers:
    """Return the numbers of a column: of texts, coded or not, or of any of Arrow's types that fit ``kind``."""
    if pa.types.is_dictionary(array.type):
        return _spread(parsed(array.dictionary, kind), array.indices)
    missing = np.asarray(array.is_null().to_numpy(zero_copy_only=False), dtype=bool)
    if pa.types.is_null(array.type):
        return ParsedNumbers(np.zeros(len(array), dtype_of(kind)), missing, np.zeros(len(array), dtype=bool))
    if pa.types.is_string(array.type) or pa.types.is_large_string(array.type):
        return _texts(array, missing, kind)
    return _typed(array, missing, kind)


def fits(kind: pa.DataType) -> bool:
    """Whether Arrow's type has numbers or moments, so that :func:`parsed` needs no text of them."""
    numbers = pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind)
    return bool(numbers or pa.types.is_date(kind) or pa.types.is_timestamp(kind))


def _spread(of_dictionary: ParsedNumbers, indices: pa.Array) -> ParsedNumbers:
    places = indices.fill_null(0).to_numpy(zero_copy_only=False)
    null = np.asarray(indices.is_null().to_numpy(zero_copy_only=False), dtype=bool)
    if not len(of_dictionary.values):
        values = np.zeros(len(places), of_dictionary.values.dtype)
        return ParsedNumbers(values, null, np.zeros(len(places), dtype=bool))
    missing = of_dictionary.missing[places] | null
    values = of_dictionary.values[places]
    values[missing] = 0
    return ParsedNumbers(values, missing, of_dictionary.bad[places] & ~missing, of_dictionary.zoned)


def _numpy(array: pa.Array, kind: AttributeType) -> Numbers:
    """Return an Arrow array of the type without nulls as numbers."""
    if kind is AttributeType.DATE:
        array = array.cast(pa.int32())
    numbers = array.cast(pa.float64() if kind is AttributeType.FLOAT else pa.int64()).to_numpy(zero_copy_only=False)
    plain: Numbers = numbers.astype(dtype_of(kind), copy=False)
    return plain + 0.0 if kind is AttributeType.FLOAT else plain


def outside(values: Numbers, kind: AttributeType) -> Mask:
    """Return a mask of what no column of the type holds: infinite floats, days before the year 1 or after 9999."""
    if kind is AttributeType.FLOAT:
        return ~np.isfinite(values)
    if not kind.is_time:
        return np.zeros(len(values), dtype=bool)
    days = values if kind is AttributeType.DATE else values // _MICROSECONDS
    return (days < _DAYS[0]) | (days > _DAYS[1])


def _settled(
    values: Numbers, missing: Mask, bad: Mask, kind: AttributeType, zoned: bool | None = None
) -> ParsedNumbers:
    bad = (bad | outside(values, kind)) & ~missing
    gone = missing | bad
    return ParsedNumbers(np.where(gone, values.dtype.type(0), values) if gone.any() else values, missing, bad, zoned)


def _texts(array: pa.Array, missing: Mask, kind: AttributeType) -> ParsedNumbers:
    """Read texts at once where all of them are in order; else the distinct ones, one by one."""
    zone = None
    target = _ARROW[kind]
    if kind is AttributeType.TIMESTAMP and len(array) > int(missing.sum()):
        zone = bool(pc.match_substring_regex(array.drop_null()[:1], _OFFSET)[0].as_py())
        target = _UTC if zone else target
    hexadecimal = kind is AttributeType.INTEGER and pc.any(pc.match_substring(array, _HEX, ignore_case=True)).as_py()
    if not hexadecimal:
        try:
            return _settled(_numpy(_filled(pc.cast(array, target)), kind), missing, _none(array), kind, zone)
        except pa.ArrowInvalid:
            pass
    return _one_by_one(array, kind, zone)


def _filled(array: pa.Array) -> pa.Array:
    return array.fill_null(
        pa.scalar(0, pa.int32()).cast(array.type) if pa.types.is_date32(array.type) else _zero(array)
    )


def _zero(array: pa.Array) -> pa.Scalar:
    return pa.scalar(0, pa.int64()).cast(array.type)


def _none(array: pa.Array) -> Mask:
    return np.zeros(len(array), dtype=bool)


def _one_by_one(array: pa.Array, kind: AttributeType, zone: bool | None) -> ParsedNumbers:
    """Spell the distinct texts as the type does, which Arrow can read; those that cannot be are bad."""
    coded = array.dictionary_encode()
    every = coded.dictionary.to_pylist()
    spelled = [None if text is None else canonical(text, kind) for text in every]
    if zone is not None:
        zones = pc.match_substring_regex(coded.dictionary, _OFFSET).to_pylist()
        spelled = [text if zones[i] is zone else None for i, text in enumerate(spelled)]
    bad = np.array([text is None for text in spelled], dtype=bool)
    values = _numpy(_filled(pc.cast(pa.array(spelled, pa.string()), _ARROW[kind])), kind)
    of_dictionary = _settled(values, np.zeros(len(every), dtype=bool), bad, kind, zone)
    return _spread(of_dictionary, coded.indices)


def _typed(array: pa.Array, missing: Mask, kind: AttributeType) -> ParsedNumbers:
    """Read numbers and moments; what does not fit the type exactly is bad."""
    found = array.type
    if kind.is_time:
        return _moments(array, missing, kind)
    if pa.types.is_date(found) or pa.types.is_timestamp(found) or not fits(found):
        return _settled(np.zeros(len(array), dtype_of(kind)), missing, ~missing, kind)
    if kind is AttributeType.FLOAT:
        if pa.types.is_float32(found) or pa.types.is_float16(found):  # 0.1, and not 0.10000000149011612
            array = pc.cast(pc.cast(array, pa.float32()), pa.string())
        return _settled(_numpy(_filled(pc.cast(array, pa.float64(), safe=False)), kind), missing, _none(array), kind)
    if pa.types.is_integer(found) and not pa.types.is_uint64(found):
        return _settled(_numpy(_filled(pc.cast(array, pa.int64())), kind), missing, _none(array), kind)
    return _whole(array, missing)


def _whole(array: pa.Array, missing: Mask) -> ParsedNumbers:
    """Read floats, decimals and large unsigned numbers that are whole."""
    if pa.types.is_uint64(array.type):
        numbers = array.fill_null(0).to_numpy(zero_copy_only=False)
        bad = numbers > np.uint64(np.iinfo(np.int64).max)
        return _settled(np.where(bad, 0, numbers).astype(np.int64), missing, bad, AttributeType.INTEGER)
    floats = pc.cast(array, pa.float64(), safe=False).fill_null(0.0).to_numpy(zero_copy_only=False)
    bad = ~((np.abs(floats) <= 1 << 53) & (np.floor(floats) == floats))
    return _settled(np.where(bad, 0, floats).astype(np.int64), missing, bad, AttributeType.INTEGER)


def _moments(array: pa.Array, missing: Mask, kind: AttributeType) -> ParsedNumbers:
    """Read dates and timestamps: a date has no time of day, a timestamp nothing finer than a microsecond."""
    found = array.type
    if not (pa.types.is_date(found) or pa.types.is_timestamp(found)):
        return _settled(np.zeros(len(array), dtype_of(kind)), missing, ~missing, kind)
    zoned = pa.types.is_timestamp(found) and found.tz is not None
    per_second = {"s": 1, "ms": 1_000, "us": 1_000_000, "ns": 1_000_000_000}
    unit = per_second[found.unit] if pa.types.is_timestamp(found) else 0
    if pa.types.is_date32(found):
        ticks, per_day = array.cast(pa.int32()).cast(pa.int64()), 1
    else:
        ticks, per_day = array.cast(pa.int64()), 86_400 * unit if unit else 86_400_000
    numbers = ticks.fill_null(0).to_numpy(zero_copy_only=False)
    days = numbers // per_day
    if kind is AttributeType.DATE:
        return _settled(days, missing, numbers % per_day != 0, kind)
    within = numbers - days * per_day  # below a day: what follows cannot overflow within the years 1 to 9999
    day = np.clip(days, *_DAYS)
    bad = day != days
    if per_day > _MICROSECONDS:
        bad |= within % 1_000 != 0
        within = within // 1_000
    else:
        within = within * (_MICROSECONDS // per_day)
    return _settled(day * _MICROSECONDS + within, missing, bad, kind, bool(zoned))


def floats_of_texts(texts: pa.StringArray, kind: AttributeType) -> npt.NDArray[np.float64] | None:
    """Return texts as finite floats, dates as days and timestamps as microseconds; None where one is none of these.

    Of amounts any spelling of a number will do, whole or not.
    """
    if kind.is_time:
        read = parsed(texts, kind)
        return None if read.bad.any() or read.missing.any() else read.values.astype(np.float64)
    try:
        numbers: npt.NDArray[np.float64] = texts.cast(pa.float64()).to_numpy(zero_copy_only=False)
    except pa.ArrowInvalid:
        return None
    return numbers if np.isfinite(numbers).all() else None


def numbers_among(texts: tuple[str, ...] | list[str], kind: AttributeType) -> npt.NDArray[np.generic]:
    """Return the numbers that some of ``texts`` stand for."""
    read = parsed(pa.array(list(texts), pa.string()), kind)
    return read.values[~(read.bad | read.missing)]
