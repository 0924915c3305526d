"""Top and bottom coding: tails become their bound or their mean."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from ppdm_flow.anonymizers.deterministic import DeterministicTransform
from ppdm_flow.anonymizers.number_columns import bound_of, kinds_of, moments_of, numbers_of, present_cells
from ppdm_flow.anonymizers.top_bottom_code.spec import TOO_FEW, Limit, TopBottomParams
from ppdm_flow.core.diagnostics import Diagnostic
from ppdm_flow.core.draws import Draws
from ppdm_flow.core.errors import PluginError
from ppdm_flow.core.results import Figure
from ppdm_flow.core.roles import AttributeType
from ppdm_flow.mining.moments import ExactSum, Weights, moments
from ppdm_flow.sdk.anonymizer import Fitted, StepContext
from ppdm_flow.sdk.view import DataView
from ppdm_flow.tables.column import Column
from ppdm_flow.tables.numeric.column import NumericColumn
from ppdm_flow.tables.table import Table

Numbers = npt.NDArray[Any]
Cells = Callable[[], Iterable[tuple[Numbers, Weights | None]]]


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
        return tail.mean(as_integer=kind is not AttributeType.FLOAT)


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


# Where tails begin, how many rows they have, and what they become.


@dataclass(frozen=True, slots=True)
class Tail:
    """The numbers above ``bound`` (below it, unless ``upper``): their ``rows`` and their exact ``total``."""

    bound: Any
    upper: bool
    rows: int
    total: Fraction

    def holds(self, values: Numbers) -> npt.NDArray[np.bool_]:
        """Return a mask of the numbers that lie in the tail."""
        mask: npt.NDArray[np.bool_] = values > self.bound if self.upper else values < self.bound
        return mask

    def mean(self, *, as_integer: bool) -> Any:
        """Return the mean, rounded to a whole number (halves to even) or to the nearest double."""
        exact = self.total / self.rows
        return round(exact) if as_integer else float(exact)


def tail_of(cells: Cells, bound: Any, *, upper: bool) -> Tail:
    """Return a tail, counted and added up."""
    rows, total = 0, ExactSum()
    empty = Tail(bound, upper, 0, Fraction(0))
    for values, weights in cells():
        inside = empty.holds(values)
        chosen = values[inside]
        if weights is None:
            rows += len(chosen)
            total.add(chosen)
        else:
            rows += int(weights[inside].sum())
            total.add(chosen * weights[inside])
    return Tail(bound, upper, rows, total.value)


def quantile(cells: Cells, share: float, *, upper: bool) -> Any | None:
    """Return the bound of a tail; None where there is no number.

    For the upper tail the least number that occurs such that at least ``share`` of the rows have it or less; for the
    lower one the largest such that at least 1 - ``share`` of the rows have it or more. So at most 1 - ``share`` of the
    rows lie above the upper, at most ``share`` below the lower bound.
    """
    every = list(cells())
    values = np.concatenate([v for v, _ in every]) if every else np.zeros(0)
    if not len(values):
        return None
    weighted = [w for _, w in every if w is not None]
    weights = np.concatenate(weighted) if weighted else np.ones(len(values), dtype=np.int64)
    order = np.argsort(values, kind="stable") if upper else np.argsort(values, kind="stable")[::-1]
    reached = np.cumsum(weights[order])
    needed = Fraction(repr(share)) if upper else 1 - Fraction(repr(share))
    least = -(-needed.numerator * int(reached[-1]) // needed.denominator)
    return values[order[np.searchsorted(reached, least)]].item()
