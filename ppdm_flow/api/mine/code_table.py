"""The code table of a table: what ``ppdm-flow mine DATA --code-table`` prints."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from ppdm_flow.api.mine.mine import support_of
from ppdm_flow.api.profile.data import TextOptions, columns, look
from ppdm_flow.core.supports import SupportBound
from ppdm_flow.mining.generation import code_table_document
from ppdm_flow.mining.itemsets.mine import mine
from ppdm_flow.mining.itemsets.tabular import tabular
from ppdm_flow.mining.krimp.compress import krimp
from ppdm_flow.tables.column import Column
from ppdm_flow.tables.counts import count
from ppdm_flow.tables.table import Table

_MOST_CANDIDATES = 20_000_000


def code_table(data: Path, min_support: str | float | SupportBound) -> dict[str, Any]:
    """Return the code table that KRIMP finds in all columns of a file, with closed itemsets as candidates.

    It is as private as the data: the document has their values and exact counts.

    Parameters
    ----------
    data : a file of any format that policies read, with names of columns and one value in a cell
    min_support : of candidates: a share (0.002, ``"0.2%"``) or a number of rows (500)

    Raises
    ------
    UsageError, DataError, PluginError
        Where the file cannot be read or holds sets, and PPF775 where there are too many candidates.
    """
    least = support_of(min_support)
    coded = {name: Column(*one) for name, one in columns(data, look(data, TextOptions(header=True))).items()}
    rows = len(next(iter(coded.values())))
    counts = count(Table(coded, np.arange(rows, dtype=np.int64)), tuple(coded))
    items = tabular(counts)
    mined = mine(items.database, least.rows(rows), only_closed=True, most=_MOST_CANDIDATES).of_length(2)
    table = krimp(items.database, mined.in_candidate_order()).table
    return code_table_document(table, items, counts.columns, counts.categories)
