"""Figures of several sensitive attributes: each by its name, and the worst of them."""

from __future__ import annotations

from collections.abc import Mapping

from ppdm_flow.core.results import Figure


def summarized(each: Mapping[str, Mapping[str, Figure]], units: Mapping[str, str]) -> dict[str, Figure]:
    """Return, for every name in ``units``, its worst figure and then, after a dot, that of each attribute.

    ``each`` has the figures by attribute. The worst is the highest; without an attribute there is none.
    """
    if not each:
        return {n: Figure(None, u, note="no sensitive attribute is released") for n, u in units.items()}
    worst = {n: _worst([mine[n] for mine in each.values()]) for n in units}
    return worst | {f"{s}.{n}": figure for s, mine in each.items() for n, figure in mine.items()}


def _worst(figures: list[Figure]) -> Figure:
    return max(figures, key=lambda f: -1.0 if f.value is None else f.value)
