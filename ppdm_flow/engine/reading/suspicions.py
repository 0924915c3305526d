"""What a column of the original seems to be, other than the policy says: warnings of a preview and of a report."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import ClassVar, Protocol

from ppdm_flow.core.attributes import AttributeFacts
from ppdm_flow.core.diagnostics import Diagnostic, Severity
from ppdm_flow.core.results import Finding


class Suspicion(Protocol):
    """What was counted of one column while it was read."""

    code: ClassVar[str]
    facts: AttributeFacts

    @property
    def text(self) -> str | None:
        """What the column seems to be, without a value of it; None where nothing speaks for it."""


def warnings(suspicions: Iterable[Suspicion]) -> Iterator[Diagnostic]:
    """Yield a warning for each column that something speaks against."""
    for each in suspicions:
        if each.text is not None:
            yield Diagnostic(each.code, each.text, each.facts.span, Severity.WARNING)


def findings(suspicions: Iterable[Suspicion]) -> Iterator[Finding]:
    """Yield the same for a report."""
    for each in suspicions:
        if each.text is not None:
            yield Finding(each.code, Severity.WARNING, each.text, f"source.{each.facts.name}")
