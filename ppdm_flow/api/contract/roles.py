"""From what a data contract says of a column to its role in a policy, with the reasons. In doubt the careful one.

No column becomes `insensitive` or a `target`, whatever the contract says: these leave as they are, and that is for the
steward to decide.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from ppdm_flow.core.roles import Role
from ppdm_flow.mining.profiling.roles import KINDS
from ppdm_flow.mining.profiling.words import named, of_ids, tokens
from ppdm_flow.policy.contract import ContractProperty, shown

_NESTED = frozenset({"object", "array", "map", "vector"})
_ID_FORMATS = frozenset({"email", "uuid", "uri", "hostname", "ipv4", "ipv6", "password"})
_DIRECT = frozenset({"identifier", "identifiers", "direct", "credential", "credentials", "password"})
_PERSONAL = frozenset({"pii", "personal", "phi", "pci", "spi", "gdpr", "npi", "personenbezogen"})
_SENSITIVE = frozenset(
    {"sensitive", "restricted", "confidential", "secret", "special", "health", "private", "protected", "critical"}
)
_QUASI = frozenset({"quasi", "qi", "indirect", "demographic", "demographics"})
_DENIED = frozenset({"non", "not", "no"})
_STATED = frozenset({Role.IDENTIFIER, Role.QUASI_IDENTIFIER, Role.SENSITIVE})
_NO_IDS = frozenset({"postal_code", "place", "birth", "age", "sex", "origin"})


@dataclass(frozen=True, slots=True)
class ContractGuess:
    """A role, the reasons for it, and what the steward has to ``decide``."""

    role: Role
    reasons: tuple[str, ...]
    decide: str


def guess(column: ContractProperty) -> ContractGuess:
    """Return the most careful role that the contract speaks for; without any, a quasi-identifier."""
    direct = _once(_identifiers(column))
    if direct:
        decide = "whether it may leave under a pseudonym (`pseudonymize`): as it stands it does not leave"
        return ContractGuess(Role.IDENTIFIER, direct, decide)
    stated = tuple(_stated(column))
    if stated:
        role, reason = stated[0]
        return ContractGuess(role, _once((reason, *_also(column, role))), "whether that holds for this release, too")
    kind = named(column.name) or named(column.column)
    if kind is not None and KINDS[kind].role is Role.QUASI_IDENTIFIER:
        reason = f"it is named like {KINDS[kind].says}"
        return ContractGuess(Role.QUASI_IDENTIFIER, _once((reason, *_also(column, Role.QUASI_IDENTIFIER))), _COARSE)
    harmful = _once(_harmful(column, kind))
    if harmful:
        decide = "whether others may know it (then `quasi_identifier`), and drop it if most rows have their own value"
        return ContractGuess(Role.SENSITIVE, harmful, decide)
    reasons = _once(_marked_quasi(column)) or (_unknown(column),)
    return ContractGuess(Role.QUASI_IDENTIFIER, reasons, _COARSE)


_COARSE = "how coarse it may be, and whether it harms (then `sensitive`)"


def _once(reasons: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(reasons))


def _identifiers(column: ContractProperty) -> Iterator[str]:
    """Yield what says that a column tells who somebody is, or that no policy can hold its values."""
    if column.type in _NESTED:
        yield f"its type is `{column.type}`: no attribute of a policy holds nested values, so it does not leave"
    if column.format.lower() in _ID_FORMATS:
        yield f"its format is `{shown(column.format)}`"
    told = {
        "it is a primary key": column.primary_key,
        "every value of it is unique": column.unique,
        "the contract names an encrypted form of it": column.encrypted,
        "it refers to rows of another table": column.refers,
        "the contract says that it is an identifier": column.role == Role.IDENTIFIER,
    }
    yield from (reason for reason, holds in told.items() if holds)
    yield from (f"{mark} marks it" for word, mark in _marks(column) if word in _DIRECT)
    yield from _by_name(column)


def _by_name(column: ContractProperty) -> Iterator[str]:
    """Yield what a name tells of an identifier; what is personal and is named like nothing known is taken for one."""
    kind = named(column.name) or named(column.column)
    if kind is not None and KINDS[kind].role is Role.IDENTIFIER:
        yield f"it is named like {KINDS[kind].says}"
    elif kind not in _NO_IDS and any(of_ids(name) for name in (column.name, column.column)):
        yield "it is named like ids of people or their records"
    elif kind is None or KINDS[kind].role not in _STATED:
        yield from (f"{mark} marks it as personal" for word, mark in _marks(column) if word in _PERSONAL)


def _stated(column: ContractProperty) -> Iterator[tuple[Role, str]]:
    """Yield the role that a contract written by this program says, where it is one that guards."""
    if column.role in _STATED:
        yield Role(column.role), f"the contract says that its role is `{column.role}`"


def _harmful(column: ContractProperty, kind: str | None) -> Iterator[str]:
    if kind is not None and KINDS[kind].role is Role.SENSITIVE:
        yield f"it is named like {KINDS[kind].says}"
    yield from (f"{mark} marks it" for word, mark in _marks(column) if word in _SENSITIVE)


def _marked_quasi(column: ContractProperty) -> Iterator[str]:
    yield from (f"{mark} marks it" for word, mark in _marks(column) if word in _QUASI)


def _also(column: ContractProperty, role: Role) -> Iterator[str]:
    """Yield what speaks for `sensitive` as well."""
    if role is Role.QUASI_IDENTIFIER:
        yield from (f"{mark} says that it may be sensitive, too" for word, mark in _marks(column) if word in _SENSITIVE)


def _unknown(column: ContractProperty) -> str:
    if column.role:
        return f"the contract says `{shown(column.role)}`, which is for a steward to decide"
    if column.classification:
        return f"its classification `{shown(column.classification)}` does not say that others cannot know it"
    return "nothing says that others cannot know it"


def _marks(column: ContractProperty) -> Iterator[tuple[str, str]]:
    """Yield each word of tags and classification once, with what it stands in.

    A word behind a denial says nothing (`non-pii`), nor does `identifier` in `quasi-identifier`.
    """
    texts = [(tag, f"the tag `{shown(tag)}`") for tag in column.tags]
    if column.classification:
        texts.append((column.classification, f"its classification `{shown(column.classification)}`"))
    for text, mark in texts:
        words = tokens(text)
        said = {word for before, word in zip(("", *words), words, strict=False) if before not in _DENIED}
        yield from ((word, mark) for word in sorted(said - _DIRECT if said & _QUASI else said))
