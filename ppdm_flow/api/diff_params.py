"""What whoever runs a policy may set: whether a value that a param takes weakens the policy."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from decimal import Decimal
from pathlib import Path

from ppdm_flow.api.diff_columns import compared
from ppdm_flow.api.diff_policies import Read, read
from ppdm_flow.core.errors import PolicyError
from ppdm_flow.plan.compile import compile_policy
from ppdm_flow.policy.loaded import PolicyPath, UsedParam
from ppdm_flow.policy.order import Change, Order, Relation, Side, Verdict
from ppdm_flow.policy.params import Limits, number
from ppdm_flow.policy.redaction import UNSHOWN

Sets = Mapping[str, str]
_LAX = {Relation.WEAKER: Verdict.WEAKER, Relation.INCOMPARABLE: Verdict.INCOMPARABLE}
_FIXED = "whoever runs the policy cannot give it a value any more"
_FREE = "whoever runs the policy may give it another value, as far as its bounds and floors let them"
_HARMLESS = "whoever runs the policy may give it another value, and none that was tried weakens anything"
_WORD = "x"
"""What is put behind a text to have another one."""


def with_params(order: Order, old: Read, new: Read, sets: Sets) -> Order:
    """Return the comparison with what params let whoever runs the policies do."""
    return replace(order, governance=(*order.governance, *params(order, old, new, sets)))


def params(order: Order, old: Read, new: Read, sets: Sets) -> Iterator[Change]:
    """Yield params that came or went, and those that take a value with which the new policy is not as strict.

    The ends of what a param takes are tried, and each of its choices. Policies of the very same texts are alike.
    """
    before, after = ({p.name: p for p in policy.loaded.params} for policy in (old, new))
    if list(old.loaded.sources.values()) == list(new.loaded.sources.values()):
        return
    for name in dict.fromkeys((*before, *after)):
        sides = _side(before.get(name)), _side(after.get(name))
        if name not in after:
            yield Change(f"params.{name}", Verdict.STRONGER, _FIXED, *sides)
            continue
        if order.relation in _LAX:  # so it is with any value
            worst = None if name in before else (Verdict.WEAKER, _FREE)
        else:
            worst = _worst(before.get(name), after[name], old, new, sets)
        if worst is not None:
            yield Change(f"params.{name}", *worst, *sides)
        elif name not in before:
            yield Change(f"params.{name}", Verdict.NEUTRAL, _HARMLESS, *sides)


def _worst(before: UsedParam | None, after: UsedParam, old: Read, new: Read, sets: Sets) -> tuple[Verdict, str] | None:
    """Return what a value of the param does to the policy, if one does; none where floors or rules refuse it."""
    for value in values(after, before, tuple(new.loaded.places.keys)):
        try:
            later = read(_path(new), new.place, {**sets, after.name: value})
        except PolicyError:
            continue
        if compile_policy(later.loaded, digested=False, clock=None).plan is None:
            continue
        earlier = old if before is None else _nearest(before, value, old, sets)
        verdict = _LAX.get(compared(earlier, later).relation)
        if verdict is not None:
            word = "weaker" if verdict is Verdict.WEAKER else "not proved to be as strict"
            return verdict, f"with `--set {after.name}={value}` the policy is {word}"
    return None


def _nearest(param: UsedParam, value: str, old: Read, sets: Sets) -> Read:
    """Return the old policy with that value, or the nearest one that it takes."""
    for each in (value, *_ends(param.limits, value)):
        try:
            return read(_path(old), old.place, {**sets, param.name: each})
        except PolicyError:
            continue
    return old


def values(param: UsedParam, before: UsedParam | None, places: Sequence[PolicyPath] = ()) -> tuple[str, ...]:
    """Return values to try: all choices, or both ends; where an end is open, something beyond what is known.

    For the name of an attribute, by the ``places`` of the policy, these are the names of the others.
    """
    limits = param.limits
    names = [path[1] for path in places if len(path) == 2 and path[0] == "attributes"]
    if limits.choices:
        some: tuple[str, ...] = limits.choices
    elif limits.type == "boolean":
        some = ("true", "false")
    elif limits.type in ("integer", "float"):
        some = (limits.low or _beyond(param, before, up=False), limits.high or _beyond(param, before, up=True))
    elif limits.type == "list":
        some = (*param.texts[:1], ", ".join((*param.texts, _WORD)))
    else:
        text = "".join(param.texts)
        some = (f"{text}{_WORD}", *(names if text in names else ()))
    return tuple(dict.fromkeys(some))


def _beyond(param: UsedParam, before: UsedParam | None, *, up: bool) -> str:
    """Return a number that lies beyond the value, and beyond the end that the old param had there."""
    known = [number(text) for text in (*param.texts, *(_end(before.limits, up=up) if before else ()))]
    figures = [figure for figure in known if figure is not None] or [Decimal(1)]
    edge = max(figures) if up else min(figures)
    if param.limits.type == "integer":
        return str(edge + 1 if up else edge - 1)
    return str(edge + abs(edge) / 100 if up else edge - abs(edge) / 100)


def _end(limits: Limits, *, up: bool) -> tuple[str, ...]:
    end = limits.high if up else limits.low
    return () if end is None else (end,)


def _ends(limits: Limits, value: str) -> tuple[str, ...]:
    """Return the ends of a range, the one that is nearer to a value first."""
    figure = number(value)
    ends = [text for text in (limits.low, limits.high) if text is not None]
    return tuple(sorted(ends, key=lambda text: abs((number(text) or Decimal(0)) - (figure or Decimal(0)))))


def _path(policy: Read) -> Path:
    return Path(policy.loaded.file)


def _side(param: UsedParam | None) -> Side | None:
    return None if param is None else Side(", ".join(param.texts) or UNSHOWN, param.declared)
