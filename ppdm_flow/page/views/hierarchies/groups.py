"""Values put into groups, and groups into larger ones."""

from __future__ import annotations

from starlette.responses import Response

from ppdm_flow.page.http.call import Call
from ppdm_flow.page.services.hierarchies.declared import declared_grouping, digest_of_file
from ppdm_flow.page.services.hierarchies.grouping import UnusableGroupError, ValueGrouping, flat
from ppdm_flow.page.views.hierarchies.asked import MOST_VALUES, HierarchyForm, asked
from ppdm_flow.page.views.hierarchies.boxes import board
from ppdm_flow.page.views.hierarchies.counting import counting_of
from ppdm_flow.page.views.hierarchies.drawing import tree_of
from ppdm_flow.page.views.hierarchies.saving import save_grouping

_NEW = ""


def show_groups(call: Call) -> Response:
    """Show one level of the groups that somebody is making."""
    about = asked(call)
    grouping, wrong = _draft(call, about)
    return _page(call, about, grouping, _level(call.query.get("level", "")), wrong=wrong)


def change_groups(call: Call) -> Response:
    """Make one change of the draft: ``deed`` says which."""
    about = asked(call)
    level = _level(call.text("level"))
    told = wrong = ""
    with call.site.hierarchies.changing(call.user):
        grouping, _ = _draft(call, about)
        try:
            if call.text("deed") == "restart":
                about.workplace.forget()
                grouping, wrong = _draft(call, about)
            else:
                grouping = _changed(call, about, grouping, min(level, len(grouping.parents) - 1))
                about.workplace.write(grouping)
            told = "hierarchies.changed"
        except UnusableGroupError as error:
            wrong = error.key
    if call.text("deed") == "raise" and not wrong:
        level = len(grouping.parents) - 1
    if call.replaces_part or wrong:
        return _page(call, about, grouping, level, told=told, wrong=wrong)
    return call.go(about.place("groups"), level=str(level), search=call.text("search"), **about.query)


def save_groups(call: Call) -> Response:
    """Write the draft as a hierarchy file, and have the policy name it."""
    about = asked(call)
    grouping, _ = _draft(call, about)
    try:
        return save_grouping(call, about, grouping)
    except UnusableGroupError as error:
        return _page(call, about, grouping, 0, wrong=error.key)


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


def _page(
    call: Call, about: HierarchyForm, grouping: ValueGrouping, level: int, *, told: str = "", wrong: str = ""
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
        told=told,
        wrong=wrong,
        uploads=call.site.uploads.all_of(call.user),
        counting=counting_of(call, about),
    )
