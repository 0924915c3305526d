"""A bound that nothing could break."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from ppdm_flow.core.diagnostics import Diagnostic
from ppdm_flow.policy.rules.scene import Scene, entry_path
from ppdm_flow.requirements.blend.requirement import Blend


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
