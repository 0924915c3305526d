"""Requirements on equivalence classes and on sets of items, as typed models of the policy language."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from ppdm_flow.core.roles import ValuesAbsent
from ppdm_flow.policy.language.model import HIGHER, LOWER, Model, Probability, Texts
from ppdm_flow.requirements.l_diversity.requirement import Diversity
from ppdm_flow.requirements.t_closeness.requirement import Distance


class LDiversity(Model):
    """Every class has at least ``l`` values of a sensitive attribute that are well represented, as ``kind`` counts."""

    l: Annotated[float, Field(gt=1.0), HIGHER]  # noqa: E741  # the model's own letter
    kind: Diversity = Diversity.DISTINCT
    c: Annotated[Annotated[float, Field(gt=0.0)] | None, LOWER] = None
    attributes: Texts | None = None


class TCloseness(Model):
    """A sensitive attribute is distributed in every class as in the whole release, within a distance of ``t``."""

    t: Annotated[float, Field(gt=0.0), LOWER]
    distance: Distance = Distance.EQUAL
    order: Texts | None = None
    attributes: Texts | None = None
    values_absent: ValuesAbsent = ValuesAbsent.ERROR


class AlphaK(Model):
    """No sensitive value, or none of ``values``, has a share above ``alpha`` in any class."""

    alpha: Annotated[float, Field(gt=0.0), LOWER]
    values: Texts | None = None
    attributes: Texts | None = None
    values_absent: ValuesAbsent = ValuesAbsent.ERROR


class DeltaDisclosure(Model):
    """The share of a sensitive value in a class is at most e^delta times that in the release, and at least e^-delta."""

    delta: Annotated[float, Field(gt=0.0), LOWER]
    attributes: Texts | None = None


class BetaLikeness(Model):
    """The share of a sensitive value in a class is at most (1 + beta) times that in the release."""

    beta: Annotated[float, Field(gt=0.0), LOWER]
    attributes: Texts | None = None


class Population(Model):
    """A CSV file with a row for each person; ``columns`` names its columns where they are called otherwise."""

    path: str
    columns: dict[str, str] = Field(default_factory=dict)
    delimiter: str = ","


class KMap(Model):
    """Every class of the release fits at least ``k`` people of a population."""

    k: Annotated[int, Field(ge=2), HIGHER]
    population: Population
    attributes: Texts | None = None


class LKC(Model):
    """Whoever knows at most ``l`` attributes of somebody finds at least ``k`` rows and infers no more than ``c``."""

    l: Annotated[int, Field(ge=1), HIGHER]  # noqa: E741  # the model's own letter
    k: Annotated[int, Field(ge=2), HIGHER]
    c: Annotated[Probability | None, LOWER] = None
    sensitive: dict[str, Texts] = Field(default_factory=dict)
    attributes: Texts | None = None
    values_absent: ValuesAbsent = ValuesAbsent.ERROR


class KmAnonymity(Model):
    """Every combination of at most ``m`` items that occurs is in at least ``k`` sets."""

    k: Annotated[int, Field(ge=2), HIGHER]
    m: Annotated[int, Field(ge=1, le=4), HIGHER] = 2
    attribute: str | None = None
