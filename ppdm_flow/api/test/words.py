"""Expected figures in words, and whether a measured one meets them."""

from __future__ import annotations

from collections.abc import Iterable

from ppdm_flow.core.requirement import TOLERANCE, within
from ppdm_flow.policy.test.models import Figured


def meets(figure: Figured, value: float | None) -> bool:
    """Whether a measured figure is as expected; one that does not exist never is."""
    if value is None:
        return False
    if figure.equals is not None:
        slack = TOLERANCE * max(1.0, abs(figure.equals)) if figure.tolerance is None else figure.tolerance
        return abs(value - figure.equals) <= slack + TOLERANCE * max(1.0, abs(figure.equals))
    low = figure.min is None or within(value, figure.min, at_most=False)
    return low and (figure.max is None or within(value, figure.max, at_most=True))


def bounds(figure: Figured) -> str:
    """Say what is expected: ``4``, ``at least 1 and at most 4``."""
    if figure.equals is not None:
        return number(figure.equals) + (f" ± {number(figure.tolerance)}" if figure.tolerance else "")
    low = f"at least {number(figure.min)}" if figure.min is not None else ""
    high = f"at most {number(figure.max)}" if figure.max is not None else ""
    return f"{low} and {high}" if low and high else low or high


def number(value: float) -> str:
    """Write a figure as a reader wants it: whole ones whole, others with six digits."""
    whole = float(value).is_integer() and abs(value) < 1e15
    return f"{int(value)}" if whole else f"{value:.6g}"


def listing(names: Iterable[str], limit: int = 8) -> str:
    """Return names in a row, each once."""
    every = list(dict.fromkeys(names))
    more = f" and {len(every) - limit} more" if len(every) > limit else ""
    return ", ".join(every[:limit]) + more
