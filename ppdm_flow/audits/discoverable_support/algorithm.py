"""The lowest discoverable support: of this release, and of others that the breach level would allow.

A support is discoverable where its estimate is 4 standard errors above 0. Source: Evfimievski, Srikant, Agrawal, Gehrke
(KDD 2002), section 6.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping

import numpy as np

from ppdm_flow.audits.discoverable_support.picture import OwnRelease, charts
from ppdm_flow.audits.discoverable_support.spec import DiscoverableSupportParams
from ppdm_flow.audits.set_sides import NoSidesError, Sides, sides
from ppdm_flow.core.errors import PluginError
from ppdm_flow.core.results import AuditOutcome, Figure
from ppdm_flow.mining.transactions.discoverable import lowest_supports
from ppdm_flow.mining.transactions.operators import NONE, TransactionOperator
from ppdm_flow.mining.transactions.prevalent import SizePool, prevalent
from ppdm_flow.sdk.audit import AuditContext
from ppdm_flow.sdk.view import DataView
from ppdm_flow.tables.sets import Baskets


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
        whole = _lowest(both.operator, numbers, self.params.sizes, None)
        figures |= {f"none_or_all.{k}": _figure(s, k, "which occur as a whole or not at all") for k, s in whole.items()}
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
