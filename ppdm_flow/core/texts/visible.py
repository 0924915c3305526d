"""Text that people see: what a terminal or a browser would obey instead of show is made visible."""

from __future__ import annotations

import json
import re
from typing import Any

MARK = "\N{REPLACEMENT CHARACTER}"
"""Stands for a character that cannot be shown."""

_BIDI = "\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069"
_OBEYED = re.compile(f"[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029{_BIDI}\ud800-\udfff]")
_IN_LINE = re.compile(f"[\x00-\x1f\x7f-\x9f\u2028\u2029{_BIDI}\ud800-\udfff]")
_COLOR = re.compile(r"\x1b\[[0-9;]*m")


def visible(text: str) -> str:
    """Return the text with U+FFFD for each control character (but tab and line end) and each that turns the writing.

    Those are the escapes of terminals, and the embeddings, overrides and isolates of Unicode's UAX 9.
    """
    return _OBEYED.sub(MARK, text)


def visible_line(text: str) -> str:
    """Return :func:`visible` of a text that has to stay on its line: tabs and line ends are marked, too."""
    return _IN_LINE.sub(MARK, text)


def visible_colored(text: str) -> str:
    """Return :func:`visible` of a text in which our own colours stand."""
    colors = [*_COLOR.findall(text), ""]
    return "".join(visible(piece) + color for piece, color in zip(_COLOR.split(text), colors, strict=True))


def escaped(quoted: str) -> str:
    """Return a text whose strings stand in double quotes, as JSON's and YAML's, with such characters as escapes."""
    return _OBEYED.sub(lambda match: f"\\u{ord(match[0]):04x}", quoted)


def is_text(text: str) -> bool:
    """Whether it can be written: half of a surrogate pair, which JSON can escape, is no character."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def json_text(value: Any) -> str:
    """Return a document as JSON for files and terminals, ending with a newline. Raises ValueError for NaN."""
    return escaped(json.dumps(value, indent=2, ensure_ascii=False, allow_nan=False)) + "\n"
