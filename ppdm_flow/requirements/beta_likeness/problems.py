"""What can be wrong with clauses on beta-likeness."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from ppdm_flow.core.diagnostics import Diagnostic
from ppdm_flow.policy.rules import on_sensitive
from ppdm_flow.policy.rules.scene import Scene
from ppdm_flow.requirements.beta_likeness.clause import BetaLikeness


def judge(scene: Scene, entries: Mapping[str, BetaLikeness]) -> Iterator[Diagnostic]:
    """Judge them (PPF581)."""
    return on_sensitive.judge(scene, "beta_likeness", entries)
