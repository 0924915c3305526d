"""What any requirement claims, and why one claim implies another, by the rules of the kinds that are installed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from functools import cache
from typing import Any

from ppdm_flow.core.requirement import Requirement
from ppdm_flow.policy.language.guarded import guarded
from ppdm_flow.policy.language.kinds import built_in, spec_of, third_parties
from ppdm_flow.policy.order import claim, gates
from ppdm_flow.policy.order.claim import Claim, OpaqueClaim, Order, Rule
from ppdm_flow.policy.order.frame import ComparedPolicies, PolicyFrame
from ppdm_flow.sdk.spec import imported

UNQUOTED = "by values from the environment, not shown"
_NAMES = frozenset(("id", "name", "span", "releases"))


@cache
def order_of(kind: str) -> Order:
    """Return what the clauses of a kind claim and imply.

    Raises TypeError where its spec names something else; PluginError where another package's cannot be imported.
    """
    if kind in third_parties():
        return _guarded(kind, guarded(kind, "say what it claims", _order)(kind))
    return _order(kind)


def _order(kind: str) -> Order:
    order = imported(spec_of(kind).order)
    if not isinstance(order, Order):
        raise TypeError(f"the order of `{kind}` is no Order")
    return order


def _guarded(kind: str, order: Order) -> Order:
    """Return the order so that what another package's code raises is told as its fault."""
    rules = tuple((given, asked, guarded(kind, "compare its claims", rule)) for given, asked, rule in order.rules)
    return replace(order, says=guarded(kind, "say what it claims", order.says), rules=rules)


def bounds_of(kind: str) -> frozenset[str]:
    """Return the fields of a kind of requirement that only bound figures of their names."""
    return order_of(kind).bounds


@cache
def rules_of(kinds: frozenset[str]) -> Mapping[tuple[type[Any], type[Any]], Rule]:
    """Return the rules of the built-in kinds and of these: at most one for each pair of kinds of claims."""
    names = dict.fromkeys((*(spec.name for spec in built_in()), *sorted(kinds)))
    every = (*claim.RULES, *gates.RULES, *(rule for name in names for rule in order_of(name).rules))
    return {(given, asked): rule for given, asked, rule in every}


def said(requirement: Requirement, frame: PolicyFrame) -> Iterator[Any]:
    """Yield what a requirement claims; what its kind's rules do not look at is claimed as it is."""
    order = order_of(requirement.kind)
    yield from order.says(requirement, frame)
    known = _NAMES | order.fields
    rest = [(name, value) for name, value in requirement.said().items() if name not in known]
    if rest:
        yield OpaqueClaim(requirement.kind, repr(rest))


def implied(claims: Iterable[Claim], asked: Claim, between: ComparedPolicies) -> str | None:
    """Return why some claim implies the one asked for; None where none is proved to.

    A claim that is waived for longer than the other may fail where the other must hold.
    """
    rules = rules_of(between.kinds)
    for given in claims:
        rule = rules.get((type(given.says), type(asked.says)))
        if rule is None or given.until > asked.until or not given.scope.covers(asked.scope):
            continue
        why = rule(given.says, asked.says, between)
        if why is not None:
            why = UNQUOTED if given.hidden or asked.hidden else why
            return why if given.clause == asked.clause else f"`{'.'.join(given.clause)}` implies it: {why}"
    return None
