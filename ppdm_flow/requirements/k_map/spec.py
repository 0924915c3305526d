"""The kind of requirement `k_map`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping

from ppdm_flow.core.asks import AccessRequirements, DataAccess
from ppdm_flow.core.diagnostics import Diagnostic
from ppdm_flow.core.roles import Nulls
from ppdm_flow.policy.language.kinds import Entries, RequirementSpec
from ppdm_flow.policy.language.patterns import is_pattern
from ppdm_flow.policy.language.wording import Failure, Wording
from ppdm_flow.policy.language.words import short
from ppdm_flow.policy.order.frame import ComparedPolicies
from ppdm_flow.policy.order.marks import order_by_marks, wider
from ppdm_flow.policy.rules.grouping import grouped, known
from ppdm_flow.policy.rules.scene import Scene, entry_path
from ppdm_flow.requirements.k_map.requirement import KMap
from ppdm_flow.sdk.spec import requirement_audit


def judge(scene: Scene, entries: Mapping[str, KMap]) -> Iterator[Diagnostic]:
    """Judge it (PPF585)."""
    for name, clause in entries.items():
        yield from _k_map(scene, clause, entry_path("k_map", name))


def _k_map(scene: Scene, model: KMap, path: tuple[str, ...]) -> Iterator[Diagnostic]:
    yield from grouped(scene, model.attributes, path)
    names = known(scene, model.attributes)
    place = (*path, "population", "columns")
    uses = Counter(model.population.columns.values())
    patterns = any(is_pattern(name) for name in names)
    for name, column in model.population.columns.items():
        if name not in names and not patterns:
            text = f"`{short(name)}` is not an attribute that `k_map` groups by"
            yield scene.fault("PPF585", text, (*place, name), at_key=True)
        elif uses[column] > 1:
            text = f"two attributes cannot both be the column `{short(column)}`"
            yield scene.fault("PPF585", text, (*place, name))
    if len(model.population.delimiter) != 1:
        yield scene.fault("PPF585", "a delimiter is one character", (*path, "population", "delimiter"))


# k-map: a larger k, over more attributes, in the same population. Fewer people fit more attributes, if all of these
# read labels alike.


def _groups(given: Iterable[str], required: Iterable[str], between: ComparedPolicies) -> str | None:
    more, fewer, nulls = frozenset(given), frozenset(required), (between.given.nulls, between.asked.nulls)
    alike = nulls[0] is nulls[1] or nulls == (Nulls.OWN_CATEGORY, Nulls.WILDCARD)  # wildcards fit whom they fitted
    nested = more == fewer or nulls[0] is not Nulls.EXCLUDE
    return wider(more, fewer, between) if alike and nested and between.same_counting else None


def _same_people(given: KMap, required: KMap, between: ComparedPolicies) -> bool:
    one, other = given.population, required.population
    if one.delimiter != other.delimiter or not between.same_file(one.path, other.path):
        return False
    names = dict(one.columns), dict(other.columns)
    alike = all(names[0].get(a, a) == names[1].get(a, a) for a in required.attributes)
    return alike and all(between.same_hierarchy(a) for a in required.attributes)


ORDER = order_by_marks(
    KMap,
    alike=_same_people,
    groups=_groups,
    why=lambda given, required, _between: (
        f"{given.k} people are at least {required.k}, and fewer people fit more attributes"
    ),
    judged=("population",),
)


AUDIT = requirement_audit(
    "k_map",
    "ppdm_flow.requirements.k_map.algorithm:KMapAudit",
    asks=AccessRequirements(DataAccess.COUNTS, {"people": DataAccess.TABLE}, passes=2),
)


def advice(failure: Failure) -> str:
    """Say what to do where it does not hold."""
    if failure.serving:
        return (
            f"{failure.who} works at it, and a later step changes its classes: let `recode: {{use:"
            " full_domain_recoding}` be the last step before the release, after all that change values."
        )
    return (
        "Add `recode: {use: full_domain_recoding}` as the last step before the release: it raises levels until every"
        f" class fits {failure.requirement.get('k', 'k')} people of the population (`mondrian` cannot count them). An"
        " attribute without a `hierarchy` has no level between its values and `*`, so declare one. Where rows fit"
        " nobody, the file of the population lacks people, or its values are written otherwise than the source's: that"
        " is for the owner of the file."
    )


WORDING = Wording(
    label="k-map",
    clause=lambda requirement: f"k in the population ≥ {requirement['k']}",
    advice=advice,
    section="How many people share a combination",
)


SPEC = RequirementSpec(
    name="k_map",
    requirement=KMap,
    entries=Entries.ONCE,
    order="ppdm_flow.requirements.k_map.spec:ORDER",
    audit=AUDIT,
    wording=WORDING,
    judge=judge,
    rank=120,
    aliases=("kmap",),
    files=(("population", "path"),),
    holds_by_rows=lambda _entry: True,
)
