"""The kind of requirement `dominance`."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from ppdm_flow.core.asks import class_counts
from ppdm_flow.core.diagnostics import Diagnostic
from ppdm_flow.core.requirement import TOLERANCE
from ppdm_flow.core.roles import AttributeType, Role
from ppdm_flow.policy.language.kinds import Entries, RequirementSpec
from ppdm_flow.policy.language.models import Attribute
from ppdm_flow.policy.language.wording import RECODING, Failure, Wording
from ppdm_flow.policy.language.words import short
from ppdm_flow.policy.order.classes import SAME, ClassClaim, unions
from ppdm_flow.policy.order.frame import ComparedPolicies, PolicyFrame
from ppdm_flow.policy.order.marks import Order
from ppdm_flow.policy.rules import on_sensitive
from ppdm_flow.policy.rules.on_sensitive import Path
from ppdm_flow.policy.rules.scene import Scene
from ppdm_flow.requirements.dominance.requirement import Dominance
from ppdm_flow.sdk.spec import requirement_audit

# What can be wrong with clauses on dominance.


_NUMBERS = (AttributeType.INTEGER, AttributeType.FLOAT)


def judge(scene: Scene, entries: Mapping[str, Dominance]) -> Iterator[Diagnostic]:
    """Judge them (PPF538, PPF501 to PPF583, PPF599)."""
    for name, clause in entries.items():
        path = ("privacy", "dominance", name)
        yield from _rules(scene, clause, path)
        yield from _weighted(scene, path)
    yield from on_sensitive.judge(scene, "dominance", entries, _own)


def _rules(scene: Scene, clause: Dominance, path: Path) -> Iterator[Diagnostic]:
    if clause.share is None and clause.p is None and clause.contributors is None:
        text, hint = "`dominance` asks for none of `share`, `p` and `contributors`", "add one of them"
        yield scene.fault("PPF583", text, path, at_key=True, hint=hint)
        return
    for key, needed in (("n", "share"), ("q", "p")):
        if key in clause.model_fields_set and getattr(clause, needed) is None:
            text = f"`{key}` means nothing without `{needed}`"
            yield scene.fault("PPF583", text, (*path, key), at_key=True, hint=f"add `{needed}: …`, or take it out")
    if clause.share is not None and clause.share >= 1.0:
        text = "nobody has more than all of a total, so this `share` holds of any data"
        yield scene.fault("PPF582", text, (*path, "share"))


def _weighted(scene: Scene, path: Path) -> Iterator[Diagnostic]:
    weights = [name for name, a in scene.policy.attributes.items() if a.role is Role.SAMPLING_WEIGHT]
    for name in weights[:1]:
        declared = ("attributes", scene.declared.key(name) or name)
        yield scene.fault(
            "PPF538",
            "`dominance` bounds totals of the rows, and this is a sample, whose totals are weighted",
            path,
            at_key=True,
            hint="bound the totals of a table whose rows are all contributors",
            related=scene.related(declared, "the weights of the sample"),
        )


def _own(scene: Scene, name: str, attribute: Attribute, clause: Dominance, path: Path) -> Iterator[Diagnostic]:
    del clause
    if attribute.type in _NUMBERS:
        return
    what = "moments, which have no total" if attribute.type.is_time else "texts, which have no total"
    declared = ("attributes", scene.declared.key(name) or name)
    yield scene.fault(
        "PPF599",
        f"`{short(name)}` holds {what}",
        path,
        at_key=True,
        hint="name an attribute of `type: integer` or `float`",
        related=scene.related(declared, "declared here"),
    )


# Dominance: each rule by itself, over more attributes; and what one rule says of another.
#
# What holds of two groups holds of their union: `algorithm.py` says why. Sums of few contributors bound each other,
# since n of the largest N have at least n/N of what these have.


_SLACK = 4 * TOLERANCE


@dataclass(frozen=True, slots=True)
class ShareOfTotalClaim:
    """The ``n`` largest contributors have at most ``share`` of every total."""

    attribute: str
    n: int
    share: float
    attributes: frozenset[str]


@dataclass(frozen=True, slots=True)
class EstimationClaim:
    """q (T - x_1 - x_2) >= p x_1 in every group, with ``p`` and ``q`` in percent."""

    attribute: str
    p: float
    q: float
    attributes: frozenset[str]


@dataclass(frozen=True, slots=True)
class ContributorsClaim:
    """Every total that is not 0 has at least ``contributors``."""

    attribute: str
    contributors: int
    attributes: frozenset[str]


def says(
    requirement: Dominance, _frame: PolicyFrame
) -> Iterator[ShareOfTotalClaim | EstimationClaim | ContributorsClaim]:
    """Yield what it claims."""
    name, by = requirement.attribute, frozenset(requirement.attributes)
    if requirement.share is not None:
        yield ShareOfTotalClaim(name, requirement.n, requirement.share, by)
    if requirement.p is not None:
        yield EstimationClaim(name, requirement.p, requirement.q, by)
    if requirement.contributors is not None:
        yield ContributorsClaim(name, requirement.contributors, by)


def shared(given: ShareOfTotalClaim, required: ShareOfTotalClaim, between: ComparedPolicies) -> str | None:
    """Return why the largest have no more: as many or more have at most the share; fewer have a part of it."""
    if given.n >= required.n and given.share <= required.share:
        return _over(given, required, between, f"{given.share:g} of the {given.n} largest is at most as much")
    times = required.n / given.n
    if times > 1 and (given.share + _SLACK) * times <= required.share:
        text = f"{required.n} have at most {times:g} times what the {given.n} largest have"
        return _over(given, required, between, text)
    return None


def estimated(given: EstimationClaim, required: EstimationClaim, between: ComparedPolicies) -> str | None:
    """Return why the largest is no better known."""
    clearly = (given.p - _SLACK * max(1.0, given.p)) / given.q >= required.p / required.q
    if not clearly and (given.p < required.p or given.q > required.q):
        return None
    text = f"{given.p:g} % of {given.q:g} % is at least {required.p:g} % of {required.q:g} %"
    return _over(given, required, between, text)


def contributed(given: ContributorsClaim, required: ContributorsClaim, between: ComparedPolicies) -> str | None:
    """Return why there are as many."""
    if given.contributors < required.contributors:
        return None
    return _over(given, required, between, f"{given.contributors} are at least {required.contributors}")


def by_share(given: ShareOfTotalClaim, required: ContributorsClaim, between: ComparedPolicies) -> str | None:
    """Return why there are as many: of N contributors the n largest have n/N of the total or more."""
    most = given.share + _SLACK
    least = math.ceil(given.n / most - _SLACK)
    if most >= 1 or least < required.contributors:  # with all of a total the largest may be the only one
        return None
    return _over(given, required, between, f"a share of {given.share:g} needs {least} contributors")


def by_estimate(given: EstimationClaim, required: ContributorsClaim, between: ComparedPolicies) -> str | None:
    """Return why there are as many: none of the others contributes more than the largest."""
    ratio = (given.p - _SLACK * max(1.0, given.p)) / given.q
    least = 2 + math.ceil(ratio - _SLACK)
    if ratio <= 0 or least < required.contributors:
        return None
    return _over(given, required, between, f"what others contribute needs {least} contributors")


def far_by_share(given: ShareOfTotalClaim, required: EstimationClaim, between: ComparedPolicies) -> str | None:
    """Return why the largest is no better known: others than the two largest have what these leave of the total.

    (2, k) gives p = 100 (1 - k) / k (Hundepool et al. 2012, section 4.2: a share of 0.8 gives 25 %).
    """
    most = given.share + _SLACK
    others = 1.0 - most * max(1.0, 2.0 / given.n)
    p = required.q * others / most
    if p < required.p:
        return None
    return _over(given, required, between, f"a share of {given.share:g} leaves {p:.4g} % of the largest to others")


def _over(given: ClassClaim, required: ClassClaim, between: ComparedPolicies, why: str) -> str | None:
    name = required.attribute
    same = given.attribute == name and between.about(name) and between.same_original
    if not same or not between.same_type(name):
        return None
    holds = unions(given.attributes, required.attributes, between)
    if holds is None:
        return None
    return why if holds == SAME else f"{why}; {holds}"


ORDER = Order(
    says=says,
    rules=(
        (ShareOfTotalClaim, ShareOfTotalClaim, shared),
        (EstimationClaim, EstimationClaim, estimated),
        (ContributorsClaim, ContributorsClaim, contributed),
        (ShareOfTotalClaim, EstimationClaim, far_by_share),
        (ShareOfTotalClaim, ContributorsClaim, by_share),
        (EstimationClaim, ContributorsClaim, by_estimate),
    ),
    fields=("attribute", "n", "share", "p", "q", "contributors", "attributes"),
)


AUDIT = requirement_audit(
    "dominance", "ppdm_flow.requirements.dominance.algorithm:DominanceAudit", asks=class_counts(passes=3)
)


def clause(requirement: Mapping[str, Any]) -> str:
    """Say what it bounds, and by what."""
    rules = []
    if requirement.get("share") is not None:
        rules.append(f"the {requirement.get('n', 1)} largest have ≤ {requirement['share']:g}")
    if requirement.get("p") is not None:
        q = requirement.get("q", 100.0)
        rules.append(f"p ≥ {requirement['p']:g} %" + ("" if q == 100 else f" (q = {q:g} %)"))
    if requirement.get("contributors") is not None:
        rules.append(f"≥ {requirement['contributors']} contributors")
    return f"totals of {requirement['attribute']}: {', '.join(rules)}"


def advice(failure: Failure) -> str:
    """Say what to do where it does not hold."""
    name = failure.requirement["attribute"]
    if failure.serving:
        return f"{failure.who} works at it, so look at what later steps do to its classes, and which rows they drop."
    return (
        f"Add {RECODING} as the last step before the release: it makes the groups larger where one contributor makes up"
        f" most of a total. Or drop `{name}` from the release. Noise on it leaves the totals nearly as they are."
    )


WORDING = Wording(label="Dominance", clause=clause, advice=advice, section="Totals that reveal one contributor")


SPEC = RequirementSpec(
    name="dominance",
    requirement=Dominance,
    entries=Entries.BY_ATTRIBUTE,
    order="ppdm_flow.requirements.dominance.spec:ORDER",
    audit=AUDIT,
    wording=WORDING,
    judge=judge,
    rank=125,
    aliases=("nk_dominance", "p_percent"),
)
