"""Generated tables: rows put together from the elements of a KRIMP code table.

Vreeken, van Leeuwen, Siebes, "Preserving privacy through data generation", ICDM 2007, section 4.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from ppdm_flow.core.diagnostics import Diagnostic
from ppdm_flow.core.digests import read_definition
from ppdm_flow.core.errors import PluginError
from ppdm_flow.core.texts import is_text
from ppdm_flow.mining.itemsets.collection import ItemsetCollection
from ppdm_flow.mining.itemsets.database import WORD, ItemDatabase, Words, words_for
from ppdm_flow.mining.itemsets.kernels import inlined
from ppdm_flow.mining.itemsets.tabular import Tabular
from ppdm_flow.mining.krimp.code_table import CodeTable
from ppdm_flow.sdk.compiled import borrowed, compiled
from ppdm_flow.tables.column import MISSING, SUPPRESSED, SUPPRESSED_TEXT

LAPLACE = 0.001
"""The correction of the paper's experiments."""

Items = npt.NDArray[np.int32]
Floats = npt.NDArray[np.float64]
Counts = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class GeneratedRows:
    """``cells`` (rows, domains) int32: the item in each domain; ``itemsets`` (rows,) int32: elements that made each."""

    cells: Items
    itemsets: Items


@dataclass(frozen=True, slots=True, eq=False)
class RowGenerator:
    """A generator of rows over ``domains`` domains, from elements laid out with their weights. Picklable.

    To make a row, take the domains in random order; for the first that is not defined yet, choose among the elements
    that define it and none that is defined already, with probability proportional to usage + laplace; until all are
    (Vreeken, van Leeuwen, Siebes, ICDM 2007, algorithm 2).

    With a correction of 0, an element that covers nothing is chosen only where no other fits; all such ones are then
    equally likely. That is the limit of ever smaller corrections.
    """

    layout: DomainLayout
    domains: int

    @classmethod
    def of(
        cls, table: CodeTable, database: ItemDatabase, laplace: float = LAPLACE, factors: Floats | None = None
    ) -> RowGenerator:
        """Take all elements of ``table``, a code table of ``database``; ``laplace`` is added to the usage of each.

        Where ``factors`` (items,) are given, positive numbers, an element weighs as many times as much as the product
        of those of its items says. Raises ValueError for a negative or infinite correction, and for rows that lack an
        item in some domain.
        """
        usages = np.concatenate([table.usages, table.singles])
        return cls.of_elements(table.itemsets, usages, database, laplace, factors)

    @classmethod
    def independent(cls, database: ItemDatabase, laplace: float = LAPLACE) -> RowGenerator:
        """Take the singletons alone, with their supports: each domain is drawn by itself."""
        none = np.zeros(0, dtype=np.int64)
        sets = ItemsetCollection(np.zeros(1, dtype=np.int64), np.zeros(0, dtype=np.int32), none)
        return cls.of_elements(sets, database.supports, database, laplace)

    @classmethod
    def of_elements(
        cls,
        itemsets: ItemsetCollection,
        usages: npt.NDArray[np.int64],
        database: ItemDatabase,
        laplace: float = LAPLACE,
        factors: Floats | None = None,
    ) -> RowGenerator:
        """Take ``itemsets`` and, after them, every item of ``database``; ``usages`` are theirs, in that order."""
        if (database.cells < 0).any():
            raise ValueError("every row must have an item in each domain: the database is no table")
        singles = np.arange(database.items, dtype=np.int32)
        lengths = np.concatenate([itemsets.lengths, np.ones(len(singles), dtype=np.int64)])
        offsets = np.concatenate([[0], np.cumsum(lengths)])
        items = np.concatenate([itemsets.items, singles]).astype(np.int32)
        return cls.of_weights(offsets, items, usages, database.place, database.cells.shape[1], laplace, factors)

    @classmethod
    def of_weights(
        cls,
        offsets: npt.NDArray[np.int64],
        items: Items,
        usages: npt.NDArray[np.int64] | Floats,
        place: Items,
        domains: int,
        laplace: float = LAPLACE,
        factors: Floats | None = None,
    ) -> RowGenerator:
        """Take flat itemsets with their ``usages``, every item by itself among them; ``place`` are items' domains."""
        if not (np.isfinite(laplace) and laplace >= 0):
            raise ValueError(f"the Laplace correction must be a finite number of at least 0, got {laplace!r}")
        weights = usages.astype(np.float64) + laplace
        if factors is not None:
            weights *= np.multiply.reduceat(factors[items], offsets[:-1])
        return cls(lay_out(offsets, items, place, weights, domains), domains)

    @property
    def draws_per_row(self) -> int:
        """How many words a row may need: one for each domain."""
        return self.domains

    def generate(self, words: Words) -> GeneratedRows:
        """Generate a row from each row of ``words`` (rows, draws_per_row), independent and uniform on [0, 2^64).

        A row depends on its own words alone.
        """
        rows = len(words)
        cells = np.empty((rows, self.domains), dtype=np.int32)
        itemsets = np.zeros(rows, dtype=np.int32)
        widest = int(np.diff(self.layout.begin).max(initial=1))
        defined = np.zeros(max(1, words_for(self.domains)), dtype=np.uint64)
        scratch = np.empty(widest), np.empty(widest, dtype=np.int64)
        fill(self.layout, np.ascontiguousarray(words), defined, *scratch, cells, itemsets)
        return GeneratedRows(cells, itemsets)


# The elements of a code table, laid out for drawing.
#
# Elements that define the same domains fit, or do not fit, together: they are one group. A row asks which groups of a
# domain fit, and only then for an element of one of them, by bisection. So a domain of 50,000 values costs no more than
# one of two.


class DomainLayout(NamedTuple):
    """Entries ``begin[d]:begin[d + 1]`` are the groups that define domain d.

    ``mask`` (entries, words): the domains that the entry's group defines, as bits; ``weight`` and ``size`` (entries,):
    its summed weights and its number of elements; ``reach`` (entries,): the running sum of weights within the domain;
    ``group`` (entries,): which it is. Elements ``member[first[g]:first[g + 1]]`` are group g, with ``running`` sums of
    weights within it; element e has the items ``items[offsets[e]:offsets[e + 1]]``. ``place`` (items,): their domains.
    """

    begin: Counts
    mask: Words
    weight: Floats
    size: Counts
    reach: Floats
    group: Counts
    first: Counts
    member: Counts
    running: Floats
    offsets: Counts
    items: Items
    place: Items


def lay_out(offsets: Counts, items: Items, place: Items, weights: Floats, domains: int) -> DomainLayout:
    """Group elements, given as flat itemsets with ``weights``, over ``domains``; the order of elements decides."""
    masks = _masks(offsets, place[items], domains)
    distinct, group = np.unique(masks, axis=0, return_inverse=True)
    group = group.ravel()
    member = np.argsort(group, kind="stable")
    size = np.bincount(group, minlength=len(distinct))
    first = np.concatenate([[0], np.cumsum(size)])
    running = _sums_within(weights[member], first)
    defined, of_group = _entries(distinct, domains)
    total = running[first[1:] - 1]
    begin = np.searchsorted(defined, np.arange(domains + 1))
    weight = total[of_group]
    return DomainLayout(
        begin.astype(np.int64),
        np.ascontiguousarray(distinct[of_group]),
        weight,
        size[of_group],
        _sums_within(weight, begin),
        of_group,
        first,
        member,
        running,
        offsets,
        items,
        place,
    )


def _masks(offsets: Counts, domain: Items, domains: int) -> Words:
    masks = np.zeros((len(offsets) - 1, words_for(domains)), dtype=np.uint64)
    element = np.repeat(np.arange(len(masks)), np.diff(offsets))
    np.bitwise_or.at(masks, (element, domain // WORD), np.uint64(1) << (domain % WORD).astype(np.uint64))
    return masks


def _entries(masks: Words, domains: int) -> tuple[Counts, Counts]:
    """Return (domain, group) of every group under every domain that it defines, by domain."""
    bits = np.unpackbits(masks.view(np.uint8), axis=1, count=domains, bitorder="little")
    domain, group = np.nonzero(bits.T)
    return domain, group


def _sums_within(values: Floats, begin: Counts) -> Floats:
    """Return running sums that start anew at each of ``begin``: no sum bears the rounding of another."""
    out = np.empty(len(values))
    for start, end in zip(begin[:-1].tolist(), begin[1:].tolist(), strict=True):  # over domains or groups
        np.cumsum(values[start:end], out=out[start:end])
    return out


# The kernel: each row defines its domains one element after another.


SHIFT = np.uint64(32)
LOW = np.uint64(0xFFFFFFFF)
UNUSED_BITS = np.uint64(11)
ONE = np.uint64(1)


@inlined
def below(word: np.uint64, bound: int) -> int:
    """Return floor(word * bound / 2^64): uniform below ``bound`` (less than 2^32) for a uniform word."""
    k = np.uint64(bound)
    return np.int64(((word >> SHIFT) * k + (((word & LOW) * k) >> SHIFT)) >> SHIFT)  # type: ignore[return-value]


@inlined
def rest(word: np.uint64, bound: int) -> float:
    """Return the fraction of word * bound / 2^64, in [0, 1): uniform, and independent of ``below``."""
    return np.float64((word * np.uint64(bound)) >> UNUSED_BITS) * 2.0**-53


@inlined
def fits(mask: Words, at: int, defined: Words) -> bool:
    """Whether the group of entry ``at`` defines nothing that is defined."""
    for w in range(len(defined)):  # noqa: SIM110 - compiled code has no generators
        if mask[at, w] & defined[w]:
            return False
    return True


@inlined
def first_above(values: Floats, begin: int, end: int, x: float) -> int:
    """Return the first position in ``begin:end`` of an ascending stretch whose value exceeds x, or the last one."""
    while begin < end - 1:
        middle = (begin + end - 1) // 2
        if values[middle] > x:
            end = middle + 1
        else:
            begin = middle + 1
    return begin


@inlined
def weighed(layout: DomainLayout, domain: int, defined: Words, u: float, reach: Floats, fitting: Counts) -> int:
    """Return an element that defines ``domain`` and fits, by weight, or -1 where none has a weight."""
    count, total = 0, 0.0
    for at in range(layout.begin[domain], layout.begin[domain + 1]):
        if layout.weight[at] > 0.0 and fits(layout.mask, at, defined):
            reach[count], fitting[count] = total, at
            total += layout.weight[at]
            count += 1
    if count == 0:
        return -1
    x = u * total
    chosen = first_above(reach, 0, count, x)
    if reach[chosen] > x:
        chosen -= 1
    group = layout.group[fitting[chosen]]
    return int(
        layout.member[first_above(layout.running, layout.first[group], layout.first[group + 1], x - reach[chosen])]
    )


@inlined
def unweighed(layout: DomainLayout, domain: int, defined: Words, u: float) -> int:
    """Return an element that defines ``domain`` and fits, each with the same probability."""
    total = 0
    for at in range(layout.begin[domain], layout.begin[domain + 1]):
        if fits(layout.mask, at, defined):
            total += layout.size[at]
    left = np.int64(u * total)
    for at in range(layout.begin[domain], layout.begin[domain + 1]):
        if fits(layout.mask, at, defined):
            if left < layout.size[at]:
                return int(layout.member[layout.first[layout.group[at]] + left])
            left -= layout.size[at]
    return -1


@inlined
def unhindered(layout: DomainLayout, domain: int, u: float) -> int:
    """Return an element for a row of which nothing is defined, or -1: all of them fit, so that sums are known."""
    begin, end = layout.begin[domain], layout.begin[domain + 1]
    total = layout.reach[end - 1]
    if total <= 0.0:
        return -1
    x = u * total
    at = first_above(layout.reach, begin, end, x)
    group = layout.group[at]
    under = layout.reach[at - 1] if at > begin else 0.0
    return int(layout.member[first_above(layout.running, layout.first[group], layout.first[group + 1], x - under)])


@inlined
def undefined(defined: Words, rank: int) -> int:
    """Return the domain that comes ``rank``-th, from 0, of those that are not defined."""
    domain = 0
    while True:
        if not (defined[domain >> 6] >> np.uint64(domain & 63)) & ONE:
            if rank == 0:
                return domain
            rank -= 1
        domain += 1


@compiled
def fill(
    layout: DomainLayout,
    words: Words,
    defined: Words,
    reach: Floats,
    fitting: Counts,
    cells: Items,
    itemsets: Items,
) -> None:
    """Generate a row from each row of ``words``: ``cells`` (rows, domains) and how many ``itemsets`` (rows,) it took.

    The next domain is a uniform one of those that are not defined: what a random order of domains, looked at one after
    another, comes to. ``defined``, ``reach`` and ``fitting`` are scratch.
    """
    layout = borrowed(layout)
    domains = cells.shape[1]
    for row in range(len(cells)):
        defined[:] = 0
        left, taken = domains, 0
        while left:
            word = words[row, taken]
            domain = undefined(defined, below(word, left))
            u = rest(word, left)
            if taken == 0:
                element = unhindered(layout, domain, u)
            else:
                element = weighed(layout, domain, defined, u, reach, fitting)
            if element < 0:
                element = unweighed(layout, domain, defined, u)
            for i in range(layout.offsets[element], layout.offsets[element + 1]):
                item = layout.items[i]
                place = layout.place[item]
                cells[row, place] = item
                defined[place >> 6] |= ONE << np.uint64(place & 63)
                left -= 1
            taken += 1
        itemsets[row] = taken


# A code table as a JSON document: what a generator learned, or what somebody wrote for one.
#
# `{"version": 1, "attributes": ["a", "b"], "elements": [{"items": {"a": "x", "b": null}, "usage": 3, "support": 5}]}`
# has its elements in cover order, single values last. `null` is a missing value, `⊥` a suppressed cell.


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
