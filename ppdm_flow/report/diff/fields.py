"""The fields of a comparison's JSON document, which all its forms are made from."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Annotated, Literal, NotRequired

from pydantic import PositiveInt
from typing_extensions import TypedDict

from ppdm_flow.core.documents import Direction, Interval, Text, Verdict, Version, about, one_of
from ppdm_flow.core.texts import json_text
from ppdm_flow.report.snippet import printable

VERDICTS = ("weaker", "incomparable", "stronger", "neutral")
"""On a clause, in the order in which a reviewer needs them."""
SAYS = {
    "equal": "what must hold is the same",
    "stricter": "the new policy is stricter: every release that satisfies it satisfies the old one",
    "weaker": "the new policy is weaker: releases that the old one withholds may satisfy it",
    "incomparable": "the new policy is not proved to be stricter, nor weaker: some clauses go either way",
}
"""A sentence on the whole."""


class ClauseSide(TypedDict):
    """A clause in one of the policies."""

    text: Annotated[Text, about("The clause in one line.")]
    file: NotRequired[Annotated[Text, about("The file that it stands in, which may be a template.")]]
    line: NotRequired[Annotated[PositiveInt, about("Line, from 1.")]]
    column: NotRequired[Annotated[PositiveInt, about("Column, from 1.")]]


class ClauseChange(TypedDict):
    """A clause that is not the same."""

    clause: Annotated[Text, about("Path of the clause.")]
    verdict: Annotated[str, one_of(VERDICTS), about("What the new clause is, compared with the old policy.")]
    why: Annotated[Text, about("The rule that proves it, or what keeps the two from being compared.")]
    old: ClauseSide | None
    new: ClauseSide | None


class MeasuredFigure(TypedDict):
    """A figure of one side."""

    value: Annotated[float | None, about("What was measured; null where there is no figure.")]
    interval: NotRequired[Interval]


class JudgedFigure(MeasuredFigure):
    """A figure of one side that was compared with a bound."""

    bound: float
    direction: Direction
    holds: bool


class ResultPair(TypedDict):
    """A requirement or gate on both sides."""

    id: Annotated[Text, about("Path of the requirement or gate.")]
    release: Annotated[str, about("The release that it was measured on.")]
    metric: Annotated[Text, about("The figure that is bounded.")]
    old: JudgedFigure | None
    new: JudgedFigure | None


class FigurePair(TypedDict):
    """A figure on both sides."""

    name: Annotated[Text, about("Full name of the figure.")]
    unit: str
    old: MeasuredFigure | None
    new: MeasuredFigure | None
    difference: Annotated[float | None, about("New less old; null where one of them has none.")]


class FindingChanges(TypedDict):
    """Findings of one side."""

    new: Annotated[list[str], about("Findings of the new side only.")]
    gone: Annotated[list[str], about("Findings of the old side only.")]


class SideOutcome(TypedDict):
    """What became of one side."""

    name: Annotated[Text, about("The policy or the run's directory.")]
    verdict: Verdict


class OutcomePair(TypedDict):
    """What was measured on both sides."""

    old: SideOutcome
    new: SideOutcome
    results: Annotated[list[ResultPair], about("Requirements and gates, as judged on each side.")]
    metrics: Annotated[list[FigurePair], about("Every figure of either side, by name.")]
    findings: FindingChanges


class PolicyPair(TypedDict):
    """Two policies."""

    old: Annotated[Text, about("The old policy's file; `REVISION:PATH` for one of a git revision.")]
    new: Annotated[Text, about("The new policy's file.")]
    relation: Annotated[
        str,
        one_of(SAYS),
        about("`stricter`: every release that satisfies the new policy is proved to satisfy the old one."),
    ]
    changes: Annotated[list[ClauseChange], about("Every clause that is not the same.")]
    governance: Annotated[
        list[ClauseChange],
        about("Changed floors; params that came, went, or take a value that weakens: no release depends on them yet."),
    ]
    measured: NotRequired[OutcomePair]


class DiffDocument(TypedDict):
    """A ppdm-flow comparison.

    What changed between two policies, two folders of them, or two runs.
    """

    version: Version
    kind: Annotated[str, one_of(("policies", "runs")), about("What was compared.")]
    pairs: Annotated[list[PolicyPair], about("Policies that are in both, in the order of their paths.")]
    added: Annotated[list[str], about("Policies that only the new side has.")]
    accepted: NotRequired[
        Annotated[list[str], about("Those of `added` that count as no weaker; the others count as weaker.")]
    ]
    removed: Annotated[list[str], about("Policies that only the old side has.")]
    runs: NotRequired[OutcomePair]


@dataclass(frozen=True, slots=True)
class Difference:
    """The document of a comparison; ``color`` says whether text may have colours."""

    document: DiffDocument
    color: bool = False


def as_json(subject: Difference) -> str:
    """Return the document."""
    return json_text(subject.document)


def unproved(document: DiffDocument) -> list[str]:
    """Return the added policies that count as weaker: those that nobody accepts, as nothing is proved of them."""
    return [name for name in document["added"] if name not in document.get("accepted", ())]


def added(document: DiffDocument) -> Iterator[tuple[str, bool, str]]:
    """Yield the name of each added policy, whether it is accepted, and a sentence on it."""
    weaker = unproved(document)
    for name in document["added"]:
        accepted = name not in weaker
        yield name, accepted, "nothing to compare it with, and accepted" if accepted else _ADDED


_ADDED = "weaker: there is nothing to compare it with, and `--allow-added` accepts it"
REMOVED = "it releases nothing any more"


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


# Two outcomes side by side: what was judged, and every figure that differs.


def lines(compared: OutcomePair) -> Iterator[str]:
    """Yield aligned lines of text."""
    for title, head, rows in tables(compared):
        if rows:
            yield title
            yield from (f"  {line}" for line in _aligned([head, *rows]))
            yield ""
    kind: Literal["new", "gone"]
    for kind in ("new", "gone"):
        for each in compared["findings"][kind]:
            yield f"finding {'only in the new one' if kind == 'new' else 'gone'}: {printable(each)}"
    verdicts = compared["old"]["verdict"], compared["new"]["verdict"]
    yield f"verdict: {verdicts[0]}" + (f" -> {verdicts[1]}" if verdicts[0] != verdicts[1] else " in both")


def tables(compared: OutcomePair) -> list[tuple[str, list[str], list[list[str]]]]:
    """Return title, head and rows of what was judged, and of the figures."""
    judged = [
        [_name(each), _bound(each["old"]), _measured(each["old"]), _bound(each["new"]), _measured(each["new"])]
        for each in compared["results"]
    ]
    figures = [
        [each["name"], _figure(each["old"]), _figure(each["new"]), _signed(each["difference"]), each["unit"]]
        for each in compared["metrics"]
        if not _alike(each["old"], each["new"])
    ]
    same = len(compared["metrics"]) - len(figures)
    return [
        ("requirements and gates", ["", "bound, old", "measured, old", "bound, new", "measured, new"], judged),
        (f"figures that differ ({same} are the same)", ["", "old", "new", "difference", "unit"], figures),
    ]


def _alike(old: MeasuredFigure | None, new: MeasuredFigure | None) -> bool:
    """Whether two figures are the same but for the rounding errors of their last digits."""
    if old is None or new is None or old["value"] is None or new["value"] is None:
        return old == new
    sides = [(side["value"], *side.get("interval", ())) for side in (old, new)]
    return len(sides[0]) == len(sides[1]) and all(
        math.isclose(a, b, rel_tol=1e-9, abs_tol=1e-12) for a, b in zip(*sides, strict=True)
    )


def _name(each: ResultPair) -> str:
    return f"{each['metric']} ({each['release']})" if each["release"] else str(each["metric"])


def _bound(side: JudgedFigure | None) -> str:
    if side is None:
        return "not asked for"
    return f"{'at most' if side['direction'] == 'at_most' else 'at least'} {side['bound']:g}"


def _measured(side: JudgedFigure | None) -> str:
    if side is None:
        return ""
    return f"{_figure(side)} {'holds' if side['holds'] else 'FAILS'}"


def _figure(side: MeasuredFigure | None) -> str:
    if side is None:
        return "-"
    if side["value"] is None:
        return "none"
    ends = side.get("interval")
    return f"{side['value']:.6g}" + (f" ({ends[0]:.4g} to {ends[1]:.4g})" if ends else "")


def _signed(value: float | None) -> str:
    return "" if value is None else f"{value:+.6g}"


def _aligned(rows: Sequence[Sequence[str]]) -> Iterator[str]:
    widths = [max(len(printable(cell)) for cell in column) for column in zip(*rows, strict=True)]
    for row in rows:
        cells = (printable(cell).ljust(width) for cell, width in zip(row, widths, strict=True))
        yield "  ".join(cells).rstrip()
