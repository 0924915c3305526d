"""A profile for a terminal."""

from __future__ import annotations

from ppdm_flow.report.profile.document import ProfileColumn, ProfileDocument
from ppdm_flow.report.snippet import printable

_HEAD = ("column", "type", "values", "alone", "missing", "role", "since")
_LONGEST = 32


def render(found: ProfileDocument, width: int = 100) -> str:
    """Return a table of the columns, and what tells rows apart; its lines are cut at ``width``."""
    rows = [_HEAD, *(_row(column) for column in found["columns"])]
    widths = [max(len(row[i]) for row in rows) for i in range(len(_HEAD) - 1)]
    lines = [f"{found['file']}: {found['rows']:,} rows, {len(found['columns']):,} columns", ""]
    for row in rows:
        cells = [
            cell.rjust(w) if 2 <= i <= 4 else cell.ljust(w)
            for i, (cell, w) in enumerate(zip(row, widths, strict=False))
        ]
        lines.append(_cut("  ".join([*cells, row[-1]]).rstrip(), width))
    return "\n".join(printable(line) for line in [*lines, *_combinations(found)]) + "\n"


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


def _combinations(found: ProfileDocument) -> list[str]:
    lines = []
    if found["unique_combinations"]:
        lines += ["", "unique (no two rows agree):"]
        lines += [f"  {_named(c)}" for c in found["unique_combinations"]]
        if found["more_unique_combinations"]:
            lines.append(f"  and {found['more_unique_combinations']:,} more")
    if found["telling_combinations"]:
        lines += ["", "rows that are alone:"]
        lines += [f"  {100 * c['alone']:5.1f} %  {_named(c['columns'])}" for c in found["telling_combinations"]]
    if found["combinations_left_out"]:
        lines += ["", f"{found['combinations_left_out']:,} combinations were not looked at: there may be more."]
    return lines


def _named(names: list[str]) -> str:
    return " + ".join(" ".join(name.split()) for name in names)


def _cut(text: str, width: int) -> str:
    return text if len(text) <= width else text[: width - 1] + "\N{HORIZONTAL ELLIPSIS}"
