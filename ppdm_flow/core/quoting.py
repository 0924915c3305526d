"""What of a text may be a value of somebody's data: runs of words that no figure looks like."""

from __future__ import annotations

import re
from collections.abc import Iterator

LONGEST = 64
"""Characters that are compared at once; of a longer value its beginning is looked for first."""
_TOKEN = re.compile(r"[^\W_]+|[^\w\s]|_")
_PLAIN = re.compile(r"[+-]?(\d{1,3}(,\d{3})+|\d+)(\.\d+)?")
_DIGITS = 6
"""How many digits a value without letters must have to be told from figures, beside a sign between them."""


def spans(text: str) -> Iterator[str]:
    """Yield each run of words in a text that may be a value, up to ``LONGEST`` characters long.

    >>> sorted(spans("most: Rome, 7"))
    ['Rome', 'Rome,', 'Rome, 7', 'most', 'most:', 'most: Rome', 'most: Rome,', 'most: Rome, 7']
    """
    tokens = [(m.start(), m.end()) for m in _TOKEN.finditer(text)]
    for place, (start, _) in enumerate(tokens):
        for _, end in tokens[place:]:
            if end - start > LONGEST:
                break
            if is_telling(text[start:end]):
                yield text[start:end]
        if len(text) - start > LONGEST:
            yield text[start : start + LONGEST]


def is_telling(value: str) -> bool:
    """Whether a value can be told from figures and signs: it has a letter, or is a date, a number with signs in it.

    >>> [is_telling(v) for v in ("HIV", "F", "1,234,567", "2024-01-31", "37")]
    [True, False, False, True, False]
    """
    if any(sign.isalpha() for sign in value):
        return len(value) > 1
    return sum(map(str.isdigit, value)) >= _DIGITS and _PLAIN.fullmatch(value) is None
