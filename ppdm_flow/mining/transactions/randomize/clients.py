"""Sets that each client randomizes itself, by an operator that was published: no one else sees the original.

What is sent is a line of JSON a set: the number of items that the original had, and the items of the randomized set, or
the seed that it expands from. Source: Evfimievski, Srikant, Agrawal, Gehrke (KDD 2002), section 1: clients randomize,
and a server mines what they send.
"""

from __future__ import annotations

import json
import secrets
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from ppdm_flow.core.diagnostics import Diagnostic
from ppdm_flow.core.draws import Draws
from ppdm_flow.core.errors import DataError
from ppdm_flow.mining.transactions.operators import TransactionOperator, from_document
from ppdm_flow.mining.transactions.randomize import randomize, seeded
from ppdm_flow.sdk.set_operator import SEEDED, SetOperator, read_set_operator, unusable
from ppdm_flow.tables.sets import Baskets, PackedSets, SeededSets

SentSets = PackedSets | SeededSets


@dataclass(frozen=True, eq=False)
class PublishedOperator:
    """An operator on sets with the items that it chooses from, in their order, and the form of what it makes."""

    attribute: str
    operator: TransactionOperator
    items: pa.StringArray
    seeds: bool

    @classmethod
    def of(cls, published: SetOperator) -> PublishedOperator:
        """Read an entry of ``operator.json``. Raises DataError PPF440 where it lacks what a client needs."""
        name = published.attribute
        try:
            operator = from_document(published.document)
        except ValueError as error:
            raise unusable(f"the operator on `{name}` is damaged: {error}") from None
        if not published.items:
            advice = "runs of this version list the items in `operator.json`; or add `items`, all of them in one order"
            raise unusable(f"the operator on `{name}` does not say which items there are", advice)
        if len(published.items) != operator.alphabet:
            many = f"it lists {len(published.items):,} items and is over {operator.alphabet:,}"
            raise unusable(f"the operator on `{name}` contradicts itself: {many}")
        seeds = published.sets == SEEDED
        if seeds:
            randomize.refuse_seeds(operator)
        return cls(name, operator, pa.array(published.items, pa.string()), seeds)

    @classmethod
    def read(cls, path: Path, attribute: str | None = None) -> PublishedOperator:
        """Return the operator on sets of a file, or that on ``attribute``. Raises DataError."""
        return cls.of(read_set_operator(path, attribute))

    def draws(self, key: bytes | None = None) -> Draws:
        """Return the draws of a client: by a fresh key of the operating system, or by ``key``, 32 bytes."""
        return Draws(secrets.token_bytes(32) if key is None else key, self._draws_per_row)

    def randomized(self, sets: Sequence[Iterable[str]], draws: Draws, first: int = 0) -> SentSets:
        """Return what is sent in the place of each set; ``first`` is the number of the first one.

        Raises DataError PPF777, with the number of the set from 1, where one cannot be randomized.
        """
        rows = [[self._place.get(item, -1) for item in each] for each in sets]
        for number, row in enumerate(rows, first + 1):
            self._refuse(row, number)
        offsets = np.cumsum([0, *map(len, rows)], dtype=np.int64)
        items = np.array([item for row in rows for item in sorted(row)], dtype=np.int32)
        made = seeded.seed if self.seeds else randomize.randomize
        numbers = np.arange(first, first + len(rows), dtype=np.int64)
        return made(Baskets(offsets, items, self.items), self.operator, draws, numbers)

    def read_lines(self, lines: Iterable[bytes], first: int = 1) -> SentSets:
        """Return the sets that were sent, in the operator's form; ``first`` is the number of the first line.

        Raises DataError PPF441 with the line's number where a line is none that a client could have made.
        """
        sizes: list[int] = []
        every: list[Any] = []
        for number, line in enumerate(lines, first):
            size, content = _parts(line, "seed" if self.seeds else "items", number)
            if size not in self.operator.retained:
                raise _no_set(number, "has a size that the operator says nothing of")
            sizes.append(size)
            every.append(self._seed(content, size, number) if self.seeds else self._codes(content, number))
        original = np.array(sizes, dtype=np.int32)
        if self.seeds:
            expansion = seeded.expansion(self.operator)
            seeds = np.array(every, dtype=np.uint16).reshape(len(every), expansion.width)
            return SeededSets(seeds, original, self.items, expansion)
        offsets = np.cumsum([0, *map(len, every)], dtype=np.int64)
        codes = np.concatenate([np.zeros(0, dtype=np.int32), *every])
        return PackedSets.of(Baskets(offsets, codes, self.items), original)

    @cached_property
    def _place(self) -> dict[str, int]:
        return {name: place for place, name in enumerate(self.items.to_pylist())}

    @property
    def _draws_per_row(self) -> int:
        count = seeded.draws_per_row if self.seeds else randomize.draws_per_row
        return count(self.operator)

    def _refuse(self, row: Sequence[int], number: int) -> None:
        if -1 in row:
            why = "an item that is not among those of the operator"
            advice = "leave that item out, or the set"
        elif len(set(row)) < len(row):
            why, advice = "an item twice", "write each item once"
        elif len(row) not in self.operator.retained:
            why = f"{len(row)} item{'s' * (len(row) != 1)}, and the operator says nothing of sets of that size"
            sizes = sorted(self.operator.retained)
            advice = f"its sets have {sizes[0]} to {sizes[-1]} items: shorten the set, or leave it out"
        else:
            return
        raise DataError(Diagnostic("PPF777", f"set {number} has {why}", help=advice))

    def _codes(self, names: Any, number: int) -> Any:
        if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
            raise _no_set(number, "has no list of items")
        codes = np.array([self._place.get(name, -1) for name in names], dtype=np.int32)
        if (codes < 0).any() or len(set(names)) < len(names):
            raise _no_set(number, "has an item twice, or one that is not among those of the operator")
        return np.sort(codes)

    def _seed(self, text: Any, size: int, number: int) -> Any:
        width = seeded.expansion(self.operator).width
        try:
            words = np.frombuffer(bytes.fromhex(text), dtype="<u2")
        except (TypeError, ValueError):
            words = np.zeros(0, dtype="<u2")
        if len(words) != width or words[size + seeded.SPARE :].any():
            raise _no_set(number, "has no seed of the operator")
        return words


def sent_documents(sets: SentSets) -> Iterator[dict[str, Any]]:
    """Yield what is sent of each set, JSON-ready."""
    if isinstance(sets, SeededSets):
        for seed, size in zip(sets.seeds.astype("<u2"), sets.sizes.tolist(), strict=True):
            yield {"size": size, "seed": seed.tobytes().hex()}
        return
    for items, size in zip(sets.baskets().texts(), sets.sizes.tolist(), strict=True):
        yield {"size": size, "items": items}


def _parts(line: bytes, wanted: str, number: int) -> tuple[int, Any]:
    try:
        content = json.loads(line.decode())
    except (ValueError, RecursionError):
        raise _no_set(number, "is not JSON") from None
    if not isinstance(content, dict) or set(content) != {"size", wanted}:
        raise _no_set(number, f"is no object with `size` and `{wanted}`")
    size = content["size"]
    if not isinstance(size, int) or isinstance(size, bool):
        raise _no_set(number, "has no whole number as its `size`")
    return size, content[wanted]


def _no_set(number: int, why: str) -> DataError:
    advice = "`ppdm-flow randomize --operator operator.json` writes such lines"
    return DataError(
        Diagnostic("PPF441", f"line {number} {why}: it is no randomized set of this operator", help=advice)
    )
