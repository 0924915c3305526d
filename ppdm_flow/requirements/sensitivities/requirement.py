"""Sensitivities: how far the probability of a value may rise or fall, by (r1, r2)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Annotated, Any, ClassVar, NotRequired, Self, cast

from pydantic import BeforeValidator, Field, PrivateAttr
from typing_extensions import TypedDict

from ppdm_flow.core.model import (
    HIGHER,
    LOWER,
    MORE,
    Absent,
    Fixed,
    FixedMap,
    Model,
    Name,
    Probability,
    StrongestFirst,
    Texts,
    one_or_more,
)
from ppdm_flow.core.requirement import ClauseBinding, NamedValue, RequirementPlace
from ppdm_flow.core.requirement_families import OnAttribute
from ppdm_flow.core.roles import Directions, ValuesAbsent
from ppdm_flow.core.spans import Span

_R1 = "The highest prior probability that the bound is about."
_R2 = "The posterior that must not be exceeded; it lies above r1."
_GIVEN = "What else is known of the people whom r1 is about, for readers."
_DIRECTIONS = "`both` also forbids to learn that a value is unlikely; `upward` is the paper's condition."
_PEOPLE = ["patients of the clinic"]
Low = Annotated[Probability, Field(description=_R1, examples=["0.10"]), HIGHER]
High = Annotated[Probability, Field(description=_R2, examples=["0.25"]), LOWER]
Given = Annotated[str, Field(description=_GIVEN, examples=_PEOPLE)]


class ValueBound(Model):
    """(r1, r2): a reader with a prior of at most r1 for the value must not come to a posterior above r2.

    ``given`` says, for readers, what else is known of those whom the prior is about (the background knowledge Z = z
    of Chaytor and Wang); empty for everyone.
    """

    r1: Low
    r2: High
    given: Given = ""


class ValueGroup(Model):
    """One bound for each of several values. Their union then keeps it as well."""

    values: Annotated[
        Texts, Field(description="The values, each of which gets the bound.", examples=[["HIV", "hepatitis"]]), MORE
    ]
    r1: Low
    r2: High
    given: Given = ""


class DefaultBound(Model):
    """The bound of other values: ``tolerance`` (r1 = frequency, r2 = tolerance r1), or (r1, r2)."""

    tolerance: Annotated[
        Annotated[float, Field(gt=1.0)] | None,
        Field(description="r1 is the frequency of a value, r2 this many times it.", examples=["5"]),
        LOWER,
    ] = None
    r1: Annotated[Probability | None, Field(description=_R1, examples=["0.10"]), HIGHER] = None
    r2: Annotated[Probability | None, Field(description=_R2, examples=["0.25"]), LOWER] = None


ValueBounds = Annotated[tuple[ValueBound, ...], BeforeValidator(one_or_more), Field(min_length=1)]
"""One bound, or a list of several: each must hold."""


@dataclass(frozen=True, slots=True)
class BoundOfValue:
    """(r1, r2) of one ``value``, for whom, and the ``group`` that it comes from, if it does."""

    value: str
    r1: float
    r2: float
    span: Span | None = field(default=None, compare=False)
    given: str = ""
    group: str = ""


class Sensitivity(OnAttribute):
    """(r1, r2) per value of one sensitive attribute.

    A value may have several bounds: each must hold, so the smallest gamma counts. With a ``tolerance`` theta, values
    without a bound of their own have their frequency as r1 and theta times it as r2, unconstrained from a frequency of
    1/theta on.
    """

    kind: ClassVar[str] = "sensitivities"
    counts_people: ClassVar[bool] = True
    adds_only: ClassVar[bool] = True
    needs_operator: ClassVar[bool] = True
    directions: Annotated[
        Directions, Field(description=_DIRECTIONS, examples=["both"]), StrongestFirst(tuple(Directions))
    ] = Directions.BOTH
    default: Annotated[
        DefaultBound | None,
        Field(description="The bound of values without one of their own.", examples=[{"tolerance": "5"}]),
    ] = None
    values: Annotated[dict[str, ValueBounds], Fixed] = Field(
        default_factory=FixedMap,
        description="Bounds of single values: one, or a list of several that must all hold.",
        examples=[{"HIV": {"r1": "0.10", "r2": "0.25"}}],
    )
    groups: Annotated[dict[Name, ValueGroup], Fixed] = Field(
        default_factory=FixedMap,
        description="One bound for each of several values; their union keeps it as well.",
        examples=[{"stigma": {"values": ["HIV", "hepatitis"], "r1": "0.02", "r2": "0.10"}}],
    )
    values_absent: Absent = ValuesAbsent.ERROR
    _bounds: tuple[BoundOfValue, ...] | None = PrivateAttr(default=None)

    @classmethod
    def of_bounds(
        cls,
        attribute: str,
        bounds: Iterable[BoundOfValue] = (),
        directions: Directions = Directions.BOTH,
        *,
        tolerance: float | None = None,
        default: tuple[float, float] | None = None,
        domain: tuple[str, ...] | None = None,
    ) -> Self:
        """Return one that stands in no policy, with these bounds, and that of other values; taken as they are."""
        r1, r2 = default or (None, None)
        others = DefaultBound.model_construct(tolerance=tolerance, r1=r1, r2=r2) if tolerance or default else None
        place = RequirementPlace(f"privacy.{cls.kind}.{attribute}", attribute, None, domain)
        made = cls.model_construct(directions=directions, default=others).placed(place)
        made._bounds = tuple(bounds)  # noqa: SLF001  # its own class
        return cast("Self", made)

    @property
    def bounds(self) -> tuple[BoundOfValue, ...]:
        """The bounds of values that have some of their own."""
        return self._bounds if self._bounds is not None else (*self._of_values(None), *self._of_groups(None))

    @property
    def tolerance(self) -> float | None:
        """The theta of other values, if they have one."""
        return self.default.tolerance if self.default is not None else None

    @property
    def fixed(self) -> tuple[float, float] | None:
        """The (r1, r2) of other values, if they have one."""
        if self.default is None or self.default.r1 is None or self.default.r2 is None:
            return None
        return self.default.r1, self.default.r2

    @property
    def domain(self) -> tuple[str, ...] | None:
        """The declared domain, or None: then the data's."""
        return self._place.domain

    @property
    def tells_frequencies(self) -> bool:
        """Whether an operator made for it tells how often values occur."""
        return self.tolerance is not None

    def bound(self, place: ClauseBinding) -> Self:
        """Return it at its place, where each bound has its own."""
        other = super().bound(place)
        other._bounds = (*self._of_values(place), *self._of_groups(place))  # noqa: SLF001  # its own class
        return other

    def named_values(self) -> Iterator[NamedValue]:
        """Yield the values that have bounds of their own."""
        return ((self.attribute, bound.value, bound.span or self.span) for bound in self.bounds)

    def said(self) -> dict[str, Any]:
        """Return all that it says, by field."""
        return {**super().said(), "domain": self.domain}

    def document(self) -> dict[str, Any]:
        """Return what it asks."""
        return {
            "attribute": self.attribute,
            "directions": self.directions.value,
            "values": [_shown(bound) for bound in self.bounds],
            "tolerance": self.tolerance,
            "default": None if self.fixed is None else list(self.fixed),
            **({} if self.values_absent is ValuesAbsent.ERROR else {"values_absent": self.values_absent.value}),
        }

    @classmethod
    def document_type(cls) -> Any:
        """Return the type of its document, a TypedDict."""
        return SensitivityFields

    def _of_values(self, place: ClauseBinding | None) -> Iterator[BoundOfValue]:
        for value, several in self.values.items():
            for i, each in enumerate(several):
                here = ("values", value)
                span = None
                if place is not None:
                    span = place.key(*here) if len(several) == 1 else place.value(*here, str(i))
                yield BoundOfValue(value, each.r1, each.r2, span, each.given)

    def _of_groups(self, place: ClauseBinding | None) -> Iterator[BoundOfValue]:
        for name, group in self.groups.items():
            for i, value in enumerate(group.values):
                span = place.value("groups", name, "values", str(i)) if place is not None else None
                yield BoundOfValue(value, group.r1, group.r2, span, group.given, name)


def _shown(bound: BoundOfValue) -> dict[str, Any]:
    origin = {"given": bound.given, "group": bound.group}
    return {"value": bound.value, "r1": bound.r1, "r2": bound.r2} | {k: v for k, v in origin.items() if v}


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


class ValueBoundFields(TypedDict):
    """(r1, r2) of a value."""

    value: Annotated[str, Field(description="The value.")]
    r1: float
    r2: float
    given: NotRequired[Annotated[str, Field(description="What else is known of the people whom r1 is about.")]]
    group: NotRequired[Annotated[str, Field(description="The group that the bound comes from.")]]


class SensitivityFields(TypedDict):
    """What (r1, r2) of an attribute ask."""

    attribute: Annotated[str, Field(description="The sensitive attribute.")]
    directions: Annotated[
        str,
        Field(json_schema_extra={"enum": [word.value for word in Directions]}),
        Field(description="Which breaches are forbidden."),
    ]
    values: Annotated[list[ValueBoundFields], Field(description="(r1, r2) by value.")]
    tolerance: Annotated[float | None, Field(description="theta of other values: r1 = frequency, r2 = theta r1.")]
    default: Annotated[
        Annotated[list[float], Field(min_length=2, max_length=2)] | None, Field(description="(r1, r2) of other values.")
    ]
    values_absent: NotRequired[Annotated[str, Field(json_schema_extra={"const": ValuesAbsent.ALLOWED.value})]]
