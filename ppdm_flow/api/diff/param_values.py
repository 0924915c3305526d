"""Which values of a param are tried: its choices, both ends of a range, and what free text may mean in a policy."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal

from ppdm_flow.policy.loaded import Loaded, UsedParam
from ppdm_flow.policy.params.params import Limits, number
from ppdm_flow.sdk import registry

_WORD = "another"
"""A text, or an item of a list, that no policy means."""
_NAMED = ("attributes", "steps", "releases", "audits", "analyses")
_SWITCHES = (
    ("internal", "partner", "public"),
    ("true", "false"),
    ("together", "apart"),
    ("sealed", "reproducible"),
    ("keep", "escape"),
    ("error", "drop"),
    ("error", "allowed"),
    ("refuse", "warn"),
)
"""Words of the language that stand for one another."""


def is_open(param: UsedParam) -> bool:
    """Whether a param takes any text, or any list of texts."""
    return not param.limits.choices and param.limits.type in ("text", "list")


def values(param: UsedParam, before: UsedParam | None, policy: Loaded) -> tuple[str, ...]:
    """Return values to try: all choices, or both ends; where an end is open, something beyond what is known.

    For a text that is a name of the policy or a word of the language, these are the others of its kind; for one that
    is a number, the next ones.
    """
    limits = param.limits
    if limits.choices:
        some: tuple[str, ...] = limits.choices
    elif limits.type == "boolean":
        some = ("true", "false")
    elif limits.type in ("integer", "float"):
        some = (limits.low or _beyond(param, before, up=False), limits.high or _beyond(param, before, up=True))
    else:
        others = tuple(o for kind in _kinds(policy) if kind & {*param.texts} for o in sorted(kind - {*param.texts}))
        some = (*_lists(param), *others) if limits.type == "list" else (*_texts(param, before), *others)
    return tuple(dict.fromkeys(some))


def _lists(param: UsedParam) -> tuple[str, ...]:
    """Return each item alone, one more, and another in the place of all."""
    return (*param.texts, ", ".join((*param.texts, _WORD)), _WORD)


def _texts(param: UsedParam, before: UsedParam | None) -> tuple[str, ...]:
    """Return longer texts, and numbers on both sides of one."""
    text = "".join(param.texts)
    near = (_beyond(param, before, up=False), _beyond(param, before, up=True)) if number(text) is not None else ()
    return (f"{text}{_WORD}", f"{_WORD}{text}", *near)


def _kinds(policy: Loaded) -> Iterator[frozenset[str]]:
    """Yield the names and words that can stand for one another."""
    names: dict[str, frozenset[str]] = {}
    for section in _NAMED:
        names[section] = frozenset(path[1] for path in policy.places.keys if len(path) == 2 and path[0] == section)
        yield names[section] | ({"source"} if section == "steps" else frozenset())
    yield from map(frozenset, _SWITCHES)
    for group in ("anonymizers", "audits"):
        yield frozenset(each.name for each in registry.listed(group))


def _beyond(param: UsedParam, before: UsedParam | None, *, up: bool) -> str:
    """Return a number that lies beyond the value, and beyond the end that the old param had there."""
    known = [number(text) for text in (*param.texts, *(_end(before.limits, up=up) if before else ()))]
    figures = [figure for figure in known if figure is not None] or [Decimal(1)]
    edge = max(figures) if up else min(figures)
    if param.limits.type == "integer" or (param.limits.type == "text" and edge == int(edge)):
        return str(edge + 1 if up else edge - 1)
    return str(edge + abs(edge) / 100 if up else edge - abs(edge) / 100)


def _end(limits: Limits, *, up: bool) -> tuple[str, ...]:
    end = limits.high if up else limits.low
    return () if end is None else (end,)
