"""Parameters that several readers of text have."""

from __future__ import annotations

import codecs
from typing import Annotated, Literal

from pydantic import AfterValidator, BeforeValidator


def _mark(text: str) -> str:
    mark = {"tab": "\t", "\\t": "\t", "space": " "}.get(text, text)
    if len(mark) != 1 or not mark.isascii() or mark in "\r\n\0":
        raise ValueError("must be one ASCII character, or `tab`")
    return mark


def _escape(sign: object) -> object:
    return {"none": "", "backslash": "\\"}.get(sign, sign) if isinstance(sign, str) else sign


_NO_CHARACTER_SETS = frozenset({"idna", "punycode", "raw-unicode-escape", "undefined", "unicode-escape"})
"""Codecs of Python that decode text to text, which no file is written in."""


def _known(encoding: str) -> str:
    try:
        name = codecs.lookup(encoding).name
        b"a".decode(name, "replace")  # raises LookupError for a codec that is none of texts, such as hex
    except (LookupError, UnicodeError, ValueError):
        name = "undefined"
    if name.replace("_", "-") in _NO_CHARACTER_SETS:
        raise ValueError("must be the name of an encoding, such as utf-8, latin-1 or cp1252")
    return name


Mark = Annotated[str, AfterValidator(_mark)]
"""One character of the format."""
Escape = Annotated[Literal[""] | Mark | None, BeforeValidator(_escape)]
"""What makes a quote inside quotes a letter; empty where it is doubled, None where nobody said so."""
Encoding = Annotated[str, AfterValidator(_known)]
"""The name of an encoding."""
Repeated = Literal["error", "merge"]
"""What becomes of an item that stands in one set several times."""
Empty = Literal["keep", "error"]
"""What becomes of a set without items."""
