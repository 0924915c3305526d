"""A policy's check held against data: what ``plan --data`` finds, among what ``check`` finds."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from ppdm_flow.api.loading.policies import quote_sources
from ppdm_flow.core.clock import Clock
from ppdm_flow.core.diagnostics import has_errors, in_order
from ppdm_flow.engine.reading.header import columns
from ppdm_flow.engine.run.preview import preview
from ppdm_flow.plan.compile import CompileResult, compile_policy
from ppdm_flow.policy import Loaded


def held_against(loaded: Loaded, outcome: CompileResult, data: Path, clock: Clock) -> CompileResult:
    """Return the outcome for the columns that ``data`` has, with what its rows rule out or warn of.

    A policy that is wrong by itself is not held against data. Raises DataError where it cannot be read or does not
    match.
    """
    if outcome.plan is None or has_errors(outcome.diagnostics):
        return outcome
    with quote_sources(loaded.sources, outcome.plan.secrets):
        bound = compile_policy(loaded, columns(outcome.plan, data), data.name, clock, digested=False)
        if bound.plan is None or has_errors(bound.diagnostics):
            return bound
        seen = preview(bound.plan, data).diagnostics
    return replace(bound, diagnostics=in_order((*bound.diagnostics, *seen)))
