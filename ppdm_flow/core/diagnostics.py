"""Faults as values: what is wrong, where, and what to do about it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from ppdm_flow.core.codes import current_code
from ppdm_flow.core.spans import Span


class Severity(StrEnum):
    """How bad it is. Errors stop a run; warnings stop it under ``--strict``."""

    ERROR = "error"
    WARNING = "warning"
    INFO = "info"


@dataclass(frozen=True, slots=True)
class RelatedPlace:
    """A second place that belongs to a diagnostic, such as the first of two duplicate keys."""

    span: Span
    text: str


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """One fault. ``hint`` is drawn beside the caret, ``help`` and ``notes`` below it.

    No field may hold a data value, unless the policy itself wrote it. A ``code`` that was merged into another one
    becomes that one.
    """

    code: str
    message: str
    span: Span | None = None
    severity: Severity = Severity.ERROR
    hint: str | None = None
    help: str | None = None
    notes: tuple[str, ...] = ()
    related: tuple[RelatedPlace, ...] = ()
    path: tuple[str, ...] = field(default=(), compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "code", current_code(self.code))

    @property
    def sort_key(self) -> tuple[str, int, int, str, str]:
        """File, then position, then code."""
        span = self.span
        if span is None:
            return ("", 0, 0, self.code, self.message)
        return (span.file, span.line, span.column, self.code, self.message)


def in_order(diagnostics: Iterable[Diagnostic]) -> tuple[Diagnostic, ...]:
    """Without repetitions, sorted by place."""
    return tuple(sorted(dict.fromkeys(diagnostics), key=lambda d: d.sort_key))


def has_errors(diagnostics: Iterable[Diagnostic]) -> bool:
    """Whether any of them is an error."""
    return any(d.severity is Severity.ERROR for d in diagnostics)


Sources = Mapping[str, str]
"""The text of each file that a diagnostic may quote, by the file name that its spans use."""
