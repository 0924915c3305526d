"""What the forms of a comparison are made from."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Any

from ppdm_flow.core.visible import json_text

VERDICTS = ("weaker", "incomparable", "stronger", "neutral")
"""In the order in which a reviewer needs them."""


@dataclass(frozen=True, slots=True)
class Difference:
    """The document of a comparison; ``color`` says whether text may have colours."""

    document: dict[str, Any]
    color: bool = False


def as_json(subject: Difference) -> str:
    """Return the document."""
    return json_text(subject.document)


def tally(changes: list[dict[str, Any]]) -> str:
    """Return ``1 weaker, 2 neutral``; ``no change`` for none."""
    count = Counter(each["verdict"] for each in changes)
    return ", ".join(f"{count[v]} {v}" for v in VERDICTS if count[v]) or "no change"


def changed(pairs: list[dict[str, Any]]) -> tuple[list[dict[str, Any]], str]:
    """Return the pairs to show, and a line on those without any change, where there are several pairs."""
    shown = [p for p in pairs if p["changes"] or p["governance"] or len(pairs) == 1]
    same = len(pairs) - len(shown)
    line = f"{same:,} {'policy' if same == 1 else 'policies'} without any change" if same else ""
    return shown, line


def in_order(changes: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return changes with what a reviewer has to see first."""
    return sorted(changes, key=lambda each: VERDICTS.index(each["verdict"]))


def place(side: dict[str, Any] | None) -> str:
    """Return ``file:line`` of one side; empty where there is none."""
    return f"{side['file']}:{side['line']}" if side and "file" in side else ""


SAYS = {
    "equal": "what must hold is the same",
    "stricter": "the new policy is stricter: every release that satisfies it satisfies the old one",
    "weaker": "the new policy is weaker: releases that the old one withholds may satisfy it",
    "incomparable": "the new policy is not proved to be stricter, nor weaker: some clauses go either way",
}
"""A sentence on the whole."""
