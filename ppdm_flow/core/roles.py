"""The roles of attributes in a release."""

from __future__ import annotations

from enum import StrEnum


class Role(StrEnum):
    """The role of an attribute."""

    IDENTIFIER = "identifier"
    QUASI_IDENTIFIER = "quasi_identifier"
    SENSITIVE = "sensitive"
    TARGET = "target"
    INSENSITIVE = "insensitive"
    WEIGHT = "weight"
    SAMPLING_WEIGHT = "sampling_weight"
    SUBJECT = "subject"
    ITEMS = "items"


_STRONGEST = Role.IDENTIFIER
_OPEN = frozenset({Role.INSENSITIVE, Role.TARGET})
_GUARDED = frozenset({Role.QUASI_IDENTIFIER, Role.SENSITIVE, Role.ITEMS})


def no_weaker(role: Role, than: Role) -> bool:
    """Whether an attribute of ``role`` is guarded at least as well as one of role ``than``.

    An identifier never passes; quasi-identifiers, sensitive attributes and sets of items are counted or bounded, each
    in a way of its own, so that none of them stands above another; a target and an insensitive attribute are published
    as they are. ``weight`` and ``subject`` say how rows count, and ``sampling_weight`` says how many people of the
    population each represents: these compare with nothing else.
    """
    if role is than:
        return True
    if role is _STRONGEST:
        return than in _GUARDED or than in _OPEN
    return than in _OPEN and (role in _GUARDED or role in _OPEN)


class AttributeType(StrEnum):
    """The type of a value: a text, or one of the types that are ordered and counted as numbers."""

    TEXT = "text"
    INTEGER = "integer"
    FLOAT = "float"
    DATE = "date"
    TIMESTAMP = "timestamp"

    @property
    def is_numeric(self) -> bool:
        """Whether columns of this type are numeric columns: all but texts."""
        return self is not AttributeType.TEXT

    @property
    def is_amount(self) -> bool:
        """Whether its values are amounts, which intervals can be made of."""
        return self in (AttributeType.INTEGER, AttributeType.FLOAT)

    @property
    def is_time(self) -> bool:
        """Whether its numbers are days or microseconds, and not amounts."""
        return self in (AttributeType.DATE, AttributeType.TIMESTAMP)


class Nulls(StrEnum):
    """How groups treat missing values."""

    OWN_CATEGORY = "own_category"
    WILDCARD = "wildcard"
    EXCLUDE = "exclude"


class ValuesAbsent(StrEnum):
    """How to treat a requirement that names a value outside of both the declared domain and the data."""

    ERROR = "error"
    ALLOWED = "allowed"

    def covers(self, other: ValuesAbsent) -> bool:
        """Whether data that is refused under ``other`` is refused under this one."""
        return self is ValuesAbsent.ERROR or other is ValuesAbsent.ALLOWED


class Directions(StrEnum):
    """Which breaches a sensitivity forbids: learning that a value is likely, or also that it is unlikely."""

    BOTH = "both"
    UPWARD = "upward"
