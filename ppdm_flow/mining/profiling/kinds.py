"""The kinds of columns that are known, with the role that each usually has."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from ppdm_flow.core.roles import Role


@dataclass(frozen=True, slots=True)
class Kind:
    """``says`` completes: the values look like …, the column is named like …."""

    role: Role
    says: str


_IDENTIFIER, _QUASI, _SENSITIVE, _TARGET = Role.IDENTIFIER, Role.QUASI_IDENTIFIER, Role.SENSITIVE, Role.TARGET

KINDS: Mapping[str, Kind] = {
    "name": Kind(_IDENTIFIER, "names of people"),
    "email": Kind(_IDENTIFIER, "e-mail addresses"),
    "phone": Kind(_IDENTIFIER, "telephone numbers"),
    "address": Kind(_IDENTIFIER, "postal addresses"),
    "national_id": Kind(_IDENTIFIER, "national or tax identifiers"),
    "document": Kind(_IDENTIFIER, "numbers of passports or licences"),
    "iban": Kind(_IDENTIFIER, "bank accounts (IBAN)"),
    "card": Kind(_IDENTIFIER, "payment cards"),
    "account": Kind(_IDENTIFIER, "accounts or user names"),
    "person_id": Kind(_IDENTIFIER, "ids of people or their records"),
    "uuid": Kind(_IDENTIFIER, "unique ids (UUID)"),
    "network": Kind(_IDENTIFIER, "addresses of computers or devices"),
    "url": Kind(_IDENTIFIER, "web addresses"),
    "vehicle": Kind(_IDENTIFIER, "number plates or vehicles"),
    "free_text": Kind(_IDENTIFIER, "free text, which may say anything of anybody"),
    "coordinates": Kind(_QUASI, "coordinates"),
    "birth": Kind(_QUASI, "dates or years of birth"),
    "age": Kind(_QUASI, "ages"),
    "sex": Kind(_QUASI, "sex or gender"),
    "postal_code": Kind(_QUASI, "postal codes"),
    "place": Kind(_QUASI, "places"),
    "origin": Kind(_QUASI, "origin or nationality"),
    "family": Kind(_QUASI, "marital status or household"),
    "education": Kind(_QUASI, "education"),
    "work": Kind(_QUASI, "occupation or employer"),
    "date": Kind(_QUASI, "dates"),
    "health": Kind(_SENSITIVE, "health"),
    "money": Kind(_SENSITIVE, "income, wealth or debt"),
    "belief": Kind(_SENSITIVE, "religion, politics or union membership"),
    "intimate": Kind(_SENSITIVE, "sexual orientation or life"),
    "justice": Kind(_SENSITIVE, "offences or legal matters"),
    "target": Kind(_TARGET, "the class of an analysis"),
}
