"""Released, training and held-out records, coded alike."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from ppdm_flow.audits.labels.unreadable import UnreadableLabels
from ppdm_flow.audits.records.columns import ColumnPair
from ppdm_flow.audits.records.distances import FAR, RecordPoints, narrow
from ppdm_flow.audits.records.intervals import interval_names, labelled
from ppdm_flow.audits.records.sampling import RecordSample, held_out, sampled, training
from ppdm_flow.sdk.audit import AuditContext
from ppdm_flow.sdk.view import DataView
from ppdm_flow.tables.column import MISSING, SPECIALS, SUPPRESSED, Column, union
from ppdm_flow.tables.numeric.column import floats_of_texts

Integers = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]

COMPARISONS = 30_000_000_000
"""Cells that are compared: a second for categories, some seconds for numbers."""
FEWEST = 1000
"""Records that are asked all the same."""


@dataclass(frozen=True, slots=True, eq=False)
class Records:
    """``cells`` (records, columns): codes from 0 (suppressed 0, missing 1), alike in all groups of one gathering.

    ``numbers``: for each column of numbers, dates or timestamps its place and the number of each code, from 0 to 1 over
    the range of the original column; missing and suppressed are :data:`ppdm_flow.audits.records.distances.FAR` off.
    ``intervals``: for each column of numbers with declared intervals its place and the interval of each code.
    ``available`` counts the persons in the group that the records are a sample of.
    """

    cells: npt.NDArray[np.int32]
    numbers: tuple[tuple[int, npt.NDArray[np.float32]], ...]
    intervals: tuple[tuple[int, npt.NDArray[np.int32]], ...]
    available: int

    def __len__(self) -> int:
        return len(self.cells)

    @property
    def complete(self) -> bool:
        """Whether all persons of the group are here."""
        return len(self) == self.available

    def take(self, rows: npt.NDArray[np.int64] | slice) -> Records:
        """Return some of the records."""
        return Records(self.cells[rows], self.numbers, self.intervals, self.available)

    @property
    def coarse(self) -> npt.NDArray[np.int32]:
        """The cells with numbers as their declared intervals, shape (records, columns)."""
        if not self.intervals:
            return self.cells
        cells = self.cells.copy()
        for column, interval in self.intervals:
            cells[:, column] = interval[cells[:, column]]
        return cells

    def points(self, columns: Sequence[int]) -> RecordPoints:
        """Return these columns for the computation of distances."""
        known = dict(self.numbers)
        nominal = [c for c in columns if c not in known]
        numeric = [known[c][self.cells[:, c]] for c in columns if c in known]
        numbers = np.stack(numeric) if numeric else np.zeros((0, len(self)), dtype=np.float32)
        return RecordPoints(narrow(self.cells[:, nominal].T), numbers)


@dataclass(frozen=True, slots=True, eq=False)
class GatheredRecords:
    """The groups; ``holdout`` is None where the release has no control group.

    Cells are compared as they are written, but for numbers and declared intervals: ``unread`` are the labels of the
    release that can be like nobody's value therefore.
    """

    columns: tuple[ColumnPair, ...]
    released: Records
    training: Records
    holdout: Records | None
    unread: tuple[UnreadableLabels, ...] = ()


def gather(
    original: DataView,
    candidate: DataView,
    ctx: AuditContext,
    columns: Sequence[ColumnPair],
    people: int,
    released: int,
    groups: Sequence[RecordSample] = (),
) -> GatheredRecords:
    """Read at most ``released`` rows of the release, and at most ``people`` of those in its data and of those held out.

    They are evenly spaced over each group: the same ones every time. ``groups`` are the latter two, where they are read
    already.
    """
    sources = [c.source for c in columns]
    known = list(groups)
    if not known:
        known = [training(original, sources, people, ctx.holdout)]
        if ctx.holdout is not None:
            known.append(held_out(original, sources, people, ctx.holdout))
    domains = {c.source: original.domain(c.source) for c in columns}
    coded = _coded([sampled(candidate, [c.column for c in columns], released), *known], columns, domains)
    unread = [u for c in columns if (u := _unread(c, domains[c.source], candidate.domain(c.column))) is not None]
    return GatheredRecords(tuple(columns), coded[0], coded[1], coded[2] if len(coded) > 2 else None, tuple(unread))


def _unread(beside: ColumnPair, known: pa.StringArray, labels: pa.StringArray) -> UnreadableLabels | None:
    if beside.type.is_numeric and floats_of_texts(union([known, labels]), beside.type) is not None:
        return None
    if beside.edges:
        labels = labelled(Column(np.arange(len(labels), dtype=np.int32), labels), beside.edges).compact().categories
        known = union([known, pa.array(interval_names(beside.edges), pa.string())])
    many = len(labels) - int(pc.sum(pc.is_in(labels, value_set=known)).as_py() or 0)
    return UnreadableLabels(beside.column, many, len(labels)) if many else None


def _coded(
    groups: Sequence[RecordSample], columns: Sequence[ColumnPair], domains: Mapping[str, pa.StringArray]
) -> list[Records]:
    """Code the cells; the release comes first. Numbers become their declared intervals where the release has such.

    ``domains`` are the values of the original's columns.
    """
    cells = [np.empty((len(g), len(columns)), dtype=np.int32) for g in groups]
    numbers, intervals = [], []
    for i, beside in enumerate(columns):
        mine = [g.table[beside.source if number else beside.column] for number, g in enumerate(groups)]
        if beside.edges and floats_of_texts(union(c.compact().categories for c in mine), beside.type) is None:
            mine = [labelled(c, beside.edges) for c in mine]
        names = union(c.compact().categories for c in mine)
        for out, column in zip(cells, mine, strict=True):
            out[:, i] = column.compact().onto(names).dense
        if beside.type.is_numeric and (read := floats_of_texts(names, beside.type)) is not None and len(read):
            numbers.append((i, _over_range(read, floats_of_texts(domains[beside.source], beside.type))))
            if beside.edges:
                intervals.append((i, _intervals(names, beside.edges)))
    return [Records(c, tuple(numbers), tuple(intervals), g.available) for c, g in zip(cells, groups, strict=True)]


def _intervals(names: pa.StringArray, edges: Sequence[float]) -> npt.NDArray[np.int32]:
    """Return the dense code of the interval of each dense code."""
    codes = np.arange(-SPECIALS, len(names), dtype=np.int32)
    return labelled(Column(codes, names), edges).dense


def _over_range(numbers: Floats, original: Floats | None) -> npt.NDArray[np.float32]:
    """Return the numbers of the codes over the range of the original ones, 0 to 1; those beyond lie outside of it.

    One outlier of a release would otherwise bring all other numbers together.
    """
    known = numbers if original is None or not len(original) else original
    line = np.empty(len(numbers) + SPECIALS, dtype=np.float32)
    line[SPECIALS + SUPPRESSED], line[SPECIALS + MISSING] = -FAR, FAR
    with np.errstate(over="ignore"):
        over = (numbers - known.min()) / max(float(np.ptp(known)), np.finfo(float).tiny)
    line[SPECIALS:] = np.clip(over, -_BEYOND, _BEYOND)
    return line


_BEYOND = 1e6
"""How many ranges off a number counts at most: all that is farther than one range is as far as can be."""


def affordable(records: Records, known: int) -> Records:
    """Return as many of ``records``, evenly spaced, as can be compared with ``known`` records in some seconds.

    What is known should be as large as it can be: of a release with copies, the copies that are found are as many as
    the share of the originals that are looked at, while the people asked only have to be enough to count.
    """
    most = affordable_rows(records, known)
    if len(records) <= most:
        return records
    return records.take(np.arange(most) * len(records) // most)


def affordable_rows(records: Records, known: int) -> int:
    """Return how many of ``records`` can be compared with ``known`` records in some seconds."""
    return max(FEWEST, COMPARISONS // max(1, known * int(records.cells.shape[1])))


def distinct(cells: npt.NDArray[np.int32]) -> tuple[Integers, Integers, Integers]:
    """Return one position of each distinct row, how often it occurs, and which distinct row each row is."""
    keys = np.zeros(len(cells), dtype=np.int64)
    for column in cells.T:
        width = int(column.max(initial=0)) + 1
        keys = np.unique(keys * width + column, return_inverse=True)[1].reshape(-1)
    _, first, place, copies = np.unique(keys, return_index=True, return_inverse=True, return_counts=True)
    return first, copies, place.reshape(-1)
