"""The people whom few attributes single out, by the second route."""

# ruff: noqa: S608  # all names in these queries are numbered ones of our own

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Sequence

import duckdb
import numpy as np
import pyarrow as pa

from ppdm_flow.reader.files import ReleasedFile, SourceRows
from ppdm_flow.reader.query.figures import ROUNDING
from ppdm_flow.reader.query.groups import groups
from ppdm_flow.reader.query.tables import QueryTables
from ppdm_flow.reader.row_kinds import ReaderQuestion


def shares_sql(
    database: duckdb.DuckDBPyConnection,
    source: SourceRows,
    files: Sequence[ReleasedFile],
    questions: Sequence[ReaderQuestion],
    own: Collection[int],
) -> dict[int, float]:
    """Return by file the share of its people whom some question singles out; the files ``own`` also by themselves."""
    known: defaultdict[tuple[tuple[int, ...], int], list[pa.Table]] = defaultdict(list)
    for question in questions:
        for one in groups(database, source, files, question, alone=own):
            size = f"floor(sum(weight * n) / max(weight) + {ROUNDING})"
            sizes = f"SELECT id, {size} AS size FROM {one.units} WHERE sized GROUP BY id"
            text = f"SELECT row, size < 2 AS single FROM {one.known} JOIN ({sizes}) USING (id)"
            known[one.reader_files, one.file].append(one.tables.table(text))
    weight = "1" if source.subject else "weight"
    of_unit = f"unit, bool_or(single) AS single, any_value({weight}) AS w"
    shares: dict[int, float] = {}
    for (_, file), single_rows in known.items():
        tables = QueryTables(database)
        tables.put_arrays({"row": np.arange(len(source)), "unit": source.unit, "weight": source.weight}, "source")
        tables.put(pa.concat_tables(single_rows), "known")
        units = f"SELECT {of_unit} FROM known JOIN source USING (row) GROUP BY unit"
        ((share,),) = tables.rows(f"SELECT sum(w) FILTER (single) / sum(w) FROM ({units})")
        shares[file] = max(share or 0.0, shares.get(file, 0.0))
    return shares
