"""What can be wrong with a clause on cumulative k."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from ppdm_flow.core.diagnostics import Diagnostic
from ppdm_flow.policy.rules.grouping import grouped
from ppdm_flow.policy.rules.scene import Scene, entry_path
from ppdm_flow.requirements.cumulative_k.requirement import CumulativeK


def judge(scene: Scene, entries: Mapping[str, CumulativeK]) -> Iterator[Diagnostic]:
    """Judge it (PPF590)."""
    policy = scene.policy
    alone = len(policy.releases) < 2 or policy.recipients == "apart"
    for name, clause in entries.items():
        path = entry_path("cumulative_k", name)
        yield from grouped(scene, clause.attributes, path)
        if policy.ledger is None and alone and not scene.lacks("ledger") and not scene.lacks("releases"):
            text = (
                "`cumulative_k` is about several releases: nobody sees two of this run, and no ledger remembers others"
            )
            yield scene.fault("PPF590", text, path, at_key=True, hint="add `ledger: {path: releases.ledger}`")
