"""The people whom few attributes single out, by the second route."""

# ruff: noqa: S608  # all names in these queries are numbered ones of our own

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Sequence
from typing import Any

import pyarrow as pa

from ppdm_flow.reader.files import ReleasedFile, Source
from ppdm_flow.reader.query.figures import ROUNDING
from ppdm_flow.reader.query.groups import groups
from ppdm_flow.reader.query.tables import Sql
from ppdm_flow.reader.row_kinds import Question


def shares_again(
    sql: Sql, source: Source, files: Sequence[ReleasedFile], questions: Sequence[Question], own: Collection[int]
) -> dict[int, float]:
    """Return by file the share of its people whom some question singles out; the files ``own`` also by themselves."""
    known: defaultdict[tuple[tuple[int, ...], int], list[pa.Table]] = defaultdict(list)
    for question in questions:
        for one in groups(sql, source, files, question, alone=own):
            size = f"floor(sum(weight * n) / max(weight) + {ROUNDING})"
            sizes = f"SELECT id, {size} AS size FROM units WHERE sized GROUP BY id"
            text = f"SELECT row, size < 2 AS single FROM known JOIN ({sizes}) USING (id)"
            columns = sql.table(text, (), {"known": one.known, "units": one.units}).columns
            known[one.held, one.file].append(pa.table(list(columns), ["row", "single"]))
    rows = pa.table({"row": range(len(source)), "unit": source.unit, "weight": source.weight})
    weight = "1" if source.subject else "weight"
    of_unit = f"unit, bool_or(single) AS single, any_value({weight}) AS w"
    text = (
        f"SELECT sum(w) FILTER (single) / sum(w) FROM (SELECT {of_unit} FROM known JOIN rows USING (row) GROUP BY unit)"
    )
    shares: dict[int, float] = {}
    for (_, file), tables in known.items():
        named: dict[str, Any] = {"known": pa.concat_tables(tables), "rows": rows}
        ((share,),) = sql.rows(text, (), named)
        shares[file] = max(share or 0.0, shares.get(file, 0.0))
    return shares
