"""Rules on approvals in the policy alone: which roles sign, and which waivers need one (PPF345 to PPF347)."""

from __future__ import annotations

from collections.abc import Iterator

from ppdm_flow.core.diagnostics import Diagnostic
from ppdm_flow.policy.loaded import PolicyPath
from ppdm_flow.policy.rules.repeats import repeats
from ppdm_flow.policy.rules.scene import Scene

AUTHOR = "author"
"""The role of the person who makes a run: always needed, and nobody else's."""


def judge(scene: Scene) -> Iterator[Diagnostic]:
    """Judge ``approvals``, and the roles that sign waivers."""
    given = scene.policy.approvals
    if given is not None:
        roles: PolicyPath = ("approvals", "roles")
        yield from repeats(scene, given.roles, roles, "`approvals.roles`")
        for place, role in enumerate(given.roles):
            yield from _author(scene, role, (*roles, str(place)))
        if not given.distinct:
            text = "one person may sign in several roles, so that fewer people see the release than roles are listed"
            yield scene.fault("PPF346", text, ("approvals", "distinct"), warning=True, hint="say `distinct: true`")
    for name, waiver in scene.policy.waivers.items():
        path = ("waivers", name, "signed_by")
        if waiver.signed_by is None:
            continue
        yield from _author(scene, waiver.signed_by, path)
        if given is None and not scene.lacks("approvals"):
            text = f"waiver `{name}` has to be signed, and nothing says who may sign: the policy has no `approvals`"
            hint = "add `approvals: {roles: […], signers: signers.yaml}`"
            yield scene.fault("PPF347", text, path, hint=hint)


def _author(scene: Scene, role: str, path: PolicyPath) -> Iterator[Diagnostic]:
    if role == AUTHOR:
        text = "nobody approves their own run: the author signs it in any case, and somebody else approves it"
        yield scene.fault("PPF345", text, path, hint="name the role of who approves, such as `data-owner`")
