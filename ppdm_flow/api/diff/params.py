"""What whoever runs a policy may set: whether a value that a param takes weakens the policy."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from decimal import Decimal
from itertools import product
from pathlib import Path

from ppdm_flow.api.diff.columns import compared
from ppdm_flow.api.diff.param_values import is_open, values
from ppdm_flow.api.diff.policies import LoadedPolicy, read
from ppdm_flow.core.errors import PolicyError
from ppdm_flow.plan.compile import compile_policy
from ppdm_flow.policy.loaded import UsedParam
from ppdm_flow.policy.order import Change, Order, Relation, Side, Verdict
from ppdm_flow.policy.params.params import Limits, number
from ppdm_flow.policy.redaction import UNSHOWN

Sets = Mapping[str, str]
_LAX = {Relation.WEAKER: Verdict.WEAKER, Relation.INCOMPARABLE: Verdict.INCOMPARABLE}
_FIXED = "whoever runs the policy cannot give it a value any more"
_FREE = "whoever runs the policy may give it another value, as far as its bounds and floors let them"
_HARMLESS = "whoever runs the policy may give it another value, and none that was tried weakens anything"
_NUMBERS = ("integer", "float")
_MOST_AT_ONCE = 6
_TOO_MANY = f"a new param is one of more than {_MOST_AT_ONCE} numbers, whose ends are not tried all at once"
_UNTRIED = "whoever runs the policy may give it any text, and none that was tried is one that the policy takes"


def with_params(order: Order, old: LoadedPolicy, new: LoadedPolicy, sets: Sets) -> Order:
    """Return the comparison with what params let whoever runs the policies do."""
    return replace(order, governance=(*order.governance, *params(order, old, new, sets)))


def params(order: Order, old: LoadedPolicy, new: LoadedPolicy, sets: Sets) -> Iterator[Change]:
    """Yield params that came or went, and those that take a value with which the new policy is not as strict.

    The ends of what a param takes are tried, and each of its choices. Policies of the very same texts are alike.
    """
    before, after = ({p.name: p for p in policy.loaded.params} for policy in (old, new))
    if list(old.loaded.sources.values()) == list(new.loaded.sources.values()):
        return
    harmless = True
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
        harmless = harmless and worst is None
    if harmless and order.relation not in _LAX:
        yield from _joint(old, new, sets)


def _worst(
    before: UsedParam | None, after: UsedParam, old: LoadedPolicy, new: LoadedPolicy, sets: Sets
) -> tuple[Verdict, str] | None:
    """Return what a value of the param does to the policy, if one does; none where floors or rules refuse it."""
    tried = 0
    for value in values(after, before, new.loaded):
        relation = _with({after.name: value}, {after.name: before} if before else {}, old, new, sets)
        tried += relation is not None
        if relation in _LAX:
            return _told(relation, {after.name: value})
    same = before is not None and before.limits == after.limits
    return None if tried or same or not is_open(after) else (Verdict.INCOMPARABLE, _UNTRIED)


def _joint(old: LoadedPolicy, new: LoadedPolicy, sets: Sets) -> Iterator[Change]:
    """Yield what values of several params do at once: each of them alone may be made up for by what another asks."""
    before = {p.name: p for p in old.loaded.params}
    ends = [(p, values(p, before.get(p.name), new.loaded)) for p in new.loaded.params if p.limits.type in _NUMBERS]
    corners = product(*((some[0], some[-1]) for _, some in ends)) if 2 <= len(ends) <= _MOST_AT_ONCE else ()
    names = [p.name for p, _ in ends]
    if len(ends) > _MOST_AT_ONCE and (set(names) - set(before)):
        yield Change(f"params.{', '.join(names)}", Verdict.INCOMPARABLE, _TOO_MANY)
    for corner in corners:
        chosen = dict(zip(names, corner, strict=True))
        relation = _with(chosen, before, old, new, sets)
        if relation in _LAX:
            yield Change(f"params.{', '.join(names)}", *_told(relation, chosen))
            return


def _with(
    chosen: Mapping[str, str], before: Mapping[str, UsedParam], old: LoadedPolicy, new: LoadedPolicy, sets: Sets
) -> Relation | None:
    """Return what the new policy is with these values, beside the old one with those or the nearest that it takes.

    None where the new policy does not take them.
    """
    try:
        later = read(_path(new), new.place, {**sets, **chosen})
    except PolicyError:
        return None
    if compile_policy(later.loaded, digested=False, clock=None).plan is None:
        return None
    taken = {name: _taken(before[name], value, old, sets) for name, value in chosen.items() if name in before}
    known = {name: value for name, value in taken.items() if value is not None}
    try:
        earlier = read(_path(old), old.place, {**sets, **known}) if known else old
    except PolicyError:  # each alone it takes, and not all of them
        earlier = old
    return compared(earlier, later).relation


def _taken(param: UsedParam, value: str, old: LoadedPolicy, sets: Sets) -> str | None:
    """Return the value, or the nearest one that the old policy takes."""
    for each in (value, *_ends(param.limits, value)):
        try:
            read(_path(old), old.place, {**sets, param.name: each})
        except PolicyError:
            continue
        return each
    return None


def _told(relation: Relation, chosen: Mapping[str, str]) -> tuple[Verdict, str]:
    words = " ".join(f"--set {name}={value}" for name, value in chosen.items())
    word = "weaker" if relation is Relation.WEAKER else "not proved to be as strict"
    return _LAX[relation], f"with `{words}` the policy is {word}"


def _ends(limits: Limits, value: str) -> tuple[str, ...]:
    """Return the ends of a range, the one that is nearer to a value first."""
    figure = number(value)
    ends = [text for text in (limits.low, limits.high) if text is not None]
    return tuple(sorted(ends, key=lambda text: abs((number(text) or Decimal(0)) - (figure or Decimal(0)))))


def _path(policy: LoadedPolicy) -> Path:
    return Path(policy.loaded.file)


def _side(param: UsedParam | None) -> Side | None:
    return None if param is None else Side(", ".join(param.texts) or UNSHOWN, param.declared)
