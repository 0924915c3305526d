"""Numbers of CSV as typed columns read them: without blanks, with a decimal point and no thousands separators."""

from __future__ import annotations

import re

import pyarrow as pa
import pyarrow.compute as pc

from ppdm_flow.core.roles import AttributeType
from ppdm_flow.sources.csv.spec import CsvSourceParams
from ppdm_flow.tables.numeric.texts import UNREADABLE

_SPACES = " \u00a0\u202f"
"""A space between groups of digits may be one that does not break lines."""


def plain_numbers(array: pa.StringArray, kind: AttributeType, params: CsvSourceParams) -> pa.StringArray:
    """Return the texts of a column of numbers or moments in the spelling that is read everywhere.

    A text of digits whose separators do not stand where the parameters say gets the mark `UNREADABLE`: ``1.5`` is not
    15.
    """
    texts = _stripped(array) if params.strip else array
    if kind.is_time or (params.decimal == "." and not params.thousands):
        return texts
    return _respelled(texts, params.decimal, params.thousands)


def _stripped(array: pa.StringArray) -> pa.StringArray:
    trimmed = pc.utf8_trim_whitespace(array)
    blank = pc.and_(pc.equal(trimmed, ""), pc.not_equal(array, ""))
    return pc.if_else(blank, pa.scalar(None, pa.string()), trimmed)


def _respelled(texts: pa.StringArray, decimal: str, thousands: str) -> pa.StringArray:
    group = f"[{_SPACES}]" if thousands == " " else re.escape(thousands)
    marks = re.escape(f"{decimal}{thousands}.,") + (_SPACES if thousands == " " else "")
    of_digits = pc.match_substring_regex(texts, f"^[+-]?[0-9{marks}]+([eE][+-]?[0-9]+)?$")
    whole = f"([0-9]+|[0-9]{{1,3}}({group}[0-9]{{3}})+)" if thousands else "[0-9]+"
    point = re.escape(decimal)
    valid = pc.match_substring_regex(texts, f"^[+-]?({whole}({point}[0-9]*)?|{point}[0-9]+)([eE][+-]?[0-9]+)?$")
    plain = pc.replace_substring_regex(texts, group, "") if thousands else texts
    plain = pc.replace_substring(plain, decimal, ".")
    unreadable = pc.binary_join_element_wise(UNREADABLE, texts, "")
    return pc.if_else(valid, plain, pc.if_else(of_digits, unreadable, texts))
