"""Which figures may be told outside of the house, beside what a plugin's card says of them."""

from __future__ import annotations

RATIOS = frozenset(("share", "probability", "points", "nats", "bits", "ratio", "distance", "index", "correlation"))
"""Units of figures that count nobody."""
FEWEST = 10
"""Counts below it are not told."""


def is_small_count(value: float, unit: str) -> bool:
    """Whether a figure counts so few that it is not told."""
    return unit not in RATIOS and value < FEWEST
