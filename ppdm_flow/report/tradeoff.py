"""Privacy against utility: how much of each bound is used, and what the release still is good for."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ppdm_flow.report.amounts import amount, between
from ppdm_flow.report.checks import Check
from ppdm_flow.report.verdict import Verdict

_MOST = 10

_KEEPS: tuple[tuple[str, str, bool], ...] = (
    ("record_utility", "Rows that keep their value", True),
    ("aggregate_utility", "Frequencies that can be estimated back", True),
    ("error_increase", "More classification errors", False),
    ("total_variation", "Change of distributions", False),
    ("association_change", "Change of relations between attributes", False),
    ("suppressed_share", "Suppressed cells", False),
)
"""(end of a figure's name, what it is, whether more is better)."""


@dataclass(frozen=True, slots=True)
class Gauge:
    """A share in [0, 1] as a bar, with the text beside it."""

    name: str
    detail: str
    share: float
    text: str
    good: bool


@dataclass(frozen=True, slots=True)
class Tradeoff:
    """Both sides. ``used`` is the part of each bound that is used up, ``kept`` what is left of the data's worth."""

    used: tuple[Gauge, ...]
    kept: tuple[Gauge, ...]
    more: int


def tradeoff(document: dict[str, Any], judged: Verdict) -> Tradeoff:
    """Return both sides; the requirements that are nearest to their bound first."""
    used = [gauge for check in judged.requirements if (gauge := _used(check)) is not None]
    used.sort(key=lambda gauge: -gauge.share)
    kept = [gauge for name, figure in document["metrics"].items() if (gauge := _kept(name, figure)) is not None]
    return Tradeoff(tuple(used[:_MOST]), tuple(kept[:_MOST]), max(0, len(used) - _MOST))


def _used(check: Check) -> Gauge | None:
    """Return how much of the bound is used: 100% is exactly at it. None where a ratio means nothing."""
    if check.figure is None or check.limit <= 0 or check.figure < 0:
        return None
    part, whole = (check.figure, check.limit) if check.at_most else (check.limit, check.figure)
    ratio = part / whole if whole else 1.0
    name = check.title if check.title == check.kind else f"{check.kind} {check.title}"
    return Gauge(name, check.release, min(1.0, ratio), amount(ratio, "share"), check.holds)


def _kept(name: str, figure: dict[str, Any]) -> Gauge | None:
    value = figure["value"]
    if value is None or figure["unit"] not in {"share", "probability"} or not -1 <= value <= 1:
        return None
    _owner, _, rest = name.partition(".")
    for end, words, more in _KEEPS:
        if rest == end or rest.endswith(f".{end}"):
            kept = value if more else 1 - max(0.0, value)
            span = between(figure.get("interval"), figure["unit"])
            text = amount(value, figure["unit"]) + (f" ({span})" if span else "")
            return Gauge(words, name, max(0.0, min(1.0, kept)), text, more)
    return None
