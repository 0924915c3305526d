"""Sizes as people read them."""

from __future__ import annotations

_UNITS = ((1 << 20, "uploads.megabytes"), (1 << 10, "uploads.kilobytes"), (1, "uploads.bytes"))


def size_key(size: int) -> str:
    """Return the key of the text with the unit of a size."""
    return next((key for unit, key in _UNITS if size >= unit), "uploads.bytes")


def size_number(size: int) -> str:
    """Return the number of that unit, with one place after the point from a kilobyte on.

    >>> size_number(0), size_number(1536), size_number(5 << 20)
    ('0', '1.5', '5.0')
    """
    unit = next((unit for unit, _ in _UNITS if size >= unit), 1)
    return f"{size:,}" if unit == 1 else f"{size / unit:,.1f}"
