"""Which values of a param are tried: its choices, both ends of a range, and what free text may mean in a policy."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from datetime import date, timedelta
from decimal import ROUND_HALF_EVEN, Decimal
from itertools import chain, combinations, islice

from ppdm_flow.policy.loaded import PolicyReading, UsedParam
from ppdm_flow.policy.params import LIST, ParamLimits, number
from ppdm_flow.policy.text.nodes import Map, Node, Scalar, Seq
from ppdm_flow.policy.text.parse import PLACEHOLDER
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
_MOST_LISTS = 64
_FINEST = Decimal(1) / 512
"""To this share of its range an end that a policy takes is found."""


def values(
    param: UsedParam, before: UsedParam | None, policy: PolicyReading, roots: Sequence[Map] = ()
) -> tuple[str, ...]:
    """Return values to try: all choices, or both ends; where an end is open, something beyond what is known.

    Of a number the first two are its ends. For a text that is a name of the policy or a word of the language, these are
    the others of its kind; for one that is a number or a date, the next ones; where it is a part of a name in the files
    ``roots``, those parts that make names. Of a list, the shortest lists of choices that it takes, and the longest.
    """
    limits = param.limits
    if limits.type == LIST:
        some = [_written(items) for items in _lists(param, limits, policy)]
    elif limits.choices:
        some = [*limits.choices]
    elif limits.type == "boolean":
        some = ["true", "false"]
    elif limits.type in ("integer", "float"):
        ends = [limits.low or _beyond(param, before, up=False), limits.high or _beyond(param, before, up=True)]
        some = [*ends, *(part for part in _parts_of_names(param, policy, roots) if _within(limits, part))]
    else:
        some = [*_texts(param, before), *_others(param, policy), *_parts_of_names(param, policy, roots)]
    return tuple(dict.fromkeys(some))


def between(taken: Decimal, refused: Decimal, *, whole: bool) -> Decimal | None:
    """Return a number halfway between two; None where they are too near to each other."""
    middle = (taken + refused) / 2
    if whole:
        middle = middle.to_integral_value(ROUND_HALF_EVEN)
        return None if middle in (taken, refused) else middle
    far = max(abs(taken), abs(refused)) * _FINEST
    return None if abs(taken - refused) <= far else middle.normalize()


def uses(name: str, roots: Iterable[Map]) -> Iterator[str]:
    """Yield the texts of files in which a param is used, keys among them."""
    for text in chain.from_iterable(map(_references, roots)):
        if name in _named(text):
            yield text


def _lists(param: UsedParam, limits: ParamLimits, policy: PolicyReading) -> Iterator[tuple[str, ...]]:
    """Yield lists that are long enough, and not too long.

    Of choices: the shortest lists, those that lack one choice, and all. Else each item alone, one more, another in the
    place of all, and each other name of its kind, filled up with what is there now.
    """
    least = max(int(number(limits.low or "1") or 0), 0)
    most = int(number(limits.high or "") or 0) or None
    if limits.choices:
        every = limits.choices
        sizes = dict.fromkeys((least, max(len(every) - 1, least), min(len(every), most or len(every))))
        for size in sizes:
            yield from islice(combinations(every, size), _MOST_LISTS)
        return
    unknown = [_WORD, *(f"{_WORD}{n}" for n in range(2, least + 1))]
    others = [(name,) for name in _others(param, policy)]
    for items in (*((text,) for text in param.texts), (*param.texts, _WORD), (), (_WORD,), *others):
        spare = [text for text in (*(unknown if items == (_WORD,) else param.texts), *unknown) if text not in items]
        yield (*items, *spare[: max(least - len(items), 0)])[:most]


def _written(items: tuple[str, ...]) -> str:
    """Return a list as ``--set`` takes it."""
    plain = all(item and item == item.strip() and "," not in item and item[0] != "[" for item in items)
    return ", ".join(items) if plain else json.dumps(items, ensure_ascii=False)


def _texts(param: UsedParam, before: UsedParam | None) -> tuple[str, ...]:
    """Return longer texts, numbers on both sides of one, and days on both sides of a date."""
    text = "".join(param.texts)
    near = (_beyond(param, before, up=False), _beyond(param, before, up=True)) if number(text) is not None else ()
    return (f"{text}{_WORD}", f"{_WORD}{text}", *near, *_days(text))


def _days(text: str) -> tuple[str, ...]:
    try:
        day = date.fromisoformat(text)
        return tuple(str(day + timedelta(days)) for days in (-1, 1))
    except (ValueError, OverflowError):
        return ()


def _others(param: UsedParam, policy: PolicyReading) -> tuple[str, ...]:
    """Return the names and words that can stand in the place of the present ones."""
    present = {*param.texts}
    return tuple(other for kind in _kinds(policy) if kind & present for other in sorted(kind - present))


def _parts_of_names(param: UsedParam, policy: PolicyReading, roots: Iterable[Map]) -> Iterator[str]:
    """Yield what makes names of the policy, and words of the language, of the texts that the param is a part of."""
    names = sorted(frozenset[str]().union(*_kinds(policy)))
    present = {each.name: "".join(each.texts) for each in policy.params}
    for text in dict.fromkeys(uses(param.name, roots)):
        before, _, after = PLACEHOLDER.sub(
            lambda found: "\0" if _name(found[1]) == param.name else present.get(_name(found[1]), ""), text
        ).partition("\0")
        if before or after:
            fitting = (n for n in names if n.startswith(before) and n.endswith(after))
            yield from (n[len(before) : len(n) - len(after)] for n in fitting if len(n) > len(before) + len(after))


def _references(node: Node) -> Iterator[str]:
    """Yield the texts below a node that refer to params."""
    if isinstance(node, Scalar):
        yield from (node.text,) if node.text and "${" in node.text else ()
    elif isinstance(node, Seq):
        yield from chain.from_iterable(map(_references, node.items))
    else:
        for key, entry in node.entries.items():
            yield from (key,) if "${" in key else ()
            yield from _references(entry.node)


def _named(text: str) -> set[str]:
    """Return the params that a text refers to."""
    return {_name(found[1]) for found in PLACEHOLDER.finditer(text)}


def _name(reference: str) -> str:
    return reference.strip().removeprefix("params.")


def _kinds(policy: PolicyReading) -> Iterator[frozenset[str]]:
    """Yield the names and words that can stand for one another."""
    names: dict[str, frozenset[str]] = {}
    for section in _NAMED:
        names[section] = frozenset(path[1] for path in policy.places.keys if len(path) == 2 and path[0] == section)
        yield names[section] | ({"source"} if section == "steps" else frozenset())
    yield from map(frozenset, _SWITCHES)
    for group in ("anonymizers", "audits"):
        yield frozenset(each.name for each in registry.listed(group))


def _within(limits: ParamLimits, text: str) -> bool:
    """Whether a text is a number of the type and in the range of a param."""
    figure, low, high = number(text), number(limits.low or ""), number(limits.high or "")
    if figure is None or (limits.type == "integer" and figure != int(figure)):
        return False
    return (low is None or figure >= low) and (high is None or figure <= high)


def _beyond(param: UsedParam, before: UsedParam | None, *, up: bool) -> str:
    """Return a number that lies beyond the value, and beyond the end that the old param had there."""
    known = [number(text) for text in (*param.texts, *(_end(before.limits, up=up) if before else ()))]
    figures = [figure for figure in known if figure is not None] or [Decimal(1)]
    edge = max(figures) if up else min(figures)
    if param.limits.type == "integer" or (param.limits.type == "text" and edge == int(edge)):
        return str(edge + 1 if up else edge - 1)
    return str(edge + abs(edge) / 100 if up else edge - abs(edge) / 100)


def _end(limits: ParamLimits, *, up: bool) -> tuple[str, ...]:
    end = limits.high if up else limits.low
    return () if end is None else (end,)
