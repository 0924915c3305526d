"""Words that columns of a kind are named by, in several languages, without accents."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping

from ppdm_flow.core.pages import read_of_package

_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_SPLIT = re.compile(r"[\W_]+|(?<=\D)(?=\d)|(?<=\d)(?=\D)")


def _phrases(page: str) -> Mapping[str, tuple[str, ...]]:
    """Return the phrases below each heading of a page beside this module, by kind."""
    sections = read_of_package(f"{__package__}:{page}").sections
    return {kind: tuple(phrases.split(", ")) for kind, phrases in sections.items() if kind}


ANYWHERE = _phrases("words.md")
"""Phrases of whole words by kind, wherever they stand in a name."""

WHOLE = _phrases("whole_names.md")
"""Phrases that a whole name must be: within longer names they mean other things."""

_PEOPLE = (
    "patient|pat|person|customer|client|member|subject|participant|respondent|employee|student|user|insured"
    "|beneficiary|citizen|resident|voter|donor|applicant|borrower|taxpayer|kunde|kunden|mitglied|versicherter|klient"
    "|teilnehmer|proband|paciente|paziente|cliente|patienten"
)
_IDS = "id|ids|nbr|nr|no|num|number|nummer|numero|key|uid|guid|uuid|pid|idx"
"""Words that a name of ids ends with."""


def of_ids(name: str) -> bool:
    """Whether a name ends as names of ids do: `encounter_id`, `case nbr`, `orderNo`."""
    words = tokens(name)
    return len(words) > 1 and words[-1] in _IDS.split("|")


def tokens(name: str) -> tuple[str, ...]:
    """Split a column's name into words: lower case, without accents; `birthDate`, `birth_date` are two words."""
    plain = unicodedata.normalize("NFKD", name.replace("ß", "ss").replace("ø", "o").replace("ł", "l"))
    bare = "".join(c for c in plain if not unicodedata.combining(c))
    return tuple(part.lower() for word in _CAMEL.split(bare) for part in _SPLIT.split(word) if part)


def named(name: str) -> str | None:
    """Return the kind of a column by its name; of several the one with the longest phrase, direct identifiers first."""
    words = tokens(name)
    if not words:
        return None
    name_words = " ".join(words)
    found = [(len(phrase), kind) for phrase, kind in _WHOLE if phrase == name_words]
    parts = {" ".join(words[i : i + n]) for n in range(1, _LONGEST + 1) for i in range(len(words) - n + 1)}
    places = sorted([_PLACES[part] for part in parts if part in _PLACES] + _within(name_words))
    found += [(len(phrase), kind) for phrase, kind in (_ANYWHERE[place] for place in places)]
    if words[0] in _PEOPLE.split("|") and words[-1] in _IDS.split("|") and len(words) > 1:
        found.append((len(name_words), "person_id"))
    return max(found, key=lambda each: each[0])[1] if found else None


_WHOLE = [(phrase, kind) for kind, phrases in WHOLE.items() for phrase in phrases]
_ANYWHERE = [(phrase, kind) for kind, phrases in ANYWHERE.items() for phrase in phrases]
_PLACES = {phrase: place for place, (phrase, _) in reversed([*enumerate(_ANYWHERE)])}
"""The first place of each phrase: of two equally long ones the first counts."""
_LONGEST = max(len(phrase.split()) for phrase in _PLACES)
_UNPARTED = [place for place, (phrase, _) in enumerate(_ANYWHERE) if not phrase.isascii()]
"""Phrases of scripts that put no blanks between words."""


def _within(words: str) -> list[int]:
    return [] if words.isascii() else [place for place in _UNPARTED if _ANYWHERE[place][0] in words]
