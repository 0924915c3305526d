"""The second route to the numbers of released rows: SQL reads them from texts, and holds them against the file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from ppdm_flow.core.roles import AttributeType
from ppdm_flow.mining.exposure.numbers import other_rows
from ppdm_flow.sdk.audit import Sql, quoted
from ppdm_flow.tables.column import SUPPRESSED_TEXT


@dataclass(frozen=True, slots=True)
class NumberTexts:
    """How a column writes its numbers: of which type they are, and the values that cells are other names of."""

    kind: AttributeType
    values: Mapping[str, str] = field(default_factory=dict)


Types = Sequence[NumberTexts]
"""Column by column."""


def hold(sql: Sql, columns: Sequence[str], types: Types, weight: str | None, tables: dict[str, object]) -> None:
    """Hold the paired numbers r0, r1, … against the ``columns`` of the file, as sets of rows with counts.

    ``types`` are those of the columns. Raises RunError where they differ.
    """
    every = range(len(columns))
    mine = ", ".join(f"{number_of(f'r{i}', types[i])} AS c{i}" for i in every)
    of_file = ", ".join(f"{number_of(quoted(c), types[i])} AS c{i}" for i, c in enumerate(columns))
    rows = "1" if weight is None else f"CAST({quoted(weight)} AS BIGINT)"
    names = ", ".join(f"c{i}" for i in every)
    both = [f"SELECT {mine}, n FROM paired", f"SELECT {of_file}, {rows} AS n FROM candidate"]  # noqa: S608  # quoted
    grouped = [f"SELECT {names}, SUM(n) AS n FROM ({each}) GROUP BY {names} HAVING SUM(n) > 0" for each in both]  # noqa: S608  # the same
    one, other = ((f"({grouped[i]})", f"({grouped[1 - i]})") for i in (0, 1))
    text = (
        f"SELECT (SELECT COUNT(*) FROM ({one[0]} EXCEPT {one[1]})),"  # noqa: S608  # the same
        f" (SELECT COUNT(*) FROM ({other[0]} EXCEPT {other[1]}))"
    )
    if any(sql.rows(text, (), tables)[0]):
        raise other_rows()


def value_of(cell: str, values: Mapping[str, str]) -> str:
    """Return the value that a text is another name of, or the text."""
    if not values:
        return cell
    texts = (", ".join("'" + text.replace("'", "''") + "'" for text in each) for each in (values, values.values()))
    return f"COALESCE(MAP({', '.join(f'[{each}]' for each in texts)})[{cell}], {cell})"


def number_of(cell: str, texts: NumberTexts) -> str:
    """Return the number of a text, in days for moments; NULL where it is missing or suppressed."""
    kind, text = texts.kind, f"NULLIF({value_of(cell, texts.values)}, '{SUPPRESSED_TEXT}')"
    if kind is AttributeType.DATE:
        return f"CAST(CAST({text} AS DATE) - DATE '1970-01-01' AS DOUBLE)"
    if kind is AttributeType.TIMESTAMP:
        return f"epoch_us(CAST({text} AS TIMESTAMP)) / 86400000000.0::DOUBLE"
    return f"CAST({text} AS DOUBLE)"
