"""What an attribute is to the release."""

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
    SUBJECT = "subject"
    ITEMS = "items"


class AttributeType(StrEnum):
    """How the text of a value is to be understood."""

    TEXT = "text"
    INTEGER = "integer"
    FLOAT = "float"
    DATE = "date"


class Nulls(StrEnum):
    """How groups treat missing values."""

    OWN_CATEGORY = "own_category"
    WILDCARD = "wildcard"
    EXCLUDE = "exclude"


class Directions(StrEnum):
    """Which breaches a sensitivity forbids: learning that a value is likely, or also that it is unlikely."""

    BOTH = "both"
    UPWARD = "upward"
