"""The language in words: the name of a place, and the values that it takes."""

from __future__ import annotations

from collections.abc import Iterable

from ppdm_flow.policy.language.kinds import known
from ppdm_flow.policy.language.shape import FixedKeys, FreeShape, ListOf, MapOf, Number, Shape, SupportShape, Text

NAME_RULE = "a letter, then up to 63 letters, digits, `_` or `-`"

_NOUNS = {
    "attributes": "attribute",
    "steps": "step",
    "audits": "audit",
    "analyses": "analysis",
    "gates": "gate",
    "waivers": "waiver",
    "signers": "signer",
    "releases": "release",
    "params": "param",
}


def place_name(path: tuple[str, ...]) -> str:
    """Name the map at ``path`` as a reader would: ``template `no-discharged```, ``the policy``."""
    if not path:
        return "the policy"
    if path[0] == "privacy" and len(path) > 2 and (of_requirement := _of_requirement(path)):
        return of_requirement
    if path[0] == "tests":
        return _in_tests(path)
    if path[0] == "extends":
        return "this entry of `extends`" if len(path) == 2 else "the params given here"
    above = path[-2] if len(path) > 1 else ""
    if above in _NOUNS:
        return f"{_NOUNS[above]} `{short(path[-1])}`"
    if len(path) > 2 and path[-3] in _NOUNS:
        return f"`{short(path[-1])}` of {_NOUNS[path[-3]]} `{short(path[-2])}`"
    return f"`{short(path[-1])}`"


def _of_requirement(path: tuple[str, ...]) -> str:
    """Name a place in a requirement as its kind does: ``template `no-discharged```."""
    spec = known(path[1])
    if spec is not None and spec.place_name is not None:
        return spec.place_name(path[2:])
    if spec is None or not spec.noun or len(path) > 4:
        return ""
    name = f"{spec.noun} `{short(path[2])}`"
    return name if len(path) == 3 else f"`{short(path[3])}` of {name}"


def _in_tests(path: tuple[str, ...]) -> str:
    """Name a place of a test file: ``test `small-classes```, ```expect` of test `small-classes```, ``metric `a.b```."""
    if len(path) < 3:
        return f"test `{short(path[1])}`" if len(path) == 2 else "`tests`"
    if len(path) == 3:
        return f"`{path[2]}` of test `{short(path[1])}`"
    noun = {"metrics": "metric", "releases": "release"}.get(path[-2], "")
    return f"{noun} `{short(path[-1])}`".strip()


def expected(shape: Shape) -> str:
    """Say what a value of this shape is: ``a whole number of at least 2``, ``one of `keep`, `drop```."""
    if isinstance(shape, Text):
        if shape.choices:
            return choices(shape.choices)
        return "a name" if shape.pattern else "a text"
    if isinstance(shape, Number):
        return ("a whole number" if shape.integer else "a number") + _range(shape)
    if isinstance(shape, ListOf):
        return (
            f"{expected(shape.item)}, or a list of such {_plural(shape.item)}"
            if shape.single
            else f"a list of {_plural(shape.item)}"
        )
    if isinstance(shape, MapOf):
        return "a map with a name for each entry"
    if isinstance(shape, FixedKeys):
        return f"{f'`{shape.instead}`, or ' if shape.instead else ''}a map with {_keys(shape)}"
    if isinstance(shape, SupportShape):
        return "`{count: ROWS}` or `{ratio: SHARE}`"
    if isinstance(shape, FreeShape):
        return "a map of the plugin's parameters"
    raise TypeError(shape)


def choices(names: Iterable[str]) -> str:
    """Return ``one of `a`, `b```, or `` `a` `` alone."""
    every = [f"`{n}`" if n else '`""`' for n in names]
    return every[0] if len(every) == 1 else "one of " + ", ".join(every)


def short(text: str, limit: int = 60) -> str:
    """Cut a text for a message, on one line."""
    line = " ".join(text.split())
    return line if len(line) <= limit else line[: limit - 1] + "…"


def number(value: float) -> str:
    """Write a number without a needless fraction."""
    return f"{value:g}" if abs(value) < 1e6 else repr(value)


def _range(shape: Number) -> str:
    lower = _end(shape.ge, "of at least", shape.gt, "above")
    upper = _end(shape.le, "of at most", shape.lt, "below")
    return "".join([f" {lower}" if lower else "", " and" if lower and upper else "", f" {upper}" if upper else ""])


def _end(inclusive: float | None, word: str, exclusive: float | None, other: str) -> str:
    if inclusive is not None:
        return f"{word} {number(inclusive)}"
    return f"{other} {number(exclusive)}" if exclusive is not None else ""


def _plural(shape: Shape) -> str:
    if isinstance(shape, Text):
        return "texts"
    if isinstance(shape, Number):
        return "numbers"
    return "lists" if isinstance(shape, ListOf) else "maps"


def _keys(shape: FixedKeys) -> str:
    required = [f"`{k.name}`" for k in shape.keys.values() if k.required]
    optional = [f"`{k.name}`" for k in shape.keys.values() if not k.required]
    parts = [", ".join(required)] if required else []
    if optional:
        parts.append(("and if wanted " if required else "any of ") + ", ".join(optional))
    return " ".join(parts)
