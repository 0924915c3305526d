"""Every kind of requirement with what it claims, and every rule by which one claim implies another."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from ppdm_flow.core.requirement import Requirement, fields_of
from ppdm_flow.policy.order import (
    claim,
    diversity,
    gates,
    generated,
    item_sets,
    k_anonymity,
    k_map,
    lkc,
    sensitivities,
    shares,
    successive,
    templates,
)
from ppdm_flow.policy.order.claim import Claim, Opaque, Rule
from ppdm_flow.policy.order.frame import Between, PolicyFrame

SAYS: Mapping[str, Callable[[Any, PolicyFrame], Iterator[Any]]] = {
    "k_anonymity": k_anonymity.says,
    "templates": templates.says,
    "sensitivities": sensitivities.says,
    "anonymity_score": generated.of_score,
    "blend": generated.of_blend,
    "itemset_breach": item_sets.of_breach,
    "l_diversity": diversity.says,
    "t_closeness": shares.of_t,
    "alpha_k": shares.of_alpha,
    "delta_disclosure": shares.of_delta,
    "beta_likeness": shares.of_beta,
    "k_map": k_map.says,
    "lkc": lkc.says,
    "km_anonymity": item_sets.of_combinations,
    "cumulative_k": successive.of_cumulative,
    "first_draw": successive.of_first,
}
_MODULES = (
    claim,
    k_anonymity,
    templates,
    diversity,
    shares,
    k_map,
    lkc,
    item_sets,
    sensitivities,
    generated,
    successive,
    gates,
)
RULES: Mapping[tuple[type[Any], type[Any]], Rule] = {
    (given, asked): rule for module in _MODULES for given, asked, rule in module.RULES
}
"""At most one rule for each pair of kinds."""


FIELDS: Mapping[str, frozenset[str]] = {
    "k_anonymity": frozenset(("k", "attributes")),
    "templates": frozenset(("channel", "sensitive", "confidence", "negated", "min_support", "values_absent")),
    "sensitivities": frozenset(
        ("attribute", "directions", "bounds", "tolerance", "default", "domain", "values_absent")
    ),
    "anonymity_score": frozenset(("maximum",)),
    "blend": frozenset(("min_support", "maximum")),
    "itemset_breach": frozenset(("attribute", "level", "sizes", "max_supports", "max_supports_by_length", "pool")),
    "l_diversity": frozenset(("attribute", "l", "attributes", "variant", "c")),
    "t_closeness": frozenset(("attribute", "t", "attributes", "distance", "order", "values_absent")),
    "alpha_k": frozenset(("attribute", "alpha", "attributes", "values", "values_absent")),
    "delta_disclosure": frozenset(("attribute", "delta", "attributes")),
    "beta_likeness": frozenset(("attribute", "beta", "attributes")),
    "k_map": frozenset(("k", "attributes", "population")),
    "lkc": frozenset(("l", "k", "attributes", "c", "sensitive", "values_absent")),
    "km_anonymity": frozenset(("attribute", "k", "m")),
    "cumulative_k": frozenset(("k", "attributes")),
    "first_draw": frozenset(("attributes",)),
}
"""What the rules know of each kind; whatever else a requirement says is only implied by the very same."""
UNQUOTED = "by values from the environment, not shown"
_NAMES = frozenset(("id", "name", "span"))


def said(requirement: Requirement, frame: PolicyFrame) -> Iterator[Any]:
    """Yield what a requirement claims; one of an unknown kind claims no more than itself."""
    says = SAYS.get(requirement.kind)
    if says is not None:
        yield from says(requirement, frame)
    known = _NAMES | (FIELDS[requirement.kind] if says is not None else frozenset())
    rest = [(name, value) for name, value in fields_of(requirement).items() if name not in known]
    if rest or says is None:
        yield Opaque(requirement.kind, repr(rest))


def implied(claims: Iterable[Claim], asked: Claim, between: Between) -> str | None:
    """Return why some claim implies the one asked for; None where none is proved to.

    A claim that is waived for longer than the other may fail where the other must hold.
    """
    for given in claims:
        rule = RULES.get((type(given.says), type(asked.says)))
        if rule is None or given.until > asked.until:
            continue
        why = rule(given.says, asked.says, between)
        if why is not None:
            why = UNQUOTED if given.hidden or asked.hidden else why
            return why if given.clause == asked.clause else f"`{'.'.join(given.clause)}` implies it: {why}"
    return None
