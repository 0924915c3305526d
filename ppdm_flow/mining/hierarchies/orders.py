"""Ordered values, neighbours put together."""

from __future__ import annotations

from collections.abc import Sequence

from ppdm_flow.mining.hierarchies.hierarchy import Lines


def ordered(values: Sequence[str], then: Sequence[int]) -> Lines:
    """Return the ancestors of ordered values: on each level so many neighbours of the one below are one.

    The last group of a level is what is left. Everything together is ``*``.

    >>> ordered(["none", "mild", "strong"], [2])["mild"]
    ('none to mild', '*')
    """
    above: dict[str, list[str]] = {value: [] for value in values}
    size = 1
    for together in then:
        size *= together
        if size >= len(values):
            break
        for start in range(0, len(values), size):
            group = values[start : start + size]
            for value in group:
                above[value].append(group[0] if len(group) == 1 else f"{group[0]} to {group[-1]}")
    return {value: (*labels, "*") for value, labels in above.items()}
