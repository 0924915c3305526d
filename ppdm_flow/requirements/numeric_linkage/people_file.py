"""The numbers of people in a file that lies beside the policy, read by both routes."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa

from ppdm_flow.mining.exposure.numbers import Floats, UnnumberedError, floats_of
from ppdm_flow.mining.exposure.numbers_query import Types, number_of
from ppdm_flow.mining.populations.file import PeopleFile, coded
from ppdm_flow.sdk.audit import AuditContext, Sql

_LACKING = "is no CSV file with a column for each attribute that records are found by, called as in the source"


def file_of(path: str, key: str, ctx: AuditContext) -> PeopleFile:
    """Return the file that the ``key`` of a clause or an audit names."""
    return PeopleFile(ctx.home / path, ",", f"file `{key}` of `numeric_linkage`", _LACKING)


def numbers_of(file: PeopleFile, attributes: Sequence[str], types: Types) -> Floats:
    """Return the numbers of the people, (people, attributes), NaN where a cell is empty.

    Raises DataError where the file cannot be read, or a cell is no number of the attribute's type.
    """
    table = _cells(file, attributes)
    try:
        columns = [floats_of(coded(table[name]), kind, name) for name, kind in zip(attributes, types, strict=True)]
    except UnnumberedError:
        raise file.unusable("has cells that are no numbers of the attribute's type") from None
    return np.column_stack(columns)


def numbers_again(sql: Sql, file: PeopleFile, attributes: Sequence[str], types: Types) -> Floats:
    """Return the numbers that SQL reads of the same texts."""
    table = _cells(file, attributes)
    tables = {"people": pa.table({f"c{i}": table[name] for i, name in enumerate(attributes)})}
    named = ", ".join(f"{number_of(f'c{i}', kind)} AS n{i}" for i, kind in enumerate(types))
    read = sql.table(f"SELECT {named} FROM people", (), tables)  # noqa: S608  # our own names
    return np.column_stack([column.to_numpy().astype(np.float64) for column in read.columns])


def _cells(file: PeopleFile, attributes: Sequence[str]) -> pa.Table:
    file.header()
    return file.cells(attributes)
