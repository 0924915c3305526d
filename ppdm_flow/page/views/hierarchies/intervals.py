"""Intervals: boundaries on a histogram, and the rows between them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from starlette.responses import Response

from ppdm_flow.mining.hierarchies.coarsening import UnplacedError
from ppdm_flow.mining.hierarchies.intervals import written
from ppdm_flow.page.http.call import Call
from ppdm_flow.page.services.hierarchies.levels import IntervalLevels, interval_levels
from ppdm_flow.page.services.hierarchies.spread import CumulativeCounts, as_edges
from ppdm_flow.page.views.hierarchies.asked import HierarchyForm, asked
from ppdm_flow.page.views.hierarchies.counting import counting_of
from ppdm_flow.page.views.hierarchies.drawing import histogram_of
from ppdm_flow.page.views.hierarchies.saving import propose_hierarchy

OPEN_ENDS = ("none", "below", "above", "both")
_MOST_EDGES = 200
_MOST_LEVELS = 12


@dataclass(frozen=True, slots=True)
class IntervalForm:
    """What the form says; ``wrong`` names the sentence that says why it is no hierarchy."""

    edges: tuple[float, ...]
    then: tuple[int, ...]
    open_ends: str
    wrong: str = ""


def show_intervals(call: Call) -> Response:
    """Show the intervals that the policy has, or a suggestion."""
    about = asked(call)
    return _page(call, about, _declared(about))


def count_intervals(call: Call) -> Response:
    """Show how many rows the intervals of the form have."""
    about = asked(call)
    chosen = _read(call)
    if call.replaces_part:
        return call.page("hierarchies/levels.html", **_levels(about, chosen))
    return _page(call, about, chosen)


def save_intervals(call: Call) -> Response:
    """Propose the intervals of the form as a change of the policy."""
    about = asked(call)
    chosen = _read(call)
    if chosen.wrong:
        return _page(call, about, chosen, 400)
    hierarchy: dict[str, object] = {"intervals": list(chosen.edges)}
    if chosen.then:
        hierarchy["then"] = list(chosen.then)
    if chosen.open_ends != "none":
        hierarchy["open_ends"] = chosen.open_ends
    return propose_hierarchy(call, about, hierarchy, type_=_type(about))


def _page(call: Call, about: HierarchyForm, chosen: IntervalForm, status: int = 200) -> Response:
    spread = _spread(about)
    return call.page(
        "hierarchies/intervals.html",
        status,
        about=about,
        texts=[written(edge) for edge in chosen.edges],
        then=", ".join(map(str, chosen.then)),
        picture=None if spread is None else histogram_of(about.attribute.name, spread, chosen.edges),
        step=None if spread is None else f"{spread.step if not spread.whole else max(spread.step, 1):f}",
        uploads=call.site.uploads.all_of(call.user),
        counting=counting_of(call, about),
        **_levels(about, chosen),
    )


def _levels(about: HierarchyForm, chosen: IntervalForm) -> dict[str, Any]:
    spread = _spread(about)
    levels: IntervalLevels | None = None
    if not chosen.wrong:
        levels = interval_levels(chosen.edges, chosen.then, chosen.open_ends, spread)
    return {"levels": levels, "spread": spread, "chosen": chosen}


def _spread(about: HierarchyForm) -> CumulativeCounts | None:
    return None if about.counts is None else about.counts.spread


def _declared(about: HierarchyForm) -> IntervalForm:
    """Return what the policy has; else a suggestion by the data, if there are any."""
    texts, spread = about.attribute.texts("intervals"), _spread(about)
    if texts:
        return _chosen(texts, " ".join(about.attribute.texts("then")), about.attribute.text("open_ends"))
    return IntervalForm(
        () if spread is None else spread.suggestion(), (), "none", "" if spread is not None else "few_edges"
    )


def _read(call: Call) -> IntervalForm:
    return _chosen([text for text in call.texts("edge") if text.strip()], call.text("then"), call.text("open_ends"))


def _chosen(texts: list[str] | tuple[str, ...], then: str, open_ends: str) -> IntervalForm:
    ends = open_ends if open_ends in OPEN_ENDS else "none"
    if len(texts) > _MOST_EDGES:
        return IntervalForm((), (), ends, "many_edges")
    try:
        edges = as_edges(texts)
    except UnplacedError:
        return IntervalForm(_numbers(texts), (), ends, "no_number")
    joins = then.replace(",", " ").split()
    if len(joins) > _MOST_LEVELS or not all(_joins(word) for word in joins):
        return IntervalForm(edges, (), ends, "no_join")
    wrong = "few_edges" if len(edges) < 2 else ""
    return IntervalForm(edges, tuple(int(word) for word in joins), ends, wrong)


def _joins(word: str) -> bool:
    return word.isascii() and word.isdigit() and len(word) < 5 and int(word) >= 2


def _numbers(texts: list[str] | tuple[str, ...]) -> tuple[float, ...]:
    """Return the edges that are numbers."""
    edges: set[float] = set()
    for text in texts:
        try:
            edges.update(as_edges([text]))
        except UnplacedError:
            continue
    return tuple(sorted(edges))


def _type(about: HierarchyForm) -> str:
    """Return the type that an attribute without one should have for intervals; empty where it has one."""
    spread = _spread(about)
    if about.attribute.type or spread is None:
        return ""
    return "integer" if spread.whole else "float"
