"""Generalize: one map a column, over its distinct values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from ppdm_flow.anonymizers.deterministic import DeterministicTransform
from ppdm_flow.anonymizers.generalize.spec import GeneralizationRule, GeneralizeParams
from ppdm_flow.anonymizers.naming import require
from ppdm_flow.core.attributes import HierarchySpec
from ppdm_flow.core.diagnostics import Diagnostic
from ppdm_flow.core.draws import Draws
from ppdm_flow.core.errors import PluginError
from ppdm_flow.core.results import Figure
from ppdm_flow.core.roles import Role
from ppdm_flow.mining.hierarchies.coarsening import Coarsening
from ppdm_flow.mining.hierarchies.intervals import Coding, Intervals, Rounding
from ppdm_flow.mining.hierarchies.ladder import DatePart, Prefix, at_level, ladder, read_csv, settled
from ppdm_flow.mining.hierarchies.ladder import labels as labels_of
from ppdm_flow.sdk.anonymizer import Fitted, StepContext
from ppdm_flow.sdk.view import DataView
from ppdm_flow.tables.column import MISSING, Column
from ppdm_flow.tables.table import Table


def coarsening(column: str, rule: GeneralizationRule, own: HierarchySpec | None, home: Path) -> Coarsening | None:
    """Return the way that ``rule`` means; None for level 0, which leaves values as they are.

    Raises PluginError where the rule gives no way or several, or where a hierarchy cannot be used.
    """
    if len(rule.methods) > 1:
        text = f"one way to generalize `{column}`, not several: {', '.join(rule.methods)}"
        raise PluginError(Diagnostic("PPF782", text))
    if rule.hierarchy is not None:
        return at_level(read_csv(home / rule.hierarchy, rule.delimiter, column), rule.level, column)
    return _of_method(rule) if rule.methods else _of_hierarchy(column, rule, own, home)


def _of_method(rule: GeneralizationRule) -> Coarsening:
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


def _of_hierarchy(column: str, rule: GeneralizationRule, own: HierarchySpec | None, home: Path) -> Coarsening | None:
    """Return the coarsening by the attribute's own hierarchy, of any form."""
    if own is None:
        raise PluginError(Diagnostic("PPF780", f"`{column}` has no hierarchy, and no other way is given"))
    if own.intervals is not None and rule.open_ends != "none":
        own = replace(own, open_ends=rule.open_ends)
    return ladder(column, own, home).at(rule.level, column)


class Generalize:
    """Replaces each value by its label on a coarser level; missing and suppressed cells stay."""

    def __init__(self, params: GeneralizeParams) -> None:
        self.params = params

    def fit(self, data: DataView, ctx: StepContext) -> Fitted:
        """Make the maps and try them on every value that occurs. Raises PluginError, naming the column."""
        require(self.params.attributes or (), data.schema.names, ctx.step)
        facts = ctx.attributes
        single = set(facts) - set(data.schema.having(Role.ITEMS))
        own = {name: facts[name].hierarchy if name in single else None for name in data.schema.names}
        rules = self.params.rules(own)
        if not rules:
            raise PluginError(Diagnostic("PPF780", "nothing to generalize: no attribute here has a hierarchy"))
        ways = {name: coarsening(name, rule, own[name], ctx.home) for name, rule in rules.items()}
        domains = {name: data.domain(name).to_pylist() for name, way in ways.items() if way is not None}
        chosen = tuple((name, settled(way, domains[name])) for name, way in ways.items() if way is not None)
        tried = (_tried(name, way, domains[name]) for name, way in chosen)
        return Fitted(GeneralizeTransform(chosen), figures={k: v for figures in tried for k, v in figures.items()})


@dataclass(frozen=True, slots=True)
class GeneralizeTransform(DeterministicTransform):
    """``ways`` are (attribute, its map)."""

    ways: tuple[tuple[str, Coarsening], ...]

    def apply(self, part: Table, _draws: Draws) -> Table:
        """Replace values by labels. Raises PluginError for a value without one."""
        return part.replaced({name: _generalized(name, part[name], way) for name, way in self.ways})

    def describe(self) -> Mapping[str, Any]:
        """Name the method of each attribute."""
        return {"attributes": {name: way.describe() for name, way in self.ways}}


def _tried(name: str, way: Coarsening, values: list[str]) -> dict[str, Figure]:
    labels = dict(zip(values, labels_of(name, values, way), strict=True))
    _refuse_lies(name, labels)
    return {
        f"{name}.values_before": Figure(len(values), "values"),
        f"{name}.values_after": Figure(len(set(labels.values())), "values"),
    }


def _refuse_lies(name: str, labels: Mapping[str, str]) -> None:
    """Raise PluginError for labels that are values themselves, of which they do not tell: flu for HIV, HIV for flu."""
    lies = sum(labels.get(label, label) != label for label in set(labels.values()))
    if lies:
        text = f"{lies} labels of the column `{name}` are spelled like one of its values, which has another label"
        raise PluginError(Diagnostic("PPF788", text, help="a label covers all values below it, itself included"))


def _generalized(name: str, column: Column, way: Coarsening) -> Column:
    used = np.flatnonzero(column.in_use())
    labels = labels_of(name, column.categories.take(pa.array(used)).to_pylist(), way)
    categories = sorted(set(labels), key=str.encode)
    place = {label: i for i, label in enumerate(categories)}
    code_map = np.full(len(column.categories), MISSING, dtype=np.int32)
    code_map[used] = [place[label] for label in labels]
    return column.mapped(code_map, pa.array(categories, pa.string()))
