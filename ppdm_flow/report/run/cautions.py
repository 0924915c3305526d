"""What a verdict does not cover, in the words of the report's first screen."""

from __future__ import annotations

from ppdm_flow.core.lineage import UNTOLD
from ppdm_flow.report.run.fields import ReportDocument
from ppdm_flow.report.run.wording import listed

_IN_COMMON = "PPF845"
"""The finding that several releases leave groups of too few people."""
_TAKES_AWAY = frozenset({"PPF857"})
"""Findings without which no figure can be read: they stand beside the verdict."""


def caution(document: ReportDocument) -> str:
    """Return the sentences, or nothing."""
    return " ".join(
        (
            *_nothing_asked(document),
            *_taken_away(document),
            *_as_they_are(document),
            *_apart(document),
            *_in_common(document),
        )
    )


def _nothing_asked(document: ReportDocument) -> list[str]:
    if document["requirements"]:
        return []
    return ["The policy states no privacy requirement, so this verdict says nothing of privacy."]


def _taken_away(document: ReportDocument) -> list[str]:
    return [f"{f['text']}." for f in document["findings"] if f["code"] in _TAKES_AWAY]


def _as_they_are(document: ReportDocument) -> list[str]:
    of = list(dict.fromkeys(f["subject"] for f in document["findings"] if f["code"] == UNTOLD))
    figures = f"the figures of {listed(of)}" if all(of) else "some figures"
    text = f"Rows cannot be paired with their originals here: {figures} take the cells of the release as they are."
    return [f"{text} What is behind them is told by the run alone that made it ({UNTOLD})."] if of else []


def _apart(document: ReportDocument) -> list[str]:
    if document["plan"].get("recipients") != "apart":
        return []
    number = len(document["releases"])
    return [
        (
            f"The policy says that nobody sees two of the {number:,} releases (`recipients: apart`), so each was"
            " judged by itself, and nothing measured what they tell together."
        )
    ]


def _in_common(document: ReportDocument) -> list[str]:
    return [
        f"Release {f['release']}: {f['text']}" if f.get("release") else f["text"]
        for f in document["findings"]
        if f["code"] == _IN_COMMON and not f.get("waived_by")
    ]
