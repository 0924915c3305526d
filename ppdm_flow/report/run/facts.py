"""Nested values as rows of name and text, bounded in depth and length."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from ppdm_flow.report.run.wording import flat, spoken

_MOST_ROWS = 60
_MOST_ITEMS = 24
_NAMES = {"sha256": "SHA-256", "peak_mb": "peak memory in MB"}
_LONGEST = 240


@dataclass(frozen=True, slots=True)
class Fact:
    """A name, in words, and what is known. ``code`` says that the text is a digest, a path or a version."""

    name: str
    text: str
    code: bool = False


def facts(values: Mapping[str, Any], most: int = _MOST_ROWS) -> list[Fact]:
    """Return the leaves of nested maps, at most ``most``; the last row says how many more there are."""
    rows = list(_leaves(values, ""))
    if len(rows) <= most:
        return rows
    return [*rows[:most], Fact("\N{HORIZONTAL ELLIPSIS}", f"{len(rows) - most:,} more in report.json")]


def _leaves(values: Mapping[str, Any], above: str) -> Iterator[Fact]:
    for key, value in values.items():
        word = _NAMES.get(key, key.replace("_", " "))
        name = f"{above} \N{MIDDLE DOT} {word}" if above else spoken(word)
        if isinstance(value, dict) and value:
            yield from _leaves(value, name)
        else:
            text = _text(value)
            yield Fact(name, text, _is_code(text))


def _text(value: Any) -> str:
    if isinstance(value, dict):
        return "none"
    if not isinstance(value, list):
        return _bounded(flat(value))
    if not value:
        return "none"
    shown = [_item(item) for item in value[:_MOST_ITEMS]]
    more = f" \N{HORIZONTAL ELLIPSIS} {len(value) - _MOST_ITEMS:,} more" if len(value) > _MOST_ITEMS else ""
    return _bounded(", ".join(shown)) + more


def _item(item: Any) -> str:
    if isinstance(item, dict):
        return "; ".join(f"{key}: {_text(value)}" for key, value in item.items())
    return f"({_text(item)})" if isinstance(item, list) else flat(item)


def _bounded(text: str) -> str:
    return text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "\N{HORIZONTAL ELLIPSIS}"


def _is_code(text: str) -> bool:
    """Whether it reads like a digest or a path, which want a fixed-width type."""
    long_word = len(text) >= 12 and " " not in text and any(c.isdigit() for c in text)
    return long_word or ("/" in text and " " not in text)
