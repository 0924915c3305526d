"""Whether a report may leave the house, in the words of its first screen."""

from __future__ import annotations

from dataclasses import dataclass

from ppdm_flow.core.recipients.figures import FEWEST
from ppdm_flow.report.run.fields import PUBLIC, ReportDocument

FEW = f"fewer than {FEWEST}"
UNTOLD = "not for the public"
"""Stands for a measured figure that a public report leaves out."""


@dataclass(frozen=True, slots=True)
class Audience:
    """Who may read a report: a word for the eye, and what it means."""

    public: bool
    word: str
    sentence: str


_INTERNAL = Audience(
    False,
    "Internal",
    "This report must not leave the house: it has figures on the original data and a hash of the input."
    " `ppdm-flow report RUN --public` writes one that may.",
)
_PUBLIC = Audience(
    True,
    "Public",
    "This report may leave the house: it has no figure on the original data, no hash of the input, and of counts below"
    f" {FEWEST} no more than `{FEW}`.",
)


def audience(document: ReportDocument) -> Audience:
    """Return who may read a report; one that does not say is internal."""
    return _PUBLIC if is_public(document) else _INTERNAL


def is_public(document: ReportDocument) -> bool:
    """Return whether the report is one for the public."""
    return bool(document.get("audience") == PUBLIC)
