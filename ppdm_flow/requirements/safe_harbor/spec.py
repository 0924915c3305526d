"""The kind of requirement `safe_harbor`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from ppdm_flow.core.asks import AccessRequirements, DataAccess
from ppdm_flow.core.diagnostics import Diagnostic
from ppdm_flow.core.plugin_info import Kind, PluginInfo
from ppdm_flow.policy.language.kinds import Entries, RequirementSpec
from ppdm_flow.policy.language.wording import Failure, Wording
from ppdm_flow.policy.order.claim import Order
from ppdm_flow.policy.order.frame import ComparedPolicies, PolicyFrame
from ppdm_flow.policy.rules.repeats import repeats
from ppdm_flow.policy.rules.scene import Scene, entry_path
from ppdm_flow.requirements.safe_harbor.requirement import SafeHarbor, areas
from ppdm_flow.sdk.spec import Params, PluginSpec


def judge(scene: Scene, entries: Mapping[str, SafeHarbor]) -> Iterator[Diagnostic]:
    """Judge the attributes that it names (PPF500, PPF501)."""
    for name, clause in entries.items():
        for key in ("zip_codes", "ages", "birth_years"):
            path = (*entry_path("safe_harbor", name), key)
            attributes = getattr(clause, key)
            yield from repeats(scene, attributes, path, f"`{key}`")
            for i, attribute in enumerate(attributes):
                yield from scene.attribute(attribute, (*path, str(i)))[1]


# Safe Harbor: looking for more, in more columns, with less cleared, is stricter.


@dataclass(frozen=True, slots=True)
class SafeHarborClaim:
    """No cell shows an identifier, as far as it is looked for."""

    as_of: int
    zip_codes: frozenset[str]
    ages: frozenset[str]
    birth_years: frozenset[str]
    areas: frozenset[str]
    unique: float
    cleared: frozenset[tuple[str, str]]


def says(requirement: SafeHarbor, _frame: PolicyFrame) -> Iterator[SafeHarborClaim]:
    """Yield what it claims."""
    yield SafeHarborClaim(
        requirement.as_of,
        frozenset(requirement.zip_codes),
        frozenset(requirement.ages),
        frozenset(requirement.birth_years),
        areas(requirement.small_areas),
        requirement.unique,
        frozenset((column, kind) for column, kinds in requirement.cleared.items() for kind in kinds),
    )


def removed(given: SafeHarborClaim, required: SafeHarborClaim, between: ComparedPolicies) -> str | None:
    """Return why nothing is left of what the other one looks for: it looks for that, too.

    What a column is called says what it holds, so that the same columns have to be declared alike.
    """
    named = (*given.zip_codes, *given.ages, *given.birth_years), (*required.zip_codes, *required.ages)
    if not between.same_counting or between.given.counts_people is not between.asked.counts_people:
        return None
    if not between.certain(*named, required.birth_years):
        return None
    more = (
        given.as_of >= required.as_of
        and given.zip_codes >= required.zip_codes
        and given.ages >= required.ages
        and given.birth_years >= required.birth_years
        and given.areas >= required.areas
    )
    if not more or given.unique > required.unique or not given.cleared <= required.cleared:
        return None
    return "it looks for the same identifiers in as many columns, and clears no more of them"


ORDER = Order(
    says=says,
    rules=((SafeHarborClaim, SafeHarborClaim, removed),),
    fields=frozenset(("as_of", "zip_codes", "ages", "birth_years", "small_areas", "unique", "cleared")),
)

AUDIT = PluginSpec(
    info=PluginInfo.of_page(
        "audits/safe_harbor",
        Kind.AUDIT,
        serves=("safe_harbor",),
        asks=AccessRequirements(
            DataAccess.COUNTS, {"people": DataAccess.TABLE, "sets": DataAccess.TABLE}, passes=2, passes_each=2
        ),
    ),
    params=Params,
    algorithm="ppdm_flow.requirements.safe_harbor.algorithm:SafeHarborAudit",
    counts_people=True,
)


def clause(requirement: Mapping[str, Any]) -> str:
    """Say what it bounds, and by what."""
    return f"nothing left of the 18 identifiers (as of {requirement['as_of']})"


def advice(_failure: Failure) -> str:
    """Say what to do where it does not hold."""
    return (
        "The findings name the columns. Drop names, contacts and numbers; keep three digits of ZIP codes"
        " (`truncate_zip_codes`); generalize dates to years and ages to `>= 90` (`generalize`). Where a column holds no"
        " identifier of a person, say so with `cleared`, for others to review."
    )


WORDING = Wording(label="Safe Harbor", clause=clause, advice=advice, section="Identifiers in the release")


SPEC = RequirementSpec(
    name="safe_harbor",
    requirement=SafeHarbor,
    entries=Entries.ONCE,
    order="ppdm_flow.requirements.safe_harbor.spec:ORDER",
    audit=AUDIT,
    wording=WORDING,
    judge=judge,
    rank=155,
    aliases=("hipaa", "identifiers_removed"),
)
