"""How much of the occurrences of items a column of sets still tells, on the scale of the cells of tables.

A reader who asks for an item of an original set draws it from the original's occurrences, among those of the items that
a label of the released set covers; of several labels from the one that covers the fewest occurrences. An item that no
label of its set covers is lost: the guess is drawn from all occurrences. A label that covers no item of its set is
wrong: it takes the place of a lost item, and where there is none it counts as one more item that is guessed wrong.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from ppdm_flow.audits.labels.covers import Covers, UnreadError, covers
from ppdm_flow.audits.labels.forms import MASK, everything
from ppdm_flow.audits.labels.released import hierarchy_of
from ppdm_flow.audits.labels.values import Categories, Integers
from ppdm_flow.mining.transactions.counting.vertical import expand
from ppdm_flow.sdk.audit import AuditContext
from ppdm_flow.sdk.view import DataView, PairedView
from ppdm_flow.tables.column import union
from ppdm_flow.tables.counts import weights_of
from ppdm_flow.tables.sets import Baskets, PackedSets, SeededSets, SetColumn
from ppdm_flow.tables.sets.baskets import placed
from ppdm_flow.tables.table import Table

_WORD = 64


@dataclass(frozen=True, slots=True)
class SetsKept:
    """What ``column`` keeps: a ``share`` of the information, None where there was none.

    Of ``items`` distinct ones of the original, ``items_lost`` occur under no label any more; ``occurrences_lost`` is
    the share of occurrences that no label of their set covers, 0 where no set has an item.
    """

    column: str
    share: float | None
    items: int
    items_lost: int
    occurrences_lost: float


def sets_kept(
    name: str, column: str, original: DataView, candidate: DataView, pairs: PairedView, ctx: AuditContext
) -> SetsKept:
    """Compare released sets with the original ones of the same rows. Raises UnreadError."""
    weight = original.schema.weight
    items = _items(original, name, weight)
    labels = _labels(candidate, column)
    read = covers(labels, items, column, ctx.attributes.get(column), ctx)
    read.check()
    hierarchy = hierarchy_of(column, ctx)
    tally = _OccurrenceTally(
        items, _LabelTable.of(read, len(items.texts), MASK if hierarchy is None else hierarchy.mask)
    )
    for mine, theirs in pairs.pairs([name, *([weight] if weight else [])], [column]):
        tally.add(_plain(mine, name), theirs.sets[column], _rows_of(mine, weight))
    return tally.result(column)


def _items(view: DataView, name: str, weight: str | None) -> Categories:
    """Count the occurrences of each item of the original."""
    texts, counts = union([]), np.zeros(0, np.int64)
    for part in view.partitions([name, *([weight] if weight else [])]):
        sets = _plain(part, name).compact()
        more = np.bincount(sets.items, weights=_rows_of(part, weight)[sets.rows()], minlength=len(sets.categories))
        every = union([texts, sets.categories])
        total = np.zeros(len(every), np.int64)
        total[placed(texts, every)] = counts
        total[placed(sets.categories, every)] += more.astype(np.int64)
        texts, counts = every, total
    return Categories(texts, np.append(counts, 0))


def _labels(candidate: DataView, column: str) -> pa.StringArray:
    """Return the labels that released sets hold, or may hold where they are randomized."""
    texts = union([])
    for part in candidate.partitions([column]):
        sets = part.sets[column].compact()
        texts = texts if sets.categories.equals(texts) else union([texts, sets.categories])
    return texts


def _plain(part: Table, name: str) -> Baskets:
    sets = part.sets[name]
    if not isinstance(sets, Baskets):
        raise UnreadError(f"the original's sets `{name}` are randomized")
    return sets


def _rows_of(part: Table, weight: str | None) -> Integers:
    return np.ones(len(part), np.int64) if weight is None else weights_of(part[weight])


@dataclass(frozen=True, eq=False)
class _LabelTable:
    """``ranked`` (ranks, items) are the labels of each item, those with the fewest occurrences first, -1 for none.

    ``rows`` (labels,) are the occurrences that each covers. ``wide`` labels cover everything.
    """

    labels: pa.StringArray
    ranked: Integers
    rows: Integers
    wide: npt.NDArray[np.bool_]

    @classmethod
    def of(cls, read: Covers, items: int, mask: str) -> _LabelTable:
        """Turn what each label covers around."""
        sizes = read.end - read.begin
        owner = np.repeat(read.owner, sizes)
        item = np.repeat(read.begin - (np.cumsum(sizes) - sizes), sizes) + np.arange(int(sizes.sum()))
        order = np.lexsort((owner, read.rows[owner], item))
        owner, item = owner[order], item[order]
        starts = np.searchsorted(item, np.arange(items + 1))
        rank = np.arange(len(item)) - starts[item]
        ranked = np.full((int(rank.max(initial=-1)) + 1, items), -1, np.int64)
        ranked[rank, item] = owner
        return cls(read.labels, ranked, read.rows, everything(read.labels, mask) | everything(read.labels))


class _OccurrenceTally:
    """Sums over paired rows: guesses that are wrong, and occurrences of each item, those under a label apart."""

    def __init__(self, items: Categories, table: _LabelTable) -> None:
        self.items = items
        self.table = table
        self.lost = 0.0
        self.paired = np.zeros(len(items.texts), np.int64)
        self.shown = np.zeros(len(items.texts), np.int64)

    def add(self, original: Baskets, released: SetColumn, rows: Integers) -> None:
        """Add pairs of rows that stand for so many ``rows`` each."""
        owner, item = original.rows(), placed(original.categories, self.items.texts)[original.items].astype(np.int64)
        found = _Membership.of(released, self.table.labels)
        error = self.items.guessing[item]
        open_, explained = np.ones(len(item), np.bool_), [np.zeros(0, np.int64)]
        for ranked in self.table.ranked:
            label = ranked[item]
            there = np.flatnonzero(label >= 0)
            there = there[found.has(owner[there], label[there])]
            explained.append(owner[there] * len(self.table.labels) + label[there])
            first = there[open_[there]]
            error[first] = 1.0 - self.items.counts[item[first]] / self.table.rows[label[first]]
            open_[first] = False
        size, weights = len(self.items.texts), rows[owner]
        self.lost += float(error @ weights)
        self.paired += np.bincount(item, weights=weights, minlength=size).astype(np.int64)
        self.shown += np.bincount(item[~open_], weights=weights[~open_], minlength=size).astype(np.int64)
        self._add_wrong(owner[open_], item[open_], found, np.unique(np.concatenate(explained)), original, rows)

    def _add_wrong(
        self,
        owner: Integers,
        item: Integers,
        found: _Membership,
        explained: Integers,
        original: Baskets,
        rows: Integers,
    ) -> None:
        """Add labels that cover no item of their set; ``owner`` and ``item`` are the occurrences that are lost."""
        right = np.bincount(explained // max(1, len(self.table.labels)), minlength=len(original))
        wide = found.count(self.table.wide)
        right += np.where(original.sizes > 0, wide, 0)  # they say nothing, and nothing wrong
        wrong = found.sizes - right
        if not wrong.any():
            return
        gone = np.bincount(owner, minlength=len(original))
        chance = np.bincount(owner, weights=1.0 - self.items.guessing[item], minlength=len(original))
        replaced = np.minimum(1.0, wrong / np.maximum(gone, 1))  # the guess is the wrong label, not one by chance
        self.lost += float((replaced * chance + np.maximum(0, wrong - gone)) @ rows)

    def result(self, column: str) -> SetsKept:
        """Return the share that is kept; rows that are not in the release lose everything."""
        counts, guessing = self.items.counts[:-1], self.items.guessing[:-1]
        every = float(np.maximum(counts, self.paired) @ guessing)
        dropped = np.maximum(counts - self.paired, 0)
        share = None
        if every > 0:
            share = min(1.0, max(0.0, round(1.0 - (self.lost + float(dropped @ guessing)) / every, 12)))
        total = int(np.maximum(counts, self.paired).sum())
        gone = int((self.paired - self.shown + dropped).sum())
        occurring = counts > 0
        return SetsKept(
            column,
            share,
            int(occurring.sum()),
            int((occurring & (self.shown == 0)).sum()),
            gone / max(1, total),
        )


@dataclass(frozen=True, eq=False)
class _Membership:
    """Which labels are in which released sets: ascending ``keys`` of row and label, or bits of ``words``.

    ``place`` (labels,) is the code that a label has in these sets, -1 where it has none; ``sizes`` (rows,) are how many
    labels a set holds.
    """

    place: Integers
    sizes: Integers
    width: int
    keys: Integers | None
    words: npt.NDArray[np.uint64] | None

    @classmethod
    def of(cls, sets: SetColumn, labels: pa.StringArray) -> _Membership:
        """Make sets ready to be asked."""
        place, width = placed(labels, sets.categories).astype(np.int64), max(1, len(sets.categories))
        if isinstance(sets, Baskets):
            return cls(place, sets.sizes.astype(np.int64), width, sets.rows() * width + sets.items, None)
        packed = expand(sets) if isinstance(sets, SeededSets) else sets
        if not isinstance(packed, PackedSets):
            raise TypeError
        return cls(place, np.bitwise_count(packed.words).sum(axis=1, dtype=np.int64), width, None, packed.words)

    def has(self, rows: Integers, labels: Integers) -> npt.NDArray[np.bool_]:
        """Return whether the set of each row holds the label beside it."""
        code = self.place[labels]
        there = code >= 0
        if self.keys is None and self.words is not None:
            words = self.words[rows[there], code[there] // _WORD]
            there[there] = (words >> (code[there] % _WORD).astype(np.uint64)) & np.uint64(1) > 0
        elif self.keys is not None:
            keys = rows[there] * self.width + code[there]
            at = np.searchsorted(self.keys, keys)
            found = at < len(self.keys)
            found[found] = self.keys[at[found]] == keys[found]
            there[there] = found
        return there

    def count(self, labels: npt.NDArray[np.bool_]) -> Integers:
        """Return how many of these labels the set of each row holds."""
        every = np.arange(len(self.sizes))
        held = np.zeros(len(every), np.int64)
        for label in np.flatnonzero(labels):
            held += self.has(every, np.full(len(every), label))
        return held
