"""The document that the forms of a profile are made from."""

from __future__ import annotations

from typing import Any

from typing_extensions import TypedDict

from ppdm_flow.core.roles import Role
from ppdm_flow.mining.profiling.column import ColumnFacts
from ppdm_flow.mining.profiling.roles import Guess
from ppdm_flow.mining.profiling.table import Profile

_MOST_MINIMAL = 20
_FEW = 8


class ProfileColumn(TypedDict):
    """What a column looks like, and the guess of its role with its reason."""

    name: str
    role: str
    reason: str
    kind: str | None
    type: str
    date_format: str | None
    missing: int
    distinct: int
    alone: int
    alone_share: float
    largest_share: float
    hierarchy: dict[str, Any] | None


class TellingCombination(TypedDict):
    """Columns by which this share of the rows is alone."""

    columns: list[str]
    alone: float


class ProfileDocument(TypedDict):
    """What a table looks like: ``source`` says how it is read, the combinations what tells its rows apart."""

    version: int
    file: str
    source: dict[str, Any]
    rows: int
    columns: list[ProfileColumn]
    unique_combinations: list[list[str]]
    more_unique_combinations: int
    telling_combinations: list[TellingCombination]
    combinations_looked_at: int
    combinations_left_out: int


def document(profile: Profile, file: str, source: dict[str, Any]) -> ProfileDocument:
    """Return the JSON-ready form: ``file`` is the data's name, ``source`` how it is read."""
    uniques = profile.uniques
    return {
        "version": 1,
        "file": file,
        "source": source,
        "rows": profile.rows,
        "columns": [_column(c, g) for c, g in zip(profile.columns, profile.guesses, strict=True)],
        "unique_combinations": [list(profile.names(c)) for c in uniques.minimal[:_MOST_MINIMAL]],
        "more_unique_combinations": max(0, len(uniques.minimal) - _MOST_MINIMAL),
        "telling_combinations": [
            {"columns": list(profile.names(a.columns)), "alone": a.share} for a in uniques.telling
        ],
        "combinations_looked_at": uniques.looked_at,
        "combinations_left_out": uniques.left_out,
    }


def _column(column: ColumnFacts, guess: Guess) -> ProfileColumn:
    return {
        "name": column.name,
        "role": str(guess.role),
        "reason": guess.reason,
        "kind": guess.kind or None,
        "type": "text" if _code(column, guess) else str(column.type),
        "date_format": column.date_format,
        "missing": column.missing,
        "distinct": column.distinct,
        "alone": column.alone,
        "alone_share": column.alone_share,
        "largest_share": column.largest / column.rows if column.rows else 0.0,
        "hierarchy": _hierarchy(column, guess),
    }


def _hierarchy(column: ColumnFacts, guess: Guess) -> dict[str, Any] | None:
    """Return a hierarchy that fits every value, for a quasi-identifier that has more than a few."""
    if guess.role is not Role.QUASI_IDENTIFIER or column.distinct <= _FEW:
        return None
    if column.type == "date":
        return {"date": ["month", "year", "decade"]}
    if column.date_format:
        return {"date": ["month", "year", "decade"], "format": column.date_format}
    if _code(column, guess) or (guess.kind == "postal_code" and column.type == "text"):
        kept = [n for n in (4, 3, 2, 1) if n < column.length]
        return {"prefix": kept} if kept else None
    if column.edges:
        return {"intervals": list(column.edges), "open_ends": "both"}
    return None


def _code(column: ColumnFacts, guess: Guess) -> bool:
    """Whether its numbers are no quantities: postal codes are near to each other by their first digits."""
    return guess.kind == "postal_code" and column.type == "integer"
