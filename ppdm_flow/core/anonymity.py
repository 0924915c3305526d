"""What must hold of equivalence classes beyond their size, and of sets of items, as plain values.

``attributes`` are those that form the classes. Shares, distances and ratios are compared with the distribution in the
released table. Suppressed cells are one more value, missing ones as the null semantics say.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import ClassVar

from ppdm_flow.core.roles import ValuesAbsent
from ppdm_flow.core.spans import Span


class Diversity(StrEnum):
    """How the sensitive values of a class are counted."""

    DISTINCT = "distinct"
    ENTROPY = "entropy"
    RECURSIVE = "recursive"


class Distance(StrEnum):
    """How far apart two sensitive values are: all equally, or by the ranks between them."""

    EQUAL = "equal"
    ORDERED = "ordered"


@dataclass(frozen=True, slots=True)
class LDiversity:
    """Every class has at least ``l`` well-represented values of ``attribute``.

    ``distinct``: so many values. ``entropy``: exp of the entropy is at least l. ``recursive``: r_1 < c (r_l + … + r_m)
    for the counts in descending order. Source: Machanavajjhala, Kifer, Gehrke, Venkitasubramaniam, ACM TKDD 1(1), 2007.
    """

    kind: ClassVar[str] = "l_diversity"
    id: str
    attribute: str
    l: float  # noqa: E741  # the model's own letter
    attributes: tuple[str, ...]
    variant: Diversity = Diversity.DISTINCT
    c: float | None = None
    span: Span | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class TCloseness:
    """The values of ``attribute`` are distributed in every class as in the table, within an earth mover's distance.

    ``ordered``: a value moves by ranks, (values - 1) of them being 1. ``order`` are all values from low to high; empty:
    they are numbers or dates. Source: Li, Li, Venkatasubramanian, ICDE 2007.
    """

    kind: ClassVar[str] = "t_closeness"
    id: str
    attribute: str
    t: float
    attributes: tuple[str, ...]
    distance: Distance = Distance.EQUAL
    order: tuple[str, ...] = ()
    span: Span | None = field(default=None, compare=False)
    values_absent: ValuesAbsent = ValuesAbsent.ERROR


@dataclass(frozen=True, slots=True)
class AlphaK:
    """No value of ``attribute``, or none of ``values``, has a share above ``alpha`` in any class.

    The k of (alpha, k)-anonymity is a requirement of its own. Source: Wong, Li, Fu, Wang, KDD 2006.
    """

    kind: ClassVar[str] = "alpha_k"
    id: str
    attribute: str
    alpha: float
    attributes: tuple[str, ...]
    values: tuple[str, ...] = ()
    span: Span | None = field(default=None, compare=False)
    values_absent: ValuesAbsent = ValuesAbsent.ERROR


@dataclass(frozen=True, slots=True)
class DeltaDisclosure:
    """|ln(share in the class / share in the table)| is at most ``delta`` for every value of ``attribute``.

    A value of the table that a class lacks breaks it. Source: Brickell, Shmatikov, KDD 2008.
    """

    kind: ClassVar[str] = "delta_disclosure"
    id: str
    attribute: str
    delta: float
    attributes: tuple[str, ...]
    span: Span | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class BetaLikeness:
    """No value's share in a class exceeds its share in the table by more than ``beta`` times the latter.

    Source: Cao, Karras, PVLDB 5(11), 2012, basic beta-likeness.
    """

    kind: ClassVar[str] = "beta_likeness"
    id: str
    attribute: str
    beta: float
    attributes: tuple[str, ...]
    span: Span | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class Population:
    """A CSV file with a row for each person; ``columns`` are (attribute, its name in the file). Relative ``path``."""

    path: str
    columns: tuple[tuple[str, str], ...] = ()
    delimiter: str = ","


@dataclass(frozen=True, slots=True)
class KMap:
    """Every released class fits at least ``k`` people of the population. Source: Sweeney, PhD thesis, MIT, 2001."""

    kind: ClassVar[str] = "k_map"
    id: str
    k: int
    attributes: tuple[str, ...]
    population: Population
    span: Span | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class LKC:
    """Whoever knows at most ``l`` of ``attributes`` finds at least ``k`` rows, and learns no more than ``c``.

    ``sensitive`` are (attribute, value): of the rows that fit, a share of at most c has one of an attribute's values; c
    is None without any. Source: Mohammed, Fung, Hung, Lee, KDD 2009.
    """

    kind: ClassVar[str] = "lkc"
    id: str
    l: int  # noqa: E741  # the model's own letter
    k: int
    attributes: tuple[str, ...]
    c: float | None = None
    sensitive: tuple[tuple[str, str], ...] = ()
    span: Span | None = field(default=None, compare=False)
    values_absent: ValuesAbsent = ValuesAbsent.ERROR


@dataclass(frozen=True, slots=True)
class KmAnonymity:
    """Every combination of at most ``m`` items of ``attribute`` occurs in none of the sets, or in at least ``k``.

    Source: Terrovitis, Mamoulis, Kalnis, PVLDB 1(1), 2008.
    """

    kind: ClassVar[str] = "km_anonymity"
    id: str
    attribute: str
    k: int
    m: int
    span: Span | None = field(default=None, compare=False)


OnSensitive = LDiversity | TCloseness | AlphaK | DeltaDisclosure | BetaLikeness
"""What must hold of the values of one sensitive attribute in every class."""
OnClasses = OnSensitive | KMap | LKC
"""What must hold of the classes that ``attributes`` form."""
