"""Small releases as a run has them: their rows beside those of the source, and what their columns come from."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from types import SimpleNamespace
from typing import Any

import numpy as np

from ppdm_flow.core.attributes import AttributeFacts
from ppdm_flow.core.lineage import CellKind, Lineage
from ppdm_flow.core.roles import AttributeType, Role
from ppdm_flow.sdk.audit import OtherRelease
from ppdm_flow.tables.column import Column
from ppdm_flow.tables.table import Table

Cells = Mapping[str, Sequence[str | None]]


def table_of(columns: Cells, rows: Sequence[int]) -> Table:
    """Return these rows of columns, with their numbers."""
    at = np.array(rows, dtype=np.int64)
    return Table({name: Column.of(list(cells)).take(at) for name, cells in columns.items()}, at)


class Pairs:
    """Rows of the source beside the released ones, in two partitions."""

    def __init__(self, source: Cells, rows: Sequence[int], cells: Cells) -> None:
        self.left = table_of(source, rows)
        self.right = Table({name: Column.of(list(own)) for name, own in cells.items()}, self.left.rows)

    def pairs(self, original: Sequence[str], released: Sequence[str]) -> Iterator[tuple[Table, Table]]:
        """Yield the partitions, with the columns that there are."""
        there = [name for name in original if name in self.left.columns]
        for part in np.array_split(np.arange(len(self.left.rows)), 2):
            yield self.left.select(there).take(part), self.right.select(list(released)).take(part)


def made_of(*attributes: str, kind: str = "map", **more: Any) -> Lineage:
    """Return the lineage of cells that carry some attributes."""
    return Lineage(frozenset(attributes), kind=CellKind(kind), **more)


def release(
    name: str,
    source: Cells,
    rows: Sequence[int],
    columns: Mapping[str, tuple[Lineage, Sequence[str | None]]],
    *,
    types: Mapping[str, AttributeType] = {},
    weight: str | None = None,
    **more: Any,
) -> OtherRelease:
    """Return a release of these rows; each column has its lineage and its cells, in the order of ``rows``."""
    facts = {
        n: AttributeFacts(
            n, Role.WEIGHT if n == weight else Role.INSENSITIVE, types.get(n, AttributeType.TEXT), derived=lineage
        )
        for n, (lineage, _) in columns.items()
    }
    candidate: Any = SimpleNamespace(schema=SimpleNamespace(weight=weight))
    pairs: Any = Pairs(source, rows, {n: cells for n, (_, cells) in columns.items()})
    left_out = np.array(more.pop("left_out_at_random", []), dtype=np.int64)

    def everyone(columns: Sequence[str]) -> Iterator[Table]:
        yield table_of(source, range(len(source[next(iter(source))]))).select(list(columns))

    return OtherRelease(name, facts, candidate, pairs, left_out, everyone=everyone, **more)


class Hashes:
    """Hashes of people by the attribute ``id``, and of values."""

    subject = "id"

    def people(self, texts: Sequence[str]) -> Any:
        """Return hashes of people, whose ids differ in more than the case of letters."""
        return self.values([f"person {text.lower()}" for text in texts])

    def values(self, texts: Sequence[str]) -> Any:
        """Return hashes of values."""
        digests = [hashlib.sha256(text.encode()).digest()[:7] for text in texts]
        return np.array([int.from_bytes(each, "big") for each in digests], dtype=np.int64)
