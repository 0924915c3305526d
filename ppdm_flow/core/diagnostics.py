"""Diagnostics: faults as values with a message, a place and a hint."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum

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


# Names of diagnostics: codes that were merged into others, and what they are called now.
#
# An old code is read wherever a user writes one: waivers, policy tests, `explain`, reports of earlier versions, and
# diagnostics of plugins. Nothing is reported under it.


MERGED: Mapping[str, str] = {
    "PPF123": "PPF615",
    "PPF124": "PPF120",
    "PPF130": "PPF763",
    "PPF131": "PPF120",
    "PPF136": "PPF736",
    "PPF138": "PPF120",
    "PPF140": "PPF100",
    "PPF144": "PPF615",
    "PPF303": "PPF301",
    "PPF406": "PPF405",
    "PPF442": "PPF777",
    "PPF474": "PPF723",
    "PPF505": "PPF583",
    "PPF514": "PPF583",
    "PPF517": "PPF583",
    "PPF530": "PPF582",
    "PPF531": "PPF583",
    "PPF532": "PPF471",
    "PPF533": "PPF472",
    "PPF572": "PPF570",
    "PPF576": "PPF580",
    "PPF578": "PPF553",
    "PPF581": "PPF501",
    "PPF586": "PPF575",
    "PPF593": "PPF545",
    "PPF604": "PPF601",
    "PPF621": "PPF723",
    "PPF622": "PPF475",
    "PPF623": "PPF476",
    "PPF625": "PPF476",
    "PPF626": "PPF479",
    "PPF630": "PPF692",
    "PPF637": "PPF636",
    "PPF643": "PPF642",
    "PPF645": "PPF614",
    "PPF650": "PPF690",
    "PPF660": "PPF692",
    "PPF662": "PPF661",
    "PPF663": "PPF661",
    "PPF670": "PPF714",
    "PPF678": "PPF677",
    "PPF691": "PPF120",
    "PPF695": "PPF673",
    "PPF720": "PPF407",
    "PPF731": "PPF693",
    "PPF732": "PPF715",
    "PPF734": "PPF673",
    "PPF737": "PPF729",
    "PPF740": "PPF784",
    "PPF742": "PPF573",
    "PPF752": "PPF573",
    "PPF759": "PPF677",
    "PPF761": "PPF736",
    "PPF762": "PPF694",
    "PPF764": "PPF714",
    "PPF766": "PPF120",
    "PPF772": "PPF869",
    "PPF774": "PPF777",
    "PPF779": "PPF775",
    "PPF781": "PPF606",
    "PPF787": "PPF789",
    "PPF793": "PPF741",
    "PPF797": "PPF607",
    "PPF800": "PPF777",
    "PPF801": "PPF780",
    "PPF802": "PPF782",
    "PPF808": "PPF878",
    "PPF813": "PPF741",
    "PPF825": "PPF789",
    "PPF832": "PPF861",
    "PPF835": "PPF834",
    "PPF842": "PPF861",
    "PPF865": "PPF861",
    "PPF866": "PPF830",
    "PPF871": "PPF811",
    "PPF872": "PPF810",
    "PPF876": "PPF822",
    "PPF881": "PPF784",
    "PPF886": "PPF861",
    "PPF891": "PPF878",
    "PPF898": "PPF782",
    "PPF962": "PPF673",
    "PPF968": "PPF469",
    "PPF983": "PPF694",
    "PPF987": "PPF723",
}
"""Codes that are not in use any more, with the code that says the same; that one is never a key here."""


def current_code(code: str) -> str:
    """Return the code that says what ``code`` says or said; any other text as it is."""
    return MERGED.get(code, code)


def former_codes(code: str) -> tuple[str, ...]:
    """Return the codes that were merged into this one."""
    return tuple(former for former, current in MERGED.items() if current == code)
