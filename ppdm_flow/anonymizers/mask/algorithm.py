"""Mask: one map a column, over its distinct values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ppdm_flow.anonymizers.deterministic import DeterministicTransform
from ppdm_flow.anonymizers.mask.spec import MaskParams, MaskRule
from ppdm_flow.anonymizers.naming import require
from ppdm_flow.anonymizers.relabelled import relabelled, used_values
from ppdm_flow.core.diagnostics import Diagnostic
from ppdm_flow.core.draws import Draws
from ppdm_flow.core.errors import PluginError
from ppdm_flow.core.results import Figure
from ppdm_flow.sdk.anonymizer import Fitted, StepContext
from ppdm_flow.sdk.view import DataView
from ppdm_flow.tables.table import Table


class Mask:
    """Covers characters; missing and suppressed cells stay."""

    def __init__(self, params: MaskParams) -> None:
        self.params = params

    def fit(self, data: DataView, ctx: StepContext) -> Fitted:
        """Try the rules on every value. Raises PluginError, naming the column, where one would stay as it is."""
        require(self.params.attributes, data.schema.names, ctx.step)
        rules = self.params.covers(data.schema.names)
        figures: dict[str, Figure] = {}
        for name, rule in rules.items():
            values = data.domain(name).to_pylist()
            figures[f"{name}.values_before"] = Figure(len(values), "values")
            figures[f"{name}.values_after"] = Figure(len(set(_masked_all(name, values, rule))), "values")
        return Fitted(MaskTransform(tuple(rules.items())), figures)


@dataclass(frozen=True, slots=True)
class MaskTransform(DeterministicTransform):
    """``rules`` are (attribute, how it is covered)."""

    rules: tuple[tuple[str, MaskRule], ...]

    def apply(self, part: Table, _draws: Draws) -> Table:
        """Cover the values. Raises PluginError for one that would stay as it is."""
        columns = {name: part[name] for name, _ in self.rules}
        labels = {name: _masked_all(name, used_values(columns[name]), rule) for name, rule in self.rules}
        return part.replaced({name: relabelled(columns[name], labels[name]) for name in columns})

    def describe(self) -> Mapping[str, Any]:
        """The rules."""
        return {"attributes": {name: rule.model_dump(exclude_none=True) for name, rule in self.rules}}


def masked(text: str, rule: MaskRule) -> str | None:
    """Return the text with its inner characters covered, or None where it is too short to cover any.

    Examples
    --------
    >>> masked("02174", MaskRule(first=3))
    '021**'
    >>> masked("4929-1234-5678-9012", MaskRule(format="card_number"))
    '****-****-****-9012'
    """
    first, last = rule.ends
    places = [i for i, c in enumerate(text) if rule.separators == "mask" or c.isalnum()]
    covered = places[first : max(0, len(places) - last)]
    if not covered:
        return None
    if rule.length is not None:
        return text[: covered[0]] + rule.sign * rule.length + text[covered[-1] + 1 :]
    hidden = set(covered)
    return "".join(rule.sign if i in hidden else c for i, c in enumerate(text))


def _masked_all(name: str, values: list[str], rule: MaskRule) -> list[str]:
    labels = [masked(value, rule) for value in values]
    short = sum(f is None or f == v for f, v in zip(labels, values, strict=True))
    if short:
        text = f"{short:,} values of the column `{name}` would be released as they are: too short for {rule.ends}"
        raise PluginError(Diagnostic("PPF824", text, help="keep fewer characters with `first` and `last`"))
    return [f for f in labels if f is not None]
