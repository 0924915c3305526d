"""What a message about a shape calls its value, and what it advises."""

from __future__ import annotations

from typing import Any

from ppdm_flow.policy.language.shape import FixedKeys, ListOf, MapOf, Number, Shape
from ppdm_flow.policy.language.words import place_name, short
from ppdm_flow.policy.loaded import PolicyPath

_READING = frozenset({"delimiter", "encoding", "header", "quote", "sheet", "skip_rows", "strip"})
_FIRST = {"attributes": "role", "source": "path"}
"""The key that a single value most likely is, where more than one or none must be given."""


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
    if "," in text and not shape.integer:
        return f"write `{percent}`, with a point"
    return None


def support_hint(value: Any) -> str | None:
    """Advise on two units, a percentage, a ratio that counts rows."""
    if isinstance(value, dict):
        if {"count", "ratio"} <= value.keys():
            return "`count: null` or `ratio: null` takes back an inherited one"
        value = value.get("ratio")
    if not isinstance(value, str):
        return None
    share = number_hint(Number(integer=False, gt=0.0, lt=1.0), value)
    counts = value.strip().isdecimal() and int(value) > 1
    return f"write `{{count: {short(value, 20)}}}` for rows" if counts else share


def map_hint(path: PolicyPath, shape: Shape, value: str) -> str | None:
    """Advise on a single value where a map must stand: `age: QI` for `age: {role: QI}`."""
    if _glued(path):
        return "a blank belongs after the colon"
    if isinstance(shape, MapOf) and isinstance(shape.value, ListOf):
        return f"write `{{{short(value, 30)}: [VALUE, …]}}`"
    if not isinstance(shape, FixedKeys):
        return None
    needed = [key.name for key in shape.keys.values() if key.required]
    above = path[-2] if len(path) > 1 else path[-1]
    name = needed[0] if len(needed) == 1 else _FIRST.get(above)
    return f"write `{{{name}: {short(value, 30)}}}`" if name in shape.keys else None


def _glued(path: PolicyPath) -> bool:
    return ":{" in path[-1] or ":[" in path[-1]


def empty_hint(path: PolicyPath) -> str:
    """Advise on a key without a value; a decimal comma makes one in a map in braces: `{r2: 0,25}`."""
    if path[-1].isdecimal():
        return "numbers have a decimal point: a comma begins a new key"
    return "a blank belongs after the colon" if _glued(path) else "write a value, or remove the key"


def plugin_hint(name: str, above: PolicyPath) -> str | None:
    """Advise on a parameter of a plugin that stands beside ``with:``."""
    step = len(above) == 2 and above[0] in ("steps", "audits")
    if step or (above == ("source",) and name in _READING):
        return f"what a plugin takes stands under `with`: `with: {{{short(name)}: …}}`"
    return None


def under(places: tuple[str, ...], top: str = "the policy") -> str:
    """Name the places that a key may stand under."""
    named = [f"under `{p}`" if p else f"at the top of {top}" for p in places[:2]]
    return " or ".join(named)
