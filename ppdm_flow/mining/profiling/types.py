"""Types and forms of dates: what the values of a column are."""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ppdm_flow.core.roles import AttributeType
from ppdm_flow.tables.numeric.column import parsed

MARKS = ("?", "NULL", "null", "NaN", "nan", "N/A", "n/a", "#N/A")
"""Texts that stand for a missing value wherever they occur."""

NUMERIC_MARKS = ("NA", "-", ".", "--")
"""Texts that do so where all else in a column is numbers."""

FORMATS = ("%d.%m.%Y", "%d/%m/%Y", "%m/%d/%Y", "%Y/%m/%d", "%d-%m-%Y", "%Y%m%d", "%d.%m.%y", "%m/%d/%y")
_INTEGER = r"^[+-]?[0-9]+$"
_FLOAT = r"^[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?$"
_CODE = r"^0[0-9]"
_LONGEST = 15
"""Digits that a float keeps; longer ones are codes, not numbers."""

_ISO_DATE, _ISO_LONGEST = 10, 32
_TRIED = 20_000
_SAMPLE = 200
_ICD = re.compile(r"[A-TV-Z][0-9][0-9AB](\.[0-9A-Z]{1,4})?|([0-9]{3}|V[0-9]{2}|E[0-9]{3})(\.[0-9]{1,2})?")
"""A code of the International Classification of Diseases, of its tenth or ninth revision."""
_NEARLY_ALL = 0.9
_DOTTED = 0.2
_CHAPTERS = 3


def type_of(values: pa.StringArray) -> AttributeType:
    """Return the type that all of these distinct values have; text where they have none.

    Numbers with leading zeros or more than 15 digits are codes, so text. Dates are ISO 8601, year first.
    """
    if not len(values):
        return AttributeType.TEXT
    if _all(pc.match_substring_regex(values, _INTEGER)):
        if _any(pc.match_substring_regex(values, _CODE)) or _longest(values) > _LONGEST:
            return AttributeType.TEXT
        return AttributeType.INTEGER
    if _all(pc.match_substring_regex(values, _FLOAT)):
        numbers = pc.cast(values, pa.float64()).to_numpy(zero_copy_only=False)
        return AttributeType.FLOAT if np.isfinite(numbers).all() else AttributeType.TEXT
    return _moments(values) or AttributeType.TEXT


def numeric_but(values: pa.StringArray, marks: Sequence[str]) -> bool:
    """Whether all values but these marks are numbers, and there are some."""
    rest = values.filter(pc.invert(pc.is_in(values, value_set=pa.array(list(marks), pa.string()))))
    return 0 < len(rest) < len(values) and _all(pc.match_substring_regex(rest, _FLOAT))


def date_form(values: pa.StringArray) -> str | None:
    """Return the strptime format of dates that are not ISO; None where none fits all, or two do and months are open."""
    if not 0 < len(values) <= _TRIED:
        return None
    texts = values.to_pylist()
    near = [form for form in FORMATS if _fits(texts[:: max(1, len(texts) // _SAMPLE)], form)]
    fitting = [form for form in near if _fits(texts, form)]
    return fitting[0] if len(fitting) == 1 else None


def are_diagnoses(texts: Sequence[str]) -> bool:
    """Whether nearly all texts are codes of diagnoses (ICD), and enough of them have the dot that rooms lack.

    Their first characters, which are those of chapters, must differ too.
    """
    codes = [text for text in texts if _ICD.fullmatch(text.strip().upper())]
    if len(codes) < max(_CHAPTERS, _NEARLY_ALL * len(texts)):
        return False
    dotted = sum("." in code for code in codes)
    return dotted >= _DOTTED * len(codes) and len({code.strip()[0] for code in codes}) >= _CHAPTERS


def numbers_of(values: pa.StringArray) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    """Return the values of a column of numbers, as float64."""
    numbers: np.ndarray[tuple[int], np.dtype[np.float64]] = pc.cast(values, pa.float64()).to_numpy(zero_copy_only=False)
    return numbers


def _moments(values: pa.StringArray) -> AttributeType | None:
    """Return whether all are dates, or else timestamps, as typed columns read them."""
    if pc.min(pc.utf8_length(values)).as_py() < _ISO_DATE or pc.max(pc.utf8_length(values)).as_py() > _ISO_LONGEST:
        return None
    for kind in (AttributeType.DATE, AttributeType.TIMESTAMP):
        if not parsed(values, kind).bad.any():
            return kind
    return None


def _fits(texts: Sequence[str], form: str) -> bool:
    try:
        for text in texts:
            dt.datetime.strptime(text, form)  # noqa: DTZ007  # a day of a calendar, nowhere in particular
    except ValueError:
        return False
    return True


def _longest(values: pa.StringArray) -> int:
    return int(pc.max(pc.binary_length(values)).as_py() or 0)


def _all(mask: pa.BooleanArray) -> bool:
    return bool(pc.all(mask).as_py())


def _any(mask: pa.BooleanArray) -> bool:
    return bool(pc.any(mask).as_py())
