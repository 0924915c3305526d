"""The kind of requirement `itemset_breach`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise

from ppdm_flow.core.asks import AccessRequirements, DataAccess
from ppdm_flow.core.diagnostics import Diagnostic
from ppdm_flow.policy.language.kinds import Entries, RequirementSpec
from ppdm_flow.policy.language.wording import Failure, Wording
from ppdm_flow.policy.order.frame import ComparedPolicies
from ppdm_flow.policy.order.marks import order_by_marks
from ppdm_flow.policy.rules.item_sets import item_sets
from ppdm_flow.policy.rules.repeats import repeats
from ppdm_flow.policy.rules.scene import Scene, entry_path
from ppdm_flow.requirements.itemset_breach.requirement import ItemsetBreach
from ppdm_flow.sdk.spec import requirement_audit

# The requirement on sets of items: there are such sets, and the level is one that they can keep.


def judge(scene: Scene, entries: Mapping[str, ItemsetBreach]) -> Iterator[Diagnostic]:
    """Judge it (PPF575 to PPF577)."""
    for name, breach in entries.items():
        yield from _judge(scene, breach, entry_path("itemset_breach", name))


def _judge(scene: Scene, breach: ItemsetBreach, path: tuple[str, ...]) -> Iterator[Diagnostic]:
    yield from item_sets(scene, path, breach.attribute)
    if scene.policy.source.randomized_by is not None and not (breach.max_supports or breach.max_supports_by_length):
        text = "clients randomized the sets, so that there is no original to take the largest supports from"
        hint = "say how frequent itemsets may be: `max_supports: [0.05, 0.01, 0.002]`"
        yield scene.fault("PPF446", text, path, at_key=True, hint=hint)
    yield from repeats(scene, [str(k) for k in breach.sizes], (*path, "sizes"), "the sizes of itemsets")
    for place, maxima in _given(breach, path):
        yield from _rising(scene, maxima, place)
        if maxima[0] >= breach.level:
            yield _known(scene, breach.level, maxima[0], place)


def _given(breach: ItemsetBreach, path: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], Sequence[float]]]:
    if breach.max_supports:
        yield (*path, "max_supports"), breach.max_supports
    for length, maxima in breach.max_supports_by_length.items():
        yield (*path, "max_supports_by_length", length), maxima


def _rising(scene: Scene, maxima: Sequence[float], place: tuple[str, ...]) -> Iterator[Diagnostic]:
    for i, (smaller, larger) in enumerate(pairwise(maxima)):
        if larger > smaller:
            text = f"itemsets of {i + 2} items cannot occur more often than those of {i + 1}"
            yield scene.fault("PPF577", text, (*place, str(i + 1)), hint="order the supports by the size of itemsets")


def _known(scene: Scene, level: float, support: float, place: tuple[str, ...]) -> Diagnostic:
    text = (
        f"an item with a support of {support:g} is known with that probability before anything is released, so a level"
        f" of {level:g} cannot be kept"
    )
    return scene.fault("PPF580", text, (*place, "0"), hint=f"give a level above {support:g}, or drop such items")


def _why(given: ItemsetBreach, required: ItemsetBreach, _between: ComparedPolicies) -> str:
    return f"at most {given.level:g} is at most {required.level:g}, for itemsets of the same sizes or more"


ORDER = order_by_marks(ItemsetBreach, alike=lambda _given, _required, between: between.same_original, why=_why)


AUDIT = requirement_audit(
    "itemset_breach",
    "ppdm_flow.requirements.itemset_breach.algorithm:ItemsetBreachAudit",
    sets="column",
    asks=AccessRequirements(DataAccess.TABLE, passes=11),
)


def advice(failure: Failure) -> str:
    """Say what to do where it does not hold."""
    if failure.serving:
        return (
            f"{failure.who} randomizes the sets: leave its `cutoff` and `insertion` out to have them chosen, give"
            " higher `max_supports` or none, drop or roll up the most frequent items, or shorten the sets with"
            " `limit_items`."
        )
    if any("perturbed" in changes for changes in failure.released.values()):
        return (
            "Clients randomized the sets: publish an operator to them that keeps less or puts more in, or ask for a"
            " higher level; what they sent already cannot be made safer."
        )
    return "No step randomizes the sets: add `randomize: {use: randomize_transactions}` before the release."


WORDING = Wording(
    label="Itemset breach",
    clause=lambda requirement: f"posterior of an item of {requirement['attribute']} ≤ {requirement['level']:g}",
    advice=advice,
    section="What can be inferred of sets",
)


SPEC = RequirementSpec(
    name="itemset_breach",
    requirement=ItemsetBreach,
    entries=Entries.ONCE,
    order="ppdm_flow.requirements.itemset_breach.spec:ORDER",
    audit=AUDIT,
    wording=WORDING,
    judge=judge,
    rank=60,
)
