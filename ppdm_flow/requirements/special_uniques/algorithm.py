"""Special uniques, measured: the released rows that a few attributes single out (Elliot, Manning, Ford, IJUFKS 2002).

A minimal sample unique is a set of attributes whose values only one released row has, while more rows share the values
of each smaller part of it. The fewer attributes it takes, the likelier the row's person is unique in the population.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import combinations, islice

import numpy as np
import pyarrow as pa

from ppdm_flow.core.phrases import counted
from ppdm_flow.core.results import AuditOutcome, Chart, Figure, FigureSeries, Finding, Measured
from ppdm_flow.core.roles import Nulls, Role
from ppdm_flow.mining.classes.wording import as_they_are, left_out, treatment, unmeasured
from ppdm_flow.mining.exposure.columns import RevealingColumns, carriers, columns, made_of, sensitive_attributes
from ppdm_flow.mining.exposure.faults import UncountedError, UnmeasuredError
from ppdm_flow.mining.exposure.query import classes
from ppdm_flow.mining.exposure.rows import ReleasedRows
from ppdm_flow.mining.exposure.together import (
    READS_WHOLE_ROWS,
    findings_of_unaccounted,
    joint_share,
    joint_share_sql,
    unaccounted,
)
from ppdm_flow.mining.people.figures import require_one_known, require_people
from ppdm_flow.mining.people.known import beside, may_link, require_linkable
from ppdm_flow.mining.people.linkage import linked_lines, linked_rows
from ppdm_flow.mining.releases.attributes import classes as relation_classes
from ppdm_flow.mining.releases.attributes import crowds, listed, remembered, source_of
from ppdm_flow.mining.uniques.people import RowsOfPeople, crowd_sizes, people_uniques
from ppdm_flow.mining.uniques.special import (
    SpecialUniques,
    match_probabilities,
    match_probability,
    minimal_sample_uniques,
)
from ppdm_flow.requirements.special_uniques.requirement import FewUniques, SpecialUniquesParams
from ppdm_flow.sdk.audit import AuditContext, Sql
from ppdm_flow.sdk.view import DataView
from ppdm_flow.tables.column import MISSING, SPECIALS
from ppdm_flow.tables.counts import Counts

_GENERATED = (
    "Rows are generated and belong to nobody: whom a few attributes single out among the original rows that they repeat"
    " is not counted. Ask for `k_anonymity` of such a release."
)
_TOGETHER = "together_share"
_NOBODYS = "of generated rows, which belong to nobody"


class SpecialUniquesAudit:
    """Finds the minimal sample uniques of each requirement, or of the parameters' attributes where there is none."""

    def __init__(self, params: SpecialUniquesParams) -> None:
        self.params = params

    def measure(self, original: DataView, candidate: DataView, ctx: AuditContext) -> AuditOutcome:
        """Return how many rows are singled out, and what that says."""
        del original
        own = _own(ctx)
        parts = [_judged(r, candidate, ctx) for r in own] or [self._plain(candidate, ctx)]
        return AuditOutcome(
            figures={name: figure for part in parts for name, figure in part.figures.items()},
            measured=tuple(m for part in parts for m in part.measured),
            findings=tuple(f for part in parts for f in part.findings),
            charts=tuple(c for part in parts for c in part.charts),
        )

    def recheck(self, original: DataView, candidate: DataView, ctx: AuditContext) -> Mapping[str, float | int | None]:
        """Count again in SQL, set by set."""
        del original
        figures: dict[str, float | int | None] = {}
        if ctx.sql is None:
            return figures
        for requirement in _own(ctx):
            released = released_attributes(requirement.attributes, candidate, ctx)
            if (released.names and ctx.generation is not None) or not candidate.row_count:
                continue
            size = min(requirement.size, len(released.names))
            try:
                many, rows = _figures_sql(ctx.sql, released, size, candidate, ctx)
            except UnmeasuredError:
                continue
            with suppress(UnmeasuredError):
                share = joint_share_sql(requirement.attributes, requirement.size, ctx, ctx.sql)
                figures |= {} if share is None else {f"{requirement.id}.{_TOGETHER}": share}
            if rows:
                figures |= {f"{requirement.id}.rows_{s}": number for s, number in enumerate(many, start=1)}
                single = many[-1] if many else 0
                figures |= {f"{requirement.id}.rows": single, f"{requirement.id}.share": single / rows}
        return figures

    def _plain(self, candidate: DataView, ctx: AuditContext) -> AuditOutcome:
        released = named_or_known(self.params.attributes, candidate, ctx)
        counts = candidate.counts(released.columns)
        note = "" if ctx.generation is None else _NOBODYS
        try:
            uniques, crowd_counts = _find_uniques(released, counts, self.params.size, candidate, ctx)
        except UnmeasuredError as fault:
            return AuditOutcome({"share": Figure(None, "share", note=fault.text)})
        unit = _unit(ctx)
        figures = _counted("", uniques, unit, note) | _scored(uniques, crowd_counts, self.params, unit, note)
        shares = uniques.contributions().tolist()
        figures |= {
            f"{name}.contribution": Figure(share, "share", note=note)
            for name, share in zip(released.names, shares, strict=True)
        }
        return AuditOutcome(figures, charts=tuple(pictures("special_uniques", uniques, released.names, unit)))


def _own(ctx: AuditContext) -> list[FewUniques]:
    return [r for r in ctx.requirements if isinstance(r, FewUniques)]


def _judged(requirement: FewUniques, candidate: DataView, ctx: AuditContext) -> AuditOutcome:
    released = released_attributes(requirement.attributes, candidate, ctx)
    if released.names and ctx.generation is not None:
        fault = UncountedError(_GENERATED)
        return AuditOutcome(
            measured=(_unverified(requirement, fault.text),), findings=(unmeasured(requirement.id, fault),)
        )
    counts = candidate.counts(released.columns)
    if not counts.total:
        text = "There is no row to measure, so nothing can be said of it."
        return AuditOutcome(measured=(_unverified(requirement, text),))
    try:
        uniques, _ = _find_uniques(released, counts, requirement.size, candidate, ctx)
    except UnmeasuredError as fault:
        return AuditOutcome(
            measured=(_unverified(requirement, fault.text),), findings=(unmeasured(requirement.id, fault),)
        )
    left, unit = _left_out(counts, ctx.nulls), _unit(ctx)
    prefix = f"{requirement.id}."
    figures = _counted(prefix, uniques, unit) | {f"{prefix}rows_left_out": Figure(left, "rows")}
    measured = Measured(
        requirement=requirement.id,
        metric=f"{prefix}share",
        figure=figures[f"{prefix}share"],
        bound=requirement.max_share,
        at_most=True,
        sentence=_sentence(requirement, released, uniques, unit)
        + made_of(released.columns, ctx)
        + treatment(ctx.nulls, left),
    )
    beside = _beside_all(requirement, unit, ctx)
    figures |= {m.metric: m.figure for m in beside}
    findings: list[Finding] = [*left_out(requirement.id, left), *findings_of_unaccounted(beside)]
    findings.extend(as_they_are(requirement.id, requirement.attributes, sensitive_attributes(ctx), candidate, ctx))
    charts: list[Chart] = [*pictures(requirement.id, uniques, released.names, unit)]
    return AuditOutcome(figures, (measured, *beside), tuple(findings), tuple(charts))


def _beside_all(requirement: FewUniques, unit: str, ctx: AuditContext) -> list[Measured]:
    """Judge whom the attributes single out beside all releases; nothing where others tell nothing."""
    metric = f"{requirement.id}.{_TOGETHER}"
    try:
        joint = joint_share(requirement.attributes, requirement.size, ctx)
    except UnmeasuredError as fault:
        return [unaccounted(requirement.id, metric, "share", requirement.max_share, fault, at_most=True)]
    if joint is None:
        return []
    share, names = joint
    who = f"Somebody who reads {listed(names)} as well" if names else READS_WHOLE_ROWS
    text = (
        f"{who} singles out {share:.2%} of the {unit} by at most {counted(requirement.size, 'attribute')} of"
        f" {listed(requirement.attributes)}; at most {requirement.max_share:.2%} is allowed."
    )
    return [
        Measured(requirement.id, metric, Figure(share, "share"), requirement.max_share, at_most=True, sentence=text)
    ]


@dataclass(frozen=True, slots=True)
class _CrowdCounts:
    """Counts of the units that are alone by all attributes together, and of those with one other."""

    alone: int
    in_pairs: int


def _find_uniques(
    released: ReleasedAttributes, counts: Counts, size: int, candidate: DataView, ctx: AuditContext
) -> tuple[SpecialUniques, _CrowdCounts]:
    """Find who is singled out: rows, or people where these are counted. Raises UnmeasuredError."""
    if not _counts_people(ctx):
        row_classes = classes(counts, ctx.nulls)
        in_pairs = int(row_classes.rows[row_classes.sizes == 2].sum())  # a pair
        uniques = minimal_sample_uniques(counts, released.carriers, size, ctx.nulls)
        return uniques, _CrowdCounts(row_classes.uniques, in_pairs)
    rows = released_people(released, candidate, ctx)
    places = [[released.columns.index(column) for column in each] for each in released.carriers]
    smallest = np.full(rows.people, np.iinfo(np.int64).max)
    sizes = crowd_sizes(rows, ctx.nulls)
    np.minimum.at(smallest, rows.person[sizes > 0], sizes[sizes > 0])
    alone, pairs = (int((smallest == many).sum()) for many in (1, 2))
    return people_uniques(rows, places, size, ctx.nulls), _CrowdCounts(alone, pairs)


def _figures_sql(
    sql: Sql, released: ReleasedAttributes, size: int, candidate: DataView, ctx: AuditContext
) -> tuple[list[int], int]:
    if _counts_people(ctx):
        return singled_out_people(sql, released, candidate, size, ctx)
    return singled_out(sql, released, candidate, size, ctx.nulls)


def _counts_people(ctx: AuditContext) -> bool:
    return ctx.people is not None and ctx.generation is None


def _unit(ctx: AuditContext) -> str:
    return "people" if _counts_people(ctx) else "rows"


def _unverified(requirement: FewUniques, text: str) -> Measured:
    figure = Figure(None, "share", note=text)
    bound = requirement.max_share
    return Measured(requirement.id, f"{requirement.id}.share", figure, bound, True, text, verifiable=False)


def _left_out(counts: Counts, nulls: Nulls) -> int:
    """Return the rows that are in no set: they miss all attributes."""
    if nulls is not Nulls.EXCLUDE or not counts.columns:
        return 0
    return int(counts.counts[(counts.codes == MISSING).all(axis=1)].sum())


def _counted(prefix: str, uniques: SpecialUniques, unit: str, note: str = "") -> dict[str, Figure]:
    """Return how many rows or people have a minimal sample unique, in all and by its size."""
    figures = {
        f"{prefix}share": Figure(uniques.share(uniques.size), "share", note=note),
        f"{prefix}rows": Figure(uniques.single(uniques.size), unit, note=note),
    }
    for size in range(1, uniques.size + 1):
        figures[f"{prefix}rows_{size}"] = Figure(uniques.single(size), unit, note=note)
    return figures


def _scored(
    uniques: SpecialUniques, crowd_counts: _CrowdCounts, params: SpecialUniquesParams, unit: str, note: str
) -> dict[str, Figure]:
    """Return the scores of rows or people, and how likely somebody matches one of them correctly."""
    average = match_probability(crowd_counts.alone, crowd_counts.in_pairs, params.sampling_fraction)
    scores = uniques.scores()
    each = match_probabilities(scores, average)
    rows = max(1, uniques.rows)
    return {
        "minimal_sets": Figure(int(uniques.by_row.sum()), "sets", note=note),
        "score_mean": Figure(float(scores.sum()) / rows, "score", note=note),
        "score_max": Figure(float(scores.max(initial=0.0)), "score", note=note),
        "dis": Figure(average, "probability", note=note),
        "dis_suda_mean": Figure(float(each.sum()) / rows, "probability", note=note),
        "dis_suda_max": Figure(float(each.max(initial=0.0)), "probability", note=note),
        "rows_above": Figure(int((each > params.threshold).sum()), unit, note=note),
    }


def _sentence(requirement: FewUniques, released: ReleasedAttributes, uniques: SpecialUniques, unit: str) -> str:
    if not released.names:
        return "None of the attributes is released, nor anything that was computed from them: they single out nobody."
    single = uniques.single(uniques.size)
    every = counted(uniques.rows, "person" if unit == "people" else "row")
    many = "" if uniques.size == len(released.names) else f"at most {counted(uniques.size, 'attribute')} of "
    return (
        f"{single:,} of {every} ({single / uniques.rows:.2%}) {'is' if single == 1 else 'are'}"
        f" singled out by {many}{listed(released.names)}; at most {requirement.max_share:.2%} is allowed."
    )


# The released columns of each attribute that an adversary may know.


@dataclass(frozen=True, slots=True)
class ReleasedAttributes:
    """The attributes that a release tells something of, and for each the columns that do."""

    names: tuple[str, ...]
    carriers: tuple[tuple[str, ...], ...]

    @property
    def columns(self) -> tuple[str, ...]:
        """All of these columns, each once."""
        return tuple(dict.fromkeys(c for each in self.carriers for c in each))


def released_attributes(attributes: Sequence[str], candidate: DataView, ctx: AuditContext) -> ReleasedAttributes:
    """Return what the release reveals of attributes of the source; sensitive ones are not known to anybody.

    A column that was computed from a sensitive attribute as well counts as it is: rows that share its cell may be fewer
    than those that nobody could tell from a person, so that the figures are at least what they should be.
    """
    every = columns(attributes, sensitive_attributes(ctx), candidate, ctx)
    known = [(a, carriers(a, candidate, ctx)) for a in every.known]
    return ReleasedAttributes(tuple(a for a, c in known if c), tuple(c for _, c in known if c))


def named_or_known(attributes: Sequence[str] | None, candidate: DataView, ctx: AuditContext) -> ReleasedAttributes:
    """Return what the release reveals of these attributes, by either name, or of all quasi-identifiers.

    These are the source's, and columns of that role that are computed from none of them.
    """
    quasi = [n for n, facts in ctx.original_attributes.items() if facts.role is Role.QUASI_IDENTIFIER]
    released = candidate.schema.having(Role.QUASI_IDENTIFIER)
    wanted = (*quasi, *released) if attributes is None else attributes
    sources = dict.fromkeys(source_of(n, ctx) if n in candidate.schema else n for n in wanted)
    columns_by_attribute = [(a, carriers(a, candidate, ctx)) for a in sources]
    seen = {c for _, columns in columns_by_attribute for c in columns}
    columns_by_attribute += [(c, (c,)) for c in wanted if c in candidate.schema and c not in seen]
    return ReleasedAttributes(
        tuple(a for a, c in columns_by_attribute if c), tuple(c for _, c in columns_by_attribute if c)
    )


_NAMED = 20


def pictures(prefix: str, uniques: SpecialUniques, names: Sequence[str], unit: str) -> Iterator[Chart]:
    """Yield how many sets of each size single out, and the share of these sets that have each attribute.

    ``unit`` is what they single out: rows, or people.
    """
    if not uniques.size or not uniques.rows:
        return
    sizes = range(1, uniques.size + 1)
    yield Chart(
        id=f"{prefix}.by_size",
        title=f"{unit.capitalize()} that few attributes single out",
        kind="bars",
        x=tuple(str(s) for s in sizes),
        series=(FigureSeries(unit, tuple(uniques.single(s) for s in sizes)),),
        x_label="attributes known, at most",
        y_label=unit,
        note=f"Of {uniques.rows:,} released rows." if unit == "rows" else f"Of {uniques.rows:,} people.",
        group="special_uniques",
    )
    shares = sorted(zip(uniques.contributions().tolist(), names, strict=True), key=lambda each: (-each[0], each[1]))
    if not shares[0][0]:
        return
    shown = shares[:_NAMED]
    yield Chart(
        id=f"{prefix}.by_attribute",
        title=f"Attributes that single {unit} out",
        kind="bars",
        x=tuple(name for _, name in shown),
        series=(FigureSeries("share", tuple(share for share, _ in shown)),),
        y_label="share of the minimal sets that contain it",
        note="" if len(shown) == len(shares) else f"The first {_NAMED} of {len(shares)} attributes.",
        group="special_uniques",
    )


# Special uniques where people are counted: the rows of people by two routes.


_SETS = 100
"""So many sets in one query at most."""


def released_people(released: ReleasedAttributes, candidate: DataView, ctx: AuditContext) -> RowsOfPeople:
    """Return the released rows with their people. Raises UnmeasuredError where these cannot be counted."""
    named, others = _beside(released, candidate, ctx)
    rows = ReleasedRows(candidate, ctx)
    counts = rows.counts((*released.columns, *named, *others), _subject(ctx))
    codes = np.repeat(counts.codes, counts.counts, axis=0)
    width = len(released.columns)
    person = codes[:, -1].astype(np.int64) + SPECIALS
    linked = np.zeros(len(person), dtype=np.bool_)
    if named or others:
        cells = [codes[:, width + i] for i in range(len(named) + len(others))]
        linked = linked_rows(person, cells[: len(named)], cells[len(named) :]).rows
        _require_one_known(int(linked.sum()), int(np.bincount(person[linked]).max(initial=0)), ctx)
    return RowsOfPeople.of(codes[:, :width], person, linked)


def singled_out_people(
    sql: Sql, released: ReleasedAttributes, candidate: DataView, size: int, ctx: AuditContext
) -> tuple[list[int], int]:
    """Return how many people a set of at most 1, …, ``size`` attributes singles out, and how many there are, in SQL.

    Raises UnmeasuredError as the first route.
    """
    named, others = _beside(released, candidate, ctx)
    relation = ReleasedRows(candidate, ctx).relation((*released.columns, *named, *others), _subject(ctx))
    if relation is None:
        raise ValueError("rows must be readable by SQL, but they have no database relation")
    width, links = len(released.columns), len(named) + len(others)
    places = [f"c{width + i}" for i in range(links)]
    person = f"c{width + links}"
    if links:
        lines = linked_lines(
            sql, relation.text, relation.tables, person, places[: len(named)], places[len(named) :], "n"
        )
    else:
        lines = sql.table(f"SELECT *, FALSE AS linked FROM ({relation.text})", (), relation.tables)  # noqa: S608  # our own query
    each = f"SELECT SUM(n) AS m FROM lines WHERE linked GROUP BY {person}"  # noqa: S608  # as above
    linked, most = sql.rows(f"SELECT COALESCE(SUM(m), 0), COALESCE(MAX(m), 0) FROM ({each})", (), {"lines": lines})[0]  # noqa: S608  # as above
    _require_one_known(int(linked), int(most), ctx)
    people = int(sql.rows(f"SELECT COUNT(DISTINCT {person}) FROM lines", (), {"lines": lines})[0][0])  # noqa: S608  # as above
    singled_people: set[str] = set()
    many: list[int] = []
    for level in range(1, size + 1):
        sets = (_places(released, chosen) for chosen in combinations(released.carriers, level))
        while some := tuple(islice(sets, _SETS)):
            singled_people.update(_alone(sql, lines, some, person, ctx.nulls, linked=bool(linked)))
        many.append(len(singled_people))
    return many, people


def _beside(released: ReleasedAttributes, candidate: DataView, ctx: AuditContext) -> tuple[list[str], list[str]]:
    """Return the columns that may link rows: pseudonyms of the person, and others; none where no row can be.

    Raises UncountedPeopleError where nothing says whose the rows are.
    """
    if ctx.people is None:
        raise ValueError("the policy has no attribute with role `subject`, so people cannot be counted")
    require_people(ctx.people, ctx)
    revealing = RevealingColumns(released.columns, (), released.names)
    return beside(revealing, candidate, ctx.people, ctx) if may_link(revealing, candidate, ctx) else ([], [])


def _subject(ctx: AuditContext) -> tuple[str, ...]:
    return () if ctx.people is None else (ctx.people.subject,)


def _require_one_known(linked: int, most: int, ctx: AuditContext) -> None:
    """Raise UnmeasuredError where several linked rows of a person, who has ``most``, may be known."""
    require_linkable(linked, ctx.nulls, mixed=False)
    if ctx.people is not None:
        require_one_known(linked, most, ctx.people, "whom a few attributes of several rows single out")


def _places(released: ReleasedAttributes, chosen: Sequence[Sequence[str]]) -> tuple[int, ...]:
    place = {name: i for i, name in enumerate(released.columns)}
    return tuple(dict.fromkeys(place[c] for each in chosen for c in each))


def _alone(
    sql: Sql, lines: pa.Table, sets: Sequence[Sequence[int]], person: str, nulls: Nulls, *, linked: bool
) -> list[str]:
    """Return the people whom one of the sets singles out; linked rows are looked at among themselves as well."""
    rows = ["lines", *(["(SELECT * FROM lines WHERE linked)"] if linked else [])]
    each = [_query(source, places, person, nulls) for source in rows for places in sets]
    return [str(p) for (p,) in sql.rows(" UNION ".join(each), (), {"lines": lines})]


def _query(source: str, places: Sequence[int], person: str, nulls: Nulls) -> str:
    """Return a SELECT of the people who are alone in a class, or in a crowd where a missing value may be any."""
    keys = ", ".join(f"c{i}" for i in places)
    if nulls is not Nulls.WILDCARD:
        known = f"WHERE {' AND '.join(f'c{i} IS NOT NULL' for i in places)}" if nulls is Nulls.EXCLUDE else ""
        return f"(SELECT MIN({person}) FROM {source} {known} GROUP BY {keys} HAVING MIN({person}) = MAX({person}))"  # noqa: S608  # our own names
    renamed = ", ".join(f"c{i} AS c{j}" for j, i in enumerate(places))
    ends = f"MIN({person}) AS low, MAX({person}) AS high, ROW_NUMBER() OVER () AS id"
    some = f"(SELECT {renamed}, {ends} FROM {source} GROUP BY {keys})"  # noqa: S608  # the same
    pairs = crowds(some, some, len(places), "a.id, b.low, b.high")
    return f"(SELECT MIN(low) FROM ({pairs}) GROUP BY id HAVING MIN(low) = MAX(high))"  # noqa: S608  # the same


# The second route to special uniques: sets of attributes in SQL, one GROUP BY each.
#
# A row is unique by some set of at most s attributes just where it has a minimal sample unique of at most s. So no
# query looks for minimal sets: a row counts once, whichever sets single it out.


def singled_out(
    sql: Sql, released: ReleasedAttributes, candidate: DataView, size: int, nulls: Nulls
) -> tuple[list[int], int]:
    """Return how many rows a set of at most 1, …, ``size`` attributes singles out, and how many rows there are."""
    columns = released.columns
    every = relation_classes("candidate", columns, candidate.schema)
    grouped, tables = remembered(sql, every, lambda: len(candidate.counts(columns)))
    rows = int(sql.rows(f"SELECT COALESCE(SUM(n), 0) FROM ({grouped})", (), tables)[0][0])  # noqa: S608  # our own query
    singled_rows: set[int] = set()
    many: list[int] = []
    for level in range(1, size + 1):
        sets = _sets(released, columns, level)
        while some := tuple(islice(sets, _SETS)):
            singled_rows.update(
                int(row[0]) for row in sql.rows(_special_uniques_query(grouped, len(columns), some, nulls), (), tables)
            )
        many.append(len(singled_rows))
    return many, rows


def _sets(released: ReleasedAttributes, columns: Sequence[str], level: int) -> Iterator[tuple[int, ...]]:
    """Yield the places of the columns of each set."""
    place = {name: i for i, name in enumerate(columns)}
    for chosen in combinations(released.carriers, level):
        yield tuple(dict.fromkeys(place[c] for each in chosen for c in each))


def _special_uniques_query(grouped: str, width: int, sets: Sequence[Sequence[int]], nulls: Nulls) -> str:
    """Return a SELECT of the numbers of the combinations that some set singles out; equal ones in every query."""
    order = ", ".join(f"c{i} NULLS FIRST" for i in range(width)) or "n"
    alone = " UNION ".join(_alone_sql(places, nulls) for places in sets)
    return f"""
        WITH combos AS MATERIALIZED (SELECT *, ROW_NUMBER() OVER (ORDER BY {order}) AS id FROM ({grouped}))
        {alone}"""  # noqa: S608  # our own names


def _alone_sql(places: Sequence[int], nulls: Nulls) -> str:
    """Return a SELECT of the combinations that one set singles out: a class of weight 1 is one combination."""
    keys = ", ".join(f"c{i}" for i in places)
    if nulls is not Nulls.WILDCARD:
        known = f"WHERE {' AND '.join(f'c{i} IS NOT NULL' for i in places)}" if nulls is Nulls.EXCLUDE else ""
        return f"(SELECT ANY_VALUE(id) AS id FROM combos {known} GROUP BY {keys} HAVING SUM(n) = 1)"  # noqa: S608  # the same
    named = ", ".join(f"c{i} AS c{j}" for j, i in enumerate(places))
    some = f"(SELECT {named}, SUM(n) AS n, ANY_VALUE(id) AS id FROM combos GROUP BY {keys})"  # noqa: S608  # the same
    pairs = crowds(some, some, len(places), "a.id, b.n")
    return f"(SELECT id FROM ({pairs}) GROUP BY id HAVING SUM(n) = 1)"  # noqa: S608  # the same
