"""Two outcomes side by side: what was judged, and every figure that differs."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Literal

from ppdm_flow.report.diff.fields import JudgedFigure, MeasuredFigure, OutcomePair, ResultPair
from ppdm_flow.report.snippet import printable


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
