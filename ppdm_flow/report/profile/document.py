"""The document that the forms of a profile are made from, and its form for a terminal."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from typing_extensions import TypedDict

from ppdm_flow.core.roles import Role
from ppdm_flow.mining.profiling.column import ColumnFacts
from ppdm_flow.mining.profiling.roles import Guess
from ppdm_flow.mining.profiling.table import Profile
from ppdm_flow.report.snippet import printable

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
    description: str
    domain: list[str]


@dataclass(frozen=True, slots=True)
class ToldByFile:
    """What a file says of a column: what it means, and all codes that it can have, none where that is not known."""

    description: str = ""
    domain: Sequence[str] = ()


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


def document(
    profile: Profile, file: str, source: dict[str, Any], told: Mapping[str, ToldByFile] = MappingProxyType({})
) -> ProfileDocument:
    """Return the JSON-ready form: ``file`` is the data's name, ``source`` how it is read, ``told`` what it says."""
    uniques = profile.uniques
    return {
        "version": 1,
        "file": file,
        "source": source,
        "rows": profile.rows,
        "columns": [
            _column(c, g, told.get(c.name, ToldByFile())) for c, g in zip(profile.columns, profile.guesses, strict=True)
        ],
        "unique_combinations": [list(profile.names(c)) for c in uniques.minimal[:_MOST_MINIMAL]],
        "more_unique_combinations": max(0, len(uniques.minimal) - _MOST_MINIMAL),
        "telling_combinations": [
            {"columns": list(profile.names(a.columns)), "alone": a.share} for a in uniques.telling
        ],
        "combinations_looked_at": uniques.looked_at,
        "combinations_left_out": uniques.left_out,
    }


def _column(column: ColumnFacts, guess: Guess, told: ToldByFile) -> ProfileColumn:
    listed = told.domain if guess.role not in (Role.IDENTIFIER, Role.SUBJECT) else ()
    return {
        "name": column.name,
        "role": str(guess.role),
        "reason": guess.reason,
        "kind": guess.kind or None,
        "type": "text" if _code(column, guess) or listed else str(column.type),
        "date_format": column.date_format,
        "missing": column.missing,
        "distinct": column.distinct,
        "alone": column.alone,
        "alone_share": column.alone_share,
        "largest_share": column.largest / column.rows if column.rows else 0.0,
        "hierarchy": None if listed else _hierarchy(column, guess),
        "description": told.description,
        "domain": list(listed),
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


_HEAD = ("column", "type", "values", "alone", "missing", "role", "since")
_LONGEST = 32


def render(profile: ProfileDocument, width: int = 100) -> str:
    """Return a table of the columns, and what tells rows apart; its lines are cut at ``width``."""
    rows = [_HEAD, *(_row(column) for column in profile["columns"])]
    widths = [max(len(row[i]) for row in rows) for i in range(len(_HEAD) - 1)]
    lines = [f"{profile['file']}: {profile['rows']:,} rows, {len(profile['columns']):,} columns", ""]
    for row in rows:
        cells = [
            cell.rjust(w) if 2 <= i <= 4 else cell.ljust(w)
            for i, (cell, w) in enumerate(zip(row, widths, strict=False))
        ]
        lines.append(_cut("  ".join([*cells, row[-1]]).rstrip(), width))
    return "\n".join(printable(line) for line in [*lines, *_combinations(profile)]) + "\n"


def _row(column: ProfileColumn) -> tuple[str, ...]:
    return (
        _cut(" ".join(column["name"].split()), _LONGEST),
        column["type"],
        f"{column['distinct']:,}",
        f"{100 * column['alone_share']:.1f} %",
        f"{column['missing']:,}",
        column["role"],
        column["reason"],
    )


def _combinations(profile: ProfileDocument) -> list[str]:
    lines = []
    if profile["unique_combinations"]:
        lines += ["", "unique (no two rows agree):"]
        lines += [f"  {_named(c)}" for c in profile["unique_combinations"]]
        if profile["more_unique_combinations"]:
            lines.append(f"  and {profile['more_unique_combinations']:,} more")
    if profile["telling_combinations"]:
        lines += ["", "rows that are alone:"]
        lines += [f"  {100 * c['alone']:5.1f} %  {_named(c['columns'])}" for c in profile["telling_combinations"]]
    if profile["combinations_left_out"]:
        lines += ["", f"{profile['combinations_left_out']:,} combinations were not looked at: there may be more."]
    return lines


def _named(names: list[str]) -> str:
    return " + ".join(" ".join(name.split()) for name in names)


def _cut(text: str, width: int) -> str:
    return text if len(text) <= width else text[: width - 1] + "\N{HORIZONTAL ELLIPSIS}"
