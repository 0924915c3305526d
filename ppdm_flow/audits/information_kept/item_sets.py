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
from ppdm_flow.tables.sets import Baskets, SeededSets, SetColumn
from ppdm_flow.tables.sets.baskets import placed
from ppdm_flow.tables.table import Table

_WORD = 64


@dataclass(frozen=True, slots=True)
class SetsKept:
    """What ``column`` keeps: a ``share`` of the information, None where there was none.

    Of ``items`` distinct ones of the original, ``items_lost`` occur under no label any more; ``occurrences_lost`` is
    the share of occurrences that no label of their set covers, 0 where no set has an item; ``rows_lost`` of all are
    lost with their rows.
    """

    column: str
    share: float | None
    items: int
    items_lost: int
    occurrences_lost: float
    rows_lost: float


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
        """Add pairs of rows, each of which counts ``rows`` rows."""
        owner, item = original.rows(), placed(original.categories, self.items.texts)[original.items].astype(np.int64)
        sets = _ReleasedSets(released, self.table.labels)
        error = self.items.guessing[item]
        uncovered = np.ones(len(item), np.bool_)
        for ranked in self.table.ranked:
            label = ranked[item]
            there = np.flatnonzero(label >= 0)
            there = there[sets.find(owner[there], label[there])]
            first = there[uncovered[there]]
            error[first] = 1.0 - self.items.counts[item[first]] / self.table.rows[label[first]]
            uncovered[first] = False
        size, weights = len(self.items.texts), rows[owner]
        self.lost += float(error @ weights)
        self.paired += np.bincount(item, weights=weights, minlength=size).astype(np.int64)
        self.shown += np.bincount(item[~uncovered], weights=weights[~uncovered], minlength=size).astype(np.int64)
        wide = sets.count(self.table.wide)
        wrong = (
            sets.sizes - sets.found() - np.where(original.sizes > 0, wide, 0)
        )  # a `*` says nothing, and nothing wrong
        if wrong.any():
            self._add_wrong(wrong, owner[uncovered], item[uncovered], rows)

    def _add_wrong(self, wrong: Integers, owner: Integers, item: Integers, rows: Integers) -> None:
        """Add labels that cover no item of their set; ``owner`` and ``item`` are the occurrences that are lost."""
        gone = np.bincount(owner, minlength=len(wrong))
        chance = np.bincount(owner, weights=1.0 - self.items.guessing[item], minlength=len(wrong))
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
            int(dropped.sum()) / max(1, total),
        )


class _ReleasedSets:
    """Released sets that can be asked for labels, and know which of theirs were found.

    Plain ones have ascending keys of row and code; of randomized ones the bits are looked at, as they have many items.
    """

    def __init__(self, sets: SetColumn, labels: pa.StringArray) -> None:
        self.place = placed(labels, sets.categories).astype(np.int64)
        self.width = max(1, len(sets.categories))
        self.words: npt.NDArray[np.uint64] | None = None
        self.keys = np.zeros(0, np.int64)
        if isinstance(sets, Baskets):
            self.sizes = sets.sizes.astype(np.int64)
            self.keys = sets.rows() * self.width + sets.items
        else:
            self.words = (expand(sets) if isinstance(sets, SeededSets) else sets).words
            self.sizes = np.bitwise_count(self.words).sum(axis=1, dtype=np.int64)
        self.marked = np.zeros(len(self.keys), np.bool_)
        self.bits = [np.zeros(0, np.int64)]

    def find(self, rows: Integers, labels: Integers) -> npt.NDArray[np.bool_]:
        """Return whether the set of each row holds the label beside it, and remember those that are there."""
        code = self.place[labels]
        there = code >= 0
        keys = rows[there] * self.width + code[there]
        if self.words is None:
            at = np.searchsorted(self.keys, keys)
            held = at < len(self.keys)
            held[held] = self.keys[at[held]] == keys[held]
            self.marked[at[held]] = True
        else:
            words = self.words[rows[there], code[there] // _WORD]
            held = (words >> (code[there] % _WORD).astype(np.uint64)) & np.uint64(1) > 0
            self.bits.append(keys[held])
        there[there] = held
        return there

    def found(self) -> Integers:
        """Return how many labels of the set of each row were found."""
        keys = self.keys[self.marked] if self.words is None else np.unique(np.concatenate(self.bits))
        return np.bincount(keys // self.width, minlength=len(self.sizes))

    def count(self, labels: npt.NDArray[np.bool_]) -> Integers:
        """Return how many of these labels the set of each row holds, and remember none."""
        codes = self.place[labels]
        codes = codes[codes >= 0]
        if not len(codes):
            return np.zeros(len(self.sizes), np.int64)
        if self.words is None:
            return np.bincount(
                self.keys[np.isin(self.keys % self.width, codes)] // self.width, minlength=len(self.sizes)
            )
        shifts = (codes % _WORD).astype(np.uint64)
        return np.asarray(((self.words[:, codes // _WORD] >> shifts) & np.uint64(1)).sum(axis=1), dtype=np.int64)
