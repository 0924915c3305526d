"""The addresses of hierarchies: below the policy's, with ``attribute`` and ``upload`` behind the question mark."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import networkx as nx
from markupsafe import Markup
from starlette.exceptions import HTTPException
from starlette.responses import Response

from ppdm_flow.core.diagnostics import Diagnostic
from ppdm_flow.core.errors import PpdmError
from ppdm_flow.core.texts import shortened
from ppdm_flow.mining.hierarchies.coarsening import UnplacedError
from ppdm_flow.mining.hierarchies.intervals import written
from ppdm_flow.page.http.call import Call, known_policy
from ppdm_flow.page.http.route import STEWARDS, asks, changes, reads
from ppdm_flow.page.services.bounded import CHECKS
from ppdm_flow.page.services.hierarchies.declared import (
    DeclaredAttribute,
    declared_attributes,
    declared_grouping,
    digest_of_file,
    hierarchy_name,
)
from ppdm_flow.page.services.hierarchies.grouping import (
    TOP,
    UNITS,
    GroupingRule,
    LevelLabels,
    UnusableGroupError,
    ValueGrouping,
    flat,
    tried,
)
from ppdm_flow.page.services.hierarchies.spread import CumulativeCounts, IntervalLevels, as_edges, interval_levels
from ppdm_flow.page.services.jobs.job import VerbJob
from ppdm_flow.page.texts.catalogue import catalogue
from ppdm_flow.page.views.hierarchies.saving import (
    MOST_VALUES,
    HierarchyForm,
    own_upload,
    propose_hierarchy,
    read_form,
    save_grouping,
)
from ppdm_flow.pictures.charts import Bin, ChartAxis, Plot, histogram
from ppdm_flow.pictures.graphs import Card, graph, title_line
from ppdm_flow.pictures.svg import Caption

_PLACE = "/policies/{policy:path}/hierarchies"
_ORDER = {"order": 2**20}
"""The values of an attribute, one a line."""


def list_hierarchies(call: Call) -> Response:
    """Show the attributes of a policy, and what can be done with each."""
    policy = known_policy(call)
    every = CHECKS.run(declared_attributes, call.site.policies.path(policy.name))
    return call.page(
        "hierarchies/list.html",
        policy=policy,
        attributes=every[:_MOST],
        more=max(0, len(every) - _MOST),
        uploads=call.site.uploads.all_of(call.user),
        upload=own_upload(call, call.query.get("upload", "")),
    )


# Intervals: boundaries on a histogram, and the rows between them.


def show_intervals(call: Call) -> Response:
    """Show the intervals that the policy has, or a suggestion."""
    about = read_form(call)
    return _page(call, about, _declared(about))


def count_intervals(call: Call) -> Response:
    """Show how many rows the intervals of the form have."""
    about = read_form(call)
    chosen = _read(call)
    if call.replaces_part:
        return call.page("hierarchies/levels.html", **_levels(about, chosen))
    return _page(call, about, chosen)


def save_intervals(call: Call) -> Response:
    """Propose the intervals of the form as a change of the policy."""
    about = read_form(call)
    chosen = _read(call)
    if chosen.wrong:
        return _page(call, about, chosen, 400)
    hierarchy: dict[str, object] = {"intervals": list(chosen.edges)}
    if chosen.then:
        hierarchy["then"] = list(chosen.then)
    if chosen.open_ends != "none":
        hierarchy["open_ends"] = chosen.open_ends
    return propose_hierarchy(call, about, hierarchy, type_=_type(about))


# What the verb does for the pages of hierarchies: counting the values of an upload's column, checking a file.


def count_values(call: Call) -> Response:
    """Have the values of a column counted."""
    about = read_form(call)
    page = call.text("page") if call.text("page") in ("groups", "rules") else "intervals"
    words = [*_words(call, about), "--counts", "-o", str(about.workplace.counts)]
    job = _added(call, about, words, page)
    about.workplace.counting(job.id)
    return call.go(about.place(page), **about.query)


def check_file(call: Call) -> Response:
    """Have the hierarchy file that the policy names held against an upload."""
    about = read_form(call)
    name = hierarchy_name(call.site.policies, about.policy.name, about.attribute)
    if name is None:
        raise HTTPException(404)
    words = [*_words(call, about), f"--check={call.site.policies.path(name)}"]
    delimiter = about.attribute.text("delimiter")
    job = _added(call, about, [*words, f"--delimiter={delimiter}"] if delimiter else words, "groups")
    return call.go(f"/jobs/{job.id}")


def show_counting(call: Call) -> Response:
    """Say how the count goes on; the page is loaded again once it is over."""
    about = read_form(call)
    counting = counting_of(call, about)
    response = call.page("hierarchies/counting.html", about=about, counting=counting)
    if counting is None or counting.state.is_over:
        response.headers.update(_REFRESH)
    return response


# Hierarchies by a rule: first characters, units of dates, neighbours in an order.


def show_rule(call: Call) -> Response:
    """Show the rule that the policy has."""
    about = read_form(call)
    return _rules_page(call, about, _rules_declared(about.attribute))


def try_rule(call: Call) -> Response:
    """Show what the rule of the form makes of the values."""
    return _rules_page(call, read_form(call), _read_rules(call))


def save_rule(call: Call) -> Response:
    """Propose the rule of the form as a change of the policy."""
    about, rule = read_form(call), _read_rules(call)
    try:
        return propose_hierarchy(call, about, rule.hierarchy())
    except UnusableGroupError:
        return _rules_page(call, about, rule, 400)


# Values put into groups, and groups into larger ones.


def show_groups(call: Call) -> Response:
    """Show one level of the groups that somebody is making."""
    about = read_form(call)
    grouping, wrong = _draft(call, about)
    return _groups_page(call, about, grouping, _level(call.query.get("level", "")), wrong=wrong)


def change_groups(call: Call) -> Response:
    """Make one change of the draft: ``deed`` says which."""
    about = read_form(call)
    level = _level(call.text("level"))
    notice = wrong = ""
    with call.site.hierarchies.changing(call.user):
        grouping, _ = _draft(call, about)
        try:
            if call.text("deed") == "restart":
                about.workplace.forget()
                grouping, wrong = _draft(call, about)
            else:
                grouping = _changed(call, about, grouping, min(level, len(grouping.parents) - 1))
                about.workplace.write(grouping)
            notice = "hierarchies.changed"
        except UnusableGroupError as error:
            wrong = error.key
    if call.text("deed") == "raise" and not wrong:
        level = len(grouping.parents) - 1
    if call.replaces_part or wrong:
        return _groups_page(call, about, grouping, level, notice=notice, wrong=wrong)
    return call.go(about.place("groups"), level=str(level), search=call.text("search"), **about.query)


def save_groups(call: Call) -> Response:
    """Write the draft as a hierarchy file, and have the policy name it."""
    about = read_form(call)
    grouping, _ = _draft(call, about)
    try:
        return save_grouping(call, about, grouping)
    except UnusableGroupError as error:
        return _groups_page(call, about, grouping, 0, wrong=error.key)


ROUTES = (
    reads(_PLACE, list_hierarchies, STEWARDS),
    reads(f"{_PLACE}/intervals", show_intervals, STEWARDS),
    asks(f"{_PLACE}/intervals/counts", count_intervals, STEWARDS),
    asks(f"{_PLACE}/intervals", save_intervals, STEWARDS),
    reads(f"{_PLACE}/rules", show_rule, STEWARDS),
    asks(f"{_PLACE}/rules/labels", try_rule, STEWARDS, _ORDER),
    asks(f"{_PLACE}/rules", save_rule, STEWARDS, _ORDER),
    reads(f"{_PLACE}/groups", show_groups, STEWARDS),
    changes(
        f"{_PLACE}/groups/change",
        change_groups,
        STEWARDS,
        "hierarchies.draft",
        "policy",
        long_fields={"member": 200_000},
    ),
    changes(f"{_PLACE}/groups", save_groups, STEWARDS, "hierarchies.save", "policy"),
    reads(f"{_PLACE}/counting", show_counting, STEWARDS),
    changes(f"{_PLACE}/count", count_values, STEWARDS, "hierarchies.count", "policy"),
    changes(f"{_PLACE}/check", check_file, STEWARDS, "hierarchies.check", "policy"),
)

_MOST = 2_000
"""Attributes that are listed: as many columns as an upload has."""

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


def _page(call: Call, about: HierarchyForm, chosen: IntervalForm, status: int = 200) -> Response:
    spread = _spread(about)
    return call.page(
        "hierarchies/intervals.html",
        status,
        about=about,
        texts=[written(edge) for edge in chosen.edges],
        then=", ".join(map(str, chosen.then)),
        picture=None if spread is None else histogram_of(about.attribute.name, spread, chosen.edges),
        step=None if spread is None else f"{spread.step if not spread.all_integers else max(spread.step, 1):f}",
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
    return "integer" if spread.all_integers else "float"


# The pictures of hierarchies: a histogram to put boundaries on, a small tree.


_MOST_BOXES = 60
_LONGEST = 100
_WIDEST = 220.0
_WIDTH, _HEIGHT = 640.0, 300.0


def histogram_of(attribute: str, spread: CumulativeCounts, edges: Sequence[float]) -> Markup:
    """Return how the rows of a column of numbers lie."""
    t = catalogue()
    bins = [
        Bin(float(low), float(high), rows, t("hierarchies.bin", low=written(low), high=written(high), rows=f"{rows:,}"))
        for low, high, rows in spread.bins()
    ]
    ends = (edges[0], edges[-1]) if edges else None
    description = t(
        "hierarchies.histogram_told", rows=f"{spread.rows:,}", low=written(spread.low), high=written(spread.high)
    )
    title = t("hierarchies.histogram", name=attribute)
    axes = ChartAxis(attribute), ChartAxis(t("hierarchies.rows"))
    plot = histogram(bins, *axes, plot=Plot(_WIDTH, _HEIGHT, "chart histogram"), reach=ends)
    return plot.picture(Caption(title, description, "histogram"))


def tree_of(attribute: str, grouping: ValueGrouping) -> Markup | None:
    """Return the tree from the values to the top; None where it has too many boxes to be read."""
    t = catalogue()
    if len(grouping.values) > _MOST_BOXES:
        return None
    ways = [(value, *above) for value, above in grouping.lines().items()]
    levels = [list(dict.fromkeys(level)) for level in zip(*ways, strict=True)]
    if sum(map(len, levels)) > _MOST_BOXES:
        return None
    cards = {
        f"{place} {label}": _card(label, top=label == TOP and place + 1 == len(levels))
        for place, level in enumerate(levels)
        for label in level
    }
    arrows = nx.DiGraph()
    arrows.add_nodes_from(cards)
    arrows.add_edges_from(
        (f"{place} {below}", f"{place + 1} {label}")
        for way in ways
        for place, (below, label) in enumerate(pairwise(way))
    )
    last = [node for node, card in cards.items() if card.look == "release"]
    return graph(arrows, cards, t("hierarchies.tree", name=attribute), last, name="tree")


def _card(label: str, *, top: bool) -> Card:
    text = catalogue()("hierarchies.top") if top else shortened(label, _LONGEST)
    return Card("release" if top else "step", (title_line(text, _WIDEST),), name=text)


_REFRESH = {"HX-Refresh": "true"}


def counting_of(call: Call, about: HierarchyForm) -> VerbJob | None:
    """Return the job that counts, or did; None where there was none."""
    try:
        job = call.site.jobs.get(about.workplace.job_id) if about.upload is not None else None
    except LookupError:
        return None
    return job if job is not None and job.account == call.user.id else None


def _words(call: Call, about: HierarchyForm) -> list[str]:
    """Return the verb with the column that it is about. Raises HTTPException 404 where there is no upload."""
    if about.upload is None:
        raise HTTPException(404)
    words = ["hierarchy", str(about.upload.path), f"--attribute={about.attribute.column}"]
    if _can_be_read_by(call, about):
        words.append(f"--policy={call.site.policies.path(about.policy.name)}")
    return words


def _added(call: Call, about: HierarchyForm, words: list[str], page: str) -> VerbJob:
    policy = about.policy.name
    return call.site.jobs.add(call.user, words, kind="hierarchy", about=policy, leads_to=about.address(page))


def _can_be_read_by(call: Call, about: HierarchyForm) -> bool:
    """Whether the policy can say how the data are read: it has no errors, and one table."""
    return not about.attribute.table and call.site.checks.check(about.policy.name, about.policy.text).valid


def _rules_page(call: Call, about: HierarchyForm, rule: GroupingRule, status: int = 200) -> Response:
    wrong, levels, faults = "", list[LevelLabels](), tuple[Diagnostic, ...]()
    try:
        hierarchy = rule.hierarchy()
        if about.counts is not None and about.counts.listed is not None:
            levels = CHECKS.run(tried, about.attribute.column, hierarchy, about.counts.listed)
    except UnusableGroupError as error:
        wrong = error.key
    except PpdmError as error:
        faults = tuple(error.diagnostics)
    return call.page(
        "hierarchies/labels.html" if call.replaces_part else "hierarchies/rules.html",
        status,
        about=about,
        rule=rule,
        units=UNITS,
        levels=levels,
        wrong=wrong,
        faults=faults,
        uploads=call.site.uploads.all_of(call.user),
        counting=counting_of(call, about),
    )


def _read_rules(call: Call) -> GroupingRule:
    return GroupingRule(
        call.text("by"),
        call.text("keep"),
        call.text("mask"),
        tuple(call.texts("unit")),
        call.text("format").strip(),
        tuple(line for line in call.text("order").replace("\r", "").split("\n") if line),
        call.text("then"),
    )


def _rules_declared(attribute: DeclaredAttribute) -> GroupingRule:
    by = attribute.form if attribute.form in ("prefix", "date", "order") else "prefix"
    return GroupingRule(
        by,
        ", ".join(attribute.texts("prefix")) or "3, 1",
        attribute.text("mask") or "*",
        attribute.texts("date") or ("year", "decade"),
        attribute.text("format"),
        attribute.texts("order"),
        ", ".join(attribute.texts("then")) or "2, 2",
    )


_NEW = ""


def _changed(call: Call, about: HierarchyForm, grouping: ValueGrouping, level: int) -> ValueGrouping:
    deed, group = call.text("deed"), call.text("group")
    name = call.text("name").strip()
    if deed == "move":
        return grouping.moved(level, call.texts("member"), name if group == _NEW else group)
    if deed == "rare":
        return grouping.moved(level, _rare(about, grouping, level, call.text("least")), name)
    if deed == "rename":
        return grouping.renamed(level, group, name)
    if deed == "dissolve":
        return grouping.dissolved(level, group)
    if deed == "free":
        return grouping.freed(level, call.texts("member"))
    if deed == "raise":
        return grouping.raised()
    if deed == "lower":
        return grouping.lowered()
    raise UnusableGroupError("no_deed")


def _rare(about: HierarchyForm, grouping: ValueGrouping, level: int, least: str) -> list[str]:
    """Return what is in no group of a level and has fewer rows than that."""
    if about.counts is None or about.counts.listed is None or not (least.isascii() and least.isdigit()):
        raise UnusableGroupError("no_count")
    rows = grouping.rows(about.counts.listed, level)
    return [name for name in grouping.single(level) if rows[name] < int(least[:18])]


def _draft(call: Call, about: HierarchyForm) -> tuple[ValueGrouping, str]:
    """Return the draft; else what the policy has, with the values of the data; else values alone.

    The second is the key of a sentence where what the policy has is none that can be put into groups.
    """
    draft = about.workplace.read()
    if draft is not None:
        return draft, ""
    counted = () if about.counts is None or about.counts.listed is None else tuple(about.counts.listed)
    try:
        declared = declared_grouping(call.site.policies, about.policy.name, about.attribute)
    except UnusableGroupError as error:
        return flat(counted), error.key
    return (flat(counted) if declared is None else declared.over(counted)), ""


def _level(text: str) -> int:
    return int(text) if text.isascii() and text.isdigit() and len(text) < 3 else 0


def _groups_page(
    call: Call, about: HierarchyForm, grouping: ValueGrouping, level: int, *, notice: str = "", wrong: str = ""
) -> Response:
    counts = None if about.counts is None else about.counts.listed
    search = call.text("search") or call.query.get("search", "")
    return call.page(
        "hierarchies/board.html" if call.replaces_part else "hierarchies/groups.html",
        400 if wrong and call.request.method == "POST" and not call.replaces_part else 200,
        about=about,
        board=board(grouping, min(level, len(grouping.parents) - 1), counts, search),
        values=len(grouping.values),
        too_many=about.counts is not None and about.counts.listed is None,
        most=MOST_VALUES,
        picture=tree_of(about.attribute.name, grouping) if grouping.values else None,
        digest=digest_of_file(call.site.policies, about.policy.name, about.attribute),
        search=search,
        told=notice,
        wrong=wrong,
        uploads=call.site.uploads.all_of(call.user),
        counting=counting_of(call, about),
    )


# What a level of groups looks like: boxes with what is in them, and what is in none.


_SHOWN = 200
_SHOWN_IN_BOX = 60
_SHOWN_BOXES = 100
_SHOWN_INSIDE = 20


@dataclass(frozen=True, slots=True)
class Member:
    """A value, or on higher levels a group; ``rows`` is None where nothing was counted.

    ``inside`` are values of a group, ``more`` those that are not shown.
    """

    name: str
    rows: int | None
    inside: tuple[str, ...] = ()
    more: int = 0


@dataclass(frozen=True, slots=True)
class Box:
    """A group; ``more`` members are not shown."""

    name: str
    rows: int | None
    size: int
    members: tuple[Member, ...]
    more: int


@dataclass(frozen=True, slots=True)
class Board:
    """One level of a grouping. ``groups`` are the names of all that a member can be put into."""

    level: int
    height: int
    free: tuple[Member, ...]
    free_more: int
    boxes: tuple[Box, ...]
    boxes_more: int
    groups: tuple[str, ...]


def board(grouping: ValueGrouping, level: int, counts: Mapping[str, int] | None, search: str) -> Board:
    """Return a level as it is shown; of members, those that have ``search`` in their name."""
    below = None if counts is None else grouping.rows(counts, level)
    above = None if counts is None else grouping.rows(counts, level + 1)
    groups = grouping.groups(level)
    single = {name for name, members in groups.items() if members == [name]}
    inside = _values_inside(grouping, level)
    free = _members([name for name in groups if name in single], below, search, inside)
    made = [name for name in groups if name not in single]
    boxes = [
        _box(name, _members(groups[name], below, search, inside), len(groups[name]), above)
        for name in made[:_SHOWN_BOXES]
    ]
    return Board(
        level,
        len(grouping.parents),
        free[:_SHOWN],
        max(0, len(free) - _SHOWN),
        tuple(boxes),
        max(0, len(made) - _SHOWN_BOXES),
        tuple(made),
    )


def _box(name: str, shown: tuple[Member, ...], size: int, above: Mapping[str, int] | None) -> Box:
    rows = None if above is None else above[name]
    return Box(name, rows, size, shown[:_SHOWN_IN_BOX], max(0, len(shown) - _SHOWN_IN_BOX))


def _members(
    names: Sequence[str], rows: Mapping[str, int] | None, search: str, inside: Mapping[str, Sequence[str]]
) -> tuple[Member, ...]:
    sought = search.strip().casefold()
    shown = [name for name in names if sought in name.casefold()]
    if rows is not None:
        shown.sort(key=lambda name: -rows[name])
    return tuple(_member(name, rows, inside.get(name, ())) for name in shown)


def _member(name: str, rows: Mapping[str, int] | None, inside: Sequence[str]) -> Member:
    values = () if list(inside) == [name] else tuple(inside)
    many = None if rows is None else rows[name]
    return Member(name, many, values[:_SHOWN_INSIDE], max(0, len(values) - _SHOWN_INSIDE))


def _values_inside(grouping: ValueGrouping, level: int) -> dict[str, list[str]]:
    """Return the values of each member of a level above the first."""
    inside: dict[str, list[str]] = {}
    if level:
        for value, above in grouping.lines().items():
            inside.setdefault(above[level - 1], []).append(value)
    return inside
