"""Top and bottom coding: tails become their bound or their mean."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from ppdm_flow.anonymizers.deterministic import DeterministicTransform
from ppdm_flow.anonymizers.number_columns import bound_of, kinds_of, moments_of, numbers_of, present_cells
from ppdm_flow.anonymizers.top_bottom_code.spec import TOO_FEW, Limit, TopBottomParams
from ppdm_flow.anonymizers.top_bottom_code.tails import Tail, quantile, tail_of
from ppdm_flow.core.diagnostics import Diagnostic
from ppdm_flow.core.draws import Draws
from ppdm_flow.core.errors import PluginError
from ppdm_flow.core.results import Figure
from ppdm_flow.core.roles import AttributeType
from ppdm_flow.mining.moments.moments import moments
from ppdm_flow.sdk.anonymizer import Fitted, StepContext
from ppdm_flow.sdk.view import DataView
from ppdm_flow.tables.column import Column
from ppdm_flow.tables.numeric.column import NumericColumn
from ppdm_flow.tables.table import Table


@dataclass(frozen=True, slots=True)
class CodedAttribute:
    """``tails`` with the number that each of them becomes."""

    name: str
    kind: AttributeType
    tails: tuple[tuple[Tail, Any], ...]

    def coded(self, values: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """Return the numbers with tails replaced."""
        new = values.copy()
        for tail, number in self.tails:
            new[tail.holds(values)] = number
        return new


class TopBottomCode:
    """Cuts tails off, or averages them."""

    def __init__(self, params: TopBottomParams) -> None:
        self.params = params

    def fit(self, data: DataView, ctx: StepContext) -> Fitted:
        """Find the tails. Raises PluginError for labels, for tails that meet, and for means of too few rows."""
        kinds = kinds_of(self.params.attributes, data, ctx)
        coded = tuple(self._coded(data, name, kind) for name, kind in kinds.items())
        figures = {k: v for own in coded for k, v in _figures(data, own).items()}
        return Fitted(TopBottomTransform(self.params, coded), figures)

    def _coded(self, data: DataView, name: str, kind: AttributeType) -> CodedAttribute:
        limits = ((self.params.bottom, False), (self.params.top, True))
        bounds = [(self._bound(data, name, kind, limit, upper=upper), upper) for limit, upper in limits if limit]
        known = [(bound, upper) for bound, upper in bounds if bound is not None]
        if len(known) == 2 and known[0][0] >= known[1][0]:
            text = f"`bottom` does not lie below `top` in the column `{name}`"
            raise PluginError(Diagnostic("PPF782", text))
        tails = []
        for bound, upper in known:
            tail = tail_of(lambda: present_cells(data, name, kind), bound, upper=upper)
            tails.append((tail, self._number(tail, name, kind)))
        return CodedAttribute(name, kind, tuple(tails))

    def _bound(self, data: DataView, name: str, kind: AttributeType, limit: Limit, *, upper: bool) -> Any:
        if limit.quantile is None:
            return bound_of(limit.number, name, kind)
        return quantile(lambda: present_cells(data, name, kind), limit.quantile, upper=upper)

    def _number(self, tail: Tail, name: str, kind: AttributeType) -> Any:
        if self.params.replace == "bound" or not tail.rows:
            return tail.bound
        if tail.rows < self.params.min_rows:
            which = "above `top`" if tail.upper else "below `bottom`"
            text = f"{tail.rows} rows of the column `{name}` lie {which}: too few for their mean to be released"
            help_text = f"a mean needs {self.params.min_rows} rows: widen the tail, or say `replace: bound`"
            raise PluginError(Diagnostic(TOO_FEW, text, help=help_text))
        return tail.mean(whole=kind is not AttributeType.FLOAT)


def _figures(data: DataView, own: CodedAttribute) -> dict[str, Figure]:
    """Return the rows of the tails, and what is left of mean and standard deviation."""
    kinds = {own.name: own.kind}
    before = moments_of(data, kinds)

    def parts() -> Any:
        for values, weights in present_cells(data, own.name, own.kind):
            yield [own.coded(values).astype(np.float64)], weights

    after = moments(parts, 1)
    deviation = float(before.deviations[0])
    rows = {tail.upper: tail.rows for tail, _ in own.tails}
    figures = {f"{own.name}.{'top' if upper else 'bottom'}_rows": Figure(n, "rows") for upper, n in rows.items()}
    if deviation == 0.0:
        note = "the column has one value at most"
        shift, ratio = Figure(None, "standard deviations", note=note), Figure(None, "ratio", note=note)
    else:
        shift = Figure(float((after.means[0] - before.means[0]) / deviation), "standard deviations")
        ratio = Figure(float(after.deviations[0]) / deviation, "ratio")
    return {**figures, f"{own.name}.mean_shift": shift, f"{own.name}.sd_ratio": ratio}


@dataclass(frozen=True, slots=True)
class TopBottomTransform(DeterministicTransform):
    """A map of each value alone."""

    params: TopBottomParams
    attributes: tuple[CodedAttribute, ...]

    def apply(self, part: Table, _draws: Draws) -> Table:
        """Replace the tails. Raises PluginError for labels."""
        changed: dict[str, Column] = {}
        for own in self.attributes:
            column = numbers_of(part[own.name], own.name, own.kind)
            changed[own.name] = NumericColumn(own.coded(column.values), own.kind, column.missing)
        return part.replaced(changed)

    def describe(self) -> Mapping[str, Any]:
        """The parameters: bounds that are quantiles of the data, and means, are not told."""
        return self.params.model_dump(mode="json", exclude_none=True)
