"""What the sets are like: how many there are of each length, and over which items."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from ppdm_flow.anonymizers.plain_sets import baskets
from ppdm_flow.core.diagnostics import Diagnostic
from ppdm_flow.core.errors import PluginError
from ppdm_flow.sdk.view import DataView
from ppdm_flow.tables.column import union
from ppdm_flow.tables.counts import written_out
from ppdm_flow.tables.sets import Baskets


@dataclass(frozen=True, slots=True, eq=False)
class ObservedSets:
    """``numbers``: m -> sets of m items; ``alphabet``: the declared items, or those that occur, sorted by text."""

    view: DataView
    name: str
    numbers: dict[int, int]
    alphabet: pa.StringArray
    declared: bool

    @property
    def rows(self) -> int:
        """How many sets there are."""
        return sum(self.numbers.values())

    def fewer_than(self, people: int) -> int:
        """Return how many sets have a size that fewer than so many have."""
        return sum(number for number in self.numbers.values() if number < people)

    @property
    def longest(self) -> int:
        """Items of the largest set."""
        return max(self.numbers, default=0)

    def partitions(self) -> Iterator[Baskets]:
        """Yield the sets over the alphabet."""
        for column in _sets(self.view, self.name):
            yield onto(column, self.alphabet, self.name)


def observed(view: DataView, name: str, domain: tuple[str, ...] | None) -> ObservedSets:
    """Look at all sets once. Raises PluginError where the column holds no plain sets, or no item at all."""
    counts: dict[int, int] = {}
    alphabet = union([] if domain is None else [pa.array(domain, pa.string())])
    for column in _sets(view, name):
        sizes, rows = np.unique(column.sizes, return_counts=True)
        for size, number in zip(sizes.tolist(), rows.tolist(), strict=True):
            counts[size] = counts.get(size, 0) + number
        if domain is None:
            alphabet = union([alphabet, column.compact().categories])
    if not max(counts, default=0):
        raise PluginError(Diagnostic("PPF777", f"the sets of `{name}` hold no items: there is nothing to randomize"))
    return ObservedSets(view, name, dict(sorted(counts.items())), alphabet, domain is not None)


def _sets(view: DataView, name: str) -> Iterator[Baskets]:
    """Yield the sets, each as often as its row's weight says: so often will it be randomized."""
    weight = view.schema.weight
    for part in view.partitions([name] if weight is None else [name, weight]):
        yield baskets(written_out(part, [name], weight), name)


def onto(column: Baskets, alphabet: pa.StringArray, name: str) -> Baskets:
    """Return the sets over the alphabet. Raises PluginError where an item is not in it."""
    try:
        return column.onto(alphabet)
    except KeyError:
        text = f"a set of `{name}` has an item that is not in the alphabet of the operator"
        raise PluginError(Diagnostic("PPF777", text)) from None


def refuse_long(sets: ObservedSets, longest: int) -> None:
    """Raise PluginError PPF777 where a set has more than ``longest`` items."""
    if sets.longest <= longest:
        return
    long = sum(number for size, number in sets.numbers.items() if size > longest)
    text = f"{long:,} set{'s' * (long > 1)} of `{sets.name}` have more than {longest} items, up to {sets.longest:,}"
    hint = f"put `limit_items` with `max: {longest}` or less before it, or raise `longest`"
    raise PluginError(Diagnostic("PPF777", text, hint=hint))
