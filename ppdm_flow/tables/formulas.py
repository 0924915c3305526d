"""Text cells that a spreadsheet would take for formulas: a `'` before them, and away again.

A cell that begins with ``=``, ``+``, ``-``, ``@``, a tab or a line end is run by Excel and its like when a CSV file is
opened (OWASP, CSV injection). Numbers are not touched. Cells that look escaped already get one more ``'``, so that
escaping is always undone exactly.
"""

from __future__ import annotations

import pyarrow as pa
import pyarrow.compute as pc

UNDONE = (
    "a cell or column name that begins with one or more ' and then = + - @ (or their full-width forms), a tab or a line"
    " end had one ' less: drop the first"
)
"""How a recipient undoes it, in words."""

BEGINS = "=+-@\t\r\n\uff1d\uff0b\uff0d\uff20"
"""What a formula begins with, also in full width."""
_BEGINS = "[" + BEGINS.replace("-", r"\-") + "]"
_FORMULA = f"^'*{_BEGINS}"
_ESCAPED = f"^'+{_BEGINS}"
_NUMBER = r"^[+-]?([0-9]+([.,][0-9]*)?|[.,][0-9]+)([eE][+-]?[0-9]+)?$"


def escaped(texts: pa.StringArray) -> pa.StringArray:
    """Return the texts with a ``'`` before each that would be a formula."""
    formula = pc.and_not(pc.match_substring_regex(texts, _FORMULA), pc.match_substring_regex(texts, _NUMBER))
    return pc.if_else(formula, pc.binary_join_element_wise("'", texts, ""), texts)


def unescaped(texts: pa.StringArray) -> pa.StringArray:
    """Return the texts that :func:`escaped` was given."""
    return pc.if_else(pc.match_substring_regex(texts, _ESCAPED), pc.utf8_slice_codeunits(texts, 1), texts)
