"""Tables with typed columns for tests of steps on numbers."""

from __future__ import annotations

import numpy as np

from ppdm_flow.core.attributes import AttributeFacts
from ppdm_flow.core.roles import AttributeType, Role
from ppdm_flow.tables.column import Column
from ppdm_flow.tables.numeric.column import NumericColumn
from ppdm_flow.tables.table import Table

KINDS = {
    "income": AttributeType.FLOAT,
    "assets": AttributeType.FLOAT,
    "age": AttributeType.INTEGER,
    "birth": AttributeType.DATE,
    "seen": AttributeType.TIMESTAMP,
}
FACTS = {name: AttributeFacts(name, Role.INSENSITIVE, kind) for name, kind in KINDS.items()}


def people(rows: int = 600, seed: int = 4) -> Table:
    """Return correlated numbers with missing ones, and a column of texts."""
    rng = np.random.default_rng(seed)
    normal = rng.standard_normal((rows, 3))
    income = np.round(3000 + 800 * normal[:, 0], 2)
    assets = np.round(2e4 + 9e3 * (0.7 * normal[:, 0] + 0.5 * normal[:, 1]), 1)
    age = np.clip(np.rint(45 + 14 * (0.5 * normal[:, 0] + 0.8 * normal[:, 2])), 0, 99).astype(np.int64)
    seen = (1_700_000_000 + rng.integers(0, 10**7, rows)) * 1_000_000
    return Table(
        {
            "income": NumericColumn(income, AttributeType.FLOAT, np.arange(rows) % 17 == 3),
            "assets": NumericColumn(assets, AttributeType.FLOAT),
            "age": NumericColumn(age, AttributeType.INTEGER, np.arange(rows) % 31 == 5),
            "birth": NumericColumn(10_000 - 365 * age, AttributeType.DATE),
            "seen": NumericColumn(seen, AttributeType.TIMESTAMP),
            "city": Column.of([f"city-{c}-canary" for c in rng.integers(0, 4, rows)]),
        },
        np.arange(rows, dtype=np.int64),
    )


def numbers(kind: AttributeType, values: list[float | int], *rest: list[float | int], **columns: Column) -> Table:
    """Return a table with columns `x`, `y`, … of one type, and further ones."""
    dtype = np.float64 if kind is AttributeType.FLOAT else np.int64
    typed = {n: NumericColumn(np.array(v, dtype=dtype), kind) for n, v in zip("xyz", (values, *rest), strict=False)}
    return Table({**typed, **columns}, np.arange(len(values), dtype=np.int64))


def facts(table: Table) -> dict[str, AttributeFacts]:
    """Return what a plan knows of the typed columns of a table."""
    typed = {n: c.kind for n, c in table.columns.items() if isinstance(c, NumericColumn)}
    return {n: AttributeFacts(n, Role.INSENSITIVE, kind) for n, kind in typed.items()}
