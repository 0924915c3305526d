"""Hierarchies by a rule: first characters, units of dates, neighbours in an order."""

from __future__ import annotations

from starlette.responses import Response

from ppdm_flow.core.diagnostics import Diagnostic
from ppdm_flow.core.errors import PpdmError
from ppdm_flow.page.http.call import Call
from ppdm_flow.page.services.bounded import CHECKS
from ppdm_flow.page.services.hierarchies.attributes import DeclaredAttribute
from ppdm_flow.page.services.hierarchies.grouping import UnusableGroupError
from ppdm_flow.page.services.hierarchies.rules import UNITS, GroupingRule, LevelLabels, tried
from ppdm_flow.page.views.hierarchies.asked import HierarchyForm, asked
from ppdm_flow.page.views.hierarchies.counting import counting_of
from ppdm_flow.page.views.hierarchies.saving import propose_hierarchy


def show_rule(call: Call) -> Response:
    """Show the rule that the policy has."""
    about = asked(call)
    return _page(call, about, _declared(about.attribute))


def try_rule(call: Call) -> Response:
    """Show what the rule of the form makes of the values."""
    return _page(call, asked(call), _read(call))


def save_rule(call: Call) -> Response:
    """Propose the rule of the form as a change of the policy."""
    about, rule = asked(call), _read(call)
    try:
        return propose_hierarchy(call, about, rule.hierarchy())
    except UnusableGroupError:
        return _page(call, about, rule, 400)


def _page(call: Call, about: HierarchyForm, rule: GroupingRule, status: int = 200) -> Response:
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


def _read(call: Call) -> GroupingRule:
    return GroupingRule(
        call.text("by"),
        call.text("keep"),
        call.text("mask"),
        tuple(call.texts("unit")),
        call.text("format").strip(),
        tuple(line for line in call.text("order").replace("\r", "").split("\n") if line),
        call.text("then"),
    )


def _declared(attribute: DeclaredAttribute) -> GroupingRule:
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
