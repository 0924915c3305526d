"""The people whom few attributes single out, by the second route."""

# ruff: noqa: S608  # all names in these queries are numbered ones of our own

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Sequence

from ppdm_flow.reader.files import Ints, ReleasedFile, Source
from ppdm_flow.reader.query.figures import ROUNDING
from ppdm_flow.reader.query.groups import groups
from ppdm_flow.reader.query.tables import Sql
from ppdm_flow.reader.row_kinds import Question
from ppdm_flow.reader.uniques import share_of


def shares_again(
    sql: Sql, source: Source, files: Sequence[ReleasedFile], questions: Sequence[Question], own: Collection[int]
) -> dict[int, float]:
    """Return by file the share of its people whom some question singles out; the files ``own`` also by themselves."""
    people: defaultdict[tuple[tuple[int, ...], int], list[Ints]] = defaultdict(list)
    single: defaultdict[tuple[tuple[int, ...], int], list[Ints]] = defaultdict(list)
    for question in questions:
        for one in groups(sql, source, files, question, alone=own):
            size = f"floor(sum(weight * n) / max(weight) + {ROUNDING})"
            sizes = f"SELECT id, {size} AS size FROM units WHERE sized GROUP BY id"
            text = f"SELECT row, size < 2 FROM known JOIN ({sizes}) USING (id)"
            rows, alone = sql.table(text, (), {"known": one.known, "units": one.units}).columns
            people[one.held, one.file].append(rows.to_numpy())
            single[one.held, one.file].append(rows.filter(alone).to_numpy())
    shares: dict[int, float] = {}
    for (held, file), rows in people.items():
        shares[file] = max(share_of(source, rows, single[held, file]), shares.get(file, 0.0))
    return shares
