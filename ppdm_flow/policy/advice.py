"""What a message about a shape calls its value, and what it advises."""

from __future__ import annotations

from typing import Any

from ppdm_flow.policy.loaded import PolicyPath
from ppdm_flow.policy.shape import Number, Shape
from ppdm_flow.policy.words import place_name, short


def subject(path: PolicyPath) -> str:
    """``item 2 of `channel``` or `` `confidence` of template `x` ``."""
    if not path:
        return "the policy"
    if path[-1].isdecimal() and len(path) > 1:
        return f"item {int(path[-1]) + 1} of `{short(path[-2])}`"
    if len(path) == 1:
        return f"`{path[0]}`"
    owner = place_name(path[:-1])
    name = place_name(path)
    return name if not name.startswith("`") else f"`{short(path[-1])}` of {owner}"


def number_hint(shape: Shape, value: Any) -> str | None:
    """Advise on a percentage where a share is meant, and on a decimal comma."""
    if not isinstance(shape, Number) or not isinstance(value, str):
        return None
    text = value.strip()
    percent = text.removesuffix("%").strip().replace(",", ".")
    try:
        figure = float(percent)
    except ValueError:
        return None
    if shape.lt == 1.0 and 0.0 < figure < 100.0 and (figure >= 2.0 or "%" in text):
        return f"write `{figure / 100:g}` for {figure:g} %"
    if "," in text and not shape.whole:
        return f"write `{percent}`, with a point"
    return None


def under(places: tuple[str, ...]) -> str:
    """Name the places that a key may stand under."""
    named = [f"under `{p}`" if p else "at the top of the policy" for p in places[:2]]
    return " or ".join(named)
