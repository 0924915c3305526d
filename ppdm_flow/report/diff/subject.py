"""What the forms of a comparison are made from."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from ppdm_flow.core.visible import json_text
from ppdm_flow.report.diff.fields import VERDICTS, ClauseChange, ClauseSide, DiffDocument, PolicyPair


@dataclass(frozen=True, slots=True)
class Difference:
    """The document of a comparison; ``color`` says whether text may have colours."""

    document: DiffDocument
    color: bool = False


def as_json(subject: Difference) -> str:
    """Return the document."""
    return json_text(subject.document)


def tally(changes: list[ClauseChange]) -> str:
    """Return ``1 weaker, 2 neutral``; ``no change`` for none."""
    count = Counter(each["verdict"] for each in changes)
    return ", ".join(f"{count[v]} {v}" for v in VERDICTS if count[v]) or "no change"


def changed(pairs: list[PolicyPair]) -> tuple[list[PolicyPair], str]:
    """Return the pairs to show, and a line on those without any change, where there are several pairs."""
    shown = [p for p in pairs if p["changes"] or p["governance"] or len(pairs) == 1]
    same = len(pairs) - len(shown)
    line = f"{same:,} {'policy' if same == 1 else 'policies'} without any change" if same else ""
    return shown, line


def in_order(changes: list[ClauseChange]) -> list[ClauseChange]:
    """Return changes with what a reviewer has to see first."""
    return sorted(changes, key=lambda each: VERDICTS.index(each["verdict"]))


def place(side: ClauseSide | None) -> str:
    """Return ``file:line`` of one side; empty where there is none."""
    return f"{side['file']}:{side['line']}" if side and "file" in side else ""
