"""Names that would be two things in the report's metrics."""

from __future__ import annotations

from collections.abc import Iterable

from ppdm_flow.core.diagnostics import Diagnostic, Related
from ppdm_flow.policy.language.models import Policy
from ppdm_flow.policy.loaded import Places


def clashes(policy: Policy, implicit: Iterable[str], places: Places) -> list[Diagnostic]:
    """Return a fault for each audit whose name is also a step's, and each name that an implicit audit needs."""
    diagnostics = []
    for name in policy.audits:
        if name in policy.steps:
            span = places.key("steps", name)
            related = (Related(span, f"step `{name}`"),) if span else ()
            text = f"`{name}` is the name of a step and of an audit: their figures could not be told apart"
            diagnostics.append(Diagnostic("PPF616", text, places.key("audits", name), related=related))
    reserved = {*implicit, "privacy", "gates"}
    for section, entries in (("steps", policy.steps), ("audits", policy.audits)):
        for name in entries:
            if name in reserved:
                text = f"`{name}` is the name of an audit that runs by itself: its figures could not be told apart"
                diagnostics.append(Diagnostic("PPF616", text, places.key(section, name)))
    return diagnostics
