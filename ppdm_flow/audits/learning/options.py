"""Options of classifiers, from the text of a policy."""

from __future__ import annotations

from typing import Any

Option = str | tuple[str, ...]
_WORDS: dict[str, Any] = {"true": True, "false": False, "none": None}


def typed(option: Option) -> Any:
    """Return the value that a text stands for: truth, nothing, a number, or a word; lists item by item.

    >>> typed("3"), typed("0.5"), typed("true"), typed("none"), typed("entropy"), typed(("20", "5"))
    (3, 0.5, True, None, 'entropy', (20, 5))
    """
    if not isinstance(option, str):
        return tuple(typed(item) for item in option)
    if option.lower() in _WORDS:
        return _WORDS[option.lower()]
    for kind in (int, float):
        try:
            return kind(option)
        except ValueError:
            continue
    return option
