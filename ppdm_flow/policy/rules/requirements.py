"""What must hold of every release: each kind of requirement judges its own clauses."""

from __future__ import annotations

from collections.abc import Iterator

from ppdm_flow.core.diagnostics import Diagnostic
from ppdm_flow.policy.requirements import specs_of
from ppdm_flow.policy.rules.scene import Scene


def judge(scene: Scene) -> Iterator[Diagnostic]:
    """Judge ``privacy``."""
    for spec in specs_of(scene.policy):
        entries = scene.policy.privacy.entries(spec.name)
        if spec.judge is not None and entries:
            yield from spec.judge(scene, entries)
