"""Plans, with or without a look at the data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from ppdm_flow.api.buckets import copies_for
from ppdm_flow.api.loading.policies import ready_plan
from ppdm_flow.api.own_data import own_data as own_data_of
from ppdm_flow.api.own_data import refuse_both
from ppdm_flow.core.diagnostics import Diagnostic
from ppdm_flow.plan.definition import Plan
from ppdm_flow.plan.document import document
from ppdm_flow.plan.fields import PlanDocument
from ppdm_flow.plan.pictures import forms

if TYPE_CHECKING:  # a plan without data needs no engine
    from ppdm_flow.engine.run.preview import Preview


@dataclass(frozen=True, slots=True)
class PlanResult:
    """A plan with its warnings; ``preview`` says what the data lets one expect, where there was data."""

    plan: Plan
    diagnostics: tuple[Diagnostic, ...]
    sources: Mapping[str, str]
    preview: Preview | None = None

    @property
    def document(self) -> PlanDocument:
        """The JSON form."""
        return document(self.plan)

    @property
    def with_preview(self) -> PlanDocument:
        """The JSON form, and beside it what the data lets one expect."""
        return self.document if self.preview is None else {**self.document, "preview": self.preview.document}

    def picture(self, form: str) -> str:
        """Return the plan as ``text`` (with what the data lets one expect), ``mermaid``, ``dot`` or ``svg``."""
        drawn = forms.draw(form, self.document)
        if form != "text" or self.preview is None:
            return drawn
        from ppdm_flow.api.loading.bindings import expected  # noqa: PLC0415  # a plan without data needs no engine

        return f"{drawn}\n{expected(self.preview)}"


def plan(
    path: Path,
    sets: Mapping[str, str] = {},
    data: Path | None = None,
    *,
    strict: bool = False,
    locked: bool = False,
    own_data: bool = False,
) -> PlanResult:
    """Compile a policy; with ``data``, or with ``own_data`` that of the policy itself, look at it too.

    Raises PolicyError for an invalid policy (or, with ``locked``, one that is not as its lock file has it), DataError
    for data that cannot be read or does not match.
    """
    refuse_both(data, own_data=own_data)
    if data is None and not own_data:
        ready = ready_plan(path, sets, strict=strict, locked=locked)
        return PlanResult(ready.plan, ready.warnings, ready.sources)
    from ppdm_flow.api.loading.bindings import previewed  # noqa: PLC0415  # a plan without data needs no engine

    with copies_for() as copies:
        there = own_data_of(path, sets, copies) if data is None else copies.local(data)
        ready, seen = previewed(path, sets, there, strict=strict, locked=locked)
    return PlanResult(ready.plan, (*ready.warnings, *seen.diagnostics), ready.sources, seen)
