"""The lowest discoverable support: of this release, and of others that the breach level would allow.

A support is discoverable where its estimate is 4 standard errors above 0. Source: Evfimievski, Srikant, Agrawal, Gehrke
(KDD 2002), section 6.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from ppdm_flow.audits.discoverable_support.spec import DiscoverableSupportParams
from ppdm_flow.audits.set_sides import NoSidesError, Sides, sides
from ppdm_flow.core.errors import PluginError
from ppdm_flow.core.results import AuditOutcome, Chart, Figure, FigureSeries
from ppdm_flow.mining.transactions.curves import Curve, Setting, over_levels, over_numbers, over_sizes
from ppdm_flow.mining.transactions.discoverable import lowest_supports
from ppdm_flow.mining.transactions.operators import NONE, TransactionOperator
from ppdm_flow.mining.transactions.prevalent import SizePool, prevalent
from ppdm_flow.sdk.audit import AuditContext
from ppdm_flow.sdk.view import DataView
from ppdm_flow.tables.sets import Baskets

Lowest = Callable[[float], Mapping[int, float]]


class DiscoverableSupportAudit:
    """Computes it from the operator, the released sizes, and the largest supports of itemsets."""

    def __init__(self, params: DiscoverableSupportParams) -> None:
        self.params = params

    def measure(self, original: DataView, candidate: DataView, ctx: AuditContext) -> AuditOutcome:
        """Return the lowest discoverable supports, and the curves that they lie on."""
        try:
            both = sides(original, candidate, ctx, self.params.attribute)
            if both.operator.family == NONE:
                raise NoSidesError("the sets are not randomized: every support is exact")
            numbers = _numbers(both)
            maxima = self.params.max_supports or _largest(both, max(self.params.sizes))
        except NoSidesError as error:
            note = str(error)
            return AuditOutcome({f"lowest.{k}": Figure(None, "share", note=note) for k in self.params.sizes})
        lowest = _lowest(both.operator, numbers, self.params.sizes, maxima)
        own = OwnRelease(both.operator, numbers, maxima, self.params.level, lowest)
        figures = dict(_figures(own, given=self.params.max_supports is not None))
        lowest_undivided = _lowest(both.operator, numbers, self.params.sizes, None)
        figures |= {
            f"none_or_all.{k}": _figure(s, k, "which occur as a whole or not at all")
            for k, s in lowest_undivided.items()
        }
        return AuditOutcome(figures, charts=charts(own))


def _figures(own: OwnRelease, *, given: bool) -> Iterator[tuple[str, Figure]]:
    whose = "the policy's" if given else "the data's"
    for k, support in own.lowest.items():
        figure = _figure(support, k, f"parts of them as frequent as {whose} largest supports allow")
        yield f"lowest.{k}", figure
        yield f"parts_at_largest.{k}", figure
    for k, support in enumerate(own.maxima, 1):
        yield f"largest_support.{k}", Figure(support, "share", note=f"of {k} item{'s' * (k > 1)}, {whose}")
    yield "transactions", Figure(int(sum(own.numbers.values())), "rows")


def _figure(support: float, length: int, assumed: str) -> Figure:
    size = f"itemsets of {length} item{'s' * (length > 1)}"
    if not math.isfinite(support):
        return Figure(None, "share", note=f"{size}: none is discoverable")
    return Figure(support, "share", note=f"{size}, {assumed}")


def _numbers(both: Sides) -> dict[int, float]:
    by_size: dict[int, float] = {}
    for part in both.after():
        for m, number in zip(*(a.tolist() for a in np.unique(part.sizes, return_counts=True)), strict=True):
            by_size[m] = by_size.get(m, 0.0) + number
    if not any(by_size) or not set(by_size) <= set(both.operator.sizes):
        raise NoSidesError("the sizes of the released sets are not those of the operator")
    return by_size


def _largest(both: Sides, longest: int) -> tuple[float, ...]:
    """Return the largest supports of 1, 2, .. items in the original, over sets of all lengths."""
    before = both.before()
    sizes, rows = (a.tolist() for a in np.unique(before.sizes, return_counts=True))
    pool = SizePool(tuple(m for m in sizes if m), sum(n for m, n in zip(sizes, rows, strict=True) if m))
    if not pool.rows:
        raise NoSidesError("the original sets hold no item")

    def partitions() -> Iterator[Baskets]:
        for start in range(0, len(before), 1 << 17):
            yield before.take(slice(start, start + (1 << 17)))

    shares = prevalent(partitions, (pool,), both.operator.alphabet, longest, 2).maxima()[:, 0]
    return tuple(float(s) for s in np.minimum(shares, 1.0))


def _lowest(
    operator: TransactionOperator,
    numbers: Mapping[int, float],
    sizes: tuple[int, ...],
    maxima: tuple[float, ...] | None,
) -> dict[int, float]:
    supports: dict[int, float] = {}
    for k in sizes:
        try:
            supports |= lowest_supports(operator, numbers, (k,), maxima)
        except PluginError:  # the operator keeps too few items for itemsets of this size
            supports[k] = math.inf
    return supports


# Lowest discoverable supports against the number of sets, their length and the breach level.


_TIMES = (0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0)
_LEVELS = (0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8)
_LONGEST = 12
_OWN = "this release, "


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
