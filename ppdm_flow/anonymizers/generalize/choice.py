"""From a rule to the way it generalizes."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from ppdm_flow.anonymizers.generalize.spec import Rule
from ppdm_flow.core.attributes import HierarchySpec
from ppdm_flow.core.diagnostics import Diagnostic
from ppdm_flow.core.errors import PluginError
from ppdm_flow.mining.hierarchies.coarsening import Coarsening
from ppdm_flow.mining.hierarchies.hierarchy import at_level, read_csv
from ppdm_flow.mining.hierarchies.intervals import Coding, Intervals, Rounding
from ppdm_flow.mining.hierarchies.ladder import ladder
from ppdm_flow.mining.hierarchies.texts import DatePart, Prefix


def coarsening(column: str, rule: Rule, own: HierarchySpec | None, home: Path) -> Coarsening | None:
    """Return the way that ``rule`` means; None for level 0, which leaves values as they are.

    Raises PluginError where the rule gives no way or several, or where a hierarchy cannot be used.
    """
    if len(rule.methods) > 1:
        text = f"one way to generalize `{column}`, not several: {', '.join(rule.methods)}"
        raise PluginError(Diagnostic("PPF782", text))
    if rule.hierarchy is not None:
        return at_level(read_csv(home / rule.hierarchy, rule.delimiter, column), rule.level, column)
    return _of_method(rule) if rule.methods else _of_hierarchy(column, rule, own, home)


def _of_method(rule: Rule) -> Coarsening:
    if rule.intervals is not None:
        return Intervals(rule.intervals, rule.open_ends)
    if rule.prefix is not None:
        return Prefix(rule.prefix, rule.mask)
    if rule.date is not None:
        return DatePart(rule.date, rule.format)
    rounding = None if rule.round is None else Rounding(rule.round)
    if rounding is not None and rule.bottom is None and rule.top is None:
        return rounding
    return Coding(rule.bottom, rule.top, rounding, as_numbers=rule.coded == "number")


def _of_hierarchy(column: str, rule: Rule, own: HierarchySpec | None, home: Path) -> Coarsening | None:
    """By the attribute's own hierarchy, whatever its form."""
    if own is None:
        raise PluginError(Diagnostic("PPF780", f"`{column}` has no hierarchy, and no other way is given"))
    if own.intervals is not None and rule.open_ends != "none":
        own = replace(own, open_ends=rule.open_ends)
    return ladder(column, own, home).at(rule.level, column)
