"""Names in SQL: as identifiers, and of what they consist."""

from __future__ import annotations


def quoted(name: str, mark: str = '"') -> str:
    """Return a name as an identifier of SQL."""
    return f"{mark}{name.replace(mark, mark * 2)}{mark}"


def table_parts(table: str) -> list[str]:
    """Return schema and name; dots inside double quotes are part of a name."""
    parts, inside = [""], False
    for character in table:
        if character == '"':
            inside = not inside
        elif character == "." and not inside:
            parts.append("")
        else:
            parts[-1] += character
    return parts
