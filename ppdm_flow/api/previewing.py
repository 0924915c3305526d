"""Plans held against data: the half of planning that reads."""

from __future__ import annotations

from pathlib import Path

from ppdm_flow.api.bindings import with_data
from ppdm_flow.api.policies import Ready
from ppdm_flow.engine.preview import Preview, preview


def previewed(found: Ready, data: Path, *, strict: bool) -> tuple[Ready, Preview]:
    """Return the plan for the data's columns, and what its rows let one expect. Raises PolicyError, DataError."""
    bound = with_data(found, data, strict=strict)
    return bound, preview(bound.plan, data)


def expected(found: Preview) -> str:
    """Return rows and cost estimates as text."""
    told = [f"data    {found.rows:,} rows"]
    if found.used != found.rows:
        told.append(f"{found.used:,} of them without a missing value")
    if found.people != found.used:
        told.append(f"standing for {found.people:,}")
    costs = [
        f"        {c.step}: {c.passes} pass{'' if c.passes == 1 else 'es'}, {_about(c.seconds)}" for c in found.costs
    ]
    return "\n".join([", ".join(told), *costs]) + "\n"


def _about(seconds: float) -> str:
    return "below 0.01 s" if seconds < 0.01 else f"about {seconds:g} s"
