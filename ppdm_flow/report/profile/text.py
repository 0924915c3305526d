"""A profile for a terminal."""

from __future__ import annotations

from ppdm_flow.report.profile.document import ProfileColumn, ProfileDocument
from ppdm_flow.report.snippet import printable

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
