"""Sensitivities: how far the probability of a value may rise or fall, by (r1, r2)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

from ppdm_flow.core.requirement import Columns, NamedValue, OnAttribute, absent
from ppdm_flow.core.roles import Directions, ValuesAbsent
from ppdm_flow.core.spans import Span


@dataclass(frozen=True, slots=True)
class ValueBound:
    """(r1, r2) of one value: a prior of at most r1 must not become a posterior above r2, and conversely.

    ``given`` says, for readers, what else is known of those whom the prior is about (the background knowledge Z = z
    of Chaytor and Wang); empty for everyone. ``group`` names the group that the bound comes from.
    """

    value: str
    r1: float
    r2: float
    span: Span | None = field(default=None, compare=False)
    given: str = ""
    group: str = ""


@dataclass(frozen=True, slots=True)
class Sensitivity(OnAttribute):
    """The (r1, r2) requirement on one attribute.

    ``bounds`` may hold several for one value: each must hold, so the smallest gamma counts. ``tolerance`` is the theta
    of values without a bound of their own: r1 is the value's frequency, r2 theta times it, unconstrained from a
    frequency of 1/theta on. ``domain`` is the declared domain, or None: then the data's.
    """

    kind: ClassVar[str] = "sensitivities"
    needs_operator: ClassVar[bool] = True
    id: str
    attribute: str
    directions: Directions
    bounds: tuple[ValueBound, ...]
    tolerance: float | None = None
    default: tuple[float, float] | None = None
    domain: tuple[str, ...] | None = None
    span: Span | None = field(default=None, compare=False)
    values_absent: ValuesAbsent = ValuesAbsent.ERROR
    releases: tuple[str, ...] = ()

    @property
    def tells_frequencies(self) -> bool:
        """Whether an operator made for it tells how often values occur."""
        return self.tolerance is not None

    def named_values(self) -> Iterator[NamedValue]:
        """Yield the values that have bounds of their own."""
        return ((self.attribute, bound.value, bound.span or self.span) for bound in self.bounds)

    def on_columns(self, columns: Columns) -> Iterator[Sensitivity]:
        """Yield it for each column that its name means and that has none of its own."""
        for name in columns.each(self):
            if name == self.attribute:
                yield self
            else:
                path = f"privacy.{self.kind}.{name}"
                yield replace(self, id=path, attribute=name, domain=columns.domain(name))

    def document(self) -> dict[str, Any]:
        """Return what it asks."""
        return {
            "attribute": self.attribute,
            "directions": self.directions.value,
            "values": [_bound(bound) for bound in self.bounds],
            "tolerance": self.tolerance,
            "default": None if self.default is None else list(self.default),
            **absent(self.values_absent),
        }


def _bound(bound: ValueBound) -> dict[str, Any]:
    told = {"given": bound.given, "group": bound.group}
    return {"value": bound.value, "r1": bound.r1, "r2": bound.r2} | {k: v for k, v in told.items() if v}


def slack_of(r1: float, r2: float) -> float:
    """Return gamma - 1 = (r2 - r1) / (r1 (1 - r2)), for gamma = r2 (1 - r1) / (r1 (1 - r2)).

    Loses no digits where r1 and r2 are close. Source: Chaytor and Wang, Theorem 1. Raises ValueError unless
    0 < r1 < r2 < 1.

    >>> slack_of(0.25, 0.5)
    2.0
    """
    if not 0.0 < r1 < r2 < 1.0:
        raise ValueError("a bound needs 0 < r1 < r2 < 1")
    return (r2 - r1) / (r1 * (1.0 - r2))
