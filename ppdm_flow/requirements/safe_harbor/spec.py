"""The kind of requirement `safe_harbor`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from ppdm_flow.core.asks import AccessRequirements, DataAccess
from ppdm_flow.core.diagnostics import Diagnostic
from ppdm_flow.policy.language.kinds import Entries, RequirementSpec
from ppdm_flow.policy.language.wording import Failure, Wording
from ppdm_flow.policy.order.frame import ComparedPolicies
from ppdm_flow.policy.order.marks import order_by_marks
from ppdm_flow.policy.rules.repeats import repeats
from ppdm_flow.policy.rules.scene import Scene, entry_path
from ppdm_flow.policy.text.quoting import plain_or_quoted
from ppdm_flow.requirements.safe_harbor.requirement import SafeHarbor, areas
from ppdm_flow.sdk.spec import Params, requirement_audit


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


def _alike(given: SafeHarbor, required: SafeHarbor, between: ComparedPolicies) -> bool:
    """A column's name suggests its content, so that the same columns have to be declared alike."""
    counted = between.given.counts_people is between.asked.counts_people and between.same_counting
    named = (given.zip_codes, given.ages, given.birth_years), (required.zip_codes, required.ages, required.birth_years)
    if not counted or not between.certain(*named[0], *named[1]):
        return False
    cleared = [
        {(column, kind) for column, kinds in each.cleared.items() for kind in kinds} for each in (given, required)
    ]
    return areas(given.small_areas) >= areas(required.small_areas) and cleared[0] <= cleared[1]


ORDER = order_by_marks(
    SafeHarbor,
    alike=_alike,
    why=lambda *_both: "it looks for the same identifiers in as many columns, and clears no more of them",
    judged=("small_areas", "cleared"),
)

AUDIT = requirement_audit(
    "safe_harbor",
    "ppdm_flow.requirements.safe_harbor.algorithm:SafeHarborAudit",
    params=Params,
    counts_people=True,
    asks=AccessRequirements(
        DataAccess.COUNTS, {"people": DataAccess.TABLE, "sets": DataAccess.TABLE}, passes=2, passes_each=2
    ),
)


def advice(failure: Failure) -> str:
    """Say what to do where it does not hold; steps are written for declared columns that no step has changed yet."""
    requirement = failure.requirement
    zip_codes, ages, born = (
        [n for n in requirement.get(key, ()) if n in failure.released and not failure.released[n]]
        for key in ("zip_codes", "ages", "birth_years")
    )
    steps = []
    if zip_codes:
        names = ", ".join(map(plain_or_quoted, zip_codes))
        steps.append(f"`areas: {{use: truncate_zip_codes, with: {{attributes: [{names}]}}}}`")
    rules = [*((name, "top: 90") for name in ages), *((name, "date: year") for name in born)]
    if rules:
        by_name = ", ".join(f"{plain_or_quoted(name)}: {{{rule}}}" for name, rule in rules)
        steps.append(f"`coarse: {{use: generalize, with: {{attributes: {{{by_name}}}}}}}`")
    added = f"Add {' and '.join(steps)}. " if steps else ""
    return (
        f"{added}The findings name the columns that are left. `drop` names, places, contacts and numbers of people;"
        " keep three digits of ZIP codes (`truncate_zip_codes`), years of dates, and `>= 90` of ages (`generalize`)."
        " Where a column holds no identifier of a person, it is for the owner of the policy to look at it and to say"
        " so with `cleared`."
    )


WORDING = Wording(
    label="Safe Harbor",
    clause=lambda requirement: f"nothing left of the 18 identifiers (as of {requirement['as_of']})",
    advice=advice,
    section="Identifiers in the release",
)


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
