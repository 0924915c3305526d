"""The kind of requirement `blend`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ppdm_flow.core.diagnostics import Diagnostic
from ppdm_flow.core.supports import SupportBound
from ppdm_flow.policy.language.kinds import Entries, RequirementSpec
from ppdm_flow.policy.language.wording import Failure, Wording
from ppdm_flow.policy.order.frame import ComparedPolicies
from ppdm_flow.policy.order.marks import Order
from ppdm_flow.policy.rules.scene import Scene, entry_path
from ppdm_flow.requirements.anonymity_score.spec import advice as generate
from ppdm_flow.requirements.blend.requirement import AUDIT, Blend


def judge(scene: Scene, entries: Mapping[str, Blend]) -> Iterator[Diagnostic]:
    """Judge it (PPF582)."""
    for name, clause in entries.items():
        path = entry_path("blend", name)
        if clause.max >= 1.0:
            text = "`blend` with `max: 1` holds of any data"
            yield scene.fault("PPF582", text, (*path, "max"), hint="give a bound below 1")
        if clause.min_support.count == 1:
            text = "no row occurs less than once, so `blend` with a support of one row holds of any data"
            hint = "give a support of at least 2 rows, or a ratio"
            yield scene.fault("PPF582", text, (*path, "min_support"), hint=hint)


def blends(given: Blend, required: Blend, between: ComparedPolicies) -> str | None:
    """A lower share implies a higher one of the same rare rows; other supports make other rows rare.

    Where no rare row is rare in the original, none of the rarer ones is.
    """
    if given.max > required.max or not between.same_rows:
        return None
    if given.min_support != required.min_support:
        fewer = given.max == 0 and given.min_support.includes(required.min_support)
        return "no row that is rare is rare in the original, so none that is rarer" if fewer else None
    return f"at most {given.max:g} is at most {required.max:g}, of the same rows"


ORDER = Order(rules=((Blend, Blend, blends),), fields=("min_support", "max"))


def clause(requirement: Mapping[str, Any]) -> str:
    """Say what it bounds, and by what."""
    below = SupportBound(**requirement["min_support"])
    return f"blend (support below {below}) ≤ {requirement['max']:g}"


def advice(failure: Failure) -> str:
    """Say what to do where it does not hold."""
    strict = any(step.get("parameters", {}).get("blend") == "strict" for step in failure.steps)
    rejecting = " `blend: strict` rejects every rare original row, at some cost in likeness."
    return generate(failure) + (rejecting if failure.serving and not strict else "")


WORDING = Wording(label="Blend", clause=clause, advice=advice, section="Original rows in the release")


SPEC = RequirementSpec(
    name="blend",
    requirement=Blend,
    entries=Entries.ONCE,
    order="ppdm_flow.requirements.blend.spec:ORDER",
    audit=AUDIT,
    wording=WORDING,
    judge=judge,
    rank=50,
    aliases=("blending",),
)
