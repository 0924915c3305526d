"""The measured k of a release: the size of its smallest equivalence class.

A release is k-anonymous if every combination of quasi-identifier values occurs in at least k rows (Samarati 2001,
definition 2.2). Suppressed cells are a category of their own: that is what a reader of the file sees.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ppdm_flow.core.diagnostics import Diagnostic, Severity
from ppdm_flow.core.phrases import counted
from ppdm_flow.core.results import AuditOutcome, Chart, Figure, Finding, Measured
from ppdm_flow.core.roles import Nulls
from ppdm_flow.mining.classes.wording import FITTING, as_they_are, of_originals, unmeasured, unrepeated
from ppdm_flow.mining.exposure.columns import RevealingColumns, columns, made_of, sensitive_attributes
from ppdm_flow.mining.exposure.faults import UnmeasuredError
from ppdm_flow.mining.exposure.query import CombinationSizes, classes, crowds, crowds_sql
from ppdm_flow.mining.exposure.repeated import Repetitions, repeated
from ppdm_flow.mining.exposure.rows import CountedRows, ReleasedRows, SharedCounts
from ppdm_flow.mining.exposure.together import beside_all, beside_all_sql, findings_of_unaccounted
from ppdm_flow.mining.people.figures import require_people
from ppdm_flow.mining.people.known import KnownRows, may_link
from ppdm_flow.mining.people.known_query import KnownQuery, require_linkable_sql
from ppdm_flow.mining.people.known_rows_chart import crowds_by_known_rows, known_rows_chart
from ppdm_flow.mining.people.query import people_in_classes, people_in_classes_sql
from ppdm_flow.mining.people.wording import KNOWN, holding_all, knowing
from ppdm_flow.mining.recoding.models import KAnonymous, SensitiveColumns
from ppdm_flow.mining.releases.attributes import crowds as relation_crowds
from ppdm_flow.mining.releases.attributes import listed
from ppdm_flow.requirements.k_anonymity.requirement import KAnonymity
from ppdm_flow.sdk.audit import AuditContext, Sql
from ppdm_flow.sdk.view import DataView
from ppdm_flow.tables.column import MISSING

_PEOPLE = ("repeated", "rows_of_nobody")


class KAnonymityAudit:
    """Counts the combinations of the released quasi-identifiers; no quasi-identifier released is one class."""

    def __init__(self, params: Any) -> None:
        self.params = params

    def measure(self, original: DataView, candidate: DataView, ctx: AuditContext) -> AuditOutcome:
        """Return k, the number of classes and the rows in small ones, for each requirement."""
        del original
        figures: dict[str, Figure] = {}
        measured = []
        findings: list[Finding] = []
        charts: list[Chart] = []
        for requirement in _own(ctx):
            released_columns = columns(requirement.attributes, sensitive_attributes(ctx), candidate, ctx)
            try:
                if ctx.people is not None:
                    require_people(ctx.people, ctx)
                originals = repeated(released_columns.known, sensitive_attributes(ctx), (), candidate, ctx)
                classes_by_nulls = _classes(released_columns, originals, candidate, ctx)
                further, pictures = known_rows(requirement, released_columns, candidate, ctx)
            except UnmeasuredError as fault:
                figure = Figure(None, "rows", note=fault.text)
                name, bound = f"{requirement.id}.k", float(requirement.k)
                measured.append(Measured(requirement.id, name, figure, bound, False, fault.text, verifiable=False))
                findings.append(unmeasured(requirement.id, fault))
                continue
            own = _figures(requirement, classes_by_nulls, ctx) | _originals(requirement, released_columns, originals)
            figures |= own
            people = [int(own[f"{requirement.id}.{n}"].value or 0) for n in _PEOPLE if originals is not None]
            if people and not people[0] and candidate.row_count:
                measured.append(unrepeated(requirement.id))
                continue
            measured.append(
                Measured(
                    requirement=requirement.id,
                    metric=f"{requirement.id}.k",
                    figure=own[f"{requirement.id}.k"],
                    bound=float(requirement.k),
                    at_most=False,
                    sentence=sentence(requirement, released_columns, classes_by_nulls[ctx.nulls], ctx)
                    + of_originals(*people),
                )
            )
            charts.extend(pictures)
            beside = beside_all(requirement.id, "together_k", requirement.k, requirement.attributes, ctx)
            findings.extend(findings_of_unaccounted(beside))
            further += beside
            figures |= {m.metric: m.figure for m in further}
            measured.extend(further)
            findings.extend(left_out(requirement, classes_by_nulls[ctx.nulls]))
            findings.extend(
                as_they_are(requirement.id, requirement.attributes, sensitive_attributes(ctx), candidate, ctx)
            )
        return AuditOutcome(figures=figures, measured=tuple(measured), findings=tuple(findings), charts=tuple(charts))

    def recheck(self, original: DataView, candidate: DataView, ctx: AuditContext) -> Mapping[str, float | int | None]:
        """Count again, in SQL over the released file."""
        del original
        figures: dict[str, float | int | None] = {}
        if ctx.sql is None:
            return figures
        for requirement in _own(ctx):
            together = f"{requirement.id}.together_k"
            released_columns = columns(requirement.attributes, sensitive_attributes(ctx), candidate, ctx)
            if released_columns.mixed or ctx.people is not None:
                if own := _figures_sql(requirement, released_columns, candidate, ctx, ctx.sql):
                    figures |= own | beside_all_sql(together, requirement.attributes, ctx)
                continue
            try:
                originals = repeated(released_columns.known, sensitive_attributes(ctx), (), candidate, ctx)
            except UnmeasuredError:
                continue
            if originals is not None:
                figures[f"{requirement.id}.repeated"] = originals.original_rows_sql(released_columns.every)
            figures |= beside_all_sql(together, requirement.attributes, ctx)
            query = RowClassQuery(ctx.sql, originals or ReleasedRows(candidate, ctx), released_columns.every)
            for name, value in query.figures(requirement.k, ctx.nulls).items():
                figures[f"{requirement.id}.{name}"] = value
        return figures


def _own(ctx: AuditContext) -> list[KAnonymity]:
    return [r for r in ctx.requirements if isinstance(r, KAnonymity)]


def _classes(
    columns: RevealingColumns, originals: Repetitions | None, candidate: DataView, ctx: AuditContext
) -> dict[Nulls, CombinationSizes]:
    """Return the classes by each of the null semantics, or the crowds, which there are not for wildcards.

    Of generated rows these are the classes of the ``originals`` that they repeat.
    """
    if ctx.people is not None:
        every = ReleasedRows(candidate, ctx)
        measurable = [n for n in Nulls if not columns.mixed or n is not Nulls.WILDCARD or n is ctx.nulls]
        if not (candidate.counts(columns.every).codes == MISSING).any():
            judged = people_in_classes(columns, every, ctx.nulls, ctx.people)
            return dict.fromkeys(measurable, judged)
        return {nulls: people_in_classes(columns, every, nulls, ctx.people) for nulls in measurable}
    if originals is not None or not columns.mixed:
        counts = candidate.counts(columns.grouping) if originals is None else originals.counts(columns.every)
        return {nulls: classes(counts, nulls) for nulls in Nulls}
    rows = SharedCounts(ReleasedRows(candidate, ctx), columns.every, columns.known)
    by_nulls = {ctx.nulls: crowds(columns, rows, ctx.nulls)}
    return by_nulls | {nulls: crowds(columns, rows, nulls) for nulls in Nulls if nulls is not Nulls.WILDCARD}


def _originals(requirement: KAnonymity, columns: RevealingColumns, originals: Repetitions | None) -> dict[str, Figure]:
    """Return how many original rows generated ones repeat, and how many of these repeat none."""
    if originals is None:
        return {}
    rows = originals.counts(columns.every).total, originals.rows_repeating_no_original(columns.every)
    return {f"{requirement.id}.{name}": Figure(n, "rows") for name, n in zip(_PEOPLE, rows, strict=True)}


def _figures_sql(
    requirement: KAnonymity, columns: RevealingColumns, candidate: DataView, ctx: AuditContext, sql: Sql
) -> dict[str, float | int | None]:
    """Return the figures of crowds by the second route; none where there are none."""
    try:
        if ctx.people is not None:
            require_people(ctx.people, ctx)
            groups = people_in_classes_sql(columns, ReleasedRows(candidate, ctx), sql, ctx.nulls, ctx.people)
            require_linkable_sql(sql, columns, candidate, ctx)
            known = known_rows_sql(columns, candidate, ctx, sql)
        else:
            shared = SharedCounts(ReleasedRows(candidate, ctx), columns.every, columns.known)
            groups, known = crowds_sql(columns, shared, sql, ctx.nulls), {}
    except UnmeasuredError:
        return {}
    figures = {
        "k": groups.k,
        "classes": len(groups.sizes),
        "rows_below": groups.rows_below(requirement.k),
        "uniques": groups.uniques,
        **known,
    }
    return {f"{requirement.id}.{name}": value for name, value in figures.items()}


def _figures(
    requirement: KAnonymity, classes_by_nulls: Mapping[Nulls, CombinationSizes], ctx: AuditContext
) -> dict[str, Figure]:
    judged = classes_by_nulls[ctx.nulls]
    sizes = {"k": judged.k, **{f"k_{n}": c.k for n, c in classes_by_nulls.items()}}
    values = {
        "rows_below": judged.rows_below(requirement.k),
        "uniques": judged.uniques,
        "rows_left_out": judged.left_out,
    }
    unit = "rows" if ctx.people is None else "people"
    figures = {f"{requirement.id}.{name}": Figure(value, unit) for name, value in sizes.items()}
    figures |= {f"{requirement.id}.{name}": Figure(value, "rows") for name, value in values.items()}
    figures[f"{requirement.id}.classes"] = Figure(len(judged.sizes), "classes")
    return figures


def known_rows(
    requirement: KAnonymity, columns: RevealingColumns, candidate: DataView, ctx: AuditContext
) -> tuple[list[Measured], list[Chart]]:
    """Return the smallest crowd of linked people, with a picture; nothing where rows are counted, or none is linked.

    Raises UnmeasuredError where there are too many combinations.
    """
    if ctx.people is None or not may_link(columns, candidate, ctx):
        return [], []
    known = KnownRows.of(columns, None, candidate, ctx)
    crowds = known.smallest_crowd()
    if crowds.smallest is None:
        return [], []
    text = (
        f"{knowing(ctx.people)} finds at least {holding_all(crowds.smallest)}; {requirement.k:,} are"
        f" required.{known.linked_by}"
    )
    metric = f"{requirement.id}.{KNOWN}k"
    measured = Measured(requirement.id, metric, Figure(crowds.smallest, "people"), float(requirement.k), False, text)
    every = crowds_by_known_rows(known.class_profiles, {ctx.people.known_rows: crowds})
    name = f"{requirement.id}.known_rows"
    chart = known_rows_chart(every, requirement.k, name=name, group=requirement.kind)
    return [measured], [] if chart is None else [chart]


def known_rows_sql(columns: RevealingColumns, candidate: DataView, ctx: AuditContext, sql: Sql) -> dict[str, int]:
    """Return the figure by the second route; nothing where no row is linked."""
    if ctx.people is None:
        return {}
    smallest = KnownQuery.of_known(sql, columns, None, candidate, ctx).smallest_crowd()
    return {} if smallest is None else {f"{KNOWN}k": smallest}


# What a measured k means, in a sentence.


def sentence(
    requirement: KAnonymity, released_columns: RevealingColumns, classes: CombinationSizes, ctx: AuditContext
) -> str:
    """Return the sentence for the report."""
    total = int(classes.rows.sum())
    columns, nulls = released_columns.every, ctx.nulls
    if total == 0:
        return "There is no row to measure, so nothing can be said of it." + _left_out(classes)
    if not columns:
        return f"No quasi-identifier is released, so {counted(total, 'row')} look alike."
    size = counted(classes.k, "row" if ctx.people is None else "person")
    if classes.k >= requirement.k:
        knowing = f"A reader who knows a person's {listed(columns)}"
        text = f"{knowing} finds at least {size} that fit; {requirement.k:,} are required."
    else:
        text = (
            f"{classes.rows_below(requirement.k):,} of {total:,} rows share their {listed(columns)} with too few"
            f" others: the smallest group has {size} where {requirement.k:,} are required."
        )
    return text + made_of(columns, ctx) + (FITTING if nulls is Nulls.WILDCARD else "") + _left_out(classes)


def left_out(requirement: KAnonymity, classes: CombinationSizes) -> Iterator[Finding]:
    """Yield the finding for released rows that the null semantics leave out."""
    if classes.left_out:
        text = (
            f"{counted(classes.left_out, 'row')} with a missing quasi-identifier left out of all groups, and released:"
            " nothing says how many others look like them"
        )
        yield Finding("PPF822", Severity.WARNING, text, requirement.id)


def _left_out(classes: CombinationSizes) -> str:
    if not classes.left_out:
        return ""
    return (
        f" Left out, as the policy says: {counted(classes.left_out, 'row')} with a missing value, which nothing covers."
    )


PAIR_LIMIT = 400_000_000
"""Pairs of combinations and patterns up to which the wildcard figure is computed again where nobody asks for it."""
CHUNK_PAIRS = 1_000_000_000
"""Pairs of combinations and patterns of missing cells that one query looks up."""


class RowClassQuery:
    """The classes over ``columns`` of some rows."""

    def __init__(self, sql: Sql, rows: CountedRows, columns: Sequence[str]) -> None:
        self.sql = sql
        self.columns = tuple(columns)
        every, known = rows.relation(self.columns), rows.relation(self.columns, (), self.columns)
        if every is None or known is None:
            raise ValueError("rows must be readable by SQL, but they have no database relation")
        self.every, self.known, self.tables = every.text, known.text, every.tables

    def figures(self, k: int, nulls: Nulls) -> Mapping[str, int]:
        """Return the figures of the audit, those of the semantics ``nulls`` under their bare names."""
        figures_by_nulls = {Nulls.OWN_CATEGORY: self._plain(self.every, k), Nulls.EXCLUDE: self._plain(self.known, k)}
        pairs = self._pairs()
        if pairs == 0:  # nothing is missing, or the same everywhere
            figures_by_nulls[Nulls.WILDCARD] = figures_by_nulls[Nulls.OWN_CATEGORY]
        elif nulls is Nulls.WILDCARD or pairs <= PAIR_LIMIT:
            figures_by_nulls[Nulls.WILDCARD] = self._wildcard(k, max(1, -(-pairs // CHUNK_PAIRS)))
        return {f"k_{n}": f["k"] for n, f in figures_by_nulls.items()} | figures_by_nulls[nulls]

    def _plain(self, grouped: str, k: int) -> dict[str, int]:
        query = f"""
            SELECT COALESCE(MIN(n), 0), COUNT(*), COALESCE(SUM(n) FILTER (n < {k}), 0),
                   COALESCE(SUM(n) FILTER (n = 1), 0)
            FROM ({grouped})"""  # noqa: S608  # identifiers are quoted, k is an int
        return _named(self.sql.rows(query, (), self.tables)[0])

    def _pairs(self) -> int:
        """Return how many combinations, each with every pattern of missing cells, are looked up; 0 for one pattern."""
        pattern = f"[{', '.join(f'c{i} IS NULL' for i in range(len(self.columns)))}]"
        query = f"""
            WITH patterns AS (SELECT COUNT(*) AS n FROM ({self.every}) GROUP BY {pattern})
            SELECT COALESCE(SUM(n), 0) * COUNT(*) FROM patterns HAVING COUNT(*) > 1"""  # noqa: S608  # our own query
        rows = self.sql.rows(query, (), self.tables) if self.columns else []
        return int(rows[0][0]) if rows else 0

    def _wildcard(self, k: int, rounds: int) -> dict[str, int]:
        """Join the combinations with themselves, in as many rounds."""
        parts = [self._chunk(k, rounds, i) for i in range(rounds)]
        present = [p for p in parts if p["classes"]]
        totals = {name: sum(p[name] for p in parts) for name in ("classes", "rows_below", "uniques")}
        return {"k": min((p["k"] for p in present), default=0)} | totals

    def _chunk(self, k: int, rounds: int, number: int) -> dict[str, int]:
        width = len(self.columns)
        share = f"hash({', '.join(f'c{i}' for i in range(width))}) % {rounds}"
        query = f"""
            WITH combos AS MATERIALIZED (SELECT *, {share} AS share, ROW_NUMBER() OVER () AS id FROM ({self.every})),
            mine AS (SELECT * FROM combos WHERE share = {number}),
            pairs AS ({relation_crowds("mine", "combos", width, "a.id, a.n, b.n AS size")}),
            summed AS (SELECT id, ANY_VALUE(n) AS n, SUM(size) AS size FROM pairs GROUP BY id)
            SELECT COALESCE(MIN(size), 0), COUNT(*), COALESCE(SUM(n) FILTER (size < {k}), 0),
                   COALESCE(SUM(n) FILTER (size = 1), 0)
            FROM summed"""  # noqa: S608  # identifiers are quoted, the numbers are ints
        return _named(self.sql.rows(query, (), self.tables)[0])


def _named(row: Sequence[int]) -> dict[str, int]:
    return dict(zip(("k", "classes", "rows_below", "uniques"), map(int, row), strict=True))


def models(requirement: KAnonymity, _columns: SensitiveColumns) -> list[KAnonymous]:
    """Return what a class must keep."""
    return [KAnonymous(requirement.k)]


def foresee(requirement: KAnonymity, _view: DataView, people: int) -> Iterator[Diagnostic]:
    """Yield why it cannot hold."""
    if people < requirement.k:
        text = f"k = {requirement.k} cannot hold: there are {people} rows in all"
        yield Diagnostic("PPF784", text, requirement.span)
