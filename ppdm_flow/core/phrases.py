"""Phrases for sentences: numbers with their nouns, and lists of names."""

from __future__ import annotations

from collections.abc import Sequence

_VOWELS = "aeiou"


def counted(number: int, noun: str) -> str:
    """Return a number with its noun: ``1 gate``, ``2,000 rows``, ``3 classes``, ``4 policies``.

    >>> counted(1, "row"), counted(2000, "row"), counted(3, "class"), counted(0, "policy"), counted(2, "key")
    ('1 row', '2,000 rows', '3 classes', '0 policies', '2 keys')
    >>> counted(1, "person"), counted(2, "person")
    ('1 person', '2 people')
    """
    return f"{number:,} {noun if number == 1 else _plural(noun)}"


def listed(names: Sequence[str], most: int | None = None, first: int | None = None) -> str:
    """Return names in a row; of more than ``most`` the ``first`` ones (``most - 1``), and how many more.

    >>> listed(["a"]), listed(["a", "b", "c"]), listed(["a", "b", "c", "d"], 3)
    ('a', 'a, b and c', 'a, b and 2 more')
    """
    if most is not None and len(names) > most:
        shown = names[: most - 1 if first is None else first]
        return f"{', '.join(shown)} and {len(names) - len(shown):,} more"
    return " and ".join([*([", ".join(names[:-1])] if len(names) > 1 else []), *names[-1:]])


def _plural(noun: str) -> str:
    if noun == "person":
        return "people"
    if noun.endswith("y") and noun[-2:-1] not in _VOWELS:
        return f"{noun[:-1]}ies"
    return f"{noun}es" if noun.endswith(("s", "x")) else f"{noun}s"
