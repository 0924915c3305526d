"""The entry of a policy for the (r1, r2) of an attribute."""

from __future__ import annotations

from typing import Annotated, ClassVar

from pydantic import BeforeValidator, Field

from ppdm_flow.core.roles import Directions, ValuesAbsent
from ppdm_flow.policy.language.model import (
    HIGHER,
    LOWER,
    Clause,
    Model,
    Name,
    Probability,
    StrongestFirst,
    Texts,
    one_or_more,
)


class ValueBound(Model):
    """(r1, r2): whoever gives the value a prior of at most r1 must not come to a posterior above r2.

    ``given`` says, for readers, what else is known of the people that the prior is about.
    """

    r1: Annotated[Probability, HIGHER]
    r2: Annotated[Probability, LOWER]
    given: str = ""


class ValueGroup(Model):
    """One bound for each of several values. Their union then keeps it as well."""

    values: Texts
    r1: Annotated[Probability, HIGHER]
    r2: Annotated[Probability, LOWER]
    given: str = ""


ValueBounds = Annotated[tuple[ValueBound, ...], BeforeValidator(one_or_more), Field(min_length=1)]
"""One bound, or a list of several: each must hold."""


class DefaultBound(Model):
    """The bound of other values: ``tolerance`` (r1 = frequency, r2 = tolerance r1), or (r1, r2)."""

    tolerance: Annotated[Annotated[float, Field(gt=1.0)] | None, LOWER] = None
    r1: Annotated[Probability | None, HIGHER] = None
    r2: Annotated[Probability | None, LOWER] = None


class Sensitivity(Clause):
    """(r1, r2) per value of one sensitive attribute."""

    adds_only: ClassVar[bool] = True

    directions: Annotated[Directions, StrongestFirst(tuple(Directions))] = Directions.BOTH
    default: DefaultBound | None = None
    values: dict[str, ValueBounds] = Field(default_factory=dict)
    groups: dict[Name, ValueGroup] = Field(default_factory=dict)
    values_absent: ValuesAbsent = ValuesAbsent.ERROR
