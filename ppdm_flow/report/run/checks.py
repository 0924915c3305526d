"""Requirements and gates as rows of a report."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ppdm_flow.core.amounts import amount, between, pair
from ppdm_flow.core.card_pages import FEWEST
from ppdm_flow.core.lineage import UNTOLD as UNTOLD_CELLS
from ppdm_flow.core.requirement import within
from ppdm_flow.report.run.advice import advise
from ppdm_flow.report.run.fields import (
    PUBLIC,
    FigureDocument,
    ReportDocument,
    ReportedWaiver,
    ResultDocument,
    SpanDocument,
    waivers,
)
from ppdm_flow.report.run.wording import is_cumulative, is_of_all_files, kind_of, title_of

_ORDER = ("fails", "waived", "holds")
_GUESSES = {"k": "rows", "confidence": "probability", "margin": "probability", "posterior": "probability"}


@dataclass(frozen=True, slots=True)
class CheckedRequirement:
    """One requirement or gate on one release, worded. ``bound`` reads ``at least 5``, ``place`` ``bank.yaml:12``.

    ``release`` is empty where the figure belongs to no release (a step's own). ``measured`` says where a figure
    lies inside its bound and yet does not count. ``advice`` says what to do next where it does not hold. ``waiver`` is
    the one by which it need not.
    """

    id: str
    anchor: str
    release: str
    kind: str
    title: str
    metric: str
    sentence: str
    holds: bool
    measured: str
    bound: str
    interval: str
    place: str
    unit: str
    figure: float | None
    limit: float
    at_most: bool
    ends: Sequence[float] | None
    before: str
    figure_before: float | None
    advice: str = ""
    waiver: ReportedWaiver | None = None

    @property
    def state(self) -> str:
        """``fails``, ``waived`` or ``holds``."""
        return "holds" if self.holds else "waived" if self.waiver else "fails"

    @property
    def share(self) -> bool:
        """Whether the figure is a share or probability."""
        return self.unit in {"share", "probability", "points"}


def requirements(document: ReportDocument) -> list[CheckedRequirement]:
    """Return the requirements: those that fail, those that are waived, those that hold."""
    return _ordered(document, "requirements")


def gates(document: ReportDocument) -> list[CheckedRequirement]:
    """Return the gates, in the same order."""
    return _ordered(document, "gates")


def anchored(document: ReportDocument) -> dict[str, ResultDocument]:
    """Return what was judged by the anchor of its row."""
    parts = {"requirements": document["requirements"], "gates": document["gates"]}
    return {f"{part}-{i}": result for part, results in parts.items() for i, result in enumerate(results, start=1)}


def _ordered(document: ReportDocument, part: str) -> list[CheckedRequirement]:
    results = anchored(document).items()
    checks = [_check(result, document, anchor) for anchor, result in results if anchor.startswith(part)]
    return sorted(checks, key=lambda check: _ORDER.index(check.state))


def _check(result: ResultDocument, document: ReportDocument, anchor: str) -> CheckedRequirement:
    metrics = document["metrics"]
    unit = _unit(result, metrics)
    measured, bound = pair(result["measured"], result["bound"], unit)
    at_most = result["direction"] == "at_most"
    unverified = not result["holds"] and _inside(result, at_most)
    before = _figure_of(result, metrics, "_before")["value"]
    return CheckedRequirement(
        id=f"{result['id']}{_together(result)}",
        anchor=anchor,
        release=result["release"],
        kind=kind_of(result["id"]),
        title=f"{title_of(result['id'])}{_together(result)}",
        metric=result["metric"],
        sentence=result["sentence"],
        holds=bool(result["holds"]),
        measured=f"{measured} (not verified)" if unverified else _untold(result, document) or measured,
        bound=f"{'at most' if at_most else 'at least'} {bound}",
        interval=between(result.get("interval"), unit),
        place=_place(result["policy_span"]),
        unit=unit,
        figure=result["measured"],
        limit=result["bound"],
        at_most=at_most,
        ends=result.get("interval"),
        before="" if before is None else amount(before, unit),
        figure_before=before,
        advice=advise(result, document["plan"], unpaired=_is_unpaired(result, document)),
        waiver=None if result["holds"] else _waiver(result, document),
    )


def _is_unpaired(result: ResultDocument, document: ReportDocument) -> bool:
    """Whether nobody measured this since the file alone does not tell which row is whose."""
    untold_findings = ((f["code"], f["subject"], f["text"]) for f in document["findings"])
    return not result["holds"] and (UNTOLD_CELLS, result["id"], result["sentence"]) in untold_findings


def _untold(result: ResultDocument, document: ReportDocument) -> str:
    """Return what a public report says in place of a figure that it leaves out."""
    if not is_public(document) or result["measured"] is not None:
        return ""
    return str(_figure_of(result, document["metrics"]).get("note") or UNTOLD)


def _together(result: ResultDocument) -> str:
    """Return the suffix of a name: results about several releases or files have one."""
    if is_cumulative(result):
        return ", all releases"
    return ", all files" if is_of_all_files(result) else ""


def _waiver(result: ResultDocument, document: ReportDocument) -> ReportedWaiver | None:
    """Return the waiver that a result names. One that had expired, or that the document lacks, waives nothing."""
    name = result.get("waived_by")
    return next((w for w in waivers(document) if w.name == name and w.days_left >= 0), None)


def _inside(result: ResultDocument, at_most: bool) -> bool:
    return result["measured"] is not None and within(result["measured"], result["bound"], at_most=at_most)


def _figure_of(result: ResultDocument, metrics: dict[str, FigureDocument], suffix: str = "") -> FigureDocument:
    """Return the metric that a result rests on, under its own name or that of its release."""
    name = result["metric"] + suffix
    return metrics.get(name) or metrics.get(f"{result['release']}/{name}") or {"value": None, "unit": ""}


def _unit(result: ResultDocument, metrics: dict[str, FigureDocument]) -> str:
    return unit_of(result["metric"], _figure_of(result, metrics)["unit"])


def unit_of(metric: str, unit: str) -> str:
    """Return the unit in which a bound of a figure is written; ``unit`` is what the figure says, if it says any."""
    last = metric.rpartition(".")[2]
    known = unit or _GUESSES.get(last, "")
    return "points" if last == "margin" and known in {"probability", "share"} else known


def _place(span: SpanDocument | None) -> str:
    if span is None:
        return ""
    name = span["file"].replace("\\", "/").rpartition("/")[2]
    return f"{name}:{span['line']}"


# Whether a report may be shared, in the words of its first screen.


FEW = f"fewer than {FEWEST}"
UNTOLD = "not for the public"
"""Replaces a measured figure that a public report leaves out."""


@dataclass(frozen=True, slots=True)
class Audience:
    """Who may read a report: a word for the eye, and what it means."""

    public: bool
    word: str
    sentence: str


_INTERNAL = Audience(
    False,
    "Internal",
    "Do not share this report: it has figures on the original data and a hash of the input."
    " `ppdm-flow report RUN --public` writes one that may.",
)
_PUBLIC = Audience(
    True,
    "Public",
    "This report may be shared: it has no figure on the original data, no hash of the input, and of counts below"
    f" {FEWEST} no more than `{FEW}`.",
)


def audience(document: ReportDocument) -> Audience:
    """Return who may read a report; one that does not say is internal."""
    return _PUBLIC if is_public(document) else _INTERNAL


def is_public(document: ReportDocument) -> bool:
    """Return whether the report is one for the public."""
    return bool(document.get("audience") == PUBLIC)
