"""How many people look alike, by two routes."""

from __future__ import annotations

import numpy as np

from ppdm_flow.core.people import People
from ppdm_flow.core.roles import Nulls
from ppdm_flow.mining.exposure.columns import Columns
from ppdm_flow.mining.exposure.rows import Rows
from ppdm_flow.mining.exposure.sizes import SIZE, Classes
from ppdm_flow.mining.people.query import PeopleQuery
from ppdm_flow.mining.people.values import people_values
from ppdm_flow.sdk.audit import Sql


def people_in_classes(columns: Columns, rows: Rows, nulls: Nulls, people: People) -> Classes:
    """Return the classes or crowds, whose sizes are people. Raises UnmeasuredError where they cannot be counted."""
    groups = people_values(columns, (None,), rows, nulls, people)[0].groups
    return Classes(groups.rows, groups.people, groups.left_out)


def people_in_classes_again(columns: Columns, rows: Rows, sql: Sql, nulls: Nulls, people: People) -> Classes:
    """Return the same by the second route. Raises UnmeasuredError as above."""
    sizes, own = PeopleQuery.of_people(sql, rows, columns, None, nulls, people).figures(SIZE)
    return Classes(np.rint(own).astype(np.int64), np.rint(sizes).astype(np.int64))
