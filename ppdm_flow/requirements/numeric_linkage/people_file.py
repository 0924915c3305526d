"""The numbers of people in a file that lies beside the policy, read by both routes."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ppdm_flow.core.roles import AttributeType
from ppdm_flow.mining.exposure.numbers import Floats, Ints, UnnumberedError, floats_of
from ppdm_flow.mining.exposure.numbers_query import Types, number_of
from ppdm_flow.mining.populations.file import PeopleFile, coded
from ppdm_flow.sdk.audit import AuditContext, Sql
from ppdm_flow.sdk.paired_relation import cells_of
from ppdm_flow.sdk.view import PairedView

_LACKING = "is no CSV file with a column for each attribute that records are found by, and for a key, named as there"


def file_of(path: str, key: str, ctx: AuditContext) -> PeopleFile:
    """Return the file that the ``key`` of a clause or an audit names."""
    return PeopleFile(ctx.home / path, ",", f"file `{key}` of `numeric_linkage`", _LACKING)


def numbers_of(file: PeopleFile, attributes: Sequence[str], types: Sequence[AttributeType]) -> Floats:
    """Return the numbers of the people, (people, attributes), NaN where a cell is empty.

    Raises DataError where the file cannot be read, or a cell is no number of the attribute's type.
    """
    table = _cells(file, attributes)
    try:
        columns = [floats_of(coded(table[name]), kind, name) for name, kind in zip(attributes, types, strict=True)]
    except UnnumberedError:
        raise file.unusable("has cells that are no numbers of the attribute's type") from None
    return np.column_stack(columns) if columns else np.zeros((size_of(file), 0))


def texts_of(file: PeopleFile, attributes: Sequence[str]) -> list[pa.Array]:
    """Return the texts of the people by attribute, null where a cell is empty."""
    table = _cells(file, attributes) if attributes else None
    return (
        []
        if table is None
        else [pa.concat_arrays(table[name].chunks or [pa.array([], pa.string())]) for name in attributes]
    )


def size_of(file: PeopleFile) -> int:
    """Return how many people it has."""
    return int(_cells(file, file.header()[:1]).num_rows)


def numbers_sql(sql: Sql, file: PeopleFile, attributes: Sequence[str], types: Types) -> Floats:
    """Return the numbers that SQL reads of the same texts."""
    if not attributes:
        return np.zeros((size_of(file), 0))
    table = _cells(file, attributes)
    tables = {"people": pa.table({f"c{i}": table[name] for i, name in enumerate(attributes)})}
    named = ", ".join(f"{number_of(f'c{i}', kind)} AS n{i}" for i, kind in enumerate(types))
    read = sql.table(f"SELECT {named} FROM people", (), tables)  # noqa: S608  # our own names
    return np.column_stack([column.to_numpy().astype(np.float64) for column in read.columns])


def owners(file: PeopleFile, key: str, pairs: PairedView, columns: Sequence[str]) -> tuple[Ints, Ints]:
    """Return the number of the person of each released row (rows,), by row number, and of each in the file (people,).

    They are the same person where ``key`` has the same text; -1 is one of the rows that nobody in the file has, and
    whoever has no key.
    """
    column = coded(_cells(file, [key])[key])
    parts, rows = [np.zeros(0, np.int64)], [np.zeros(0, np.int64)]
    for left, right in pairs.pairs([key], list(columns)):
        texts = cells_of(left[key]).dictionary_encode()
        place = pc.index_in(texts.dictionary, value_set=column.categories.cast(pa.string())).fill_null(-1)
        number = np.append(place.to_numpy(zero_copy_only=False).astype(np.int64), -1)
        parts.append(number[texts.indices.fill_null(-1).to_numpy(zero_copy_only=False)])
        rows.append(np.asarray(right.rows, dtype=np.int64))
    order = np.argsort(np.concatenate(rows), kind="stable")
    return np.concatenate(parts)[order], np.maximum(column.codes, -1).astype(np.int64)


def owners_sql(sql: Sql, file: PeopleFile, key: str, paired: pa.Table) -> tuple[Ints, Ints]:
    """Return what SQL joins: ``paired`` has the ``row`` number of each released row, and the key of its original."""
    cells = _cells(file, [key])[key]
    tables = {"paired": paired, "people": pa.table({"line": np.arange(len(cells)), "key": cells})}
    first = "(SELECT key, MIN(line) AS person FROM people WHERE key IS NOT NULL GROUP BY key) AS firsts"
    found = []
    for which, key_of, order in (("paired", "o0", "row"), ("people", "key", "line")):
        text = (
            f"SELECT COALESCE(person, -1) AS person FROM {which} LEFT JOIN {first} ON {which}.{key_of} = firsts.key"  # noqa: S608  # our own names
            f" ORDER BY {order}"
        )
        found.append(sql.table(text, (), tables)["person"].to_numpy().astype(np.int64))
    return found[0], found[1]


def _cells(file: PeopleFile, attributes: Sequence[str]) -> pa.Table:
    file.header()
    return file.cells(attributes)
