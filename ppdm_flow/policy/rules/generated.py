"""Requirements on generated data: bounds that something could break."""

from __future__ import annotations

from collections.abc import Iterator

from ppdm_flow.core.diagnostics import Diagnostic
from ppdm_flow.policy.rules.scene import Scene


def judge(scene: Scene) -> Iterator[Diagnostic]:
    """Judge ``anonymity_score`` and ``blend`` (PPF530)."""
    privacy = scene.policy.privacy
    for name, bound in (("anonymity_score", privacy.anonymity_score), ("blend", privacy.blend)):
        if bound is not None and bound.max >= 1.0:
            yield _idle(scene, f"`{name}` with `max: 1` holds of any data", (name, "max"), "give a bound below 1")
    if privacy.blend is not None and privacy.blend.min_support.count == 1:
        text = "no row occurs less than once, so `blend` with a support of one row holds of any data"
        yield _idle(scene, text, ("blend", "min_support"), "give a support of at least 2 rows, or a ratio")


def _idle(scene: Scene, message: str, place: tuple[str, str], hint: str) -> Diagnostic:
    return scene.fault("PPF530", message, ("privacy", *place), hint=hint)
