"""The input of the search: combinations of cells with their weights, in codes, and trees of each attribute's values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from ppdm_flow.core.attributes import HierarchySpec
from ppdm_flow.core.diagnostics import Diagnostic
from ppdm_flow.core.errors import PluginError
from ppdm_flow.core.roles import Nulls
from ppdm_flow.mining.hierarchies.ladder import ancestors
from ppdm_flow.requirements.k_anonymity.requirement import KAnonymity
from ppdm_flow.requirements.templates.requirement import InferenceTemplate as Requirement
from ppdm_flow.tables.column import MISSING, SPECIALS
from ppdm_flow.tables.counts import Counts

Codes = npt.NDArray[np.int64]
Weights = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]

Integers = npt.NDArray[np.int64]

TOP = -1
"""The parent of the topmost nodes: everything suppressed."""


@dataclass(frozen=True, slots=True, eq=False)
class DisclosureTree:
    """Nodes in the order that breaks ties: parents before children, siblings by label, the missing value last.

    ``parent`` (nodes,); ``leaf`` (values,) the node of each value; the values below a node are those whose ``place``
    (values,) lies in [``low``, ``high``) (nodes,). ``labels`` (nodes,), None for the missing value.
    """

    labels: tuple[str | None, ...]
    parent: Integers
    leaf: Integers
    place: Integers
    low: Integers
    high: Integers

    def __len__(self) -> int:
        return len(self.labels)

    def visible(self, shown: Bools) -> Integers:
        """Return the nearest of the ``shown`` nodes at or above each node, -1 for ``⊥``."""
        visible = np.where(shown, np.arange(len(self)), TOP)
        for node in np.flatnonzero(~shown & (self.parent >= 0)).tolist():  # parents stand before their children
            visible[node] = visible[self.parent[node]]
        return visible


def flat(values: Sequence[str | None]) -> DisclosureTree:
    """Return the tree of suppression: every value directly below ``⊥``."""
    size = len(values)
    every = np.arange(size, dtype=np.int64)
    return DisclosureTree(tuple(values), np.full(size, TOP, dtype=np.int64), every, every, every, every + 1)


def grown(values: Sequence[str | None], ancestors: Sequence[Sequence[str]]) -> DisclosureTree:
    """Return the tree over ``values`` with these ancestors each, nearest first.

    >>> tree = grown(["Bonn", "Paris", "Rome"], [["DE"], ["FR"], ["IT"]])
    >>> tree.labels, tree.parent.tolist()
    (('DE', 'Bonn', 'FR', 'Paris', 'IT', 'Rome'), [-1, 0, -1, 2, -1, 4])
    """
    paths = [
        (*(("" if label is None else label) for label in reversed(above)), value or "")
        for value, above in zip(values, ancestors, strict=True)
    ]
    order = sorted(range(len(values)), key=lambda i: (values[i] is None, [t.encode() for t in paths[i]]))
    labels: list[str | None] = []
    parent: list[int] = []
    low: list[int] = []
    high: list[int] = []
    leaf, place = np.zeros(len(values), dtype=np.int64), np.zeros(len(values), dtype=np.int64)
    open_: list[int] = []  # the nodes on the path of the value before
    before: tuple[str, ...] = ()
    for position, i in enumerate(order):
        path = paths[i]
        shared = _shared(before, path)
        for node in open_[shared:]:
            high[node] = position
        open_ = open_[:shared]
        for depth in range(shared, len(path)):
            parent.append(open_[-1] if open_ else TOP)
            labels.append(values[i] if depth == len(path) - 1 else path[depth])
            low.append(position)
            high.append(position + 1)
            open_.append(len(labels) - 1)
        leaf[i], place[i], before = len(labels) - 1, position, path
    for node in open_:
        high[node] = len(values)
    as_codes = (np.array(x, dtype=np.int64) for x in (parent,))
    return DisclosureTree(
        tuple(labels), next(as_codes), leaf, place, np.array(low, dtype=np.int64), np.array(high, dtype=np.int64)
    )


def _shared(before: tuple[str, ...], path: tuple[str, ...]) -> int:
    """How many ancestors two values share; a value itself is never shared."""
    limit = min(len(before), len(path)) - 1
    for depth in range(max(0, limit)):
        if before[depth] != path[depth]:
            return depth
    return max(0, limit)


@dataclass(frozen=True, slots=True, eq=False)
class DisclosedAttribute:
    """An attribute whose values are disclosed one after another, node by node of ``tree``.

    ``codes`` of shape (combinations,): a value's number, or -1 where the cell always stays suppressed.
    """

    name: str
    codes: Codes
    tree: DisclosureTree


@dataclass(frozen=True, slots=True, eq=False)
class EncodedTemplate:
    """<IC -> pi, h> for one sensitive value. ``hits`` marks the combinations that count: those with the value.

    Of a negated template, <IC -> not pi, h>, they are those without it.
    """

    id: str
    hits: Bools
    confidence: float


@dataclass(frozen=True, slots=True, eq=False)
class InferenceChannel:
    """The requirements on the groups over one channel. ``attributes`` are the places of its suppressible attributes.

    ``base`` numbers the combinations by their cells in the channel's other attributes, which stay as they are.
    No group may have fewer than ``least`` rows, because of the requirements ``floors``.
    """

    attributes: tuple[int, ...]
    base: Codes
    templates: tuple[EncodedTemplate, ...]
    least: int = 1
    floors: tuple[tuple[str, int], ...] = ()


@dataclass(frozen=True, slots=True, eq=False)
class DisclosureProblem:
    """``weights`` are row counts above zero; ``classes`` (combinations,) numbers the class, or None."""

    attributes: tuple[DisclosedAttribute, ...]
    channels: tuple[InferenceChannel, ...]
    weights: Weights
    classes: Codes | None

    @property
    def total(self) -> int:
        """The number of rows."""
        return int(self.weights.sum())


@dataclass(frozen=True, slots=True)
class DisclosureTask:
    """The task of the search, in present names. ``hierarchies`` are those that suppressible attributes go down."""

    templates: Sequence[Requirement]
    suppressible: Sequence[str]
    targets: Sequence[str] = ()
    floors: Sequence[KAnonymity] = ()
    hierarchies: Mapping[str, HierarchySpec] = field(default_factory=dict)
    nulls: Nulls = Nulls.OWN_CATEGORY
    home: Path = field(default_factory=Path)


def encode(counts: Counts, task: DisclosureTask) -> DisclosureProblem:
    """Build the problem. Raises PluginError where missing values stand in a channel that must stay as it is.

    Under ``own_category`` a missing value is one more value, after all others; else it stays suppressed, so that all
    null semantics agree on the outcome. Cells that come suppressed stay so.
    """
    counts = _occurring(counts)
    attributes = tuple(_attribute(counts, name, task) for name in task.suppressible)
    classes = counts.groups(task.targets)[0] if task.targets else None
    return DisclosureProblem(attributes, _channels(counts, task), counts.counts, classes)


def _occurring(counts: Counts) -> Counts:
    """The combinations that some row has: a weight of zero counts nowhere."""
    some = counts.counts > 0
    return counts if some.all() else Counts(counts.columns, counts.categories, counts.codes[some], counts.counts[some])


def _attribute(counts: Counts, name: str, task: DisclosureTask) -> DisclosedAttribute:
    codes = counts.of(name)
    width = len(counts.names(name))
    present = np.bincount(codes + SPECIALS, minlength=width + SPECIALS) > 0
    used = np.flatnonzero(present[SPECIALS:])
    number = np.full(width + SPECIALS, -1, dtype=np.int64)
    number[used + SPECIALS] = np.arange(len(used))
    values: list[str | None] = counts.names(name).take(pa.array(used)).to_pylist()
    own = task.hierarchies.get(name)
    above: list[tuple[str, ...]] = []
    if own is not None:
        above = ancestors(name, own, [v for v in values if v is not None], task.home)
    if task.nulls is Nulls.OWN_CATEGORY and present[MISSING + SPECIALS]:
        number[MISSING + SPECIALS] = len(used)
        values.append(None)
        above.append(())
    tree = flat(values) if own is None else grown(values, above)
    return DisclosedAttribute(name, number[codes + SPECIALS], tree)


def _channels(counts: Counts, task: DisclosureTask) -> tuple[InferenceChannel, ...]:
    """One channel for each set of attributes that something has to hold over, in order of first appearance."""
    templates: dict[tuple[str, ...], list[EncodedTemplate]] = {}
    floors: dict[tuple[str, ...], list[tuple[str, int]]] = {}
    for requirement in task.templates:
        key = tuple(sorted(requirement.channel))
        templates.setdefault(key, []).extend(_single(counts, requirement))
        if requirement.smallest_group > 1:
            floors.setdefault(key, []).append((requirement.id, requirement.smallest_group))
    for k in task.floors:
        floors.setdefault(tuple(sorted(k.attributes)), []).append((k.id, k.k))
    keys = dict.fromkeys((*templates, *floors))
    return tuple(_channel(counts, key, templates.get(key, []), floors.get(key, []), task) for key in keys)


def _single(counts: Counts, requirement: Requirement) -> list[EncodedTemplate]:
    """One template a sensitive value: a list of values is never their union."""
    templates = []
    for name, value in requirement.pairs:
        code = counts.code(name, value)
        hits = np.zeros(len(counts), dtype=np.bool_) if code is None else counts.of(name) == code
        templates.append(
            EncodedTemplate(requirement.id, ~hits if requirement.negated else hits, requirement.confidence)
        )
    return templates


def _channel(
    counts: Counts,
    names: Sequence[str],
    templates: list[EncodedTemplate],
    floors: list[tuple[str, int]],
    task: DisclosureTask,
) -> InferenceChannel:
    place = {name: i for i, name in enumerate(task.suppressible)}
    fixed = [name for name in names if name not in place]
    for name in fixed:
        _refuse_missing(name, counts.of(name), task.nulls)
    base: Codes = counts.groups(fixed)[0]
    return InferenceChannel(
        attributes=tuple(place[name] for name in names if name in place),
        base=base,
        templates=tuple(templates),
        least=max((n for _, n in floors), default=1),
        floors=tuple(floors),
    )


def _refuse_missing(name: str, codes: npt.NDArray[np.int32], nulls: Nulls) -> None:
    if nulls is not Nulls.OWN_CATEGORY and (codes == MISSING).any():
        raise PluginError(
            Diagnostic(
                "PPF799",
                f"the column `{name}` has missing values, belongs to a channel, and may not be suppressed by this step",
                help=f"let the step suppress `{name}`, or use `nulls: own_category`",
            )
        )
