"""Recode: one map a column, over its distinct values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import isfinite
from typing import Any

from ppdm_flow.anonymizers.deterministic import DeterministicTransform
from ppdm_flow.anonymizers.naming import require
from ppdm_flow.anonymizers.recode.spec import RecodeParams, RecodeRule
from ppdm_flow.anonymizers.relabelled import relabelled, used_values
from ppdm_flow.core.diagnostics import Diagnostic
from ppdm_flow.core.draws import Draws
from ppdm_flow.core.errors import PluginError
from ppdm_flow.core.results import Figure
from ppdm_flow.sdk.anonymizer import Fitted, StepContext
from ppdm_flow.sdk.view import DataView
from ppdm_flow.tables.table import Table


class Recode:
    """Replaces values; missing and suppressed cells stay."""

    def __init__(self, params: RecodeParams) -> None:
        self.params = params

    def fit(self, data: DataView, ctx: StepContext) -> Fitted:
        """Try every value. Raises PluginError, naming the column, where one has no new value, or a misleading one."""
        require(self.params.attributes, data.schema.names, ctx.step)
        figures: dict[str, Figure] = {}
        for name, rule in self.params.attributes.items():
            values = data.domain(name).to_pylist()
            labels = recoded(name, values, rule)
            _refuse_lies(name, dict(zip(values, labels, strict=True)))
            figures[f"{name}.values_before"] = Figure(len(values), "values")
            figures[f"{name}.values_after"] = Figure(len(set(labels)), "values")
        return Fitted(RecodeTransform(tuple(self.params.attributes.items())), figures)


@dataclass(frozen=True, slots=True)
class RecodeTransform(DeterministicTransform):
    """``rules`` are (attribute, how it is recoded)."""

    rules: tuple[tuple[str, RecodeRule], ...]

    def apply(self, part: Table, _draws: Draws) -> Table:
        """Replace the values. Raises PluginError for one without a new value."""
        columns = {name: part[name] for name, _ in self.rules}
        labels = {name: recoded(name, used_values(columns[name]), rule) for name, rule in self.rules}
        return part.replaced({name: relabelled(columns[name], labels[name]) for name in columns})

    def describe(self) -> Mapping[str, Any]:
        """How many ranges or values each rule has: what they are stands in the policy."""
        return {"attributes": {name: _described(rule) for name, rule in self.rules}}


def recoded(name: str, values: list[str], rule: RecodeRule) -> list[str]:
    """Return the new value of each value of the column ``name``. Raises PluginError where one has none."""
    labels = [_new(value, rule) for value in values]
    bare = sum(f is None for f in labels)
    if bare:
        text = f"{bare:,} values of the column `{name}` are in no range and among no values of the recoding"
        raise PluginError(Diagnostic("PPF789", text, help="add them, or say `other:` or `keep_others: true`"))
    return [f for f in labels if f is not None]


def _new(value: str, rule: RecodeRule) -> str | None:
    if rule.values is not None and value in rule.values:
        return rule.values[value]
    if rule.ranges is not None and (number := _number(value)) is not None:
        for label, (low, high) in rule.ranges.items():
            if low <= number < high:
                return label
    return value if rule.keep_others else rule.other


def _number(value: str) -> float | None:
    try:
        number = float(value)
    except ValueError:
        return None
    return number if isfinite(number) and "_" not in value else None


def _refuse_lies(name: str, labels: Mapping[str, str]) -> None:
    """Raise PluginError for new values that are old ones with another new value: flu for HIV, HIV for flu."""
    lies = sum(labels.get(label, label) != label for label in set(labels.values()))
    if lies:
        text = f"{lies} new values of the column `{name}` are spelled like an old one that gets another new value"
        raise PluginError(Diagnostic("PPF788", text, help="a reader would take them for the old ones"))


def _described(rule: RecodeRule) -> Mapping[str, Any]:
    kind = "ranges" if rule.ranges is not None else "values"
    return {kind: len(rule.ranges or rule.values or ()), "keep_others": rule.keep_others}
