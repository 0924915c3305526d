"""A plan for the columns that the data really has."""

from __future__ import annotations

from pathlib import Path

from ppdm_flow.api.loading.policies import ReadyPlan, bind_plan
from ppdm_flow.core.clock import Clock, utc_today
from ppdm_flow.engine.reading.header import columns


def with_data(found: ReadyPlan, data: Path | None, *, strict: bool, clock: Clock | None = utc_today) -> ReadyPlan:
    """Return the plan bound to the columns that the data has. Raises PolicyError, DataError."""
    return bind_plan(found, columns(found.plan, data), data, strict=strict, clock=clock)
