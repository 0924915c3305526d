"""Hypothesis strategies for tables. Needs hypothesis, which comes with the extra ``test``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from hypothesis import strategies as st

from ppdm_flow.tables.column import SUPPRESSED_TEXT
from ppdm_flow.tables.table import Table


def cells(values: Sequence[str], *, missing: bool = False, suppressed: bool = False) -> st.SearchStrategy[str | None]:
    """Cells among ``values``, and missing or suppressed ones if wanted."""
    marks: list[str | None] = [*([None] if missing else []), *([SUPPRESSED_TEXT] if suppressed else [])]
    return st.sampled_from([*values, *marks])


def tables(
    columns: Mapping[str, st.SearchStrategy[str | None]], *, min_rows: int = 1, max_rows: int = 40
) -> st.SearchStrategy[Table]:
    """Tables with these columns."""
    names = tuple(columns)
    row = st.tuples(*columns.values())
    return st.lists(row, min_size=min_rows, max_size=max_rows).map(
        lambda rows: Table.of({name: [r[i] for r in rows] for i, name in enumerate(names)})
    )
