"""Lowest discoverable supports against the number of sets, their length and the breach level."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from ppdm_flow.core.errors import PluginError
from ppdm_flow.core.results import Chart, FigureSeries
from ppdm_flow.mining.transactions.curves import Curve, Setting, over_levels, over_numbers, over_sizes
from ppdm_flow.mining.transactions.discoverable import lowest_supports
from ppdm_flow.mining.transactions.operators import TransactionOperator

_TIMES = (0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0)
_LEVELS = (0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8)
_LONGEST = 12
_OWN = "this release, "

Lowest = Callable[[float], Mapping[int, float]]


@dataclass(frozen=True, slots=True, eq=False)
class OwnRelease:
    """The release: ``numbers`` m -> N_m, ``maxima`` S_1.., the ``level`` of the curves, k -> ``lowest`` support."""

    operator: TransactionOperator
    numbers: Mapping[int, float]
    maxima: tuple[float, ...]
    level: float
    lowest: Mapping[int, float]

    @property
    def total(self) -> float:
        """The number of sets."""
        return sum(self.numbers.values())

    @property
    def usual(self) -> int:
        """The mean length of sets, but as many items at least as the largest itemset has."""
        mean = sum(m * n for m, n in self.numbers.items()) / self.total
        return max(round(mean), *self.lowest)

    def with_times(self, times: float) -> Mapping[int, float]:
        """Return k -> lowest support of so many times as many sets."""
        return self._of({m: times * n for m, n in self.numbers.items()})

    def with_length(self, size: float) -> Mapping[int, float]:
        """Return k -> lowest support were all sets of ``size`` items; inf for a length that the operator lacks."""
        known = int(size) in self.operator.retained
        return self._of({int(size): self.total}) if known else dict.fromkeys(self.lowest, math.inf)

    def _of(self, numbers: Mapping[int, float]) -> dict[int, float]:
        supports: dict[int, float] = {}
        for k in self.lowest:
            try:
                supports |= lowest_supports(self.operator, numbers, (k,), self.maxima)
            except PluginError:
                supports[k] = math.inf
        return supports


def charts(own: OwnRelease) -> tuple[Chart, ...]:
    """Return the three pictures; without those that would be empty."""
    setting = Setting(own.maxima, own.usual, own.total, own.level, tuple(own.lowest))
    lengths = range(max(own.lowest), max(own.usual, min(_LONGEST, max(own.numbers))) + 1)
    levels = sorted({*_LEVELS, own.level})
    sizes = f"sets of {own.usual} items"
    many = f"{own.total:,.0f} sets"
    level = f"level {own.level:.0%}"
    pictures = (
        _chart(
            "over_numbers",
            "Lowest discoverable support by the number of sets",
            over_numbers(setting, [own.total * t for t in _TIMES]),
            [_number(own.total * t) for t in _TIMES],
            "sets",
            f"The best operator for {sizes}, {level}; and this one, for so many sets with the lengths that there are.",
            [own.with_times(t) for t in _TIMES],
        ),
        _chart(
            "over_lengths",
            "Lowest discoverable support by the length of sets",
            over_sizes(setting, lengths),
            [str(m) for m in lengths],
            "items of a set",
            f"The best operator for {many} of that length, {level}; and this one, were all sets of that length.",
            [own.with_length(m) for m in lengths],
        ),
        _chart(
            "over_levels",
            "Lowest discoverable support by the breach level",
            over_levels(setting, levels),
            [f"{one:.0%}" for one in levels],
            "breach level",
            f"The best operator for {many} with {sizes[8:]}. {_point(own)}",
            [],
        ),
    )
    return tuple(chart for chart in pictures if chart is not None)


def _point(own: OwnRelease) -> str:
    texts = [f"{100 * s:.3g} % for {k}" for k, s in own.lowest.items() if math.isfinite(s)]
    return f"This release has {', '.join(texts)} item{'s' * (max(own.lowest) > 1)}." if texts else ""


def _number(sets: float) -> str:
    """Return a number of sets, short."""
    for unit, name in ((1e6, " M"), (1e3, " k")):
        if sets >= unit:
            return f"{sets / unit:.4g}{name}"
    return f"{sets:.4g}"


def _chart(
    name: str,
    title: str,
    curve: Curve,
    labels: Sequence[str],
    along: str,
    note: str,
    own: Sequence[Mapping[int, float]],
) -> Chart | None:
    """Draw what is finite everywhere: a line cannot have gaps."""
    lines = {f"{k} item{'s' * (k > 1)}": list(values) for k, values in curve.lowest.items()}
    if own:
        lines |= {f"{_OWN}{k} item{'s' * (k > 1)}": [here[k] for here in own] for k in curve.lowest}
    lines = {n: v for n, v in lines.items() if any(math.isfinite(s) for s in v)}
    places = [i for i in range(len(labels)) if all(math.isfinite(v[i]) for v in lines.values())]
    if not lines or len(places) < 2:
        return None
    return Chart(
        id=name,
        title=title,
        kind="lines",
        x=tuple(labels[i] for i in places),
        series=tuple(FigureSeries(n, tuple(float(v[i]) for i in places)) for n, v in lines.items()),
        x_label=along,
        y_label="support, as a share of the sets",
        note=note,
        group="discoverable_support",
    )
