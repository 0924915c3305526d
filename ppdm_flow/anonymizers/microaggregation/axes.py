"""An attribute as coordinates, and what a group's values become."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import ROUND_HALF_EVEN, Decimal, localcontext

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from ppdm_flow.core.diagnostics import Diagnostic
from ppdm_flow.core.errors import PluginError
from ppdm_flow.core.roles import AttributeType
from ppdm_flow.mining.hierarchies.coarsening import UnplacedError
from ppdm_flow.mining.hierarchies.intervals import decimals, written
from ppdm_flow.tables.numeric.parsing import parsed
from ppdm_flow.tables.numeric.texts import texts_of

MICROSECONDS = 1_000_000
Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
MOST_TEXTS = 100
"""Values of a text attribute without an order: each is an axis."""
LARGEST = Decimal("1e150")


@dataclass(frozen=True, slots=True, eq=False)
class AttributeAxes:
    """``points`` (texts, axes) of each distinct value; ``ranked``: one axis, whose order is the values' own.

    ``digits`` are the decimal places of released means, None where a mean has no meaning. ``time``: the values are
    dates or timestamps, whose means are multiples of ``unit`` days or microseconds.
    """

    texts: tuple[str, ...]
    points: Floats
    ranked: bool
    digits: int | None = None
    time: AttributeType | None = None
    unit: int = 1

    def mean(self, codes: Ints, weights: Ints) -> str:
        """Return the mean of values, rounded to as many places as values have; halves go to the even digit."""
        mean = float(weights @ self.points[codes, 0] / weights.sum())
        if self.time is not None:
            whole = np.array([round(mean / self.unit) * self.unit], dtype=np.int64)
            text: str = texts_of(whole, self.time)[0].as_py()
            return text
        exact = Decimal(repr(mean))
        with localcontext(prec=400):  # as many digits as the largest number has
            return written(exact.quantize(Decimal(1).scaleb(-(self.digits or 0)), ROUND_HALF_EVEN))

    def median(self, codes: Ints, weights: Ints) -> str:
        """Return the lower median, a value that occurs."""
        order = np.argsort(self.points[codes, 0], kind="stable")
        reached = np.cumsum(weights[order])
        return self.texts[int(codes[order[np.searchsorted(reached, (reached[-1] + 1) // 2)]])]

    def mode(self, codes: Ints, weights: Ints) -> str:
        """Return the most frequent value, the first of several."""
        return self.texts[int(np.bincount(codes, weights).argmax())]


def numbers(name: str, texts: Sequence[str], *, integers: bool) -> AttributeAxes:
    """Return a numeric attribute. Raises PluginError where a value is no number."""
    try:
        values = decimals(texts)
    except UnplacedError as fault:
        text = f"{fault.values} of {len(texts)} distinct values of the column `{name}` {fault.what}"
        raise PluginError(Diagnostic(fault.code, text, help=fault.advice or None)) from None
    places = 0 if integers else max((-int(n.as_tuple().exponent) for n in values), default=0)
    if any(abs(n) > LARGEST for n in values):
        text = f"the column `{name}` has numbers beyond 1e150, whose squares no computer number holds"
        raise PluginError(Diagnostic("PPF882", text))
    points = np.array([float(n) for n in values], dtype=np.float64)[:, None]
    return AttributeAxes(tuple(texts), points, ranked=True, digits=max(0, min(places, 15)))


def moments(texts: Sequence[str], kind: AttributeType) -> AttributeAxes:
    """Return an attribute of dates, as days, or of timestamps, as microseconds: of whole seconds where all are."""
    values = parsed(pa.array(texts, pa.string()), kind).values
    whole = kind is AttributeType.TIMESTAMP and not (values % MICROSECONDS).any()
    points = (values.astype(np.float64))[:, None]
    return AttributeAxes(tuple(texts), points, ranked=True, digits=0, time=kind, unit=MICROSECONDS if whole else 1)


def ranks(name: str, texts: Sequence[str], order: Sequence[str]) -> AttributeAxes:
    """Return an attribute whose values have ``order``. Raises PluginError where some have no place in it."""
    place = {value: i for i, value in enumerate(order)}
    absent = sum(t not in place for t in texts)
    if absent:
        text = f"{absent} of {len(texts)} distinct values of the column `{name}` have no place in its order"
        raise PluginError(Diagnostic("PPF789", text))
    return AttributeAxes(tuple(texts), np.array([float(place[t]) for t in texts])[:, None], ranked=True)


def indicators(name: str, texts: Sequence[str]) -> AttributeAxes:
    """Return an attribute whose values are all equally far from each other. Raises PluginError for too many."""
    if len(texts) > MOST_TEXTS:
        text = f"the column `{name}` has {len(texts)} distinct values without an order; at most {MOST_TEXTS} can be"
        raise PluginError(
            Diagnostic("PPF882", f"{text} grouped", help="declare its `type`, or `hierarchy: {order: …}`")
        )
    return AttributeAxes(tuple(texts), np.eye(len(texts)), ranked=False)


def standardized(points: Floats, codes: Ints, weights: Ints) -> Floats:
    """Return the coordinates (items, axes) with a total variance of 1 over the cells that are not missing.

    Those of missing cells (codes below zero) are 0, and so are all where the others are equal.
    """
    present = codes >= 0
    coordinates = np.zeros((len(codes), points.shape[1]))
    coordinates[present] = points[codes[present]]
    share = np.where(present, weights, 0) / max(1, weights[present].sum())
    centered = np.where(present[:, None], coordinates - share @ coordinates, 0.0)
    spread = float(np.sqrt((share @ centered**2).sum()))
    return centered / spread if spread > 0 else np.zeros_like(coordinates)
