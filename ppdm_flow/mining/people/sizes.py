"""How many people look alike, by two routes."""

from __future__ import annotations

import numpy as np

from ppdm_flow.core.people import PeopleCount
from ppdm_flow.core.roles import Nulls
from ppdm_flow.mining.exposure.columns import RevealingColumns
from ppdm_flow.mining.exposure.rows import CountedRows
from ppdm_flow.mining.exposure.sizes import SIZE, CombinationSizes
from ppdm_flow.mining.people.query import PeopleQuery
from ppdm_flow.mining.people.values import people_values
from ppdm_flow.sdk.audit import Sql


def people_in_classes(
    columns: RevealingColumns, rows: CountedRows, nulls: Nulls, people: PeopleCount
) -> CombinationSizes:
    """Return the classes or crowds, whose sizes are people. Raises UnmeasuredError where they cannot be counted."""
    groups = people_values(columns, (None,), rows, nulls, people)[0].groups
    return CombinationSizes(groups.rows, groups.people, groups.left_out)


def people_in_classes_sql(
    columns: RevealingColumns, rows: CountedRows, sql: Sql, nulls: Nulls, people: PeopleCount
) -> CombinationSizes:
    """Return the same by the second route. Raises UnmeasuredError as above."""
    sizes, own = PeopleQuery.of_people(sql, rows, columns, None, nulls, people).figures(SIZE)
    return CombinationSizes(np.rint(own).astype(np.int64), np.rint(sizes).astype(np.int64))
