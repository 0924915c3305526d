"""A code table as a JSON document: what a generator learned, or what somebody wrote for one.

``{"version": 1, "attributes": ["a", "b"], "elements": [{"items": {"a": "x", "b": null}, "usage": 3, "support": 5}]}``
has its elements in cover order, single values last. ``null`` is a missing value, ``⊥`` a suppressed cell.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from ppdm_flow.core.diagnostics import Diagnostic
from ppdm_flow.core.digests import read_definition
from ppdm_flow.core.errors import PluginError
from ppdm_flow.core.texts.visible import is_text
from ppdm_flow.mining.itemsets.tabular import Tabular
from ppdm_flow.mining.krimp.code_table import CodeTable
from ppdm_flow.tables.column import MISSING, SUPPRESSED, SUPPRESSED_TEXT

CODE_TABLE = "code_table.json"
_UNUSABLE = "PPF668"
LARGEST_USAGE = 1e15
"""Sums of more of them are whole numbers that floats do not have, and at last infinite."""


def code_table_document(
    table: CodeTable, items: Tabular, names: Sequence[str], categories: Sequence[pa.StringArray]
) -> dict[str, Any]:
    """Return the document of a code table over the columns ``names`` with these ``categories``."""
    texts = [each.to_pylist() for each in categories]
    item_of = [
        (names[a], None if c == MISSING else SUPPRESSED_TEXT if c == SUPPRESSED else texts[a][c])
        for a, c in zip(items.attribute.tolist(), items.code.tolist(), strict=True)
    ]
    sets = zip(table.itemsets, table.usages.tolist(), strict=True)
    elements = [
        {"items": dict(item_of[i] for i in itemset), "usage": usage, "support": support}
        for (itemset, support), usage in sets
    ]
    singles = zip(item_of, table.singles.tolist(), items.database.supports.tolist(), strict=True)
    elements += [{"items": dict([item]), "usage": usage, "support": support} for item, usage, support in singles]
    return {"version": 1, "attributes": list(names), "elements": elements}


@dataclass(frozen=True, slots=True)
class CodeTableElement:
    """An itemset, as values by attribute, with its usage."""

    items: Mapping[str, str | None]
    usage: float


@dataclass(frozen=True, slots=True, eq=False)
class GivenCodeTable:
    """Elements over ``attributes``, in the order of the file.

    Every value that occurs counts as an element by itself too, if need be with a usage of 0.
    """

    attributes: tuple[str, ...]
    elements: tuple[CodeTableElement, ...]

    def items(self, names: Sequence[str]) -> list[tuple[int, str | None]]:
        """Return every item as (place of its attribute in ``names``, value): those of single-value elements first."""
        place = {name: i for i, name in enumerate(names)}
        singles = (each for each in self.elements if len(each.items) == 1)
        ordered = (item for each in (*singles, *self.elements) for item in each.items.items())
        return list(dict.fromkeys((place[name], value) for name, value in ordered))

    def laid_out(
        self, items: Mapping[tuple[int, str | None], int], names: Sequence[str]
    ) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int32], npt.NDArray[np.float64]]:
        """Return (offsets, items, usages) of all elements: larger ones in their order, then every single item."""
        place = {name: i for i, name in enumerate(names)}
        larger = [each for each in self.elements if len(each.items) > 1]
        numbers = [sorted(items[place[name], value] for name, value in each.items.items()) for each in larger]
        singles = np.zeros(len(items))
        for each in self.elements:
            if len(each.items) == 1:
                ((name, value),) = each.items.items()
                singles[items[place[name], value]] = each.usage
        lengths = [*map(len, numbers), *([1] * len(items))]
        flat = [i for itemset in numbers for i in itemset] + list(range(len(items)))
        usages = np.concatenate([np.array([each.usage for each in larger], dtype=np.float64), singles])
        return np.concatenate([[0], np.cumsum(lengths, dtype=np.int64)]), np.array(flat, dtype=np.int32), usages


def read_code_table(path: Path) -> GivenCodeTable:
    """Read a code table. Raises PluginError PPF668, which quotes no value, where the file is none."""
    try:
        document = json.loads(read_definition(path).decode("utf-8-sig"))
    except OSError as error:
        raise unusable(f"{path.name} cannot be read: {error.strerror or 'no reason given'}") from None
    except (ValueError, RecursionError):
        raise unusable(f"{path.name} is not a JSON document") from None
    entries = document.get("elements") if isinstance(document, dict) else None
    if not isinstance(entries, list) or not entries or document.get("version", 1) != 1:
        raise unusable(f"{path.name} is no code table of version 1: it needs a list of `elements`")
    elements = tuple(_element(entry, f"{path.name}, element {n}") for n, entry in enumerate(entries, start=1))
    known = list(dict.fromkeys(name for each in elements for name in each.items))
    attributes = document.get("attributes", known)
    if not isinstance(attributes, list) or sorted(map(str, attributes)) != sorted(known):
        raise unusable(f"{path.name}: `attributes` are others than those of its elements")
    fault = next(_repetitions(elements), None)
    if fault is not None:
        raise unusable(f"{path.name}, element {fault}: it stands in an earlier one already")
    return GivenCodeTable(tuple(attributes), elements)


def _element(entry: Any, place: str) -> CodeTableElement:
    items, usage = (entry.get("items"), entry.get("usage")) if isinstance(entry, dict) else (None, None)
    if not isinstance(items, dict) or not items or any(not isinstance(v, str | None) for v in items.values()):
        raise unusable(f"{place}: `items` must be a map of an attribute or more, each with a text or null")
    if not is_text("".join(text for pair in items.items() for text in pair if text)):
        raise unusable(f"{place}: `items` has half of a surrogate pair, which is no character")
    if isinstance(usage, bool) or not isinstance(usage, int | float) or not 0 <= usage <= LARGEST_USAGE:
        raise unusable(f"{place}: `usage` must be a number from 0 to 10^15")
    return CodeTableElement(items, float(usage))


def _repetitions(elements: Sequence[CodeTableElement]) -> Iterator[int]:
    seen: set[frozenset[tuple[str, str | None]]] = set()
    for number, each in enumerate(elements, start=1):
        itemset = frozenset(each.items.items())
        if itemset in seen:
            yield number
        seen.add(itemset)


def unusable(message: str) -> PluginError:
    """Return the error for a code table that cannot be used."""
    return PluginError(Diagnostic(_UNUSABLE, message))
