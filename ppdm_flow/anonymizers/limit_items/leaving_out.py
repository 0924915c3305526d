"""Which items are left out, and sets without them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

import pyarrow as pa
import pyarrow.compute as pc

from ppdm_flow.anonymizers.limit_items.spec import LimitItemsParams
from ppdm_flow.anonymizers.plain_sets import baskets
from ppdm_flow.core.attributes import AttributeFacts
from ppdm_flow.core.diagnostics import Diagnostic
from ppdm_flow.core.errors import PluginError
from ppdm_flow.sdk.view import DataView
from ppdm_flow.tables.sets.baskets import Baskets, placed


def supports(data: DataView, name: str) -> Counter[str]:
    """Return how many sets have each item."""
    found: Counter[str] = Counter()
    for part in data.partitions([name]):
        column = baskets(part, name)
        found.update(dict(zip(column.categories.to_pylist(), column.counts().tolist(), strict=True)))
    return +found


def left_out(params: LimitItemsParams, counts: Mapping[str, int], facts: AttributeFacts, rows: int) -> frozenset[str]:
    """Return the items that go. Raises PluginError (PPF665) for a name that no set has, and no declaration knows."""
    levels = facts.hierarchy.levels if facts.hierarchy is not None else None
    known = {*counts, *(facts.domain or ()), *(value for value, _ in levels or ())}
    strange = [item for item in params.without or () if item not in known]
    if strange:
        names = ", ".join(f"`{item}`" for item in strange[:12])
        text = f"no set of `{facts.name}` has {names}, so leaving out would leave it in under another spelling"
        raise PluginError(Diagnostic("PPF665", text, help="correct the name; declare it in the attribute's `domain`"))
    least = params.rarer_than.rows(rows) if params.rarer_than is not None else 0
    named = frozenset(params.without or ())
    return frozenset(item for item, count in counts.items() if count < least or item in named)


def without(column: Baskets, items: frozenset[str]) -> Baskets:
    """Return the sets without these items, of which not even the alphabet tells."""
    if not items:
        return column
    kept = pc.invert(pc.is_in(column.categories, value_set=pa.array(sorted(items), pa.string())))
    categories = column.categories.filter(kept)
    return column.mapped(placed(column.categories, categories), categories)
