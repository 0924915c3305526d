"""Guesses a column's role from its look, with the reason. In doubt it takes the careful one."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ppdm_flow.core.roles import AttributeType, Role
from ppdm_flow.mining.profiling.words import of_ids

if TYPE_CHECKING:  # what a name tells is also asked where no data is read, without the libraries for it
    from ppdm_flow.mining.profiling.column import ColumnFacts

_FEW = 5
_ENOUGH = 20
_EVIDENCE = 50
_NEARLY_ALL = 0.95
_DECADES = 4
_NO_IDS = frozenset({"postal_code", "place", "birth", "age", "sex", "origin"})
"""Kinds whose names may end as those of ids do."""

_OF_ROWS = 0.2
_MANY = 1000
"""From what share of the rows, or how many, values are too many for a code."""

OF_ITS_OWN = "nearly every row has a value of its own"
"""Why a column is taken for an identifier that neither its name nor the form of its values speaks for."""

_TEXTS_ONLY = frozenset({"name", "email", "address", "url", "free_text", "network", "uuid", "iban", "account"})
"""Kinds that no column of numbers has, even with such a name: `comments` may count them."""


@dataclass(frozen=True, slots=True)
class ColumnKind:
    """The kinds of columns that are known, with the role that each usually has.

    ``says`` completes: the values look like …, the column is named like ….
    """

    role: Role
    says: str


_IDENTIFIER, _QUASI, _SENSITIVE, _TARGET = Role.IDENTIFIER, Role.QUASI_IDENTIFIER, Role.SENSITIVE, Role.TARGET
_WEIGHT = Role.SAMPLING_WEIGHT


KINDS: Mapping[str, ColumnKind] = {
    "name": ColumnKind(_IDENTIFIER, "names of people"),
    "email": ColumnKind(_IDENTIFIER, "e-mail addresses"),
    "phone": ColumnKind(_IDENTIFIER, "telephone numbers"),
    "address": ColumnKind(_IDENTIFIER, "postal addresses"),
    "national_id": ColumnKind(_IDENTIFIER, "national or tax identifiers"),
    "document": ColumnKind(_IDENTIFIER, "numbers of passports or licences"),
    "iban": ColumnKind(_IDENTIFIER, "bank accounts (IBAN)"),
    "card": ColumnKind(_IDENTIFIER, "payment cards"),
    "account": ColumnKind(_IDENTIFIER, "accounts or user names"),
    "person_id": ColumnKind(_IDENTIFIER, "ids of people or their records"),
    "uuid": ColumnKind(_IDENTIFIER, "unique ids (UUID)"),
    "network": ColumnKind(_IDENTIFIER, "addresses of computers or devices"),
    "url": ColumnKind(_IDENTIFIER, "web addresses"),
    "vehicle": ColumnKind(_IDENTIFIER, "number plates or vehicles"),
    "free_text": ColumnKind(_IDENTIFIER, "free text, which may say anything of anybody"),
    "coordinates": ColumnKind(_QUASI, "coordinates"),
    "birth": ColumnKind(_QUASI, "dates or years of birth"),
    "age": ColumnKind(_QUASI, "ages"),
    "sex": ColumnKind(_QUASI, "sex or gender"),
    "postal_code": ColumnKind(_QUASI, "postal codes"),
    "place": ColumnKind(_QUASI, "places"),
    "origin": ColumnKind(_QUASI, "origin or nationality"),
    "family": ColumnKind(_QUASI, "marital status or household"),
    "education": ColumnKind(_QUASI, "education"),
    "work": ColumnKind(_QUASI, "occupation or employer"),
    "date": ColumnKind(_QUASI, "dates"),
    "diagnosis": ColumnKind(_SENSITIVE, "diagnoses"),
    "health": ColumnKind(_SENSITIVE, "health"),
    "money": ColumnKind(_SENSITIVE, "income, wealth or debt"),
    "belief": ColumnKind(_SENSITIVE, "religion, politics or union membership"),
    "intimate": ColumnKind(_SENSITIVE, "sexual orientation or life"),
    "justice": ColumnKind(_SENSITIVE, "offences or legal matters"),
    "target": ColumnKind(_TARGET, "the class of an analysis"),
    "survey": ColumnKind(_WEIGHT, "sampling weights of a survey"),
}


@dataclass(frozen=True, slots=True)
class Guess:
    """A role, why, and the kind that it follows from (``""`` for none)."""

    role: Role
    reason: str
    kind: str = ""


def guess(column: ColumnFacts) -> Guess:
    """Return the first guess that something speaks for; without any, the column is a quasi-identifier."""
    for rule in _RULES:
        guessed = rule(column)
        if guessed is not None:
            return guessed
    return Guess(Role.QUASI_IDENTIFIER, "nothing says that others cannot know it")


def _empty(column: ColumnFacts) -> Guess | None:
    if column.distinct:
        return None
    return Guess(Role.INSENSITIVE, "it has no values at all")


def _by_shape(column: ColumnFacts) -> Guess | None:
    if column.shape is None:
        return None
    kind = KINDS[column.shape]
    word = f" ({column.shape_word})" if column.shape_word else ""
    return Guess(kind.role, f"its values look like {kind.says}{word}", column.shape)


def _by_direct_name(column: ColumnFacts) -> Guess | None:
    if column.named is None or KINDS[column.named].role is not Role.IDENTIFIER:
        return None
    if column.distinct <= _FEW and column.rows >= _ENOUGH:
        return None
    if column.named in _TEXTS_ONLY and column.type is not AttributeType.TEXT:
        return None
    several = "; rows share it, so people have several" if column.alone_share < 0.5 and column.distinct else ""
    return Guess(Role.IDENTIFIER, f"it is named like {KINDS[column.named].says}{several}", column.named)


def _constant(column: ColumnFacts) -> Guess | None:
    if column.distinct > 1 or column.missing:
        return None
    return Guess(Role.INSENSITIVE, "every row has the same value")


def _by_name_of_ids(column: ColumnFacts) -> Guess | None:
    """A name that ends as those of ids do; a code of few values, which many rows share, is none."""
    many = column.distinct > _FEW and (column.distinct >= _OF_ROWS * column.present or column.distinct > _MANY)
    other = column.type is AttributeType.FLOAT or column.named in _NO_IDS
    if not of_ids(column.name) or other or not many:
        return None
    several = "; rows share it, so people have several" if column.alone_share < 0.5 else ""
    return Guess(Role.IDENTIFIER, f"it is named like {KINDS['person_id'].says}{several}", "person_id")


def _by_name(column: ColumnFacts) -> Guess | None:
    if column.named is None or KINDS[column.named].role is Role.IDENTIFIER:
        return None
    kind = KINDS[column.named]
    if column.named == "date" and not _is_date(column):  # a code of how somebody was admitted is no date
        return None
    if kind.role is _WEIGHT and (column.type is AttributeType.TEXT or column.missing or not column.distinct):
        return None
    return Guess(kind.role, f"it is named like {kind.says}", column.named)


def _is_date(column: ColumnFacts) -> bool:
    return column.type.is_time or column.dates is not None


def _dates(column: ColumnFacts) -> Guess | None:
    if not _is_date(column):
        return None
    if column.decades >= _DECADES:
        return Guess(Role.QUASI_IDENTIFIER, "its dates span decades, as dates of birth do", "birth")
    return Guess(Role.QUASI_IDENTIFIER, "its values are dates, which others may know", "date")


def _unique(column: ColumnFacts) -> Guess | None:
    if column.present < _EVIDENCE or column.alone_share < _NEARLY_ALL:
        return None
    if column.type is AttributeType.FLOAT:
        return Guess(Role.QUASI_IDENTIFIER, "so exact a number that nearly every row has its own")
    return Guess(Role.IDENTIFIER, OF_ITS_OWN, "person_id")


_RULES: tuple[Callable[[ColumnFacts], Guess | None], ...] = (
    _empty,
    _by_shape,
    _by_direct_name,
    _constant,
    _by_name_of_ids,
    _by_name,
    _dates,
    _unique,
)
