"""Rows from a code table that somebody gives, in place of one that is learned."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pyarrow as pa

from ppdm_flow.anonymizers.krimp_generator.cells import EmpiricalNumber, ItemValue, Maker, UniformNumber
from ppdm_flow.anonymizers.krimp_generator.intervals import PlacedColumn, placed
from ppdm_flow.anonymizers.krimp_generator.spec import GeneratorParams, numeric
from ppdm_flow.anonymizers.krimp_generator.transform import GeneratorTransform
from ppdm_flow.core.attributes import AttributeFacts
from ppdm_flow.mining.generation.code_table_file import GivenCodeTable, unusable
from ppdm_flow.mining.generation.model import RowGenerator
from ppdm_flow.tables.column import MISSING, SUPPRESSED, SUPPRESSED_TEXT
from ppdm_flow.tables.counts import Counts

_MARKS = {None: MISSING, SUPPRESSED_TEXT: SUPPRESSED}


def transform_of(
    table: GivenCodeTable,
    rows: Counts,
    makers: Mapping[str, Maker],
    intervals: Mapping[str, PlacedColumn],
    facts: Mapping[str, AttributeFacts],
    params: GeneratorParams,
) -> GeneratorTransform:
    """Return a generator of the columns of ``rows``, in their order.

    ``makers`` and ``intervals`` are those of numeric columns. Raises PluginError PPF668 where the code table is over
    other attributes, or has values that an attribute does not have.
    """
    names = rows.columns
    if set(table.attributes) != set(names):
        raise unusable(f"the code table is over {len(table.attributes)} attributes, and not over those to generate")
    items = table.items(names)
    code_of: dict[tuple[int, str | None], int] = {}
    every_maker: list[Maker] = []
    for place, name in enumerate(names):
        own = [value for at, value in items if at == place]
        texts = intervals[name].names if name in intervals else tuple(sorted({str(v) for v in own if v not in _MARKS}))
        maker = makers[name] if name in makers else ItemValue(pa.array(texts, pa.string()))
        codes = _MARKS | {text: code for code, text in enumerate(texts)}
        _check(name, own, codes, maker, facts[name])
        code_of |= {(place, value): codes[value] for value in own}
        every_maker.append(maker)
    numbers = {item: number for number, item in enumerate(items)}
    place_of_item = np.array([place for place, _ in items], dtype=np.int32)
    model = RowGenerator.of_weights(*table.laid_out(numbers, names), place_of_item, len(names), params.laplace)
    return GeneratorTransform(
        model=model,
        code=np.array([code_of[item] for item in items], dtype=np.int32),
        names=names,
        makers=tuple(every_maker),
        row_count=rows.total if params.rows is None else params.rows,
        rejection=None,
        account=_description(table, params, len(items)),
    )


def intervals_of(rows: Counts, facts: Mapping[str, AttributeFacts]) -> dict[str, PlacedColumn]:
    """Return the numeric columns in their intervals. Raises PluginError where a number lies in none."""
    return {name: placed(facts[name], rows.names(name)) for name in rows.columns if numeric(facts[name])}


def _check(
    name: str, values: list[str | None], codes: Mapping[str | None, int], maker: Maker, facts: AttributeFacts
) -> None:
    """Raise PluginError for a value that the column cannot have."""
    unknown = sum(value not in codes for value in values)
    if unknown:
        raise unusable(f"{unknown} values of `{name}` in the code table are no intervals of its hierarchy")
    outside = sum(value not in _MARKS and value not in facts.domain for value in values) if facts.domain else 0
    if outside:
        raise unusable(f"{outside} values of `{name}` in the code table are not in its `domain`")
    widths = (
        maker.size
        if isinstance(maker, UniformNumber)
        else np.diff(maker.begin)
        if isinstance(maker, EmpiricalNumber)
        else None
    )
    if widths is not None and any(codes[value] >= 0 and widths[codes[value]] < 1 for value in values):
        raise unusable(f"an interval of `{name}` in the code table has no number that could be drawn")


def _description(table: GivenCodeTable, params: GeneratorParams, items: int) -> dict[str, Any]:
    lengths = [len(each.items) for each in table.elements if len(each.items) > 1]
    return {
        "algorithm": "a code table that was given: nothing was learned",
        "laplace": params.laplace,
        "code_table": {
            "itemsets_by_length": {str(length): lengths.count(length) for length in sorted(set(lengths))},
            "single_values": items,
        },
    }
