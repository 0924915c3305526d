"""What the data lets one expect of a plan, before any step runs."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ppdm_flow.core.diagnostics import Diagnostic
from ppdm_flow.engine.context import RunContext
from ppdm_flow.engine.reading.original import Opening, Original
from ppdm_flow.engine.reading.repeating import warnings
from ppdm_flow.engine.run.cost import Cost, estimates, set_sizes
from ppdm_flow.engine.steps.feasibility import unreachable_requirements
from ppdm_flow.engine.streams.set_counts import SetCounts, SetSize
from ppdm_flow.engine.streams.view import StreamView
from ppdm_flow.plan.definition import Plan
from ppdm_flow.policy.language.guarded import guarded
from ppdm_flow.policy.language.kinds import spec_of
from ppdm_flow.sdk.spec import imported


@dataclass(frozen=True, slots=True)
class Preview:
    """``rows`` in the file, ``used`` without incomplete and weightless ones, ``people`` the sum of weights."""

    rows: int
    used: int
    people: int
    diagnostics: tuple[Diagnostic, ...]
    costs: tuple[Cost, ...]
    sets: tuple[SetCounts, ...] = ()
    sizes: tuple[SetSize, ...] = ()

    @property
    def document(self) -> dict[str, Any]:
        """The JSON form."""
        return {
            "rows": self.rows,
            "rows_used": self.used,
            "people": self.people,
            "findings": [{"code": d.code, "severity": d.severity.value, "text": d.message} for d in self.diagnostics],
            "costs": [{"step": c.step, "passes": c.passes, "seconds": c.seconds} for c in self.costs],
            **self._sets(),
        }

    def _sets(self) -> dict[str, Any]:
        if not self.sets:
            return {}
        sizes = [{"release": s.release, "form": s.form, "bytes": s.octets} for s in self.sizes]
        return {"sets": [s.document() for s in self.sets], "sizes": sizes}


def preview(plan: Plan, data: Path | None) -> Preview:
    """Read the data once and hold the requirements against its frequencies. Raises DataError."""
    context = RunContext(plan)
    original = Opening(context, data).open()
    view = StreamView(original.stream)
    people = view.counts([]).total
    diagnostics = list(_foreseen(plan, view, people))
    diagnostics += warnings(original.repeats)
    diagnostics += unreachable_requirements(plan, original, context.options.partition_rows, context.stop)
    stream = original.stream
    return Preview(stream.rows_read, stream.row_count, people, tuple(diagnostics), *_costs(plan, original))


def _costs(plan: Plan, original: Original) -> tuple[tuple[Cost, ...], tuple[SetCounts, ...], tuple[SetSize, ...]]:
    return estimates(plan, original.stream), original.sets, set_sizes(plan, original.sets)


def _foreseen(plan: Plan, view: StreamView, people: int) -> Iterator[Diagnostic]:
    """Yield which requirements cannot hold, whatever the steps do, as their kinds say."""
    for requirement in plan.requirements:
        spec = spec_of(requirement.kind)
        if spec.foresees:
            foresee = guarded(spec.name, "say what the data lets one expect", imported(spec.foresees))
            yield from foresee(requirement, view, people)
