"""The inferences that a release allows about people who can have several rows, by two routes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ppdm_flow.core.requirement import TOLERANCE
from ppdm_flow.core.roles import Nulls
from ppdm_flow.mining.exposure.columns import RevealingColumns, ValueColumns
from ppdm_flow.mining.exposure.histograms import Histograms, ValueHistograms
from ppdm_flow.mining.exposure.query import ClassQuery, classes
from ppdm_flow.mining.exposure.rows import CountedRows
from ppdm_flow.mining.people.groups import OTHER
from ppdm_flow.mining.people.query import PeopleQuery
from ppdm_flow.mining.people.values import PeopleValues, people_values
from ppdm_flow.reader.compatible import compatible_sums
from ppdm_flow.requirements.templates.requirement import InferenceTemplate
from ppdm_flow.sdk.audit import AuditContext, Sql
from ppdm_flow.sdk.view import DataView
from ppdm_flow.tables.column import MISSING, SPECIALS
from ppdm_flow.tables.counts import Counts

ALL_OTHERS = frozenset((OTHER,))
"""What counts as having another value."""
Images = Mapping[str, frozenset[str]]
Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]


def of_people(
    columns: RevealingColumns,
    target: TemplateTarget,
    ways: Sequence[ValueColumns],
    rows: CountedRows,
    ctx: AuditContext,
    *,
    negated: bool,
) -> Inferences:
    """Return the highest confidence of each (group, value): the larger share of rows and of people who have it.

    ``negated``: of each (group, value) that somebody has another value.
    """
    if ctx.people is None:
        raise ValueError("the policy has no attribute with role `subject`, so people cannot be counted")
    every = people_values(columns, ways, rows, ctx.nulls, ctx.people, values_known=False)
    if not negated:
        return inferences_of([_confidences(read) for read in every], target.images, negated=False)
    each = [
        inferences_of([_confidences(read.merged((value,))) for read in every], {value: ALL_OTHERS}, negated=False)
        for value in target.images
    ]
    return Inferences(
        np.concatenate([one.confidence for one in each]),
        np.concatenate([one.group for one in each]),
        np.concatenate([one.value + number for number, one in enumerate(each)]),
        each[0].rows,
    )


def _confidences(read: PeopleValues) -> ValueHistograms:
    if read.reading is None:
        raise ValueError("confidences need values with a reading, and these have none")
    return ValueHistograms(read.reading, *read.confidences)


def people_queries(
    columns: RevealingColumns,
    target: TemplateTarget,
    ways: Sequence[ValueColumns],
    rows: CountedRows,
    ctx: AuditContext,
    sql: Sql,
    *,
    negated: bool,
) -> Iterator[PeopleQuery]:
    """Yield the second route to each way of reading; of negated templates for each value."""
    if ctx.people is None:
        raise ValueError("the policy has no attribute with role `subject`, so people cannot be counted")
    for way in ways:
        for merged in [(value,) for value in target.images] if negated else (None,):
            yield PeopleQuery.of_people(
                sql,
                rows,
                columns,
                way,
                ctx.nulls,
                ctx.people,
                values_known=False,
                confidences=True,
                merged=merged,
            )


def asked_of(query: ClassQuery, images: Images, *, negated: bool) -> tuple[str, list[str]]:
    """Return a SELECT of (id, value, confidence), and its parameters, for any query over ``cells`` and ``sizes``."""
    if not isinstance(query, PeopleQuery):
        return confidences_of(images, negated=negated)
    if query.merged is not None:
        images = {value: ALL_OTHERS if value in query.merged else frozenset() for value in images}
    return confidences_of(images, negated=False)


# All inferences of one template on one table, over its several sensitive attributes.


@dataclass(frozen=True, slots=True)
class TemplateTarget:
    """A column that carries a sensitive attribute, and the cells that may hide each of its sensitive values."""

    attribute: str
    column: str
    images: Images


@dataclass(frozen=True, slots=True, eq=False)
class TemplateSurvey:
    """The inferences of a template to each of its targets. The groups are the same for all of them.

    ``smallest`` is the number of rows of the smallest group, where the template bounds it. ``repeated`` are the
    original rows in some group, where rows are generated: then it is they that are counted.
    """

    targets: tuple[TemplateTarget, ...]
    by_target: tuple[Inferences, ...]
    smallest: int
    repeated: int | None = None

    @property
    def worst(self) -> float:
        """The highest confidence."""
        return max((f.worst for f in self.by_target), default=0.0)

    @property
    def worst_pair(self) -> tuple[str, str] | None:
        """The sensitive attribute and value that can be inferred with the highest confidence."""
        present = [(f.worst, i) for i, f in enumerate(self.by_target) if len(f.confidence)]
        if not present:
            return None
        best = max(present, key=lambda p: (p[0], -p[1]))[1]
        inferred, target = self.by_target[best], self.targets[best]
        return target.attribute, tuple(target.images)[int(inferred.value[int(inferred.confidence.argmax())])]

    def inferences(self, threshold: float) -> int:
        """Return how many inferences exceed ``threshold``."""
        return sum(int(f.beyond(threshold).sum()) for f in self.by_target)

    def groups(self, threshold: float) -> tuple[int, int]:
        """Return how many groups allow an inference beyond ``threshold``, and how many rows stand in them."""
        if not self.by_target:
            return 0, 0
        hit = np.logical_or.reduce([f.groups_beyond(threshold) for f in self.by_target])
        return int(hit.sum()), int(self.by_target[0].rows[hit].sum())


def survey(
    template: InferenceTemplate, view: DataView, channel: Sequence[str], targets: Iterable[TemplateTarget], nulls: Nulls
) -> TemplateSurvey:
    """Measure a template on a table; the groups' rows only where it bounds them."""
    every = tuple(targets)
    by_target = tuple(inferences(view, channel, t.column, t.images, nulls, negated=template.negated) for t in every)
    return TemplateSurvey(
        every, by_target, classes(view.counts(channel), nulls).k if template.smallest_group > 1 else 0
    )


def by_attribute(template: InferenceTemplate) -> Mapping[str, tuple[str, ...]]:
    """Return the sensitive values of a template by attribute, in the order of the policy."""
    values_by_attribute: dict[str, tuple[str, ...]] = {}
    for attribute, value in template.pairs:
        values_by_attribute[attribute] = (*values_by_attribute.get(attribute, ()), value)
    return values_by_attribute


# The confidence of every inference from a channel to sensitive values.
#
# conf(ic -> pi) = rows with ic and pi / rows with ic (Wang, Fung, Yu 2005, section 3). A sensitive cell that is missing
# or suppressed counts among the rows with ic only.


_BLOCK = 16


@dataclass(frozen=True, slots=True, eq=False)
class Inferences:
    """``confidence`` (inferences,) of the pairs (group, value) that occur, with their ``group`` and ``value`` numbers.

    ``rows`` (groups,) are the rows that have exactly that combination. Groups are numbered by the channel alone.
    """

    confidence: Floats
    group: Integers
    value: Integers
    rows: Integers

    @property
    def worst(self) -> float:
        """The highest confidence; 0 where no sensitive value occurs."""
        return float(self.confidence.max(initial=0.0))

    def beyond(self, threshold: float) -> npt.NDArray[np.bool_]:
        """Return which inferences exceed ``threshold``, with the tolerance of every comparison."""
        return self.confidence > threshold + TOLERANCE

    def beside(self, other: Inferences) -> Inferences:
        """Return these and others together, whose groups are further ones."""
        return Inferences(
            np.append(self.confidence, other.confidence),
            np.append(self.group, other.group + len(self.rows)),
            np.append(self.value, other.value),
            np.append(self.rows, other.rows),
        )

    def groups_beyond(self, threshold: float) -> npt.NDArray[np.bool_]:
        """Return which groups allow an inference beyond ``threshold``, shape (groups,)."""
        hit = np.zeros(len(self.rows), dtype=np.bool_)
        hit[self.group[self.beyond(threshold)]] = True
        return hit


def inferences(
    view: DataView, channel: Sequence[str], column: str, images: Images, nulls: Nulls, *, negated: bool = False
) -> Inferences:
    """Measure every inference from ``channel`` to the values of ``column``; ``negated``: to not having each of them.

    ``wildcard``: the group of a combination is its crowd. ``exclude``: rows with a missing
    cell in the channel are left out.
    """
    counts = view.counts(tuple(dict.fromkeys((*channel, column))))
    kept = counts.counts > 0
    cells = counts.codes[:, [counts.place(c) for c in channel]]
    if nulls is Nulls.EXCLUDE:
        kept &= ~(cells == MISSING).any(axis=1)
    counts = Counts(counts.columns, counts.categories, counts.codes[kept], counts.counts[kept])
    group, size = counts.groups(channel)
    rows = _sums(group, counts.counts, size)
    at, value = _sensitive(counts, column, images)
    width = max(1, len(images))
    keys, place = np.unique(group[at] * width + value, return_inverse=True)
    hits = _sums(place, counts.counts[at], len(keys))
    if negated:  # every group counts, those without the value most of all
        without = np.repeat(rows, len(images))
        without[keys] -= hits
        some = np.flatnonzero(without)
        keys, hits = some, without[some]
    if nulls is Nulls.WILDCARD and (cells == MISSING).any():
        first = np.zeros(size, dtype=np.int64)
        first[group] = np.arange(len(group))
        return _crowds(cells[kept][first], rows, keys // width, keys % width, hits)
    return Inferences(hits / rows[keys // width], keys // width, keys % width, rows)


def _sensitive(counts: Counts, column: str, images: Images) -> tuple[Integers, Integers]:
    """Return the combinations that have a sensitive value, and which one; several where an image is shared."""
    codes = counts.of(column)
    order = np.argsort(codes, kind="stable")
    ordered = codes[order]
    at, value = [np.zeros(0, dtype=np.int64)], [np.zeros(0, dtype=np.int64)]
    for number, image in enumerate(images.values()):
        for code in sorted(c for c in (counts.code(column, text) for text in image) if c is not None):
            start, end = np.searchsorted(ordered, [code, code + 1])
            at.append(order[start:end])
            value.append(np.full(end - start, number, dtype=np.int64))
    return np.concatenate(at), np.concatenate(value)


def _crowds(
    cells: npt.NDArray[np.int32], rows: Integers, group: Integers, value: Integers, hits: Integers
) -> Inferences:
    """Let the crowd of each group take its place; a block of sensitive values at a time."""
    totals = compatible_sums(cells, rows[:, None])[:, 0]
    blocks = []
    numbers = np.unique(value)
    for start in range(0, len(numbers), _BLOCK):
        block = numbers[start : start + _BLOCK]
        mine = np.isin(value, block)
        dense = np.zeros((len(rows), len(block)), dtype=np.int64)
        dense[group[mine], np.searchsorted(block, value[mine])] = hits[mine]
        sums = compatible_sums(cells, dense)
        at, which = np.nonzero(sums)
        blocks.append((sums[at, which] / totals[at], at, block[which]))
    if not blocks:
        return Inferences(np.zeros(0), group, value, rows)
    confidence, groups, values = (np.concatenate(part) for part in zip(*blocks, strict=True))
    return Inferences(confidence, groups, values, rows)


def _sums(place: Integers, values: Integers, size: int) -> Integers:
    out = np.zeros(size, dtype=np.int64)
    np.add.at(out, place, values)
    return out


# The confidences of inferences in histograms of groups.


def inferences_of(read: Sequence[ValueHistograms], images: Images, *, negated: bool) -> Inferences:
    """Return the highest confidence of each (group, value), over all ways of reading and over means of mixed cells."""
    every = [histograms for each in read for histograms in (each.histograms, each.mean) if histograms is not None]
    width = max(1, len(images))
    keys, confidence = np.zeros(0, dtype=np.int64), np.zeros(0)
    for histograms in every:
        group, value, share = _shares(histograms, images, negated=negated)
        keys, confidence = np.append(keys, group * width + value), np.append(confidence, share)
    distinct, place = np.unique(keys, return_inverse=True)
    worst = np.zeros(len(distinct))
    np.maximum.at(worst, place, confidence)
    return Inferences(worst, distinct // width, distinct % width, every[0].rows)


def _shares(
    histograms: Histograms, images: Images, *, negated: bool
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64], npt.NDArray[np.float64]]:
    """Return (group, number of the value, its share) where the value occurs, or where it is not all there is."""
    cells, names = histograms.cells, histograms.names.to_pylist()
    owner = cells.owner
    groups, numbers, shares = [], [], []
    for number, image in enumerate(images.values()):
        meant = np.concatenate([np.zeros(SPECIALS, np.bool_), np.isin(names, list(image))])
        here = meant[cells.value]
        hits = np.bincount(owner[here], cells.count[here], len(histograms))
        share = hits / np.where(histograms.sizes > 0, histograms.sizes, 1)
        share = 1.0 - share if negated else share
        some = np.flatnonzero(share > TOLERANCE) if negated else np.flatnonzero(hits > 0)
        groups.append(some)
        numbers.append(np.full(len(some), number, dtype=np.int64))
        shares.append(share[some])
    return np.concatenate(groups), np.concatenate(numbers), np.concatenate(shares)


def confidences_of(images: Images, *, negated: bool) -> tuple[str, list[str]]:
    """Return a SELECT of (id, value, confidence), and its parameters."""
    texts = [(i, text) for i, image in enumerate(images.values()) for text in sorted(image)]
    wanted = ", ".join(f"({i}, ?)" for i, _ in texts)
    hits = f"""
        SELECT id, value, SUM(n) AS n FROM cells JOIN (VALUES {wanted}) AS sensitive(value, wanted) ON s = wanted
        GROUP BY id, value"""  # noqa: S608  # numbers and parameters
    if not negated:
        text = f"SELECT id, value, n / size AS confidence FROM ({hits}) JOIN sizes USING (id)"  # noqa: S608  # as above
    else:
        text = f"""
            SELECT * FROM (
                SELECT sizes.id AS id, v.value AS value, 1 - COALESCE(hits.n, 0) / size AS confidence
                FROM sizes CROSS JOIN range({len(images)}) AS v(value)
                LEFT JOIN ({hits}) AS hits ON hits.id = sizes.id AND hits.value = v.value)
            WHERE confidence > {TOLERANCE!r}"""  # noqa: S608  # as above
    return text, [text for _, text in texts]
