"""An attribute's values in the order in which a partition may cut them, and the labels of every class."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from decimal import Decimal
from itertools import pairwise

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from ppdm_flow.anonymizers.mondrian.bounds import CutInterval
from ppdm_flow.core.diagnostics import Diagnostic
from ppdm_flow.core.errors import PluginError
from ppdm_flow.mining.hierarchies.coarsening import UnplacedError
from ppdm_flow.mining.hierarchies.full_hierarchy import ANYTHING, FullHierarchy
from ppdm_flow.mining.hierarchies.intervals import decimals
from ppdm_flow.mining.local_recoding.kernels import edges, held
from ppdm_flow.mining.local_recoding.partition import WeightedItems
from ppdm_flow.mining.local_recoding.scales import OrderedScale, RecodedForm, flat
from ppdm_flow.mining.local_recoding.tree import Partition
from ppdm_flow.tables.column import MISSING, SPECIALS, SUPPRESSED, Column

Codes = npt.NDArray[np.int32]

Ints = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class ScaledValues:
    """``texts`` have ``codes`` in ``scale``; ``marks`` (-1 missing, -2 suppressed) the codes after its values.

    ``joined``: missing cells become suppressed ones. ``shown`` is one text for each code, ``levels`` the labels above
    each, level by level, where they come from a hierarchy. ``ends`` (values,) are the two bounds of each where values
    are cells of a grid, None for an open one, and ``widths`` how much of the attribute's range each cell takes.
    """

    name: str
    texts: tuple[str, ...]
    codes: Codes
    scale: OrderedScale
    shown: tuple[str, ...]
    marks: tuple[int, ...] = ()
    joined: bool = False
    levels: tuple[tuple[str, ...], ...] = ()
    ends: tuple[tuple[str | None, str | None], ...] = ()
    widths: npt.NDArray[np.float64] | None = None

    def coded(self, column: Column, step: str) -> Codes:
        """Return the code of each cell. Raises PluginError for a value that the fit did not see."""
        place = pc.index_in(column.categories, value_set=pa.array(self.texts, pa.string()))
        at = place.fill_null(-1).to_numpy(zero_copy_only=False)
        table = np.full(len(at) + SPECIALS, -1, dtype=np.int32)
        table[SPECIALS:][at >= 0] = self.codes[at[at >= 0]]
        for i, mark in enumerate(self.marks):
            table[mark + SPECIALS] = self.scale.size + i
        if self.joined:
            table[MISSING + SPECIALS] = table[SUPPRESSED + SPECIALS]
        codes = table[column.dense]
        if (codes < 0).any():
            text = f"step `{step}` meets values in the column `{self.name}` that it did not see when it was fitted"
            raise PluginError(Diagnostic("PPF789", text))
        return codes

    def label(self, low: int, high: int, members: Sequence[int]) -> str | int:
        """Return the label of a class, or the mark that all of it has; ``members`` are needed for sets only."""
        size = self.scale.size
        if low == high:
            return self.shown[low] if low < size else self.marks[low - size]
        if high >= size:
            return self.levels[-1][0] if self.levels else ANYTHING
        if self.ends:
            return _half_open(self.ends[low][0], self.ends[high][1])
        if self.scale.form is RecodedForm.INTERVAL:
            return f"[{self.shown[low]}, {self.shown[high]}]"
        if self.scale.form is RecodedForm.SET:
            return ANYTHING if len(members) == size else f"{{{', '.join(_quoted(self.shown[m]) for m in members)}}}"
        return next(level[low] for level in self.levels if level[low] == level[high])


def _half_open(begin: str | None, end: str | None) -> str:
    """Write an interval without its end; one that is open on both sides is everything."""
    if begin is None:
        return ANYTHING if end is None else f"< {end}"
    return f">= {begin}" if end is None else f"[{begin}, {end})"


def _quoted(text: str) -> str:
    """Quote a value that would otherwise be read as several."""
    return f'"{text}"' if any(mark in text for mark in ',{}"') else text


def sets(name: str, texts: Sequence[str]) -> ScaledValues:
    """Return values that become sets, sorted."""
    codes = np.arange(len(texts), dtype=np.int32)
    return ScaledValues(name, tuple(texts), codes, OrderedScale(RecodedForm.SET, len(texts)), tuple(texts))


def intervals(name: str, texts: Sequence[str], *, dates: bool) -> ScaledValues:
    """Return numbers or dates that become intervals; spellings of one number are one value. Raises PluginError."""
    try:
        numbers = _dates(texts) if dates else decimals(texts)
    except UnplacedError as fault:
        raise _unplaced(name, len(texts), fault) from None
    ordered = sorted(set(numbers))
    place = {number: i for i, number in enumerate(ordered)}
    codes = np.array([place[n] for n in numbers], dtype=np.int32)
    shown = dict(zip(reversed(codes.tolist()), reversed(texts), strict=True))
    reach = (ordered[-1] - ordered[0]) or Decimal(1) if ordered else Decimal(1)
    position = np.array([float((n - ordered[0]) / reach) for n in ordered])
    scale = OrderedScale(RecodedForm.INTERVAL, len(ordered), position=position)
    return ScaledValues(name, tuple(texts), codes, scale, tuple(shown[i] for i in range(len(ordered))))


def on_grid(name: str, texts: Sequence[str], cells: Callable[[Sequence[str]], list[CutInterval]]) -> ScaledValues:
    """Return numbers or dates that become intervals between the bounds of cells. Raises PluginError."""
    try:
        own = cells(texts)
    except UnplacedError as fault:
        raise _unplaced(name, len(texts), fault) from None
    ordered = sorted(set(own), key=lambda cell: (cell.low, cell.high))
    place = {cell: i for i, cell in enumerate(ordered)}
    codes = np.array([place[cell] for cell in own], dtype=np.int32)
    reach = (ordered[-1].high - ordered[0].low) or Decimal(1) if ordered else Decimal(1)
    position = np.array([float((cell.low - ordered[0].low) / reach) for cell in ordered])
    widths = np.array([float((cell.high - cell.low) / reach) for cell in ordered])
    ends = tuple((cell.begin, cell.end) for cell in ordered)
    shown = tuple(cell.alone or _half_open(cell.begin, cell.end) for cell in ordered)
    scale = OrderedScale(RecodedForm.INTERVAL, len(ordered), position=position)
    return ScaledValues(name, tuple(texts), codes, scale, shown, ends=ends, widths=widths)


def _unplaced(name: str, values: int, fault: UnplacedError) -> PluginError:
    text = f"{fault.values} of {values} distinct values of the column `{name}` {fault.what}"
    return PluginError(Diagnostic(fault.code, text, help=fault.advice or None))


def _dates(texts: Sequence[str]) -> list[Decimal]:
    read: Callable[[str], datetime] = datetime.fromisoformat
    try:
        days = [read(t) for t in texts]
        return [Decimal((d if d.tzinfo else d.replace(tzinfo=UTC)).timestamp()) for d in days]
    except (ValueError, OverflowError):
        raise UnplacedError("PPF786", len(texts), "are not all dates in ISO 8601 form") from None


def ancestors(name: str, tree: FullHierarchy) -> ScaledValues:
    """Return values that become ancestors, those below one label side by side. Raises PluginError for no tree."""
    codes = [np.unique(np.asarray(level, dtype=object).astype(str), return_inverse=True)[1] for level in tree.levels]
    order = np.lexsort(codes) if codes else np.zeros(0, dtype=np.intp)
    maps = np.stack([c[order] for c in codes]).astype(np.int64)
    maps[0] = np.arange(len(order))
    for below, above in pairwise(maps):
        if len(np.unique(np.stack([below, above]), axis=1).T) != len(np.unique(below)):
            text = f"the hierarchy of `{name}` puts values together on one level and apart on the next"
            raise PluginError(Diagnostic("PPF788", text))
    levels = tuple(tuple(np.asarray(level, dtype=object)[order].tolist()) for level in tree.levels)
    place = np.empty(len(order), dtype=np.int32)
    place[order] = np.arange(len(order), dtype=np.int32)
    scale = OrderedScale(RecodedForm.ANCESTOR, len(order), maps=maps, prices=_prices(tree, maps, order))
    return ScaledValues(name, tree.leaves, place, scale, levels[0], levels=levels)


def _prices(tree: FullHierarchy, maps: npt.NDArray[np.int64], order: npt.NDArray[np.intp]) -> npt.NDArray[np.float64]:
    """Return (values covered - 1) / (values - 1) of the label above each leaf."""
    covered = [np.bincount(m)[m] for m in maps]
    if tree.spans:
        covered = [np.asarray(s, dtype=np.int64)[order] for s in tree.spans]
    every = max(2, int(covered[-1].max(initial=0)))
    return np.stack([(c - 1) / (every - 1) for c in covered]).astype(np.float64)


@dataclass(frozen=True, slots=True, eq=False)
class ClassLabels:
    """The labels of every class: one column of texts and marks for each attribute.

    ``columns`` (one for each attribute, of a cell a class), ``sizes`` (classes,) records, ``costs`` of each cell,
    ``low`` and ``high`` (classes, attributes) the least and the greatest code.
    """

    columns: tuple[Column, ...]
    sizes: Ints
    costs: npt.NDArray[np.float64]
    low: Codes
    high: Codes


def labelled(items: WeightedItems, parts: Partition, values: tuple[ScaledValues, ...]) -> ClassLabels:
    """Label the classes. Raises PluginError where a label is spelled like a value that the column has."""
    low, high, costs = edges(items.codes, parts.order, parts.begins, parts.ends, flat(items.scales))
    classes = parts.classes
    columns = []
    for j, own in enumerate(values):
        members = _members(classes, items.codes[:, j], len(parts), own)
        columns.append(_column(own, low[:, j], high[:, j], members))
        if own.widths is not None:
            plain = high[:, j] < own.scale.size
            costs[plain, j] += own.widths[high[plain, j]]
    sizes = held(items.weights, parts.order, parts.begins, parts.ends)
    return ClassLabels(tuple(columns), sizes, costs, low, high)


def _members(classes: Ints, codes: Codes, size: int, own: ScaledValues) -> list[tuple[int, ...]]:
    """Return the values of each class, where sets are asked for."""
    if own.scale.form is not RecodedForm.SET:
        return [()] * size
    pairs = np.unique(classes * own.scale.width + codes)
    owner, code = np.divmod(pairs, max(1, own.scale.width))
    parts = np.split(code, np.searchsorted(owner, np.arange(1, size)))
    return [tuple(p.tolist()) for p in parts] if size else []


def _column(own: ScaledValues, low: Codes, high: Codes, members: list[tuple[int, ...]]) -> Column:
    place: dict[str, int] = {}
    known: dict[tuple[int, int, tuple[int, ...]], int] = {}
    codes = np.empty(len(low), dtype=np.int32)
    for i, key in enumerate(zip(low.tolist(), high.tolist(), members, strict=True)):
        if key not in known:
            label = own.label(*key)
            known[key] = label if isinstance(label, int) else place.setdefault(label, len(place))
        codes[i] = known[key]
    if not own.levels:
        _refuse_lies(own, {k: c for k, c in known.items() if k[0] != k[1]}, place)
    return Column(codes, pa.array(list(place), pa.string())).compact()


def _refuse_lies(own: ScaledValues, known: dict[tuple[int, int, tuple[int, ...]], int], place: dict[str, int]) -> None:
    """A label of several values must not be spelled like one of them; hierarchies have been looked at before."""
    names = list(place)
    lies = len({names[c] for c in known.values()} & set(own.texts))
    if lies:
        text = f"{lies} labels of the column `{own.name}` would be spelled like one of its values"
        raise PluginError(Diagnostic("PPF788", text, help="give the attribute a hierarchy"))
