"""Plans for the columns that the data really has.

Every attribute stands for columns by a name or a pattern, and all that a plan says of steps, releases, audits and
requirements follows from the columns: a policy that was read once is compiled once more when they are known.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from ppdm_flow.api.loading.policies import ReadyPlan, quote_sources, ready_plan, valid_plan
from ppdm_flow.core.clock import Clock, utc_today
from ppdm_flow.engine.reading.header import columns
from ppdm_flow.policy.loaded import PolicyPath
from ppdm_flow.policy.loading import NOTHING_OVER


def plan_for_data(
    path: Path,
    sets: Mapping[str, str],
    data: Path | None,
    *,
    strict: bool = False,
    over: Mapping[PolicyPath, str] = NOTHING_OVER,
    locked: bool = False,
    any_params: bool = False,
    clock: Clock | None = utc_today,
) -> ReadyPlan:
    """Return a valid plan for the columns of ``data``, else of the policy's own file; the rest is as in `ready_plan`.

    Raises PolicyError, DataError.
    """
    ready = ready_plan(path, sets, data, strict=strict, over=over, locked=locked, any_params=any_params, clock=clock)
    with quote_sources(ready.sources, ready.plan.secrets):
        bound = valid_plan(ready.loaded, columns(ready.plan, data), data, strict=strict, clock=clock)
        if ready.held is not None:
            ready.held.still(ready.loaded, bound.plan)
    return replace(bound, held=ready.held)
