"""One release in a ledger, as the program and as a table has it."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any

PENDING, RELEASED, DROPPED = "pending", "released", "dropped"


@dataclass(frozen=True, slots=True)
class Entry:
    """One release in the ledger. ``columns`` are (name, name in the source, role, changes); ``people`` may be None.

    ``members`` is the SHA-256 of who is in which class; empty where nothing tells. ``ids`` names the differences in
    spelling that were ignored when people were told apart, with commas. ``number`` is given by the ledger.
    """

    state: str
    policy: str
    name: str
    audience: str
    time: str
    plan: str
    folder: str
    run: str
    manifest: str
    file: str
    rows: int
    columns: tuple[tuple[str, str, str, tuple[str, ...]], ...]
    people: int | None
    generated: bool
    members: str = ""
    ids: str = ""
    number: int = 0


FIELDS = tuple(field.name for field in fields(Entry) if field.name != "state")
"""The columns of the table of releases, in the order of the entry's; its state is in the chain."""


def to_columns(entry: Entry) -> Mapping[str, Any]:
    """Return what the table holds of an entry, by column."""
    values = {name: getattr(entry, name) for name in FIELDS}
    return {**values, "columns": json.dumps(entry.columns), "generated": int(entry.generated)}


def from_row(row: Sequence[Any], state: str) -> Entry:
    """Return the entry of a row of :data:`FIELDS`. Raises ValueError or TypeError where it is none."""
    values = dict(zip(FIELDS, row, strict=True))
    columns = tuple((n, s, r, tuple(c)) for n, s, r, c in json.loads(values["columns"]))
    return Entry(state=state, **{**values, "columns": columns, "generated": bool(values["generated"])})
