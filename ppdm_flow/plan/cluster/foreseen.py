"""Estimates a whole run on a cluster before it starts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from ppdm_flow.core.asks import DataAccess
from ppdm_flow.core.diagnostics import Diagnostic
from ppdm_flow.core.errors import RunError
from ppdm_flow.core.plugin_info import Kind
from ppdm_flow.plan.cluster.amounts import MOST_VALUES, ROW_BYTES, ROWS_AT_ONCE, size, table_bytes
from ppdm_flow.plan.cluster.steps import (
    DISTRIBUTED,
    DRIVER,
    IN_PARTS,
    NOT,
    Work,
    WorkAmount,
    columns_of,
    demanded,
    held_after,
    is_generated,
    of_release,
    others,
    passes_of,
    step_work,
    write_work,
)
from ppdm_flow.plan.definition import AuditNode, LinkedTable, Plan, ReleaseNode
from ppdm_flow.plan.formats import inferred
from ppdm_flow.plan.together import links, read_together
from ppdm_flow.policy.language.kinds import is_over_releases

PER_ROWS = 1_000_000
"""Rows that amounts are for where nobody knows how many there are."""


@dataclass(frozen=True, slots=True)
class RowEstimate:
    """The number of rows of a source, None where it is unknown; ``about``: an estimate, ``how`` it was made.

    ``octets`` are the bytes of its files, 0 where they are not known; ``several`` says that there are several files,
    ``packed`` that they are compressed, so that none can be cut.
    """

    number: int | None = None
    about: bool = False
    how: str = ""
    octets: int = 0
    several: bool = False
    packed: bool = False

    @property
    def counted(self) -> int:
        """The number, or the one that amounts are for."""
        return PER_ROWS if self.number is None else self.number


UNKNOWN_ROWS = RowEstimate()


@dataclass(frozen=True, slots=True)
class WorkForecast:
    """All parts of a run. ``rows`` are those of the source or, by table, of linked ones; ``memory`` is in MB."""

    works: tuple[Work, ...]
    rows: Mapping[str, RowEstimate]
    memory: int

    @property
    def passes(self) -> int:
        """About how often all fragments are gone over."""
        return sum(work.amount.passes for work in self.works)

    @property
    def refused(self) -> tuple[Work, ...]:
        """What is larger than the driver may hold."""
        return tuple(work for work in self.works if work.where == NOT)

    @property
    def document(self) -> dict[str, Any]:
        """The JSON form."""
        return {
            "engine": "spark",
            "memory_mb": self.memory,
            "rows": {
                name: {"rows": rows.number, "about": rows.about, "how": rows.how, "amounts_are_for": rows.counted}
                for name, rows in self.rows.items()
            },
            "parts": [work.document for work in self.works],
            "passes": self.passes,
            "bytes_to_driver": sum(work.amount.to_driver for work in self.works),
            "bytes_shuffled": sum(work.amount.shuffled for work in self.works),
            "bytes_held": max((work.amount.driver_bytes for work in self.works), default=0),
            "refused": [work.title for work in self.refused],
        }

    def check(self) -> None:
        """Raise RunError where a part needs more than the driver may hold."""
        if self.refused:
            raise RunError([self._refusal(work) for work in self.refused])

    def _refusal(self, work: Work) -> Diagnostic:
        unknown = any(rows.number is None for rows in self.rows.values())
        scale = f" for each {PER_ROWS:,} rows" if unknown else ""
        return Diagnostic(
            "PPF953",
            f"{work.title} needs {size(work.amount.driver_bytes)}{scale} on the driver ({work.why}),"
            f" and the run may take {self.memory:,} MB",
            help="give it more with --memory, take what works row by row, or run it on one large machine",
        )


def foreseen(plan: Plan, rows: Mapping[str, RowEstimate], memory: int) -> WorkForecast:
    """Return what a run of a plan takes; ``rows`` by the names of the plan's roots."""
    limit = (memory << 20) // max(1, len(plan.tables))
    works = [work.within(limit) for work in _works(plan, rows)]
    return WorkForecast(tuple(works), {name: rows.get(name, UNKNOWN_ROWS) for name in plan.roots}, memory)


def _works(plan: Plan, rows: Mapping[str, RowEstimate]) -> Iterator[Work]:
    if not plan.tables:
        yield from _of_table(plan, rows.get(plan.roots[0], UNKNOWN_ROWS), "")
        return
    for table in plan.tables:
        yield from _of_table(table.plan, rows.get(table.name, UNKNOWN_ROWS), table.name)
        yield _keys(table, rows.get(table.name, UNKNOWN_ROWS).counted)
    for join in plan.joins:
        most = max(rows.get(name, UNKNOWN_ROWS).counted for name in join.tables)
        driver_bytes = table_bytes(most, len(join.plan.source.attributes) + len(join.plan.releases[0].attributes))
        amount = WorkAmount(len(join.tables), driver_bytes, 0, driver_bytes)
        why = "linked tables are joined, and audited there"
        yield Work("join", " + ".join(join.tables), "", DRIVER, why, amount, whole_table=True)


def _of_table(plan: Plan, rows: RowEstimate, name: str) -> Iterator[Work]:
    number = rows.counted
    yield _read(plan, rows, name)
    for node in plan.steps:
        yield step_work(plan, node, number)
    for release in plan.releases:
        yield write_work(plan, release, number)
    by_name = {release.name: release for release in plan.releases}
    for audit in plan.audits:
        yield audit_work(plan, audit, by_name[audit.release], number)
    yield from across(plan, number)
    yield from _quotations(plan, number)


def _quotations(plan: Plan, rows: int) -> Iterator[Work]:
    """Yield what the search for quoted values takes, of steps and of audits: values that are few were counted.

    Executors search the others, and answer with what they have found.
    """
    many = [a for a in plan.source.attributes if not a.type.is_numeric and a.domain is None]
    if rows > MOST_VALUES and many:
        why = "texts of columns with too many values to be counted"
        yield Work("check", "of quotations", "", DISTRIBUTED, why, WorkAmount(2))


def _read(plan: Plan, rows: RowEstimate, name: str) -> Work:
    """Return what reading and checking takes: records of CSV are found by the driver and counted by executors."""
    source = plan.source
    kind = source.format or (inferred("sources", source.path) if source.path else None) or ""
    number, width = rows.counted, len(source.attributes)
    octets = rows.octets or table_bytes(number, width)
    if source.server:
        driver_bytes = table_bytes(min(number, ROWS_AT_ONCE), width)
        amount = WorkAmount(1, table_bytes(number, width), 0, driver_bytes)
        return Work("read", name, kind, DRIVER, "a database is copied by the driver", amount)
    hashed = 0 if rows.several else octets
    values = table_bytes(min(number, MOST_VALUES), 1) * width
    if kind not in IN_PARTS:
        return Work("read", name, kind, DISTRIBUTED, "by one executor: it cannot be cut", _loaded(2, hashed, values))
    if kind == "csv" and rows.packed:
        return Work("read", name, kind, DISTRIBUTED, "a file by one executor: it is packed", _loaded(2, hashed, values))
    if kind == "csv":
        cut = "the driver finds where records end"
        return Work("read", name, kind, DISTRIBUTED, cut, _loaded(2 + rows.several, hashed + octets, values))
    return Work("read", name, kind, DISTRIBUTED, "by row groups", _loaded(1 + rows.several, hashed, values))


def _loaded(passes: int, octets: int, values: int) -> WorkAmount:
    """Return what a pass over the source takes in which the values of each column are counted."""
    return WorkAmount(passes, octets + values, 0, values, bound=True)


def _keys(table: LinkedTable, rows: int) -> Work:
    keys = 1 + (table.refers is not None and table.key is not None)
    driver_bytes = table_bytes(rows, keys)
    amount = WorkAmount(keys, driver_bytes, 0, driver_bytes)
    return Work("people", f"of {table.name}", "", DRIVER, "keys and references", amount, whole_table=True)


# Audits, and other comparisons of releases: where each runs, and what it takes.


_PASSES_TOGETHER = 2
"""Questions that an audit has for each other release, by both routes."""
_PASSES_OF_PEOPLE = 3
"""Questions that it has about whose the rows are."""
_HASH_BYTES = 64
"""Bytes of the hashes for the person and for the class of a row."""


def audit_work(plan: Plan, node: AuditNode, release: ReleaseNode, rows: int) -> Work:
    """Return what an audit of a release takes, by both routes."""
    demand, cases, columns = node.bound.info.asks, of_release(plan, release), columns_of(plan, node, release)
    asks, why = asked_of(plan, node, release)
    passes = passes_of(demand, columns)
    if "together" in demand.more and "together" in cases:
        passes += _PASSES_TOGETHER * others(plan, release)
    if "people" in demand.more and "people" in cases:
        passes += _PASSES_OF_PEOPLE
    title = f"{node.name} of {release.name}" if len(plan.releases) > 1 else node.name
    amount = demanded(asks, passes, columns, rows, node.bound.document)
    return Work("audit", title, node.bound.info.name, asks.where, why, amount, whole_table=asks is DataAccess.TABLE)


def asked_of(plan: Plan, node: AuditNode, release: ReleaseNode) -> tuple[DataAccess, str]:
    """Return what an audit of a release asks at the most, and that in words."""
    if _beside_the_driver(plan, release):
        return DataAccess.TABLE, "originals come to the rows that the driver holds"
    asks = node.bound.info.asks.of(of_release(plan, release), node.bound.document)
    return asks, asks.words


def _beside_the_driver(plan: Plan, release: ReleaseNode) -> bool:
    """Whether released rows that have originals are with the driver."""
    steps = plan.upstream(release.input)
    if any(node.bound.info.kind is Kind.GENERATOR or node.effect.rows == "generated" for node in steps):
        return False
    return held_after(plan, release.input)


def across(plan: Plan, rows: int) -> Iterator[Work]:
    """Yield the comparisons of several releases of one table, and the entries for a ledger."""
    own = [release for release in plan.releases if not is_generated(release)]
    joined = any(r.on_joined or r.of_all_files for node in plan.audits for r in node.requirements)
    linked = links(own) if joined and read_together(plan) else ()
    if linked:
        names = {node.name for link in linked for node in (link.one, link.other)}
        compared = {
            name: 2
            + sum(len(link.keyed) + len(link.shared) for link in linked if name in (link.one.name, link.other.name))
            for name in names
        }
        driver_bytes = sum(rows * ROW_BYTES * columns for columns in compared.values())
        why = "rows are compared, and those that fit are joined"
        amount = WorkAmount(len(names), driver_bytes, 0, driver_bytes)
        yield Work("join", " + ".join(sorted(names)), "", DRIVER, why, amount, whole_table=True)
    successive = is_over_releases(node.bound.info.name for node in plan.audits)
    if plan.ledger is not None or (successive and read_together(plan)):
        driver_bytes = rows * (_HASH_BYTES + ROW_BYTES) * len(own)
        amount = WorkAmount(len(own), sum(table_bytes(rows, len(r.attributes)) for r in own), 0, driver_bytes)
        yield Work("people", "of releases", "", DRIVER, "whose rows the releases have", amount, whole_table=True)


# What a run on a cluster takes, as text.


_HEAD = ("", "where", "passes", "to the driver", "shuffled", "driver holds", "")
_LEAST = 1 << 20
_RIGHT = (2, 3, 4, 5)


def text(foreseen: WorkForecast) -> str:
    """Return a line for each part of a run, below how many rows it is for, and the sums."""
    lines = [_HEAD, *(_cells(work) for work in foreseen.works), _sums(foreseen)]
    widths = [max(len(line[i]) for line in lines) for i in range(len(_HEAD))]
    table = ["  ".join(_set(cell, widths[i], i) for i, cell in enumerate(line)).rstrip() for line in lines]
    return "\n".join([*_head(foreseen), "", *table, "", *_notes(foreseen)]) + "\n"


def _set(cell: str, width: int, place: int) -> str:
    return cell.rjust(width) if place in _RIGHT else cell.ljust(width)


def _head(foreseen: WorkForecast) -> Iterator[str]:
    for name, rows in foreseen.rows.items():
        yield f"on Spark  {name}: {_rows(rows)}"
    yield f"          the driver may hold {foreseen.memory:,} MB (--memory)"


def _rows(rows: RowEstimate) -> str:
    if rows.number is None:
        return f"nobody knows how many rows; amounts are for each {PER_ROWS:,} rows (say --rows or --data)"
    return f"{'about ' if rows.about else ''}{rows.number:,} rows ({rows.how})"


def _cells(work: Work) -> tuple[str, ...]:
    amount = work.amount
    driver_size = (
        f"≤ {size(max(amount.driver_bytes, _LEAST))}"
        if amount.bound and amount.driver_bytes
        else size(amount.driver_bytes)
    )
    return (
        work.title,
        work.where,
        str(amount.passes),
        size(amount.to_driver),
        size(amount.shuffled),
        driver_size,
        work.why,
    )


def _sums(foreseen: WorkForecast) -> tuple[str, ...]:
    amounts = [work.amount for work in foreseen.works]
    most = max((amount.driver_bytes for amount in amounts if not amount.bound), default=0)
    return (
        "all of it",
        "",
        f"about {foreseen.passes}",
        size(sum(amount.to_driver for amount in amounts)),
        size(sum(amount.shuffled for amount in amounts)),
        f"most {size(most)}",
        "",
    )


def _notes(foreseen: WorkForecast) -> Iterator[str]:
    yield "A pass reads all fragments; passes of audits are estimates. Texts of values are held besides."
    if any(work.amount.bound for work in foreseen.works):
        yield "≤: distinct values or combinations, no more than rows; declared domains bound them closer."
