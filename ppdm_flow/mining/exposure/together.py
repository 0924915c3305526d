"""What all releases of a run reveal of the sensitive values of one release's people, as histograms of groups."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute

from ppdm_flow.core.diagnostics import Diagnostic, Severity
from ppdm_flow.core.errors import DisagreementError
from ppdm_flow.core.people import PeopleFigure
from ppdm_flow.core.phrases import counted
from ppdm_flow.core.results import Figure, Finding, Measured
from ppdm_flow.mining.exposure.faults import UnmeasuredError
from ppdm_flow.mining.exposure.histograms import Floats, Histograms
from ppdm_flow.mining.recoding.grouping import ClassCells
from ppdm_flow.mining.releases.attributes import listed
from ppdm_flow.reader.faults import NotVerifiedError, TruthExcludedError
from ppdm_flow.sdk.audit import AuditContext, Sql
from ppdm_flow.tables.column import SPECIALS, SUPPRESSED_TEXT

if TYPE_CHECKING:
    import pandas as pd

    from ppdm_flow.reader.query.groups import GroupTables, ReadingTables
    from ppdm_flow.reader.run import JointViews
    from ppdm_flow.reader.view import CandidateGroups

SUPPRESSED_CODE, MISSING_CODE = 0, 1

READS_WHOLE_ROWS = "Somebody who looks at all columns of a row at once, also at which cells are hidden,"


class UntoldTogetherError(UnmeasuredError):
    """Raised where the joint knowledge from the files of a run is not accounted for."""

    code = "PPF915"


@dataclass(frozen=True, slots=True, eq=False)
class JointValues:
    """``histograms``: the values of each group, by each way to read and to weigh them, of which the worst counts.

    ``names`` are the other releases that tell something of these rows. ``together`` is the chance that one of several
    known rows has a value, 0 where one row is known.
    """

    histograms: tuple[Histograms, ...]
    distinct: tuple[Floats, ...]
    names: tuple[str, ...]
    together: float = 0.0


def joint_values(
    grouping: Sequence[str], attribute: str, ctx: AuditContext, figure: PeopleFigure = PeopleFigure.CONFIDENCE
) -> JointValues | None:
    """Return what all releases reveal of ``attribute``; None where others reveal nothing. Raises UnmeasuredError."""
    joint_views = _ask_reader(grouping, attribute, ctx)
    if joint_views is None or ctx.release not in joint_views.views:
        return None
    from ppdm_flow.reader.figures import distinct  # noqa: PLC0415  # files that tell nothing together need none of it

    views = [v for v in joint_views.views[ctx.release] if any(len(r.probabilities) for r in v.readings)]
    if not views:
        return None
    with _faults():
        if figure is PeopleFigure.DISTINCT:  # the groups of all readings, with the least number of any

            def count() -> tuple[tuple[Histograms, ...], tuple[Floats, ...]]:
                every = (_of_all_readings(v, joint_views) for v in views)
                return tuple(every), tuple(distinct(v).sort_index().to_numpy() for v in views)

            return JointValues(*joint_views.figure(figure, views, count), joint_views.linked[ctx.release])
        every = joint_views.figure(
            figure, views, lambda: [h for v in views for h in _histograms(v, joint_views, figure) if len(h)]
        )
    if figure is PeopleFigure.DISTRIBUTION and any((h.base[h.cells.value] <= 0).any() for h in every):
        raise UntoldTogetherError(f"Somebody may have a value of `{attribute}` that no released row has.")
    return JointValues(tuple(every), (), joint_views.linked[ctx.release], max(v.together for v in views))


def joint_size(grouping: Sequence[str], ctx: AuditContext) -> tuple[int, tuple[str, ...]] | None:
    """Return the size of the smallest group beside all releases, and which tell something; None where none does.

    Raises UnmeasuredError.
    """
    joint_views = _ask_reader(grouping, "", ctx)
    if joint_views is None or ctx.release not in joint_views.views:
        return None
    from ppdm_flow.reader.figures import sizes  # noqa: PLC0415  # as above

    views = joint_views.views[ctx.release]
    with _faults():
        smallest = joint_views.figure(
            "size", views, lambda: min((int(n) for v in views for n in sizes(v)), default=None)
        )
    return None if smallest is None else (smallest, joint_views.linked[ctx.release])


def joint_size_sql(grouping: Sequence[str], ctx: AuditContext, sql: Sql) -> int | None:
    """Return the size of the smallest group by the second route; None where others tell nothing."""
    if joint_size(grouping, ctx) is None:
        return None
    from ppdm_flow.reader.query.figures import size  # noqa: PLC0415  # as above

    group_sizes = [size(one) for one in _groups(grouping, "", ctx, sql)]
    return int(min(each[0] for each in group_sizes if each is not None))


def joint_share(attributes: Sequence[str], size: int, ctx: AuditContext) -> tuple[float, tuple[str, ...]] | None:
    """Return the share of people whom ``size`` attributes single out beside all releases, and which tell something.

    None where others tell nothing. Raises UnmeasuredError.
    """
    if ctx.reader is None:
        return None
    with _faults():
        joint_shares = ctx.reader.singled_out(attributes, size)
    if joint_shares is None or ctx.release not in joint_shares.shares:
        return None
    return joint_shares.shares[ctx.release], joint_shares.linked[ctx.release]


def joint_share_sql(attributes: Sequence[str], size: int, ctx: AuditContext, sql: Sql) -> float | None:
    """Return this share by the second route; None where others tell nothing."""
    if ctx.reader is None or joint_share(attributes, size, ctx) is None:
        return None
    with _truth():
        share: float = ctx.reader.singled_out_sql(sql, attributes, size)[ctx.release]
    return share


def joint_tables(
    grouping: Sequence[str], attribute: str, ctx: AuditContext, sql: Sql, figure: PeopleFigure
) -> Iterator[Mapping[str, pa.Table]]:
    """Yield the groups' values by the second route, by each way to read and to weigh them.

    ``cells``, ``sizes`` and ``base`` are as :class:`~ppdm_flow.mining.exposure.query.ClassQuery` has them.
    """
    joint_views = _ask_reader(grouping, attribute, ctx)
    if joint_views is None:
        return
    marks = {len(joint_views.names): SUPPRESSED_TEXT, -1: None}
    codes = [*range(len(joint_views.names)), *marks]
    names = pa.table({"code": codes, "s": pa.array([*joint_views.names.to_pylist(), *marks.values()], pa.string())})
    named = "CASE WHEN code IS NULL THEN '?' || x.s ELSE t.s END AS s"
    for one in _groups(grouping, attribute, ctx, sql):
        ask, texts = one.tables.table, one.tables.put(names, "names")
        for reading in one.readings:
            base = ask(f"SELECT {named}, q FROM {reading.base} AS x LEFT JOIN {texts} AS t ON code = x.s")  # noqa: S608  # our own names
            for cells, totals in _weighed(one, reading, of_people=ctx.people is not None, figure=figure):
                values = ask(f"SELECT id, {named}, n FROM ({cells}) AS x LEFT JOIN {texts} AS t ON code = x.s")  # noqa: S608  # as above
                yield {"cells": values, "sizes": ask(totals), "base": base}


def _weighed(
    one: GroupTables, reading: ReadingTables, *, of_people: bool, figure: PeopleFigure
) -> Iterator[tuple[str, str]]:
    """Yield SELECTs of (id, s, n) and of (id, size, own) by weight and with equal weights, by rows and by people."""
    spread = figure is PeopleFigure.DISTRIBUTION
    for weight, of_rows in (("weight", "by_weight"), ("1", "equal")):
        by_row = f"SELECT id, s, {of_rows} AS n FROM {reading.cells}"  # noqa: S608  # our own names
        chance = f"mean_{of_rows}" if spread else "p"
        by_unit = (
            f"SELECT id, s, sum({chance} * {weight} * n) AS n FROM {reading.people} JOIN {one.units} USING (id, unit)"  # noqa: S608  # as above
            " GROUP BY id, s"
        )
        if spread:
            cells = by_unit if of_people else by_row
            yield cells, f"SELECT id, sum(n) AS size, 1 AS own FROM ({cells}) GROUP BY id"  # noqa: S608  # as above
            continue
        yield by_row, f"SELECT id, {of_rows} AS size, 1 AS own FROM {one.sizes}"  # noqa: S608  # as above
        if of_people:
            yield by_unit, f"SELECT id, sum({weight} * n) AS size, 1 AS own FROM {one.units} GROUP BY id"  # noqa: S608  # as above


def joint_distinct_sql(grouping: Sequence[str], attribute: str, ctx: AuditContext, sql: Sql) -> int | None:
    """Return the least number of distinct values by the second route. Raises UnmeasuredError."""
    from ppdm_flow.reader.query.figures import distinct as distinct_sql  # noqa: PLC0415  # as above

    distinct_counts = [
        each
        for one in _groups(grouping, attribute, ctx, sql)
        for reading in one.readings
        for each in distinct_sql(one, reading)
    ]
    return min(distinct_counts, default=None)


def _groups(grouping: Sequence[str], attribute: str, ctx: AuditContext, sql: Sql) -> Sequence[GroupTables]:
    """Return the groups by the second route. Raises NotVerifiedError, which only the engine catches."""
    if ctx.reader is None:
        return ()
    with _truth():
        groups: Sequence[GroupTables] = ctx.reader.together_sql(sql, grouping, attribute).get(ctx.release, ())
    return groups


def _ask_reader(grouping: Sequence[str], attribute: str, ctx: AuditContext) -> JointViews | None:
    if ctx.reader is None:
        return None
    with _faults():
        joint_views: JointViews | None = ctx.reader.together(grouping, attribute)
    return joint_views


@contextmanager
def _faults() -> Iterator[None]:
    """Raise what keeps a reader's knowledge from being accounted for as an UnmeasuredError or a DisagreementError."""
    try:
        with _truth():
            yield
    except NotVerifiedError as fault:
        raise UntoldTogetherError(
            f"What the releases of this run tell together is not accounted for: {fault}."
        ) from None


@contextmanager
def _truth() -> Iterator[None]:
    """Raise as a DisagreementError that the true rows are excluded."""
    try:
        yield
    except TruthExcludedError:
        text = "the rows that are somebody's own are not among those that may be theirs"
        advice = "this is a defect of ppdm-flow or of a plugin: nothing was released; please report it"
        raise DisagreementError(Diagnostic("PPF902", text, help=advice)) from None


def _histograms(view: CandidateGroups, joint_views: JointViews, figure: PeopleFigure) -> list[Histograms]:
    from ppdm_flow.reader.figures import masses  # noqa: PLC0415  # as above

    return [
        _histogram(view, joint_views, reading.base, values, totals)
        for reading, values, totals in masses(view, spread=figure is PeopleFigure.DISTRIBUTION)
    ]


def _of_all_readings(view: CandidateGroups, joint_views: JointViews) -> Histograms:
    from ppdm_flow.reader.figures import masses_of_all_readings  # noqa: PLC0415  # as above

    return _histogram(view, joint_views, view.readings[0].base, *masses_of_all_readings(view))


def _histogram(
    view: CandidateGroups, joint_views: JointViews, shares: pd.Series[Any], values: pd.DataFrame, totals: pd.Series[Any]
) -> Histograms:
    """Return the values of the groups that reveal any."""
    from ppdm_flow.reader.view import GROUP  # noqa: PLC0415  # as above

    groups, owner = np.unique(values[GROUP], return_inverse=True)
    known, highest = len(joint_views.names), max([-1, *values["value"], *shares.index])
    names = pa.concat_arrays([joint_views.names, pa.array([f"\0{i}" for i in range(highest - known)], pa.string())])
    of_value = np.arange(max(highest, known) + 2) + SPECIALS  # codes from 0, then that of a missing value as -1
    of_value[known], of_value[known + 1 : -1], of_value[-1] = (
        SUPPRESSED_CODE,
        of_value[known + 1 : -1] - 1,
        MISSING_CODE,
    )
    code = of_value[values["value"]]
    order = np.lexsort((code, owner))
    begins = np.searchsorted(owner[order], np.arange(len(groups) + 1)).astype(np.int64)
    cells = ClassCells(begins, code[order].astype(np.int32), values["mass"].to_numpy()[order])
    base = np.zeros(len(names) + SPECIALS)
    base[of_value[shares.index.to_numpy(np.int64)]] = shares.to_numpy()
    rows = view.many.reindex(groups, fill_value=0).to_numpy(np.int64)
    return Histograms(cells, totals.reindex(groups).to_numpy(), rows, base, names)


# The size of a person's group for an adversary who holds all releases of a run.


def beside_all(requirement: str, figure: str, least: int, grouping: Sequence[str], ctx: AuditContext) -> list[Measured]:
    """Return the smallest group beside all releases, which must have ``least``; nothing where others tell nothing.

    ``figure`` is the name of the figure below the id of the ``requirement``.
    """
    unit = "rows" if ctx.people is None else "people"
    name = f"{requirement}.{figure}"
    try:
        joint = joint_size(grouping, ctx)
    except UnmeasuredError as fault:
        return [unaccounted(requirement, name, unit, float(least), fault, at_most=False)]
    if joint is None:
        return []
    size, names = joint
    who = f"Somebody who reads {listed(names)} as well" if names else READS_WHOLE_ROWS
    known = 1 if ctx.people is None else ctx.people.known_rows
    rows = "" if known == 1 else f" in {'all' if known is None else f'up to {known}'} rows"
    left = counted(size, "row" if ctx.people is None else "person")
    text = (
        f"{who} and knows a person's {listed(grouping)}{rows} is left with {left} (unlikely ones count less);"
        f" {least:,} are required."
    )
    return [Measured(requirement, name, Figure(size, unit), float(least), at_most=False, sentence=text)]


def unaccounted(
    requirement: str, name: str, unit: str, bound: float, fault: UnmeasuredError, *, at_most: bool
) -> Measured:
    """Return a figure of all releases that is not measured."""
    figure = Figure(None, unit, note=fault.text)
    return Measured(requirement, name, figure, bound, at_most=at_most, sentence=fault.text, verifiable=False)


def findings_of_unaccounted(measured: Iterable[Measured]) -> list[Finding]:
    """Return a finding for each figure of all releases that is not measured."""
    unknown = dict.fromkeys((m.sentence, m.requirement) for m in measured if not m.verifiable)
    return [Finding(UntoldTogetherError.code, Severity.WARNING, text, name) for text, name in unknown]


def beside_all_sql(name: str, grouping: Sequence[str], ctx: AuditContext) -> dict[str, int]:
    """Return the figure ``name`` by the second route; nothing where others tell nothing."""
    if ctx.sql is None:
        return {}
    try:
        size = joint_size_sql(grouping, ctx, ctx.sql)
    except UnmeasuredError:
        return {}
    return {} if size is None else {name: size}
