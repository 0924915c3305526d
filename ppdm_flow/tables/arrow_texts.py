"""The canonical text of values that are no text, and the way back: on distinct values, never row by row."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.compute as pc

FRAME_TYPE = b"ppdm_flow:type"
"""The key, in the metadata of a field, under which the type stands that a data frame had in place of texts."""
_CODED_DECIMAL_BITS = 128
"""The least width of decimals that Arrow makes codes and texts of."""
_TEXTS = pa.dictionary(pa.int32(), pa.string())


class NotText(Exception):  # noqa: N818  # the reader turns it into a DataError
    """A type that has no canonical text."""


def texts(array: pa.Array) -> pa.DictionaryArray:
    """Return dictionary<int32, string>; a dictionary that holds texts already may have one twice.

    Raises NotText for nested types, ArrowException for bytes that are no UTF-8.
    """
    coded = array if pa.types.is_dictionary(array.type) else _encoded(array)
    dictionary = rendered(coded.dictionary)
    dictionary.validate(full=True)
    rendered_alike = dictionary is not coded.dictionary and len(pc.unique(dictionary)) < len(dictionary)
    if dictionary.null_count or rendered_alike:
        encoded = dictionary.dictionary_encode()
        return pa.DictionaryArray.from_arrays(encoded.indices.take(coded.indices.cast(pa.int32())), encoded.dictionary)
    if dictionary is coded.dictionary and coded.type == _TEXTS:
        return coded
    return pa.DictionaryArray.from_arrays(coded.indices.cast(pa.int32()), dictionary, safe=False)  # checked before


def _encoded(array: pa.Array) -> pa.DictionaryArray:
    if pa.types.is_nested(array.type):
        raise NotText(f"values of type {_kind(array.type)} are nested, so no cell of a table")
    if pa.types.is_null(array.type):
        return pa.array([None] * len(array), _TEXTS)
    if pa.types.is_decimal(array.type) and array.type.bit_width < _CODED_DECIMAL_BITS:
        array = array.cast(pa.decimal128(array.type.precision, array.type.scale))
    return pc.dictionary_encode(array)


def rendered(values: pa.Array) -> pa.StringArray:
    """Return each value's text: integers in digits, floats by repr, ISO 8601, ``true``, decimals with their scale."""
    kind = values.type
    if pa.types.is_string(kind):
        return values
    if pa.types.is_floating(kind):
        return _floats(values)
    if pa.types.is_timestamp(kind) or pa.types.is_time(kind):
        plain = pc.replace_substring_regex(_moments(values), r"(\.\d*?)0+(Z?)$", r"\1\2")
        plain = pc.replace_substring_regex(plain, r"\.(Z?)$", r"\1")
        return pc.replace_substring(plain, " ", "T")
    if pa.types.is_date64(kind):
        return values.cast(pa.date32()).cast(pa.string())
    if pa.types.is_duration(kind):
        return values.cast(pa.int64()).cast(pa.string())
    if pa.types.is_nested(kind):
        raise NotText("values are nested, so no cell of a table")
    try:
        return values.cast(pa.string())
    except pa.ArrowNotImplementedError:
        raise NotText(f"values of type {_kind(kind)} have no text") from None


def _moments(values: pa.Array) -> pa.StringArray:
    try:
        return values.cast(pa.string())
    except pa.ArrowInvalid:
        raise NotText("values are timestamps of a time zone that is not known here") from None


def _floats(values: pa.Array) -> pa.StringArray:
    """Shortest text that reads back as the same number, as Python's ``repr`` has it; 0 has no sign."""
    numbers = values.cast(pa.float32() if pa.types.is_float16(values.type) else values.type)
    digits = (numbers.fill_null(0).to_numpy(zero_copy_only=False) + 0).astype("U")  # -0.0 + 0 is 0.0
    return pa.array(digits, pa.string(), mask=values.is_null().to_numpy(zero_copy_only=False))


def _kind(kind: pa.DataType) -> str:
    """Return the type's name without the names of fields inside it."""
    return str(kind).partition("<")[0]


def has_way_back(kind: pa.DataType) -> bool:
    """Whether values of a type can be had again from their texts: numbers, booleans, dates, times and decimals."""
    return bool(
        pa.types.is_integer(kind)
        or pa.types.is_floating(kind)
        or pa.types.is_decimal(kind)
        or pa.types.is_boolean(kind)
        or (pa.types.is_temporal(kind) and not pa.types.is_interval(kind))
    )


def restored(values: pa.StringArray, kind: pa.DataType) -> pa.Array:
    """Return the values of a type that have these texts, as :func:`rendered` writes them.

    Raises ValueError where one has no such value: ``pyarrow.ArrowInvalid`` is one.
    """
    if pa.types.is_time(kind):
        moments = pc.binary_join_element_wise("1970-01-01", values, "T").cast(pa.timestamp(kind.unit))
        numbers = moments.cast(pa.int64())
        return (numbers.cast(pa.int32()) if pa.types.is_time32(kind) else numbers).cast(kind)
    steps: list[pa.DataType] = [kind]
    if pa.types.is_duration(kind):
        steps = [pa.int64(), kind]
    elif pa.types.is_float16(kind):
        steps = [pa.float32(), kind]
    elif pa.types.is_date64(kind):
        steps = [pa.date32(), kind]
    converted = values
    for step in steps:
        converted = converted.cast(step)
    if not rendered(converted).equals(values):
        raise ValueError(f"not all texts are those of values of type {kind}")
    return converted
