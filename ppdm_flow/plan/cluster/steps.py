"""Estimates of steps and releases: where each runs, and what it takes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ppdm_flow.core.asks import DataAccess
from ppdm_flow.core.attributes import AttributeFacts, Change
from ppdm_flow.core.plugin_info import Kind
from ppdm_flow.core.roles import Role
from ppdm_flow.plan.cluster.amounts import CELL_BYTES, KEY_BYTES, ROW_BYTES, ROWS_AT_ONCE, combinations, table_bytes
from ppdm_flow.plan.definition import AuditNode, Plan, ReleaseNode, StepNode
from ppdm_flow.plan.together import read_together

IN_PARTS = frozenset({"csv", "parquet"})
"""Formats whose files can be read and written as parts of one table."""
SAMPLE_ROWS = 100_000
"""Rows of a sample where no parameter says how many."""
_OF_SAMPLES = ("sample", "sample_rows", "limit")
_TWICE_READ = frozenset({"csv"})
"""Formats that do not say how many records there are: these are counted before they are numbered."""


def step_work(plan: Plan, node: StepNode, rows: int) -> Work:
    """Return what a step takes; its rows are transformed where they are, unless it takes them all."""
    columns = plan.arriving(node)
    info = node.bound.info
    if info.kind is Kind.GENERATOR:
        return _generator(plan, node, columns, rows)
    if any(held_after(plan, reference) for reference in node.inputs):
        why = "its rows are with the driver"
        return Work("step", node.name, info.name, DRIVER, why, WorkAmount())
    if takes_all(node):
        table_size = table_bytes(rows, len(columns))
        amount = WorkAmount(max(1, passes_of(node.bound.info.asks, columns)), table_size, 0, table_size)
        return Work("step", node.name, info.name, DRIVER, "takes the whole table", amount, whole_table=True)
    asks = info.asks.of(of_columns(plan, columns), node.bound.document)
    read = tuple(a for a in columns if a.name in node.effect.reads) or columns
    passes = passes_of(info.asks, read)
    if not passes:
        return Work("step", node.name, info.name, DISTRIBUTED, "row by row", WorkAmount())
    amount = demanded(asks, passes, read, rows, node.bound.document)
    why = f"fitted by {asks.words}"
    return Work("step", node.name, info.name, asks.where, why, amount, whole_table=asks is DataAccess.TABLE)


def _generator(plan: Plan, node: StepNode, columns: Sequence[AttributeFacts], rows: int) -> Work:
    """Return the work of a generator: it learns from its data, and makes rows on the driver, a few at a time."""
    asks = node.bound.info.asks.of(of_columns(plan, columns), node.bound.document)
    read = tuple(a for a in columns if a.name in node.effect.reads) or tuple(columns)
    amount = demanded(asks, passes_of(node.bound.info.asks, read), read, rows, node.bound.document)
    why = f"fitted by {asks.words}; makes rows"
    return Work("step", node.name, node.bound.info.name, DRIVER, why, amount, whole_table=asks is DataAccess.TABLE)


def passes_of(demand: Any, columns: Sequence[AttributeFacts]) -> int:
    """Return about how often a plugin goes over the rows."""
    passes: int = demand.passes + demand.passes_each * sum(a.is_numeric for a in columns)
    return passes


def demanded(
    asks: DataAccess, passes: int, columns: Sequence[AttributeFacts], rows: int, parameters: Mapping[str, Any]
) -> WorkAmount:
    """Return the work for a plugin's access to these columns."""
    width = len(columns)
    if asks is DataAccess.TABLE:
        table_size = table_bytes(rows, width)
        return WorkAmount(passes, passes * table_size, 0, table_size)
    if asks is DataAccess.ROWS:
        return WorkAmount(passes, passes * table_bytes(rows, width), 0, table_bytes(min(rows, ROWS_AT_ONCE), width))
    if asks is DataAccess.FRAGMENTS:
        some = table_bytes(min(rows, _sample_rows(parameters)), width)
        return WorkAmount(passes, passes * some, 0, some)
    number, known = combinations(columns, rows)
    driver_bytes = table_bytes(number, width)
    return WorkAmount(passes, driver_bytes, 0, driver_bytes, bound=not known)


def _sample_rows(parameters: Mapping[str, Any]) -> int:
    given = (parameters.get(name) for name in _OF_SAMPLES)
    return next((number for number in given if isinstance(number, int) and number > 0), SAMPLE_ROWS)


def write_work(plan: Plan, release: ReleaseNode, rows: int) -> Work:
    """Return what writing a release takes, with reading it again and the hash of its files."""
    rereads = 2 if release.format in _TWICE_READ else 1
    table_size = table_bytes(rows, len(release.attributes))
    if held_after(plan, release.input) or release.collapse or release.format not in IN_PARTS:
        ordered = _is_ordered(plan, release)
        driver_bytes = table_size if ordered else table_bytes(min(rows, ROWS_AT_ONCE), len(release.attributes))
        why = "one file; sorted on its disk" if ordered else "one file"
        on_the_way = 0 if held_after(plan, release.input) else table_size
        amount = WorkAmount(rereads, on_the_way, 0, min(driver_bytes, table_size))
        return Work("write", release.name, release.format, DRIVER, why, amount)
    shuffled = 0
    if _is_ordered(plan, release):
        shuffled = rows * (len(release.attributes) * CELL_BYTES + ROW_BYTES + KEY_BYTES)
    passes = 2 + bool(release.partition_by) + rereads
    why = "part files, in order" if shuffled else "part files"
    return Work("write", release.name, release.format, DISTRIBUTED, why, WorkAmount(passes, 0, shuffled))


def _is_ordered(plan: Plan, release: ReleaseNode) -> bool:
    return any(node.bound.info.kind is Kind.ORDER for node in plan.upstream(release.input))


DISTRIBUTED, DRIVER, NOT = "distributed", "driver", "not"


@dataclass(frozen=True, slots=True)
class WorkAmount:
    """The work of a part: ``passes`` over all fragments of a table, and bytes.

    ``to_driver`` and ``shuffled`` go over the network, ``driver_bytes`` is what the driver holds at the most. ``bound``
    says that only the number of rows bounds what is held, and not what is known of the values.
    """

    passes: int = 0
    to_driver: int = 0
    shuffled: int = 0
    driver_bytes: int = 0
    bound: bool = False

    @property
    def document(self) -> dict[str, Any]:
        """The JSON form."""
        return {
            "passes": self.passes,
            "bytes_to_driver": self.to_driver,
            "bytes_shuffled": self.shuffled,
            "bytes_held": self.driver_bytes,
            "held_is_bounded_by_rows": self.bound,
        }


@dataclass(frozen=True, slots=True)
class Work:
    """``what`` is ``read``, ``step``, ``write``, ``audit``, ``join``, ``people`` or ``check``.

    ``why`` is said beside ``where``. ``whole_table``: a table has to be held as a whole, so that it is refused where it
    is too large.
    """

    what: str
    name: str
    use: str
    where: str
    why: str
    amount: WorkAmount
    whole_table: bool = False

    def within(self, limit: int) -> Work:
        """Return it as a run with ``limit`` bytes on the driver carries it out: not, where a whole table is larger."""
        if not self.whole_table or self.amount.driver_bytes <= limit:
            return self
        return Work(self.what, self.name, self.use, NOT, self.why, self.amount, self.whole_table)

    @property
    def title(self) -> str:
        """What it is, and its name."""
        return f"{self.what} {self.name}".rstrip()

    @property
    def document(self) -> dict[str, Any]:
        """The JSON form."""
        return {
            "what": self.what,
            "name": self.name,
            "use": self.use,
            "where": self.where,
            "why": self.why,
            **self.amount.document,
        }


# In which of the cases of a plugin's card a step or an audit of a plan is, and which columns it reads.


def of_columns(plan: Plan, columns: Iterable[AttributeFacts]) -> frozenset[str]:
    """Return the cases that the columns are in, and whether people are counted."""
    return frozenset(_of_columns(plan, tuple(columns)))


def _of_columns(plan: Plan, columns: tuple[AttributeFacts, ...]) -> Iterator[str]:
    if plan.people is not None or any(a.role is Role.SUBJECT for a in plan.source.attributes):
        yield "people"
    if any(a.is_numeric for a in columns):
        yield "numbers"
    if any(a.role is Role.ITEMS for a in columns):
        yield "sets"
    if any(a.role is Role.WEIGHT for a in columns):
        yield "weights"


def of_release(plan: Plan, release: ReleaseNode) -> frozenset[str]:
    """Return the cases that audits of a release are in."""
    cases = of_columns(plan, (*plan.source.attributes, *release.attributes))
    hides = any(a.lineage.hidden_by or a.lineage.moved_by for a in release.attributes)
    return cases | {"together"} if hides or others(plan, release) else cases


def others(plan: Plan, release: ReleaseNode) -> int:
    """Return how many other releases may be read with it, of those whose rows are people's."""
    if not read_together(plan) or is_generated(release):
        return 0
    return sum(not is_generated(other) for other in plan.releases if other.name != release.name)


def is_generated(release: ReleaseNode) -> bool:
    """Whether the rows of a release are nobody's."""
    return bool(release.attributes) and all(a.was(Change.GENERATED) for a in release.attributes)


def held_after(plan: Plan, reference: str) -> bool:
    """Whether the driver holds, or makes, the rows at a place: a step on the way took them all."""
    return any(takes_all(node) for node in plan.upstream(reference))


def takes_all(node: StepNode) -> bool:
    """Whether a step takes the whole table, or makes rows."""
    info = node.bound.info
    return info.kind in (Kind.TABLE, Kind.GENERATOR) or info.asks.takes_the_table(node.bound.document)


def columns_of(plan: Plan, node: AuditNode, release: ReleaseNode) -> tuple[AttributeFacts, ...]:
    """Return the columns of a release that an audit reads at the most: of requirements those that they are about."""
    if not node.requirements:
        return release.attributes
    named: set[str] = set()
    for requirement in node.requirements:
        named |= {*requirement.grouping, *requirement.secrets, *requirement.numbers}
    subject = () if plan.people is None else (plan.people.subject,)
    own = tuple(a for a in release.attributes if a.lineage.computed_from & {*named, *subject} or a.name in named)
    return own or release.attributes
