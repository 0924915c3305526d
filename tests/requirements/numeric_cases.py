"""Cases of numeric linkage: numbers before and after."""

from __future__ import annotations

import numpy as np

from ppdm_flow.core.attributes import AttributeFacts
from ppdm_flow.core.lineage import Lineage
from ppdm_flow.core.roles import AttributeType, Role
from ppdm_flow.requirements.numeric_linkage.requirement import NumericLinkage
from ppdm_flow.tables.column import Column
from ppdm_flow.tables.numeric.column import NumericColumn
from ppdm_flow.tables.table import Table

ID = "privacy.numeric_linkage"
FLOAT = AttributeType.FLOAT


def column(values):
    if isinstance(values, Column):
        return values
    missing = np.array([v is None for v in values], dtype=bool)
    return NumericColumn(np.array([0.0 if v is None else v for v in values], dtype=np.float64), FLOAT, missing)


def type_of(values):
    return AttributeType.TEXT if isinstance(values, Column) else FLOAT


def case_of(build, original, released, sources, labels=None, maps=(), **more):
    """``sources``: the attribute that each released column is computed from; ``labels``: identifiers of the source.

    Columns and attributes of texts are categories; those of ``maps`` are released as a map of the value.
    """
    labels = labels or {}
    rows = np.arange(len(next(iter(original.values()))))
    named = {n: Column.of(list(v)) for n, v in labels.items()}
    before = Table({n: column(v) for n, v in original.items()} | named, rows)
    after = Table({n: column(v) for n, v in released.items()}, rows)
    attributes = {
        n: AttributeFacts(n, Role.SENSITIVE, type=FLOAT, derived=Lineage(frozenset((a,)), value_map=n in maps))
        for n, a in sources.items()
    }
    asked = {"max": 0.05, "candidates": 1, "sample": 1000, "attributes": tuple(original)} | more
    return build.case(
        before,
        after,
        dict.fromkeys(original, Role.SENSITIVE) | dict.fromkeys(labels, Role.IDENTIFIER),
        sources=sources,
        attributes=attributes,
        original_attributes={
            n: AttributeFacts(n, Role.SENSITIVE, type=type_of(v), source=n) for n, v in original.items()
        },
        requirements=(NumericLinkage.of(ID, **asked),),
    )
