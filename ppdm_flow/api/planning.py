"""Plans, with or without a look at the data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ppdm_flow.api.bindings import with_data
from ppdm_flow.api.policies import ready
from ppdm_flow.core.diagnostics import Diagnostic
from ppdm_flow.engine.preview import Preview, preview
from ppdm_flow.plan import pictures
from ppdm_flow.plan.definition import Plan
from ppdm_flow.plan.document import document


@dataclass(frozen=True, slots=True)
class Planned:
    """A plan with its warnings; ``preview`` says what the data lets one expect, where there was data."""

    plan: Plan
    diagnostics: tuple[Diagnostic, ...]
    sources: Mapping[str, str]
    preview: Preview | None = None

    @property
    def document(self) -> dict[str, Any]:
        """The JSON form."""
        return document(self.plan)

    @property
    def with_preview(self) -> dict[str, Any]:
        """The JSON form, and beside it what the data lets one expect."""
        return self.document if self.preview is None else {**self.document, "preview": self.preview.document}

    def picture(self, form: str) -> str:
        """Return the plan as ``text`` (with what the data lets one expect), ``mermaid``, ``dot`` or ``svg``."""
        drawn = pictures.draw(form, self.document)
        if form != "text" or self.preview is None:
            return drawn
        return f"{drawn}\n{_expected(self.preview)}"


def plan(path: Path, sets: Mapping[str, str] = {}, data: Path | None = None, *, strict: bool = False) -> Planned:
    """Compile a policy; with ``data``, look at it too.

    Raises PolicyError for an invalid policy, DataError for data that cannot be read or does not match.
    """
    found = ready(path, sets, data, strict=strict)
    if data is None:
        return Planned(found.plan, found.warnings, found.sources)
    found = with_data(found, data, strict=strict)
    seen = preview(found.plan, data)
    return Planned(found.plan, (*found.warnings, *seen.diagnostics), found.sources, seen)


def _expected(found: Preview) -> str:
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
