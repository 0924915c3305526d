"""When the classes of one clause are made of those of another.

Where a missing value is a category of its own, a class over fewer attributes is a disjoint union of classes over more.
So is a crowd under wildcards: the union of all classes of rows that fit its own and are missing wherever that is.
Neither holds from wildcards (crowds overlap), nor with exclusion (other rows are left out). What holds from wildcards
to wildcards over fewer attributes is that a crowd grows.

Where people are counted only the same classes are compared. More of the people in a union of classes can have a value
than in each class, since each counts with any of its rows. And attributes that form no classes can link the rows of one
person. So an adversary who knows fewer attributes of several rows may find fewer people.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Protocol

from ppdm_flow.core.roles import Nulls
from ppdm_flow.policy.order.frame import ComparedPolicies

SAME = "the classes are the same"
MERGED = "a class over fewer attributes is a union of classes over more"
FITTING = "the crowd of a row under wildcards is several whole classes"
LARGER = "with fewer attributes known, everybody has at least the crowd that they had"


def unions(given: Iterable[str], asked: Iterable[str], between: ComparedPolicies) -> str | None:
    """Return why every asked class is a disjoint union of given ones, if so.

    A bound on every given class then holds, unless a mixture of classes can be worse than the worst of them.
    """
    more, fewer = frozenset(given), frozenset(asked)
    if not between.same_counting or not between.certain(more, fewer):
        return None
    before, now = between.given.nulls, between.asked.nulls
    if more == fewer and before is now:
        return SAME
    if between.people:
        return None
    if more < fewer or not more >= fewer or before is not Nulls.OWN_CATEGORY or now is Nulls.EXCLUDE:
        return None
    return FITTING if now is Nulls.WILDCARD else MERGED


def contained(given: Iterable[str], asked: Iterable[str], between: ComparedPolicies) -> str | None:
    """Return why every asked class holds a given one, if so: then it has at least its rows, and at least its values."""
    more, fewer = frozenset(given), frozenset(asked)
    why = unions(more, fewer, between)
    if why is not None:
        return why
    wild = between.given.nulls is Nulls.WILDCARD and between.asked.nulls is Nulls.WILDCARD
    alike = between.same_counting and not between.people
    if wild and more >= fewer and alike and between.certain(more, fewer):
        return LARGER
    return None


class ClassClaim(Protocol):
    """A claim on the values of one attribute in the classes over others."""

    @property
    def attribute(self) -> str:
        """The sensitive attribute."""
        ...

    @property
    def attributes(self) -> Collection[str]:
        """What forms the classes."""
        ...


def bounded(
    given: ClassClaim, asked: ClassClaim, most: float, bound: float, between: ComparedPolicies, how: str = ""
) -> str | None:
    """Return why a bound on all classes of one attribute is a bound on others, if no union of classes is worse.

    So are shares, which are weighted means in a union, and distances that are convex in them.
    """
    if given.attribute != asked.attribute or most > bound or not between.about(given.attribute):
        return None
    holds = unions(given.attributes, asked.attributes, between)
    if holds is None:
        return None
    first = how or f"at most {most:g} is at most {bound:g}"
    return first if holds == SAME else f"{first}; {holds}"
