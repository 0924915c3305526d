"""A verdict for the terminal: the requirements and gates with what was measured."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from ppdm_flow.core.requirements import TOLERANCE

if TYPE_CHECKING:  # the verbs that need no verdict start faster without it
    from ppdm_flow.core.results import Report, RequirementResult

_HEAD = ("", "requirement", "release", "measured", "bound")


def verdict(report: Report, words: Mapping[str, str] = {}) -> str:
    """Return the verdict with a table of requirements and gates, and a sentence for each that fails.

    ``words`` replace the words ``released`` and ``withheld``.
    """
    results = (*report.requirements, *report.gates)
    failed = [result for result in results if not result.holds]
    head = f"{report.policy}: {words.get(report.verdict, report.verdict)}"
    if failed:
        head += f" ({len(failed)} of {len(results)} not held)"
    sentences = [f"{result.id}: {result.sentence}" for result in failed]
    table = _table([_HEAD, *(_row(result) for result in results)]) if results else []
    return "\n".join([head, *table, *sentences])


def _row(result: RequirementResult) -> tuple[str, ...]:
    side = "≥" if result.direction == "at_least" else "≤"
    return (
        "yes" if result.holds else "NO",
        result.id,
        result.release,
        number(result.measured),
        f"{side} {number(result.bound)}",
    )


def number(value: float | None) -> str:
    """Return a figure with at most six significant digits."""
    if value is None:
        return "unknown"
    return str(value) if isinstance(value, int) else f"{0.0 if abs(value) < TOLERANCE else value:.6g}"


def _table(rows: Iterable[tuple[str, ...]]) -> list[str]:
    every = list(rows)
    widths = [max(len(cell) for cell in column) for column in zip(*every, strict=True)]
    return ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in every]
