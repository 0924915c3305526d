"""Privacy against utility: how much of each bound is used, what risk remains, what the release still is good for."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from ppdm_flow.core.amounts import amount, between
from ppdm_flow.report.run.checks import CheckedRequirement
from ppdm_flow.report.run.fields import FigureDocument, ReportDocument
from ppdm_flow.report.run.verdict import PageVerdict

_MOST = 10
_MOST_KEPT = 20
_SHARES = frozenset({"share", "probability"})

_KEPT = {
    "mean_kept": ("Information kept", True),
    "record_utility": ("Rows that keep their value", True),
    "distribution_utility": ("Frequencies that can be estimated back", True),
    "error_increase": ("Change of the classification error", False),
    "mean_generalization_loss": ("Detail lost by generalization and suppression", False),
    "rows_lost": ("Rows left out", False),
    "mean_total_variation": ("Change of distributions", False),
    "mean_association_change": ("Change of relations between attributes", False),
    "suppressed_cells": ("Suppressed cells", False),
}
"""Figure: what it is, and whether more is better."""
_RISKS = {
    "prosecutor_highest": "Highest risk of a person known to be in the data",
    "prosecutor_average": "Average risk of a person known to be in the data",
    "marketer_average": "Share of all persons that a mass attack finds",
}

_ORDER = (*_RISKS, *_KEPT)


@dataclass(frozen=True, slots=True)
class Gauge:
    """A share in [0, 1] as a bar, with the text beside it; ``release`` is empty where there is one only.

    ``state`` is ``holds``, ``waived`` or ``fails``.
    """

    name: str
    release: str
    share: float
    text: str
    state: str = "holds"

    @property
    def good(self) -> bool:
        """Whether it holds."""
        return self.state == "holds"


@dataclass(frozen=True, slots=True)
class Tradeoff:
    """Both sides: ``used`` of the bounds and ``risks`` that remain; ``kept`` of the data's worth."""

    used: tuple[Gauge, ...]
    risks: tuple[Gauge, ...]
    kept: tuple[Gauge, ...]
    more: int

    def __bool__(self) -> bool:
        return bool(self.used or self.risks or self.kept)


@dataclass(frozen=True, slots=True)
class _Share:
    """A metric that is a share, taken apart: ``release/owner.name``."""

    release: str
    owner: str
    name: str
    value: float
    text: str


def tradeoff(document: ReportDocument, judged: PageVerdict) -> Tradeoff:
    """Return both sides; the requirements that are nearest to their bound first."""
    several = len(judged.releases) > 1
    used = [gauge for check in judged.requirements if (gauge := _used(check, several)) is not None]
    used.sort(key=lambda gauge: -gauge.share)
    shares = sorted(_measured(document), key=lambda share: (share.release, _ORDER.index(share.name)))
    risks = [Gauge(_RISKS[s.name], s.release, _inside(s.value), s.text) for s in shares if s.name in _RISKS]
    kept = [_kept(share) for share in shares if share.name in _KEPT]
    return Tradeoff(tuple(used[:_MOST]), tuple(risks[:_MOST]), tuple(kept[:_MOST_KEPT]), max(0, len(used) - _MOST))


def _used(check: CheckedRequirement, several: bool) -> Gauge | None:
    """Return how much of the bound is used: 100% is exactly at it. None where a ratio means nothing."""
    if check.figure is None or check.limit <= 0 or check.figure < 0:
        return None
    part, budget = (check.figure, check.limit) if check.at_most else (check.limit, check.figure)
    ratio = part / budget if budget else 1.0
    name = check.title if check.title == check.kind else f"{check.kind} {check.title}"
    return Gauge(name, check.release if several else "", _inside(ratio), amount(ratio, "share"), check.state)


def _measured(document: ReportDocument) -> Iterator[_Share]:
    """Yield the figures that count here; a step's own only where no audit measured the same."""
    steps = {step["name"] for step in document["steps"]}
    every = (_share(name, figure) for name, figure in document["metrics"].items())
    shares = [share for share in every if share is not None and share.name in _ORDER]
    audited = {share.name for share in shares if share.owner not in steps}
    return (share for share in shares if share.owner not in steps or share.name not in audited)


def _share(name: str, figure: FigureDocument) -> _Share | None:
    value, unit = figure["value"], figure["unit"]
    if value is None or unit not in _SHARES or not -1 <= value <= 1:
        return None
    owner, _, rest = name.partition(".")
    release, slash, audit = owner.partition("/")
    interval = between(figure.get("interval"), unit)
    text = amount(value, unit) + (f" ({interval})" if interval else "")
    return _Share(release if slash else "", audit if slash else owner, rest, value, text)


def _kept(share: _Share) -> Gauge:
    words, more = _KEPT[share.name]
    return Gauge(words, share.release, _inside(share.value if more else 1 - max(0.0, share.value)), share.text)


def _inside(value: float) -> float:
    return min(1.0, max(0.0, value))
