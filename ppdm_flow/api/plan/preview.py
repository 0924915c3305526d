"""Plans held against data: the half of planning that reads."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from ppdm_flow.api.loading.bindings import plan_for_data
from ppdm_flow.api.loading.policies import ReadyPlan, quote_sources
from ppdm_flow.core.phrases import counted
from ppdm_flow.engine.run.preview import Preview, preview


def previewed(
    path: Path, sets: Mapping[str, str], data: Path, *, strict: bool, locked: bool
) -> tuple[ReadyPlan, Preview]:
    """Return the plan for the data's columns, and what its rows let one expect. Raises PolicyError, DataError."""
    ready = plan_for_data(path, sets, data, strict=strict, locked=locked)
    with quote_sources(ready.sources, ready.plan.secrets):
        return ready, preview(ready.plan, data)


def expected(preview: Preview) -> str:
    """Return rows and cost estimates as text."""
    told = [f"data    {preview.rows:,} rows"]
    if preview.used != preview.rows:
        told.append(f"{preview.used:,} of them without a missing value")
    if preview.people != preview.used:
        told.append(f"standing for {preview.people:,}")
    costs = [
        f"        {c.step}: {c.passes} pass{'' if c.passes == 1 else 'es'}, {_about(c.seconds)}" for c in preview.costs
    ]
    return "\n".join([", ".join(told), *_of_sets(preview), *costs]) + "\n"


def _of_sets(preview: Preview) -> list[str]:
    """Return what the sets are like, and how large they will be in each release."""
    told = []
    for counts in preview.sets:
        text = f"sets    {counts.name}: {counts.mean:.3g} items each, at most {counts.longest:,}"
        text += f", of {len(counts.alphabet):,} distinct ones; {counts.empty:,} are empty"
        told.append(text + (f", {counts.repeated:,} repeated items merged" if counts.repeated else ""))
        if preview.sizes:
            told.append(f"        their sizes are released: {counted(counts.alone, 'set')} of a size that no other has")
    told += [f"        release {s.release}: about {_megabytes(s.octets)} as {s.form}" for s in preview.sizes]
    return told


def _megabytes(octets: int) -> str:
    return f"{octets / 1e9:.2g} GB" if octets >= 1e9 else f"{max(octets, 1e5) / 1e6:.1f} MB"


def _about(seconds: float) -> str:
    return "below 0.01 s" if seconds < 0.01 else f"about {seconds:g} s"
