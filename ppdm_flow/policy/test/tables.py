"""Rows that a test file writes down."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from ppdm_flow.core.diagnostics import Diagnostic
from ppdm_flow.policy.flatten import FlatPolicy
from ppdm_flow.policy.language.words import short
from ppdm_flow.policy.loaded import PolicyPath
from ppdm_flow.policy.test.models import PolicyTestTable


def cells(flat: FlatPolicy) -> Iterator[Diagnostic]:
    """Yield a fault for each row of a test file that does not fit the others (PPF142)."""
    for path, rows in _rows(flat.tree, ()):
        names = _names(rows[0]) if rows else None
        if names is None:
            continue  # reported by its shape
        for number, row in enumerate(rows):
            fault = _misfit(row, names, like=rows[0])
            if fault:
                place = (*path, str(number))
                yield Diagnostic("PPF142", f"row {number + 1}: {fault}", flat.places.value(*place), path=place)


def text_of(rows: Sequence[Any]) -> str:
    r"""Return rows as CSV with a header: every text in quotes, a missing value as an empty cell without.

    >>> text_of([["job", "age"], ["Cook", None]])
    '"job","age"\n"Cook",\n'
    """
    names = _names(rows[0]) or []
    body = [[row[name] for name in names] for row in rows] if isinstance(rows[0], dict) else rows[1:]
    return "".join(",".join(map(_quoted, row)) + "\n" for row in [names, *body])


def _quoted(cell: str | None) -> str:
    return "" if cell is None else '"' + cell.replace('"', '""') + '"'


def given(table: PolicyTestTable) -> list[str]:
    """Return which of its forms a table has."""
    return [name for name in ("text", "rows", "csv", "file") if getattr(table, name) is not None]


def _rows(tree: Any, path: PolicyPath) -> Iterator[tuple[PolicyPath, list[Any]]]:
    for owner, place in _owners(tree):
        linked = owner.get("tables")
        several = linked.items() if isinstance(linked, dict) else ()
        tables: list[tuple[PolicyPath, Any]] = [((key,), owner.get(key)) for key in ("data", "released")]
        tables += [(("tables", name), table) for name, table in several]
        for key, table in tables:
            if isinstance(table, dict) and isinstance(table.get("rows"), list):
                yield (*path, *place, *key, "rows"), table["rows"]


def _owners(tree: Any) -> Iterator[tuple[dict[str, Any], PolicyPath]]:
    if not isinstance(tree, dict):
        return
    yield tree, ()
    tests = tree.get("tests")
    for name, case in tests.items() if isinstance(tests, dict) else ():
        if isinstance(case, dict):
            yield case, ("tests", name)


def _names(row: Any) -> list[str] | None:
    if isinstance(row, dict):
        return list(row)
    return [str(name) for name in row] if isinstance(row, list) else None


def _misfit(row: Any, names: Sequence[str], like: Any) -> str | None:
    if type(row) is not type(like):
        return f"a {'map' if isinstance(like, dict) else 'list'} like the first one, please"
    values = row.values() if isinstance(row, dict) else row
    if any(isinstance(value, (dict, list)) for value in values):
        return "a cell is a single value"
    if isinstance(row, list):
        return None if len(row) == len(names) else f"{len(row)} cells, and the first row names {len(names)} columns"
    odd = [name for name in row if name not in names]
    lost = [name for name in names if name not in row]
    if odd or lost:
        return f"`{short(lost[0])}` is missing" if lost else f"the first row has no column `{short(odd[0])}`"
    return None
