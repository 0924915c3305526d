"""LKC-privacy: more known attributes, larger groups, lower shares; and what it and whole classes say of each other."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from ppdm_flow.core.roles import Nulls, ValuesAbsent
from ppdm_flow.policy.order.claim import Opaque, Order
from ppdm_flow.policy.order.classes import contained, unions
from ppdm_flow.policy.order.frame import Between, PolicyFrame
from ppdm_flow.requirements.alpha_k.order import Share
from ppdm_flow.requirements.k_anonymity.order import Size
from ppdm_flow.requirements.lkc.requirement import LKC


@dataclass(frozen=True, slots=True)
class Known:
    """Whoever knows at most ``l`` of ``attributes`` finds at least ``k`` rows."""

    l: int  # noqa: E741  # the model's own letter
    k: int
    attributes: frozenset[str]


@dataclass(frozen=True, slots=True)
class KnownShare:
    """Of the rows that such a person finds, a share of at most ``c`` has one of ``values``."""

    l: int  # noqa: E741  # the model's own letter
    c: float
    attribute: str
    values: frozenset[str]
    attributes: frozenset[str]
    values_absent: ValuesAbsent = ValuesAbsent.ERROR


def says(requirement: LKC, _frame: PolicyFrame) -> Iterator[Known | KnownShare | Opaque]:
    """Yield the group's size, and the share of each attribute's values together; nobody knows what is sensitive."""
    known = frozenset(requirement.attributes) - {a for a, _ in requirement.pairs}
    if requirement.c is None and requirement.pairs:
        yield Opaque(requirement.kind, repr((requirement.l, requirement.k, sorted(known), requirement.pairs)))
        return
    yield Known(requirement.l, requirement.k, known)
    if requirement.c is not None:
        for attribute in dict.fromkeys(a for a, _ in requirement.pairs):
            values = frozenset(value for a, value in requirement.pairs if a == attribute)
            yield KnownShare(requirement.l, requirement.c, attribute, values, known, requirement.values_absent)


def known(given: Known, asked: Known, between: Between) -> str | None:
    """Whoever may know more finds fewer."""
    if given.l < asked.l or given.k < asked.k or not _nested(given.attributes, asked.attributes, between):
        return None
    return f"whoever knows {given.l} finds {given.k}, so whoever knows {asked.l} finds {asked.k}"


def known_shares(given: KnownShare, asked: KnownShare, between: Between) -> str | None:
    """The same of shares, and some of the values are no more of the rows than all.

    With rows in several groups, or in none, of the very same attributes only.
    """
    same = given.attribute == asked.attribute and between.about(given.attribute)
    about = same and given.values >= asked.values
    if not about or given.l < asked.l or given.c > asked.c or not given.values_absent.covers(asked.values_absent):
        return None
    nested = _nested(given.attributes, asked.attributes, between)
    if not nested or (between.given.nulls is not Nulls.OWN_CATEGORY and given.attributes != asked.attributes):
        return None
    return f"at most {given.c:g} is at most {asked.c:g}, and {given.l} known attributes are no fewer than {asked.l}"


def of_sizes(given: Size, asked: Known, between: Between) -> str | None:
    """Whole classes of k rows: whoever knows less finds no fewer."""
    if between.asked.nulls is Nulls.EXCLUDE or given.k < asked.k:
        return None
    holds = contained(given.attributes, asked.attributes, between)
    return None if holds is None else f"`k_anonymity` keeps {given.k} rows together; {holds}"


def of_shares(given: Share, asked: KnownShare, between: Between) -> str | None:
    """A share that no whole class exceeds is exceeded by no union of them; m values have at most m such shares."""
    many = len(asked.values)
    about = given.attribute == asked.attribute and (given.value is None or asked.values == {given.value})
    if not about or given.alpha * many > asked.c or between.given.nulls is not Nulls.OWN_CATEGORY:
        return None
    if not given.values_absent.covers(asked.values_absent):
        return None
    holds = unions(given.attributes, asked.attributes, between) if between.about(given.attribute) else None
    kept = f"`alpha_k` keeps {'shares' if many == 1 else f'each of {many} shares'} at {given.alpha:g}"
    return None if holds is None else f"{kept}; {holds}"


def to_sizes(given: Known, asked: Size, between: Between) -> str | None:
    """Whoever may know as many attributes as form the classes may know them all."""
    few = len(asked.attributes) <= given.l and between.certain(given.attributes, asked.attributes)
    plain = not _patterned(asked.attributes)
    if not few or not plain or given.k < asked.k or not _nested(given.attributes, asked.attributes, between):
        return None
    return f"all {len(asked.attributes)} attributes are among the {given.l} that may be known"


def _patterned(names: frozenset[str]) -> bool:
    return any(mark in name for name in names for mark in "*?[")


def _nested(given: frozenset[str], asked: frozenset[str], between: Between) -> bool:
    """Whether all that may be known in the asked clause may be known in the given one, in the same or finer groups."""
    alike = between.given.nulls is between.asked.nulls or unions(given, asked, between) is not None
    return alike and between.same_counting and given >= asked and between.certain(given, asked)


ORDER = Order(
    says=says,
    rules=(
        (Known, Known, known),
        (KnownShare, KnownShare, known_shares),
        (Size, Known, of_sizes),
        (Share, KnownShare, of_shares),
        (Known, Size, to_sizes),
    ),
    fields=frozenset(
        (
            "l",
            "k",
            "attributes",
            "c",
            "sensitive",
            "values_absent",
        )
    ),
)
