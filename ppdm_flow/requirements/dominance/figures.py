"""The worst group by each rule, over all ways to read the numbers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt

from ppdm_flow.core.requirement import TOLERANCE
from ppdm_flow.requirements.dominance.concentration import Concentrations
from ppdm_flow.requirements.dominance.reading import DominanceGroups
from ppdm_flow.requirements.dominance.requirement import Dominance

Bools = npt.NDArray[np.bool_]
RULES = ("share", "margin", "contributors")
UNITS = {"share": "share", "margin": "percent", "contributors": "contributors"}


def bounds(requirement: Dominance) -> dict[str, float]:
    """Return what is asked for, by figure; a share may be at most so large, what else is measured must be as large."""
    asked = {"share": requirement.share, "margin": requirement.p, "contributors": requirement.contributors}
    return {name: float(bound) for name, bound in asked.items() if bound is not None}


def broken(requirement: Dominance, each: Concentrations, slack: float = TOLERANCE) -> Bools:
    """Return which groups break a rule; one without a total breaks none."""
    out = np.zeros(len(each.share), dtype=np.bool_)
    for name, bound in bounds(requirement).items():
        room = slack * max(1.0, abs(bound))
        figure = getattr(each, name)
        out |= figure > bound + room if name == "share" else figure < bound - room
    return np.asarray(out & each.some)


def summary(requirement: Dominance, sides: Sequence[DominanceGroups]) -> dict[str, float | int | None]:
    """Return the figures of groups that were read in several ways; None for one that no group has."""
    read = [s for s in sides if len(s.rows)]
    out = [broken(requirement, s.each) for s in sides]
    return {
        **worst(read),
        "groups": len(sides[0].rows),
        "groups_with_total": max(int(s.each.some.sum()) for s in sides),
        "groups_beyond": max(int(b.sum()) for b in out),
        "rows_beyond": max(int(s.rows[b].sum()) for s, b in zip(sides, out, strict=True)),
    }


def worst(sides: Sequence[DominanceGroups]) -> Mapping[str, float | int | None]:
    """Return the largest share, the least margin and the fewest contributors of all groups that have a total."""
    found: dict[str, float | int | None] = dict.fromkeys(RULES)
    for one in sides:
        for name, value, worse in zip(RULES, largest_and_least(one.each), (max, min, min), strict=True):
            before = found[name]
            found[name] = value if before is None else before if value is None else worse(before, value)
    return found


def largest_and_least(each: Concentrations) -> tuple[float | int | None, ...]:
    """Return the figures of :func:`worst` for some groups; None where none of these has a total."""
    some = each.some
    if not some.any():
        return (None,) * len(RULES)
    return float(each.share[some].max()), float(each.margin[some].min()), int(each.contributors[some].min())
