"""Clauses on equivalence classes and sets of items as core values."""

from __future__ import annotations

from collections.abc import Iterator

from ppdm_flow.core.requirement import Requirement
from ppdm_flow.core.roles import AttributeType, Role
from ppdm_flow.policy.language import anonymity as models
from ppdm_flow.policy.language.models import Policy
from ppdm_flow.policy.language.patterns import Declared
from ppdm_flow.policy.loaded import Places
from ppdm_flow.requirements.alpha_k.requirement import AlphaK
from ppdm_flow.requirements.beta_likeness.requirement import BetaLikeness
from ppdm_flow.requirements.delta_disclosure.requirement import DeltaDisclosure
from ppdm_flow.requirements.k_map.requirement import KMap, Population
from ppdm_flow.requirements.km_anonymity.requirement import KmAnonymity
from ppdm_flow.requirements.l_diversity.requirement import LDiversity
from ppdm_flow.requirements.lkc.requirement import LKC
from ppdm_flow.requirements.t_closeness.requirement import Distance, TCloseness


def class_requirements(policy: Policy, places: Places) -> Iterator[Requirement]:
    """Yield the requirements on classes and on sets; where no attributes are named, all quasi-identifiers group."""
    every = tuple(n for n, a in policy.attributes.items() if a.role is Role.QUASI_IDENTIFIER)
    yield from _diverse(policy, places, every)
    yield from _relative(policy, places, every)
    privacy = policy.privacy
    if (mapped := privacy.k_map) is not None:
        yield _k_map(mapped, places, every)
    if (known := privacy.lkc) is not None:
        pairs = tuple((name, value) for name, values in known.sensitive.items() for value in values)
        span = places.key("privacy", "lkc")
        grouped = known.attributes or every
        yield LKC("privacy.lkc", known.l, known.k, grouped, known.c, pairs, span, known.values_absent)
    if (sets := privacy.km_anonymity) is not None:
        only = next((n for n, a in policy.attributes.items() if a.role is Role.ITEMS), "")
        span = places.key("privacy", "km_anonymity")
        yield KmAnonymity("privacy.km_anonymity", sets.attribute or only, sets.k, sets.m, span)


def _diverse(policy: Policy, places: Places, every: tuple[str, ...]) -> Iterator[Requirement]:
    declared = Declared.of(policy)
    for name, many in policy.privacy.l_diversity.items():
        path = ("privacy", "l_diversity", name)
        grouped = many.attributes or every
        yield LDiversity(".".join(path), name, many.l, grouped, many.kind, many.c, places.key(*path))
    for name, close in policy.privacy.t_closeness.items():
        path = ("privacy", "t_closeness", name)
        attribute = declared.get(name)
        ranks: tuple[str, ...] = ()
        if close.distance is Distance.ORDERED:
            texts = attribute is not None and attribute.type is AttributeType.TEXT
            ranks = close.order or ((attribute.domain or ()) if attribute is not None and texts else ())
        grouped, span = close.attributes or every, places.key(*path)
        yield TCloseness(".".join(path), name, close.t, grouped, close.distance, ranks, span, close.values_absent)


def _relative(policy: Policy, places: Places, every: tuple[str, ...]) -> Iterator[Requirement]:
    for name, most in policy.privacy.alpha_k.items():
        path = ("privacy", "alpha_k", name)
        grouped, values = most.attributes or every, most.values or ()
        span = places.key(*path)
        yield AlphaK(".".join(path), name, most.alpha, grouped, values, span, most.values_absent)
    for name, delta in policy.privacy.delta_disclosure.items():
        path = ("privacy", "delta_disclosure", name)
        yield DeltaDisclosure(".".join(path), name, delta.delta, delta.attributes or every, places.key(*path))
    for name, beta in policy.privacy.beta_likeness.items():
        path = ("privacy", "beta_likeness", name)
        yield BetaLikeness(".".join(path), name, beta.beta, beta.attributes or every, places.key(*path))


def _k_map(model: models.KMap, places: Places, every: tuple[str, ...]) -> KMap:
    told = model.population
    population = Population(told.path, tuple(told.columns.items()), told.delimiter)
    return KMap("privacy.k_map", model.k, model.attributes or every, population, places.key("privacy", "k_map"))
