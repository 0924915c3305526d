"""The result of checking policies, from which every output format is rendered."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from ppdm_flow.core.diagnostics import Diagnostic, Severity, in_order
from ppdm_flow.core.digests import digest
from ppdm_flow.report.locations import Locations
from ppdm_flow.report.snippet import lines_of

KEY = "ppdmFlow/v1"
"""Names the rule by which fingerprints are made; another rule needs another name."""


@dataclass(frozen=True, slots=True)
class WaiverNote:
    """A waiver of one finding: its name in the policy, why, who answers for it, and until when (ISO date)."""

    name: str
    reason: str
    owner: str
    until: str


@dataclass(frozen=True, slots=True)
class CheckResult:
    """The diagnostics of all checked policies.

    ``files`` maps each checked policy to its diagnostics, including those in the files that it extends. ``sources``
    holds the text of each file by the name that spans use, ``waived`` the waived diagnostics.
    """

    files: Mapping[str, tuple[Diagnostic, ...]]
    sources: Mapping[str, str]
    places: Locations
    waived: Mapping[Diagnostic, WaiverNote] = field(default_factory=dict)
    strict: bool = False
    color: bool = False

    @property
    def diagnostics(self) -> tuple[Diagnostic, ...]:
        """All diagnostics without duplicates, sorted by position."""
        return in_order(d for diagnostics in self.files.values() for d in diagnostics)

    def fails(self, diagnostic: Diagnostic) -> bool:
        """Whether it makes the check fail: an error, or a warning where those count."""
        bad = (Severity.ERROR, Severity.WARNING) if self.strict else (Severity.ERROR,)
        return diagnostic.severity in bad and diagnostic not in self.waived

    def file_of(self, diagnostic: Diagnostic) -> str:
        """Return the file it stands in; of one without a place, the first policy that has it."""
        if diagnostic.span is not None:
            return diagnostic.span.file
        return next((name for name, diagnostics in self.files.items() if diagnostic in diagnostics), "")

    def fingerprints(self) -> Iterator[tuple[Diagnostic, str]]:
        """Yield each diagnostic with a digest that stays when lines move, and when messages are worded better.

        It is made of the code, the file and the place in the policy (without one, of the line's text), and counts
        those that are equal in all of these.
        """
        seen: dict[tuple[str, ...], int] = {}
        lines = {name: lines_of(text) for name, text in self.sources.items()}
        for each in self.diagnostics:
            file = self.places.shown(self.file_of(each))
            key = (each.code, file, *(("path", *each.path) if each.path else ("line", _line(each, lines))))
            seen[key] = seen.get(key, 0) + 1
            yield each, digest([KEY, *key, seen[key]])


def _line(diagnostic: Diagnostic, lines: Mapping[str, list[str]]) -> str:
    span = diagnostic.span
    if span is None or not 0 < span.line <= len(lines.get(span.file, ())):
        return diagnostic.message
    line = lines[span.file][span.line - 1]
    end = span.end_column - 1 if span.end_line == span.line else len(line)
    return " ".join((*line.split(), "/", line[span.column - 1 : end].strip()))
