"""Gates: a bound on at least one side, in order; and whether the policy asks for anything at all."""

from __future__ import annotations

from collections.abc import Iterator

from ppdm_flow.core.diagnostics import Diagnostic
from ppdm_flow.policy.rules.scene import Scene
from ppdm_flow.policy.words import number


def judge(scene: Scene) -> Iterator[Diagnostic]:
    """Judge ``gates`` and the presence of requirements."""
    for name, gate in scene.policy.gates.items():
        path = ("gates", name)
        if gate.min is None and gate.max is None and not scene.lacks(*path):
            yield scene.fault(
                "PPF510", f"gate `{name}` has no bound", path, at_key=True, hint="give `min`, `max` or both"
            )
        elif gate.min is not None and gate.max is not None and gate.min > gate.max:
            message = f"gate `{name}` can never hold: min {number(gate.min)} lies above max {number(gate.max)}"
            yield scene.fault("PPF510", message, (*path, "min"), related=scene.related((*path, "max"), "max"))
    yield from _nothing(scene)


def _nothing(scene: Scene) -> Iterator[Diagnostic]:
    privacy = scene.policy.privacy
    if (
        scene.lacks("privacy")
        or scene.lacks("releases")
        or any(getattr(privacy, field) for field in type(privacy).model_fields)
    ):
        return
    path: tuple[str, ...] = ("privacy",) if scene.places.keys.get(("privacy",)) else ("releases",)
    yield scene.fault(
        "PPF526",
        "the policy requires nothing: whatever the steps leave would be released",
        path,
        at_key=True,
        warning=True,
        hint="state under `privacy:` what must hold",
    )
