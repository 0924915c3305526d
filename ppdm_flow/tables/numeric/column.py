"""A numeric column: one number a row and a mask of missing cells, coded only for those who count distinct values."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from ppdm_flow.core.roles import AttributeType
from ppdm_flow.core.texts import LARGE, canonical, float_text
from ppdm_flow.tables.buffers import frozen, frozen_texts
from ppdm_flow.tables.column import MISSING, Codes, Column

Numbers = npt.NDArray[Any]
"""int64 or float64."""
Mask = npt.NDArray[np.bool_]

LONGEST_NUMBER = 32
"""More bytes than the text of any number has."""
_SPAN = 2
"""Numbers between the least and the greatest, for each cell, up to which each gets a mark."""


def missing_mask(column: Column) -> Mask:
    """Return a mask of the missing cells, shape (rows,); suppressed ones are not missing."""
    if isinstance(column, NumericColumn):
        return np.zeros(len(column), dtype=bool) if column.missing is None else column.missing
    mask: Mask = column.codes == MISSING
    return mask


def dtype_of(kind: AttributeType) -> type[np.int64 | np.float64]:
    """Return how numbers of a type are held: whole numbers, days and microseconds since 1970 as int64, else float64."""
    return np.float64 if kind is AttributeType.FLOAT else np.int64


class NumericColumn(Column):
    """``values`` of shape (rows,), int64 or float64 by ``kind``, and ``missing``, a mask of that shape, None for none.

    Days since 1970 for a date, microseconds since 1970 for a timestamp. Floats are finite, and 0 has no sign. The value
    under a missing cell is 0. There are no suppressed cells: a column that has some holds labels, and is a
    :class:`Column`. As one it can be used as well: codes and categories are made when somebody asks for them, with
    the canonical text of each number, sorted by text.
    """

    __slots__ = ("_coded", "kind", "missing", "values")

    values: Numbers
    kind: AttributeType
    missing: Mask | None
    _coded: Column | None

    def __init__(self, values: Numbers, kind: AttributeType, missing: Mask | None = None) -> None:
        put = object.__setattr__
        if missing is not None and not missing.any():
            missing = None
        elif missing is not None:
            values = np.where(missing, values.dtype.type(0), values)
        put(self, "values", values)
        put(self, "kind", kind)
        put(self, "missing", missing)
        put(self, "_coded", None)

    def __reduce__(self) -> tuple[Any, ...]:
        return NumericColumn, (self.values, self.kind, self.missing)

    def __len__(self) -> int:
        return len(self.values)

    @property
    def codes(self) -> Codes:
        """The codes of the cells in ``categories``."""
        return self.coded().codes

    @property
    def categories(self) -> pa.StringArray:
        """The distinct numbers as texts, sorted."""
        return self.coded().categories

    def coded(self) -> Column:
        """Return the same cells as codes; remembered."""
        coded = self._coded
        if coded is None:
            coded = self._made()
            object.__setattr__(self, "_coded", coded)
        return coded

    def take(self, rows: npt.NDArray[Any] | slice) -> NumericColumn:
        """Return the cells at ``rows``: positions, a boolean mask, or a slice."""
        return NumericColumn(self.values[rows], self.kind, None if self.missing is None else self.missing[rows])

    def compact(self) -> NumericColumn:
        """Return the column: no number stands in it that no row has."""
        return self

    def floats(self) -> npt.NDArray[np.float64]:
        """Return every cell as float64, shape (rows,); NaN where it is missing."""
        numbers = self.values.astype(np.float64)
        if self.missing is not None:
            numbers[self.missing] = np.nan
        return numbers

    def present(self) -> Numbers:
        """Return the numbers of the cells that are not missing, in order of rows."""
        return self.values if self.missing is None else self.values[~self.missing]

    def texts_by_row(self) -> pa.StringArray:
        """Return the text of every cell, null where it is missing: without looking for distinct ones."""
        texts = texts_of(self.values, self.kind)
        return (
            texts if self.missing is None else pc.if_else(pa.array(~self.missing), texts, pa.scalar(None, pa.string()))
        )

    def _made(self) -> Column:
        distinct, places = _distinct(self.present())
        names = texts_of(distinct, self.kind)
        order = pc.sort_indices(names).to_numpy()
        rank = np.empty(len(order), dtype=np.int32)
        rank[order] = np.arange(len(order), dtype=np.int32)
        codes = rank[places] if self.missing is None else np.full(len(self), MISSING, dtype=np.int32)
        if self.missing is not None:
            codes[~self.missing] = rank[places]
        return Column(frozen(codes), frozen_texts(names.take(pa.array(order))))  # several readers share them


def _distinct(values: Numbers) -> tuple[Numbers, npt.NDArray[np.intp]]:
    """Return the distinct numbers, ascending, and the place of each value among them."""
    if len(values) and np.issubdtype(values.dtype, np.integer):
        low, high = int(values.min()), int(values.max())
        if high - low < _SPAN * len(values):  # a mark for every number between is cheaper than to sort
            offsets = (values - values.dtype.type(low)).astype(np.intp)
            occurs = np.zeros(high - low + 1, dtype=bool)
            occurs[offsets] = True
            distinct: Numbers = np.flatnonzero(occurs).astype(values.dtype) + values.dtype.type(low)
            return distinct, (np.cumsum(occurs) - 1)[offsets]
    distinct, places = np.unique(values, return_inverse=True)
    return distinct, places.astype(np.intp, copy=False)


def stacked_numbers(columns: list[NumericColumn]) -> NumericColumn:
    """Return the cells of columns of one type, one column after the other."""
    masks = [c.missing for c in columns]
    missing = None
    if any(m is not None for m in masks):
        missing = np.concatenate([np.zeros(len(c), dtype=bool) if c.missing is None else c.missing for c in columns])
    return NumericColumn(np.concatenate([c.values for c in columns]), columns[0].kind, missing)


# The canonical text of numbers: the shortest that reads back as the same number (twin: `core/texts.py`).


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


# From texts and Arrow's own types to numbers of one type, with a mask of the cells that are none.


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
    arrow_type = array.type
    if kind.is_time:
        return _moments(array, missing, kind)
    if pa.types.is_date(arrow_type) or pa.types.is_timestamp(arrow_type) or not fits(arrow_type):
        return _settled(np.zeros(len(array), dtype_of(kind)), missing, ~missing, kind)
    if kind is AttributeType.FLOAT:
        if pa.types.is_float32(arrow_type) or pa.types.is_float16(arrow_type):  # 0.1, and not 0.10000000149011612
            array = pc.cast(pc.cast(array, pa.float32()), pa.string())
        return _settled(_numpy(_filled(pc.cast(array, pa.float64(), safe=False)), kind), missing, _none(array), kind)
    if pa.types.is_integer(arrow_type) and not pa.types.is_uint64(arrow_type):
        return _settled(_numpy(_filled(pc.cast(array, pa.int64())), kind), missing, _none(array), kind)
    return _integers(array, missing)


def _integers(array: pa.Array, missing: Mask) -> ParsedNumbers:
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
    arrow_type = array.type
    if not (pa.types.is_date(arrow_type) or pa.types.is_timestamp(arrow_type)):
        return _settled(np.zeros(len(array), dtype_of(kind)), missing, ~missing, kind)
    zoned = pa.types.is_timestamp(arrow_type) and arrow_type.tz is not None
    per_second = {"s": 1, "ms": 1_000, "us": 1_000_000, "ns": 1_000_000_000}
    unit = per_second[arrow_type.unit] if pa.types.is_timestamp(arrow_type) else 0
    if pa.types.is_date32(arrow_type):
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
    """Return the numbers that ``texts`` spell; other texts are left out."""
    read = parsed(pa.array(list(texts), pa.string()), kind)
    return read.values[~(read.bad | read.missing)]
