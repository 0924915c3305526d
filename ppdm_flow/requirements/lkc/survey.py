"""Every combination of a few known columns: the fewest rows that fit, and the highest confidence in a value."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np

from ppdm_flow.core.roles import Nulls
from ppdm_flow.mining.exposure.columns import (
    ReadingMethod,
    RevealingColumns,
    ValueColumns,
    carriers,
    columns,
    readings,
    sensitive_attributes,
)
from ppdm_flow.mining.exposure.histograms import Histograms, ValueHistograms, values
from ppdm_flow.mining.exposure.query import CombinationSizes, classes, crowds
from ppdm_flow.mining.exposure.repeated import Repetitions, as_they_were, of_originals, repeated
from ppdm_flow.mining.exposure.rows import ReleasedRows, SharedCounts
from ppdm_flow.mining.exposure.together import joint_values
from ppdm_flow.mining.recoding.grouping import added, shares
from ppdm_flow.requirements.lkc.requirement import LKC
from ppdm_flow.sdk.audit import AuditContext
from ppdm_flow.sdk.view import DataView
from ppdm_flow.tables.column import SPECIALS

Names = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class LkcSurvey:
    """The worst of all ``combinations``: the smallest ``k`` is by knowing ``fewest``, the ``confidence`` by ``surest``.

    ``k`` is 0 and ``confidence`` 0 where there is no row. ``left_out`` are the rows that all of them leave out.
    ``each`` is (what is known, the smallest group, the highest confidence), for every combination. ``repeated`` are the
    original rows in some group, where rows are generated: then it is they that are counted.

    Where people are counted, so is ``k``. An adversary who knows several rows of a person, or sees which rows are one
    person's, finds ``known_k`` linked people (None where no row is linked), with the confidence ``known_confidence``.
    ``linked`` says how rows are linked.
    """

    combinations: int
    k: int
    confidence: float
    fewest: Names
    surest: Names
    left_out: int
    each: tuple[tuple[Names, int, float], ...] = ()
    repeated: int | None = None
    known_k: int | None = None
    known_confidence: float | None = None
    linked: str = ""


def secrets(requirement: LKC, ctx: AuditContext) -> dict[str, tuple[str, ...]]:
    """Return the sensitive attributes with the values that nobody should infer: all of them and none, unless named."""
    values: dict[str, tuple[str, ...]] = {}
    for attribute, value in requirement.pairs:
        values[attribute] = (*values.get(attribute, ()), value)
    return values or dict.fromkeys(sensitive_attributes(ctx), ())


def known_sets(
    requirement: LKC, candidate: DataView, ctx: AuditContext, *, beside: bool = False
) -> Iterator[tuple[str, ...]]:
    """Yield each combination of attributes that the adversary may know and that the release reveals something of.

    With mixed columns, here or in other releases, all attributes count: they tell which mixed cells people alike show.
    Knowing more makes groups smaller, and one of them has a share at least as high as the group that they make up. With
    missing values as wildcards or left out, with mixed columns, of generated rows, and ``beside`` other releases,
    groups do not nest, so that all combinations are looked at. Nor do shares of people: in a union of two groups more
    people can have a value than in each. Nor do linked rows: what is not known may link them.
    """
    secret = secrets(requirement, ctx)
    own = [a for a in requirement.attributes if a not in secret]
    every = beside or bool(columns(own, secret, candidate, ctx).mixed)
    released = own if every else [a for a in own if carriers(a, candidate, ctx)]
    plain = ctx.nulls is Nulls.OWN_CATEGORY and ctx.generation is None and ctx.people is None
    nested = plain and not every
    most = min(requirement.l, len(released))
    for size in range(most if nested else min(1, most), most + 1):
        yield from combinations(released, size)
    if most and not nested and ctx.generation is None:  # rows that others leave out count for who knows nothing
        yield ()


def rows_once(requirement: LKC, candidate: DataView, ctx: AuditContext) -> SharedCounts:
    """Return the rows, counted once over everything that some combination looks at."""
    secret = secrets(requirement, ctx)
    every = columns(requirement.attributes, secret, candidate, ctx)
    ways = [way for attribute in named(requirement) for way in readings(attribute, candidate, ctx)]
    released = dict.fromkeys((*every.every, *(c for way in ways for c in way.shown)))
    behind = (way.attribute for way in ways if way.way is not ReadingMethod.SHOWN)
    whose = () if ctx.people is None else (ctx.people.subject,)
    original = dict.fromkeys((*(every.known if every.mixed else ()), *behind, *whose))
    return SharedCounts(ReleasedRows(candidate, ctx), tuple(released), tuple(original))


def named(requirement: LKC) -> tuple[str, ...]:
    """Return the sensitive attributes that the requirement names."""
    return tuple(dict.fromkeys(attribute for attribute, _ in requirement.pairs))


def rows_survey(requirement: LKC, candidate: DataView, ctx: AuditContext) -> LkcSurvey:
    """Count rows. Raises UnmeasuredError where crowds and null semantics do not go together."""
    secret, rows = secrets(requirement, ctx), rows_once(requirement, candidate, ctx)
    originals = originals_of(requirement, candidate, ctx)
    every, groups, worst, many = [], [], [], [0]
    for known in known_sets(requirement, candidate, ctx):
        released_columns = columns(known, secret, candidate, ctx)
        every.append(released_columns.every)
        ways = [way for attribute in named(requirement) for way in readings(attribute, candidate, ctx)]
        read = values(released_columns, ways, rows, ctx.nulls)
        if originals is None:
            groups.append(_sizes(released_columns, rows, ctx.nulls))
        else:
            mine = originals.knowing(released_columns.known)
            counts = mine.counts(released_columns.every)
            many.append(counts.total)
            groups.append(classes(counts, ctx.nulls))
            read.extend(
                values(of_originals(released_columns), original_ways(requirement, candidate, ctx), mine, ctx.nulls)
            )
        worst.append(max((_confidence(each, secret) for each in read), default=0.0))
    sizes = [f.k for f in groups]
    if originals is not None:  # a class that repeats no original row is nobody's
        sizes = [f.k if len(f.sizes) else max(sizes) for f in groups]
    there = originals is not None and candidate.row_count > 0
    left = [f.left_out for f in groups]
    return replace(worst_of(every, sizes, worst, left), repeated=max(many) if there else None)


def worst_of(every: Sequence[Names], sizes: Sequence[int], shares: Sequence[float], left: Sequence[int]) -> LkcSurvey:
    """Return the worst of what was found by knowing each combination: its columns, k, confidence and rows left out."""
    first, second = int(np.argmin(sizes)), int(np.argmax(shares))
    fewest = min(n for n, known in zip(left, every, strict=True) if known or len(every) == 1)
    each = tuple(zip(every, sizes, shares, strict=True))
    return LkcSurvey(len(every), sizes[first], shares[second], every[first], every[second], fewest, each)


def originals_of(requirement: LKC, candidate: DataView, ctx: AuditContext) -> Repetitions | None:
    """Return the original rows that generated ones repeat, which are counted then. Raises UncountedError."""
    return repeated(requirement.attributes, secrets(requirement, ctx), named(requirement), candidate, ctx)


def original_ways(requirement: LKC, candidate: DataView, ctx: AuditContext) -> tuple[ValueColumns, ...]:
    """Return how the values of original rows are read, of attributes that the release tells something of."""
    released = (a for a in named(requirement) if carriers(a, candidate, ctx))
    return tuple(way for attribute in released for way in as_they_were(attribute))


def together_confidence(
    requirement: LKC, candidate: DataView, ctx: AuditContext
) -> tuple[float, tuple[str, ...]] | None:
    """Return the highest confidence beside the run's other releases, and which they are; None where they tell nothing.

    Raises UnmeasuredError as the survey of one release.
    """
    worst, names = None, dict[str, None]()
    for attribute, wanted in secrets(requirement, ctx).items() if requirement.c is not None else ():
        for known in known_sets(requirement, candidate, ctx, beside=True):
            read = joint_values(known, attribute, ctx)
            if read is not None:
                worst = max(worst or 0.0, read.together, *(share(histograms, wanted) for histograms in read.histograms))
                names |= dict.fromkeys(read.names)
    return None if worst is None else (worst, tuple(names))


def _sizes(columns: RevealingColumns, rows: SharedCounts, nulls: Nulls) -> CombinationSizes:
    return crowds(columns, rows, nulls) if columns.mixed else classes(rows.counts(columns.grouping), nulls)


def _confidence(read: ValueHistograms, secret: Mapping[str, Sequence[str]]) -> float:
    """Return the largest share of rows that have one of the attribute's values."""
    return max(
        (
            share(histograms, secret[read.reading.attribute])
            for histograms in (read.histograms, read.mean)
            if histograms is not None
        ),
        default=0.0,
    )


def share(histograms: Histograms, wanted: Sequence[str]) -> float:
    """Return the largest share that the values have together."""
    meant = np.isin(histograms.names.to_pylist(), wanted)
    share = np.where(
        np.concatenate([np.zeros(SPECIALS, np.bool_), meant])[histograms.cells.value],
        shares(histograms.cells, histograms.sizes),
        0.0,
    )
    return float(added(histograms.cells, share).max(initial=0.0))
