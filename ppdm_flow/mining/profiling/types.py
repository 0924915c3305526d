"""Types and date forms of a column's values."""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ppdm_flow.core.roles import AttributeType
from ppdm_flow.tables.numeric.column import parsed

MARKS = ("?", "NULL", "null", "NaN", "nan", "N/A", "n/a", "#N/A")
"""Texts that mean a missing value wherever they occur."""

NUMERIC_MARKS = ("NA", "-", ".", "--")
"""Texts that do so where all else in a column is numbers."""

DATE_MARKS = ("00.00.0000", "00/00/0000", "00-00-0000", "0000-00-00", "0000/00/00")
"""Texts that do so where all else in a column is dates: days that no calendar has."""

_DIGITS = "%Y%m%d"
_DAYS = ("%d.%m.%Y", "%d/%m/%Y", "%m/%d/%Y", "%Y/%m/%d", "%d-%m-%Y", "%m-%d-%Y", "%d-%b-%Y")
_MONTHS = ("%Y-%m", "%m/%Y", "%Y/%m", "%m-%Y", "%m.%Y")
FORMATS = (
    *_DAYS,
    *_MONTHS,
    *(_DIGITS, "%d.%m.%y", "%m/%d/%y"),
    *(f"{day} {clock}" for day in _DAYS for clock in ("%H:%M", "%H:%M:%S")),
)
_INTEGER = r"^[+-]?[0-9]+$"
_FLOAT = r"^[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?$"
_CODE = r"^0[0-9]"
_LONGEST = 15
"""Digits that a float keeps; longer ones are codes, not numbers."""

_ISO_DATE, _ISO_LONGEST = 10, 32
_MONTH = r"(0?[1-9]|1[0-2])"
_YEAR = r"(1[89]|20)[0-9]{2}"
_DATE_LIKE = re.compile(
    r"\s*([0-9]{1,4}[./-]([0-9]{1,2}|[A-Za-z]{3})[./-][0-9]{1,4}( [0-9:]+)?|[0-9]{6,8}"
    rf"|{_YEAR}[/-]{_MONTH}|{_MONTH}[./-]{_YEAR})\s*"
)
"""What may be a date: a quick look before each format is tried."""
_DOTTED_MONTH = rf"^(0[1-9]|1[0-2])\.{_YEAR}$"
"""A month with two digits and its year, which could be a number with four decimals."""
_PATTERNS = (
    ("%d", "DD"),
    ("%m", "MM"),
    ("%b", "MMM"),
    ("%Y", "YYYY"),
    ("%y", "YY"),
    ("%H", "hh"),
    ("%M", "mm"),
    ("%S", "ss"),
)
_TRIED = 200_000
_SAMPLE = 200
_ICD = re.compile(r"[A-TV-Z][0-9][0-9AB](\.[0-9A-Z]{1,4})?|([0-9]{3}|V[0-9]{2}|E[0-9]{3})(\.[0-9]{1,2})?")
"""A code of the International Classification of Diseases, of its tenth or ninth revision."""
_NEARLY_ALL = 0.9
_DOTTED = 0.2
_CHAPTERS = 3


def type_of(values: pa.StringArray) -> AttributeType:
    """Return the type that all of these distinct values have; text where they have none.

    Numbers with leading zeros or more than 15 digits are codes, so text, and so are months such as ``05.2024``. Dates
    are ISO 8601, year first.
    """
    if not len(values):
        return AttributeType.TEXT
    if _all(pc.match_substring_regex(values, _INTEGER)):
        if _any(pc.match_substring_regex(values, _CODE)) or _longest(values) > _LONGEST:
            return AttributeType.TEXT
        return AttributeType.INTEGER
    if _all(pc.match_substring_regex(values, _DOTTED_MONTH)):
        return AttributeType.TEXT
    if _all(pc.match_substring_regex(values, _FLOAT)):
        numbers = pc.cast(values, pa.float64()).to_numpy(zero_copy_only=False)
        return AttributeType.FLOAT if np.isfinite(numbers).all() else AttributeType.TEXT
    return _moments(values) or AttributeType.TEXT


def numeric_but(values: pa.StringArray, marks: Sequence[str]) -> bool:
    """Whether all values but these marks are numbers, and there are some."""
    rest = values.filter(pc.invert(pc.is_in(values, value_set=pa.array(list(marks), pa.string()))))
    if not 0 < len(rest) < len(values):
        return False
    return _all(pc.match_substring_regex(rest, _FLOAT)) or number_spelling(rest) is not None


@dataclass(frozen=True, slots=True)
class DateForm:
    """How dates are written that are not ISO ones: strptime ``formats`` by which most values of a column are dates.

    Two where nothing says whether the day or the month comes first: they differ in that alone. ``unread`` of the
    distinct values are no dates by either.
    """

    formats: tuple[str, ...]
    unread: int = 0

    @property
    def is_certain(self) -> bool:
        """Whether all values are dates, and each is one day."""
        return len(self.formats) == 1 and not self.unread

    @property
    def has_days(self) -> bool:
        """Whether they are dates of days, as typed columns are, and not months."""
        return "%d" in self.formats[0]

    @property
    def pattern(self) -> str:
        """The first format as people write it, such as ``DD.MM.YYYY``."""
        return reduce(lambda text, part: text.replace(*part), _PATTERNS, self.formats[0])


def date_form(values: pa.StringArray) -> DateForm | None:
    """Return how nearly all of these distinct texts are dates; None where they are not, or are ISO ones."""
    if not 0 < len(values) <= _TRIED:
        return None
    texts = values.to_pylist()
    sample = texts[:: max(1, len(texts) // _SAMPLE)]
    if sum(_DATE_LIKE.fullmatch(text) is not None for text in sample) < _NEARLY_ALL * len(sample):
        return None
    near = [form for form in FORMATS if _unread(sample, form) <= _tolerated(form) * len(sample)]
    unread = {form: _unread(texts, form) for form in near}
    fewest = min(unread.values(), default=len(texts))
    formats = tuple(form for form in near if unread[form] == fewest and fewest <= _tolerated(form) * len(texts))
    return DateForm(formats, fewest) if formats else None


def _tolerated(form: str) -> float:
    """Return the share of values that may be no dates: none of numbers without separators, which may be other codes."""
    return 0.0 if form == _DIGITS else 1 - _NEARLY_ALL


@dataclass(frozen=True, slots=True)
class NumberSpelling:
    """How numbers are written that are not plain: the signs before their decimals and between their thousands."""

    decimal: str
    thousands: str = ""

    def reads(self, values: pa.StringArray) -> bool:
        """Whether all of these texts are numbers in this spelling."""
        point, group = re.escape(self.decimal), re.escape(self.thousands)
        digits = f"([0-9]{{1,3}}({group}[0-9]{{3}})+|[0-9]{{1,15}})" if group else "[0-9]{1,15}"
        return _all(pc.match_substring_regex(values, f"^[+-]?{digits}({point}[0-9]{{1,15}})?$"))

    def fits(self, values: pa.StringArray) -> bool:
        """Whether it reads all of these texts, and some of them show that no other spelling is meant."""
        if not len(values) or not self.reads(values) or _any(pc.match_substring_regex(values, r"^[+-]?0[0-9]")):
            return False
        if self.decimal == "." or _any(pc.match_substring(values, ".")):
            return _any(pc.match_substring(values, ",")) and _any(pc.match_substring(values, "."))
        # 1,234 may be one and a bit, or a thousand and more
        return _any(pc.match_substring_regex(values, ",([0-9]{1,2}|[0-9]{4,})$|[0-9]{4},|^[+-]?0,"))

    def plain(self, values: pa.StringArray) -> pa.StringArray:
        """Return numbers with a decimal point and without separators."""
        merged = pc.replace_substring(values, self.thousands, "") if self.thousands else values
        return pc.replace_substring(merged, self.decimal, ".")


SPELLINGS = (NumberSpelling(","), NumberSpelling(",", "."), NumberSpelling(".", ","))


def number_spelling(values: pa.StringArray) -> NumberSpelling | None:
    """Return how these distinct texts are numbers, where they are not plain ones; None for plain ones and for texts."""
    return next((spelling for spelling in SPELLINGS if spelling.fits(values)), None)


def describe_order(values: pa.StringArray) -> tuple[str, str] | None:
    """Return what texts are that have an order, and what a policy writes so that steps know it; None for others."""
    form = date_form(values)
    kind = type_of(values)
    if form is not None and not form.unread and kind is not AttributeType.FLOAT:
        if not form.has_days:
            parts = "[quarter, year, decade]"
            return f"months ({form.pattern})", f'`hierarchy: {{date: {parts}, format: "{form.formats[0]}"}}`'
        if not form.is_certain:
            return f"dates ({form.pattern})", f'`hierarchy: {{date: [year, decade], format: "{form.formats[0]}"}}`'
        typed = f"`type: {'timestamp' if '%H' in form.formats[0] else 'date'}`"
        return f"dates ({form.pattern})", f'{typed}, and `with: {{dates: "{form.formats[0]}"}}` of a CSV source'
    if kind is not AttributeType.TEXT:
        return "dates" if kind.is_time else "numbers", f"`type: {kind}`"
    if (spelling := number_spelling(values)) is not None and spelling.decimal == ",":
        thousands = ", thousands: point" if spelling.thousands else ""
        return (
            "numbers with a decimal comma",
            f"`type: float`, and `with: {{decimal: comma{thousands}}}` of a CSV source",
        )
    return None


def iso_dates(values: pa.StringArray, form: str) -> pa.StringArray:
    """Return dates of a form as ISO 8601 has them, with the time where the form has one."""
    moments = [dt.datetime.strptime(text.strip(), form) for text in values.to_pylist()]  # noqa: DTZ007  # as above
    return pa.array([m.isoformat() if "%H" in form else m.date().isoformat() for m in moments], pa.string())


def dates_but(values: pa.StringArray, marks: Sequence[str]) -> bool:
    """Whether all values but these marks are dates in one form, ISO or not, and there are some."""
    rest = values.filter(pc.invert(pc.is_in(values, value_set=pa.array(list(marks), pa.string()))))
    if not 0 < len(rest) < len(values):
        return False
    form = date_form(rest)
    return _moments(rest) is not None if form is None else not form.unread


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


def _unread(texts: Sequence[str], form: str) -> int:
    """Return how many texts are no dates in a form; blanks around them do not count."""
    unread = 0
    for text in texts:
        try:
            dt.datetime.strptime(text.strip(), form)  # noqa: DTZ007  # a day of a calendar, nowhere in particular
        except ValueError:
            unread += 1
    return unread


def _longest(values: pa.StringArray) -> int:
    return int(pc.max(pc.binary_length(values)).as_py() or 0)


def _all(mask: pa.BooleanArray) -> bool:
    return bool(pc.all(mask).as_py())


def _any(mask: pa.BooleanArray) -> bool:
    return bool(pc.any(mask).as_py())
