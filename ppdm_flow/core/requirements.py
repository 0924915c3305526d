"""What must hold of a release: requirements and gates as plain values."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import ClassVar

from ppdm_flow.core.anonymity import LKC, KmAnonymity, OnClasses, OnSensitive
from ppdm_flow.core.roles import Directions, ValuesAbsent
from ppdm_flow.core.spans import Span
from ppdm_flow.core.successive import Successive
from ppdm_flow.core.supports import Support

TOLERANCE = 1e-9
"""Relative tolerance of every comparison of a measured figure with its bound."""

MAX_WIDTH = 0.2
"""How wide the interval of an estimate may be for a gate on it to hold: that of a share of a hundred people."""


def within(measured: float, bound: float, *, at_most: bool) -> bool:
    """Compare with the relative tolerance of the contract; NaN never holds."""
    slack = TOLERANCE * max(1.0, abs(bound))
    return measured <= bound + slack if at_most else measured >= bound - slack


@dataclass(frozen=True, slots=True)
class KAnonymity:
    """Every equivalence class over the quasi-identifiers has at least ``k`` rows."""

    kind: ClassVar[str] = "k_anonymity"
    id: str
    k: int
    attributes: tuple[str, ...]
    span: Span | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class Template:
    """<IC -> pi, h>: in no group over ``channel`` is one of ``sensitive`` more frequent than ``confidence``.

    Several (attribute, value) pairs are several templates with one channel and threshold, never their union
    (Wang, Fung, Yu, ICDM 2005, section 3).

    ``negated``: the inference is to *not* having the value, so its confidence is the share of rows without it, missing
    and suppressed ones included. ``min_support``: beside that, no group over the channel has fewer rows. Small groups
    are never excused from the confidence: an inference about few people is the more dangerous one.
    """

    kind: ClassVar[str] = "templates"
    id: str
    name: str
    channel: tuple[str, ...]
    sensitive: tuple[tuple[str, str], ...]
    confidence: float
    span: Span | None = field(default=None, compare=False)
    negated: bool = False
    min_support: int = 1
    values_absent: ValuesAbsent = ValuesAbsent.ERROR


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
class Sensitivity:
    """The (r1, r2) requirement on one attribute.

    ``bounds`` may hold several for one value: each must hold, so the smallest gamma counts. ``tolerance`` is the theta
    of values without a bound of their own: r1 is the value's frequency, r2 theta times it, unconstrained from a
    frequency of 1/theta on. ``domain`` is the declared domain, or None: then the data's.
    """

    kind: ClassVar[str] = "sensitivities"
    id: str
    attribute: str
    directions: Directions
    bounds: tuple[ValueBound, ...]
    tolerance: float | None = None
    default: tuple[float, float] | None = None
    domain: tuple[str, ...] | None = None
    span: Span | None = field(default=None, compare=False)
    values_absent: ValuesAbsent = ValuesAbsent.ERROR


@dataclass(frozen=True, slots=True)
class AnonymityScore:
    """The Normalised Anonymity Score of the released rows is at most ``maximum``, in [0, 1).

    Source: Vreeken, van Leeuwen, Siebes, ICDM 2007.
    """

    kind: ClassVar[str] = "anonymity_score"
    id: str
    maximum: float
    span: Span | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class Blend:
    """Rare rows of the release are not rare rows of the original: a minimal support in the role of k.

    Of the released rows with a support below ``min_support`` in the release, at most a share of ``maximum`` occurs in
    the original with a support below ``min_support``. Source: Vreeken, van Leeuwen, Siebes, ICDM 2007.
    """

    kind: ClassVar[str] = "blend"
    id: str
    min_support: Support
    maximum: float = 0.0
    span: Span | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class ItemsetBreach:
    """No released set lets one infer an item of its original with more than ``level``, in (0, 1).

    For every itemset A of so many items as ``sizes`` say, and every item z, in A or not: Pr[z in t | A in t'] is at
    most ``level``, for original sets t and what was released in their place t'. ``attribute`` holds the sets.
    ``max_supports``: the largest supports of itemsets of 1, 2, .. items that anyone has to reckon with, as shares of
    the sets of one length; ``max_supports_by_length``: for sets of some lengths others. Empty: those of the data.
    Lengths with fewer than ``pool`` sets are judged together with their neighbours.

    Source: Evfimievski, Srikant, Agrawal, Gehrke, KDD 2002, section 4.2.
    """

    kind: ClassVar[str] = "itemset_breach"
    id: str
    attribute: str
    level: float
    sizes: tuple[int, ...] = (1, 2, 3)
    max_supports: tuple[float, ...] = ()
    max_supports_by_length: tuple[tuple[int, tuple[float, ...]], ...] = ()
    pool: int = 1000
    span: Span | None = field(default=None, compare=False)

    def declared(self, length: int) -> tuple[float, ...]:
        """Return the maximal supports that the policy gives for sets of ``length`` items; empty where it gives none."""
        return dict(self.max_supports_by_length).get(length, self.max_supports)


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


Requirement = (
    KAnonymity | Template | Sensitivity | AnonymityScore | Blend | ItemsetBreach | OnClasses | KmAnonymity | Successive
)

OnGroups = KAnonymity | Template | OnClasses
"""What is judged on groups of rows, and of releases that can be joined on the joined table as well."""


def protected(requirements: Iterable[Requirement]) -> frozenset[str]:
    """Return the attributes of the source whose values must not be inferred."""
    found: set[str] = set()
    for requirement in requirements:
        if isinstance(requirement, Template | LKC):
            found |= {attribute for attribute, _ in requirement.sensitive}
        elif isinstance(requirement, OnSensitive | Sensitivity):
            found.add(requirement.attribute)
    return frozenset(found)


@dataclass(frozen=True, slots=True)
class Gate:
    """Any measured figure with a bound on either side (or both).

    ``releases`` are those that it is about: on each of them the figure has to be measured, and to hold. There are none
    where the figure is a step's.
    The figure itself is held against the bounds. That of an estimate counts only where its interval is at most
    ``max_width`` wide, for figures above 1 as a share of the figure: else it says too little to hold anything.
    """

    id: str
    metric: str
    minimum: float | None
    maximum: float | None
    span: Span | None = field(default=None, compare=False)
    releases: tuple[str, ...] = ()
    max_width: float = MAX_WIDTH

    @property
    def figure(self) -> str:
        """The metric without a release before it."""
        return self.metric.rpartition("/")[2]

    def sure(self, value: float, interval: tuple[float, float] | None) -> bool:
        """Whether the figure is exact, or its interval narrow enough."""
        if interval is None:
            return True
        return within(interval[1] - interval[0], self.max_width * max(1.0, abs(value)), at_most=True)
