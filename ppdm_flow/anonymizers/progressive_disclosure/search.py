"""The greedy search: from the most suppressed table, disclose the best valid value, again and again.

Source: Wang, Fung, Yu, "Template-based privacy preservation in classification problems", ICDM 2005, Algorithm 1. The
score of a value is InfoGain / (PrivLoss + 1): the information on the class that its disclosure gives, and by how much
it raises the confidences of the templates. The groups over a channel are the leaves of the paper's VIP tree, kept as
counts of rows and hits. A disclosure only splits groups, and visits only the combinations that it discloses.

Two bounds spare most visits. A score never exceeds the gain, which all candidates of a *kind* share. And since groups
only split, the confidences that a candidate led to when it was last examined are lower bounds of those that it leads to
later: its score is bounded from above, and a candidate that would break a requirement is closed for good.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ppdm_flow.anonymizers.progressive_disclosure.problem import DisclosureProblem
from ppdm_flow.core.requirement import TOLERANCE
from ppdm_flow.mining.recoding.kernels import keyed, numbered, summed
from ppdm_flow.sdk.compiled import borrowed, compiled, wide

Bools = npt.NDArray[np.bool_]
Places = npt.NDArray[np.int32]
Counts = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]

NONE = -1
NEGLIGIBLE = 1e-12
"""Bits: a gain below this is none, and scores that differ by less are tied. Rounding stays far below it."""

MANY_VALUES = 1_000
"""Values of an attribute from which it pays to look for alike ones."""

GROUPS, EXAMINATIONS = range(2)
"""Places in ``ChannelGroups.used``."""


class Shelves(NamedTuple):
    """The values that are not disclosed yet, with their gains: C candidates of K kinds on S shelves.

    Candidates are the nodes of all attributes' trees, numbered in the order that breaks ties. A *shelf* is what a
    candidate is taken from, the rest of its parent: shelf a is the top of attribute a, and each inner node has one.
    Candidates of one shelf with equal counts in each class are of one *kind*. Where many of them are alike, in that
    their rows agree in all else too, these are a kind: the first of them always has the best score of all.

    ``shelf`` (C,); ``own_shelf`` (C,) of a node's children, -1 for a leaf; ``kind`` (C,); ``wanted`` (C,): disclosed
    even if it tells nothing. ``members`` (C,): candidates by kind, those of kind k from ``kind_begin[k]``, of which the
    first ``open[k]``, ascending, can be disclosed now; ``stride`` (K,) is 1 or, where all members are alike, leads from
    the first beyond the last. ``size`` (K,) and ``counts`` (K, classes): rows of each
    candidate; ``spread`` (K,): the part of the gain that never changes; ``gain`` (K,), in bits. ``shelf_begin``
    (S + 1,): the kinds of a shelf. ``left`` (S,) and ``left_counts`` (S, classes): the rows on it.
    """

    shelf: Counts
    own_shelf: Counts
    kind: Counts
    wanted: Bools
    stride: Counts
    kind_begin: Counts
    size: Counts
    counts: Counts
    spread: Floats
    shelf_begin: Counts
    supervised: bool
    members: Counts
    open: Counts
    gain: Floats
    left: Counts
    left_counts: Counts

    def copy(self) -> Shelves:
        """Return a state that goes its own way."""
        changing = ("members", "open", "gain", "left", "left_counts")
        return self._replace(**{name: getattr(self, name).copy() for name in changing})


class ChannelGroups(NamedTuple):
    """The groups over all channels: N combinations, those of one channel after those of another, and T templates.

    ``mass`` (N, 1 + most templates of a channel): rows of a combination, and its hits by template. ``rows``: the
    combinations by channel, attribute and leaf; candidate y has those from ``begin[c, y]`` to ``end[c, y]`` in channel
    c. ``template_begin`` (channels + 1,): the templates of a channel. ``least`` (channels,): fewest rows of a group;
    ``most`` (T,): highest confidence. ``concerned`` (C,): how many templates the rise of confidence is the mean over.

    ``group`` (N,): the group of each combination; ``masses`` (N, ...): rows and hits of each group; ``confidence``
    (T,): the highest in any group; ``after`` (C, T): the confidences that a candidate would lead to, as of its last
    examination. ``used`` (2,): how many groups there are, and how many examinations there were. ``place``, ``touched``
    and ``taken`` are scratch of :func:`_take`.
    """

    mass: Counts
    rows: Places
    begin: Counts
    end: Counts
    template_begin: Counts
    least: Counts
    most: Floats
    concerned: Floats
    group: Places
    masses: Counts
    confidence: Floats
    after: Floats
    used: Counts
    place: Places
    touched: Places
    taken: Counts

    def copy(self) -> ChannelGroups:
        """Return a state that goes its own way."""
        changing = ("group", "masses", "confidence", "after", "used")
        return self._replace(**{name: getattr(self, name).copy() for name in changing})


@dataclass(frozen=True, slots=True)
class Disclosure:
    """One disclosure: the places of attribute and node, and what it was chosen for."""

    attribute: int
    node: int
    gain: float
    loss: float
    score: float


class DisclosureSearch:
    """One run of the algorithm.

    ``useless`` says whether values that tell nothing of the class are disclosed too, once no useful one is left. The
    last suppressed value of an attribute is disclosed in any case: the mark would hide nothing. ``kept`` is the
    information in the disclosed table, in bits a row: summed over attributes, that of the class and the attribute's
    cells (or, unsupervised, the entropy of the cells). Every disclosure adds the share of rows on its shelf times its
    gain.
    """

    def __init__(self, problem: DisclosureProblem, *, useless: bool = False) -> None:
        self.problem = problem
        self.offset = np.cumsum([0, *(len(a.tree) for a in problem.attributes)])
        self.shelves = _shelves(problem, self.offset, useless=useless)
        self._channel_ends, self.channel_groups = _groups(problem, self.offset)
        self.disclosures: list[Disclosure] = []
        self.kept = 0.0
        self._total = max(1, problem.total)

    def run(self) -> list[Disclosure]:
        """Disclose until no valid value is left that is worth it; return the disclosures in order."""
        while (best := self.best()) is not None:
            self.disclose(best)
        return self.disclosures

    def best(self) -> Disclosure | None:
        """Return the valid candidate with the best score; ties go to the first attribute, then to the first value."""
        candidate, rise = choose(self.shelves, self.channel_groups)
        if candidate == NONE:
            return None
        attribute = int(np.searchsorted(self.offset, candidate, side="right")) - 1
        gain, loss = self._gain(candidate), rise / float(self.channel_groups.concerned[candidate])
        return Disclosure(attribute, candidate - int(self.offset[attribute]), gain, loss, gain / (loss + 1.0))

    def ranked(self, width: int) -> list[Disclosure]:
        """Return the ``width`` best candidates in the order in which :meth:`best` would take them."""
        rest = self.copy()
        ranked: list[Disclosure] = []
        while len(ranked) < width and (best := rest.best()) is not None:
            ranked.append(best)
            close(rest.shelves, self._candidate(best))
        return ranked

    def disclose(self, chosen: Disclosure) -> None:
        """Disclose, and let the node's children follow as candidates."""
        candidate, shelves = self._candidate(chosen), self.shelves
        self.kept += self._gain(candidate) * float(shelves.left[shelves.shelf[candidate]]) / self._total
        disclose(shelves, self.channel_groups, candidate)
        self.disclosures.append(chosen)

    def copy(self) -> DisclosureSearch:
        """Return a search that goes on from here by itself."""
        copied = object.__new__(DisclosureSearch)
        copied.__dict__.update(self.__dict__)
        copied.shelves, copied.channel_groups = self.shelves.copy(), self.channel_groups.copy()
        copied.disclosures = self.disclosures.copy()
        return copied

    def groups(self, channel: int) -> tuple[Counts, Counts]:
        """Return rows (groups,) and hits (groups, templates) of the groups over a channel."""
        begin, end = self._channel_ends[channel : channel + 2]
        masses = self.channel_groups.masses[np.unique(self.channel_groups.group[begin:end])]
        return masses[:, 0], masses[:, 1 : 1 + len(self.problem.channels[channel].templates)]

    def confidences(self, channel: int) -> Floats:
        """Return the highest confidence of each template of a channel in any group, shape (templates,)."""
        begin, end = self.channel_groups.template_begin[channel : channel + 2]
        return self.channel_groups.confidence[begin:end]

    def _gain(self, candidate: int) -> float:
        return max(0.0, float(self.shelves.gain[self.shelves.kind[candidate]]))

    def _candidate(self, disclosure: Disclosure) -> int:
        return int(self.offset[disclosure.attribute]) + disclosure.node


def _shelves(problem: DisclosureProblem, offset: Counts, *, useless: bool) -> Shelves:
    """Number shelves and kinds, count their rows, and open what stands directly below the top."""
    trees = [a.tree for a in problem.attributes]
    nowhere = np.zeros(0, dtype=np.int64)
    parents = [np.where(t.parent < 0, NONE, t.parent + first) for t, first in zip(trees, offset[:-1], strict=True)]
    parent = np.concatenate([nowhere, *parents])
    inner = np.bincount(parent[parent >= 0], minlength=len(parent)) > 0
    own_shelf = np.where(inner, len(trees) - 1 + np.cumsum(inner), NONE)
    shelf = np.where(parent < 0, np.repeat(np.arange(len(trees)), np.diff(offset)), own_shelf[parent])
    number = len(trees) + int(inner.sum())

    classes = np.zeros(len(problem.weights), dtype=np.int64) if problem.classes is None else problem.classes
    nodes = [_class_counts(problem, a, classes) for a in range(len(trees))]
    counts = np.concatenate([np.zeros((0, int(classes.max(initial=0)) + 1), dtype=np.int64), *(n[:-1] for n in nodes)])
    left_counts = np.zeros((number, counts.shape[1]), dtype=np.int64)
    np.add.at(left_counts, shelf, counts)
    for a, of_attribute in enumerate(nodes):
        left_counts[a] += of_attribute[-1]

    marks = np.zeros(len(shelf), dtype=np.int64)
    for a, tree in enumerate(trees):
        if len(tree.leaf) >= MANY_VALUES:
            marks[tree.leaf + offset[a]] = _marks(problem, a)
    _, kind = _distinct(shelf, counts)
    parts, _ = _distinct(kind, marks)
    alike = 2 * np.bincount(parts[:, 0]) <= np.bincount(kind)  # mostly: else it does not pay to tell them apart
    keys, kind = _distinct(shelf, counts, np.where(alike[kind], marks, 0))
    keys, marked = keys[:, :-1], keys[:, -1] != 0
    supervised = problem.classes is not None
    shelves = Shelves(
        shelf=shelf,
        own_shelf=own_shelf,
        kind=kind,
        wanted=np.full(len(shelf), useless) | _hopeful(parent, counts, supervised=supervised),
        stride=np.where(marked, len(shelf), 1),
        kind_begin=np.concatenate([[0], np.cumsum(np.bincount(kind, minlength=len(keys)))]),
        size=keys[:, 1:].sum(axis=1),
        counts=np.ascontiguousarray(keys[:, 1:]),
        spread=_spreads(keys[:, 1:], supervised=supervised),
        shelf_begin=np.searchsorted(keys[:, 0], np.arange(number + 1)),
        supervised=supervised,
        members=np.argsort(kind, kind="stable"),
        open=np.zeros(len(keys), dtype=np.int64),
        gain=np.zeros(len(keys)),
        left=left_counts.sum(axis=1),
        left_counts=left_counts,
    )
    for a in range(len(trees)):
        open_shelf(shelves, a)
    return shelves


def _class_counts(problem: DisclosureProblem, attribute: int, classes: Counts) -> Counts:
    """Rows of every node (last: of cells that stay suppressed) in each class, shape (nodes + 1, classes)."""
    own = problem.attributes[attribute]
    values, width = len(own.tree.leaf), int(classes.max(initial=0)) + 1
    at = np.where(own.codes < 0, values, np.append(own.tree.place, 0)[own.codes])
    leaves = summed(at * width + classes, problem.weights, (values + 1) * width).reshape(values + 1, width)
    running = np.concatenate([np.zeros((1, width), dtype=np.int64), np.cumsum(leaves[:-1], axis=0)])
    return np.concatenate([running[own.tree.high] - running[own.tree.low], leaves[-1:]])


def _distinct(*columns: Counts) -> tuple[Counts, Counts]:
    """Return the distinct rows of columns that stand side by side, sorted, and the place of each row among them."""
    rows, places = np.unique(np.column_stack(columns), axis=0, return_inverse=True)
    return rows, places.reshape(-1)


def _marks(problem: DisclosureProblem, place: int) -> Counts:
    """Hash the rows of each value of an attribute, that attribute left out, shape (values,)."""
    own = problem.attributes[place]
    columns = [a.codes for i, a in enumerate(problem.attributes) if i != place]
    columns += [channel.base for channel in problem.channels]
    columns += [t.hits.astype(np.int64) for channel in problem.channels for t in channel.templates]
    columns += [] if problem.classes is None else [problem.classes]
    rest, first = numbered(keyed(np.stack(columns, axis=1)))
    hashes = np.random.default_rng(0).integers(1, 1 << 63, len(first))
    marks = np.zeros(len(own.tree.leaf) + 1, dtype=np.int64)
    np.add.at(marks, own.codes, hashes[rest] * problem.weights)  # the last one takes the cells that stay suppressed
    return marks[:-1]


def _hopeful(parent: Counts, counts: Counts, *, supervised: bool) -> Bools:
    """Which inner candidates hold leaves that tell something apart, even where they themselves tell nothing."""
    hopeful = np.zeros(len(parent), dtype=np.bool_)
    occurs = counts.sum(axis=1) > 0
    below: dict[int, list[int]] = {}
    for y in np.flatnonzero((parent >= 0) & occurs).tolist():
        below.setdefault(int(parent[y]), []).append(y)
    for y in sorted(below, reverse=True):  # children come after their parents
        parts = counts[below[y]]
        if supervised:
            within = _spreads(parts, supervised=True).sum()
            gain = _spreads(parts.sum(axis=0, keepdims=True), supervised=True)[0] - within
            tells = gain / max(1, int(parts.sum())) > NEGLIGIBLE
        else:
            tells = len(parts) > 1
        hopeful[y] = tells or hopeful[below[y]].any()
    return hopeful


def _spreads(counts: Counts, *, supervised: bool) -> Floats:
    """Return n log2 n of the rows of each part, less that of its classes if supervised, shape (parts,)."""

    def spread(values: Floats) -> Floats:
        return np.asarray(values * np.log2(values, out=np.zeros_like(values), where=values > 0))

    total_spreads = spread(counts.sum(axis=1).astype(np.float64))
    return total_spreads - spread(counts.astype(np.float64)).sum(axis=1) if supervised else total_spreads


def _groups(problem: DisclosureProblem, offset: Counts) -> tuple[list[int], ChannelGroups]:
    """Set up the groups of the most suppressed table; return where the combinations of the channels end, too.

    A channel has the problem's combinations as far as they differ within it.
    """
    width = 1 + max((len(channel.templates) for channel in problem.channels), default=0)
    begin = np.zeros((len(problem.channels), offset[-1]), dtype=np.int64)
    end, concerned = np.zeros_like(begin), np.zeros(offset[-1])
    mass, rows, group, masses, confidence = [], [], [], [], []
    ends, used, places = [0], 0, 0
    for c, channel in enumerate(problem.channels):
        own = [problem.attributes[a] for a in channel.attributes]
        ids, first = numbered(keyed(np.stack([channel.base, *(a.codes for a in own)], axis=1)))
        hits = [np.where(t.hits, problem.weights, 0) for t in channel.templates]
        mine = np.zeros((len(first), width), dtype=np.int64)
        for i, column in enumerate((problem.weights, *hits)):
            mine[:, i] = summed(ids, column, len(first))
        base = channel.base[first]
        total = np.stack([summed(base, m, int(base.max(initial=-1)) + 1) for m in mine.T.copy()], axis=1)
        confidence.append((total[:, 1 : 1 + len(hits)] / total[:, :1]).max(axis=0, initial=0.0))
        for a, attribute in zip(channel.attributes, own, strict=True):
            tree, codes = attribute.tree, attribute.codes[first]
            at = np.where(codes >= 0, np.append(tree.place, 0)[codes], len(tree.place))  # stuck cells go last
            bounds = places + np.concatenate([[0], np.cumsum(np.bincount(at, minlength=len(tree.place) + 1))])
            nodes = slice(offset[a], offset[a + 1])
            begin[c, nodes], end[c, nodes] = bounds[tree.low], bounds[tree.high]
            concerned[nodes] += len(hits)
            rows.append(ends[-1] + np.argsort(at, kind="stable"))
            places += len(at)
        mass.append(mine)
        masses.append(total)
        group.append(used + base)
        used += len(total)
        ends.append(ends[-1] + len(first))
    most = [t.confidence + TOLERANCE for channel in problem.channels for t in channel.templates]
    largest = int((end - begin).max(initial=0))
    all_masses = np.zeros((ends[-1], width), dtype=np.int64)
    all_masses[:used] = np.concatenate(masses)
    return ends, ChannelGroups(
        mass=np.concatenate(mass),
        rows=np.concatenate([np.zeros(0, dtype=np.int64), *rows]).astype(np.int32),
        begin=begin,
        end=end,
        template_begin=np.cumsum([0, *(len(channel.templates) for channel in problem.channels)]),
        least=np.array([channel.least for channel in problem.channels], dtype=np.int64),
        most=np.array(most, dtype=np.float64),
        concerned=np.maximum(concerned, 1.0),
        group=np.concatenate(group).astype(np.int32),
        masses=all_masses,
        confidence=np.concatenate(confidence),
        after=np.zeros((offset[-1], len(most))),
        used=np.array([used, 0], dtype=np.int64),
        place=np.full(ends[-1], NONE, dtype=np.int32),
        touched=np.zeros(largest, dtype=np.int32),
        taken=np.zeros((largest, width), dtype=np.int64),
    )


@compiled
def _spread(count: float) -> float:
    """Return x log2 x: what entropies are sums of."""
    return count * math.log2(count) if count > 0 else 0.0


@compiled
def _refresh_gains(v: Shelves, shelf: int) -> None:
    """Compute the gains of the open kinds of a shelf, in bits, from the rows that are left on it.

    Supervised, the information on the class: I(left) - share I(part) - (1 - share) I(rest). Unsupervised, the
    information on the attribute itself: the entropy of the split.
    """
    left, total = v.left_counts[shelf], v.left[shelf]
    spread = 0.0
    if v.supervised:
        for c in range(len(left)):
            spread += _spread(left[c])
    spread = _spread(total) - spread
    for kind in range(v.shelf_begin[shelf], v.shelf_begin[shelf + 1]):
        if v.open[kind] > 0 and total > 0:
            rest = 0.0
            if v.supervised:
                for c in range(len(left)):
                    rest += _spread(left[c] - v.counts[kind, c])
            v.gain[kind] = (spread - v.spread[kind] - (_spread(total - v.size[kind]) - rest)) / total


@compiled
def open_shelf(v: Shelves, shelf: int) -> None:
    """Make candidates of what stands on a shelf, if some row has it."""
    for kind in range(v.shelf_begin[shelf], v.shelf_begin[shelf + 1]):
        if v.size[kind] > 0:
            v.open[kind] = v.kind_begin[kind + 1] - v.kind_begin[kind]
    _refresh_gains(v, shelf)


@compiled
def close(v: Shelves, y: int) -> None:
    """Take an open candidate from the members of its kind, which stay in order."""
    kind = v.kind[y]
    v.open[kind] -= 1
    i, last = v.kind_begin[kind], v.kind_begin[kind] + v.open[kind]
    while v.members[i] != y:
        i += 1
    while i < last:
        v.members[i] = v.members[i + 1]
        i += 1


@compiled
def _take(g: ChannelGroups, c: int, y: int) -> int:
    """Count what a candidate would take out of each group over channel ``c``; return how many groups that touches."""
    count = 0
    for r in range(g.begin[c, y], g.end[c, y]):
        j = g.rows[r]
        place = g.place[g.group[j]]
        if place == NONE:
            place = count
            g.place[g.group[j]] = place
            g.touched[place] = g.group[j]
            for i in range(g.mass.shape[1]):
                g.taken[place, i] = 0
            count += 1
        for i in range(g.mass.shape[1]):
            g.taken[place, i] += g.mass[j, i]
    for i in range(count):
        g.place[g.touched[i]] = NONE
    return count


@compiled
def _is_valid(g: ChannelGroups, y: int) -> bool:
    """Examine what disclosing a candidate would do: remember the confidences, return whether everything holds then."""
    valid = True
    g.used[EXAMINATIONS] += 1
    for c in range(len(g.least)):
        first, last = g.template_begin[c], g.template_begin[c + 1]
        for i in range(_take(g, wide(c), y)):
            part, rows = g.taken[i], g.masses[g.touched[i]]
            rest = rows[0] - part[0]
            valid = valid and part[0] >= g.least[c] and (rest == 0 or rest >= g.least[c])
            for t in range(first, last):
                hits = 1 + t - first
                confidence = part[hits] / part[0]
                if rest > 0:
                    confidence = max(confidence, (rows[hits] - part[hits]) / rest)
                g.after[y, t] = max(g.after[y, t], confidence)
        for t in range(first, last):
            valid = valid and max(g.after[y, t], g.confidence[t]) <= g.most[t]
    return valid


@compiled
def _rise(g: ChannelGroups, y: int) -> float:
    """Return by how much a candidate raises the confidences: at least, and exactly where it was just examined."""
    rise = 0.0
    for t in range(len(g.confidence)):
        rise += max(g.after[y, t] - g.confidence[t], 0.0)
    return rise


@compiled
def _score(v: Shelves, g: ChannelGroups, y: int) -> float:
    """Return the score, or an upper bound of it; -1 for what is not worth disclosing.

    All that is left on a shelf is worth it: the coarser label hides nothing.
    """
    gain = v.gain[v.kind[y]]
    if gain > NEGLIGIBLE or v.wanted[y] or v.size[v.kind[y]] == v.left[v.shelf[y]]:
        return float(max(gain, 0.0) / (_rise(g, y) / g.concerned[y] + 1.0))
    return -1.0


@compiled
def _examined_score(v: Shelves, g: ChannelGroups, y: int) -> float:
    """Return the score; a candidate that would break a requirement is closed and has -1."""
    if _is_valid(g, y):
        return _score(v, g, y)
    close(v, y)
    return -1.0


@compiled
def _best_score(v: Shelves, g: ChannelGroups) -> float:
    """Return the highest score of a valid candidate, -1 for none, examining those whose bound is above it so far."""
    richest, best = 0, -1.0
    for kind in range(len(v.open)):
        if v.open[kind] > 0 and (v.open[richest] == 0 or v.gain[kind] > v.gain[richest]):
            richest = kind
    for turn in range(len(v.open)):
        kind = (richest + turn) % len(v.open)
        i = v.kind_begin[kind]
        while max(v.gain[kind], 0.0) > best and i < v.kind_begin[kind] + v.open[kind]:
            open_ones = v.open[kind]
            if _score(v, g, v.members[i]) > best:
                best = max(best, _examined_score(v, g, v.members[i]))
            i += v.stride[kind] if v.open[kind] == open_ones else 0  # a closed one leaves its place to the next
    return best


@compiled
def choose(v: Shelves, g: ChannelGroups) -> tuple[int, float]:
    """Return the first candidate whose score is the highest, to within rounding, and its rise; -1 for none."""
    v, g = borrowed(v), borrowed(g)
    best = _best_score(v, g)
    if best < 0.0:
        return wide(NONE), 0.0
    first = wide(len(v.kind))
    for kind in range(len(v.open)):
        i = v.kind_begin[kind]
        while v.gain[kind] >= best - NEGLIGIBLE and i < v.kind_begin[kind] + v.open[kind] and v.members[i] < first:
            open_ones, y = v.open[kind], v.members[i]
            if _score(v, g, y) >= max(0.0, best - NEGLIGIBLE) and _examined_score(v, g, y) >= best - NEGLIGIBLE:
                first = y
            i += v.stride[kind] if v.open[kind] == open_ones else 0
    return first, _rise(g, first)


@compiled
def disclose(v: Shelves, g: ChannelGroups, y: int) -> None:
    """Take a candidate out of the groups and off its shelf; its children become candidates."""
    v, g = borrowed(v), borrowed(g)
    for c in range(len(g.least)):
        count = _take(g, wide(c), y)
        for i in range(count):
            group = wide(g.touched[i])
            if g.taken[i, 0] < g.masses[group, 0]:  # a group that has no other rows stays as it is
                made = g.used[GROUPS]
                g.used[GROUPS] += 1
                g.place[group] = made
                for x in range(g.mass.shape[1]):
                    g.masses[made, x] = g.taken[i, x]
                    g.masses[group, x] -= g.taken[i, x]
                for t in range(g.template_begin[c], g.template_begin[c + 1]):
                    for one in (group, made):
                        hits = g.masses[one, 1 + t - g.template_begin[c]]
                        g.confidence[t] = max(g.confidence[t], hits / g.masses[one, 0])
        for r in range(g.begin[c, y], g.end[c, y]):
            j = g.rows[r]
            if g.place[g.group[j]] != NONE:
                g.group[j] = g.place[g.group[j]]
        for i in range(count):
            g.place[g.touched[i]] = NONE
    kind, shelf = v.kind[y], v.shelf[y]
    close(v, y)
    v.left[shelf] -= v.size[kind]
    for c in range(v.counts.shape[1]):
        v.left_counts[shelf, c] -= v.counts[kind, c]
    _refresh_gains(v, shelf)
    if v.own_shelf[y] != NONE:
        open_shelf(v, v.own_shelf[y])
