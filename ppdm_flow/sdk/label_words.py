"""Texts for recipients on labels that cover several values: how to read them, and no value of the data."""

from __future__ import annotations

from ppdm_flow.core.attributes import HierarchySpec

_ENDS = "Of an interval, an end with a square bracket belongs to it, one with a round bracket does not."
INTERVALS = f"Each number was replaced by the interval that it lies in. {_ENDS}"
CATEGORIES = "Each value was replaced by its category, in a hierarchy that the owner of the data laid down."
RANGES = "Each value was replaced by a range of neighbouring ones, in an order that the owner of the data laid down."
PREFIXES = "Of each value only the first characters were kept: the others are written as `{mask}`."
DATES = "Each date was cut to a coarser unit, such as its month or its year."


def of_hierarchy(hierarchy: HierarchySpec) -> str:
    """Return what became of values above the first level of a hierarchy, and how to read it."""
    if hierarchy.intervals is not None:
        return INTERVALS
    if hierarchy.prefix is not None:
        return PREFIXES.format(mask=hierarchy.mask)
    if hierarchy.date is not None:
        return DATES
    return RANGES if hierarchy.order is not None else CATEGORIES


def reading(hierarchy: HierarchySpec) -> str:
    """Return how to read labels of a hierarchy of which the level is not known; empty where that needs no word."""
    if hierarchy.intervals is not None:
        return _ENDS
    return f"Characters that were not kept are written as `{hierarchy.mask}`." if hierarchy.prefix is not None else ""
