"""Rules beyond types that a policy must meet by itself, before any plugin or data is read (PPF500 to PPF549)."""

from __future__ import annotations

from collections.abc import Collection

from ppdm_flow.core.diagnostics import Diagnostic
from ppdm_flow.policy.language.models import Policy
from ppdm_flow.policy.loaded import PolicyPath, ResolvedPlaces
from ppdm_flow.policy.rules import (
    approvals,
    attributes,
    databases,
    gates,
    hierarchies,
    ledger,
    linked,
    people,
    releases,
    requirements,
    waivers,
)
from ppdm_flow.policy.rules.scene import Scene

RULES = (
    attributes.judge,
    hierarchies.judge,
    attributes.judge_source,
    databases.judge_source,
    linked.judge,
    requirements.judge,
    ledger.judge,
    people.judge,
    gates.judge,
    releases.judge,
    releases.judge_names,
    databases.judge_tables,
    waivers.judge,
    approvals.judge,
)


def judge(policy: Policy, places: ResolvedPlaces, out: Collection[PolicyPath] = ()) -> list[Diagnostic]:
    """Return everything that the rules have to say of a policy.

    ``out`` are the paths of what had to be left out of it: nothing is said of these, nor of what may be there.
    """
    scene = Scene(policy, places, out)
    return [fault for rule in RULES for fault in rule(scene)]
