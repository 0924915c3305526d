"""The heavy half of an audit: figures from (original, candidate, context), by two independent routes."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt

from ppdm_flow.core.attributes import AttributeFacts
from ppdm_flow.core.people import PeopleCount
from ppdm_flow.core.requirement import Requirement
from ppdm_flow.core.results import AuditOutcome
from ppdm_flow.core.roles import Nulls
from ppdm_flow.sdk.anonymizer import ValueOperator
from ppdm_flow.sdk.history import ReleaseHistory
from ppdm_flow.sdk.holdout import Holdout
from ppdm_flow.sdk.set_operator import SetOperator
from ppdm_flow.sdk.view import DataView, Generation, PairedView
from ppdm_flow.tables.table import Table


class Sql(Protocol):
    """DuckDB over the released file itself: the audits' second route.

    The relation ``candidate`` has every released column as VARCHAR: NULL is a missing value, ``⊥`` a suppressed
    cell. ``original`` has the source's declared columns in the same form, collapsed or not, with ``weight`` semantics
    unchanged. Sets are VARCHAR[], randomized ones STRUCT(bits BLOB, size INTEGER) or STRUCT(seed BLOB, size INTEGER).
    The other releases of the run are there as relations named by :func:`sibling`.
    Quote identifiers with :func:`quoted`.
    """

    def rows(self, query: str, parameters: Sequence[Any] = (), tables: Mapping[str, Any] = {}) -> list[tuple[Any, ...]]:
        """Return the result of one SELECT; ``tables`` are relations for this query alone.

        They are Arrow tables, or a :class:`~ppdm_flow.sdk.paired_relation.PairedRelation`.
        """
        ...

    def table(self, query: str, parameters: Sequence[Any] = (), tables: Mapping[str, Any] = {}) -> Any:
        """Return the same as an Arrow table, for a further query: cells are not made Python's."""
        ...

    def database(self) -> Any:
        """Return a database of DuckDB without these relations, for many queries of which each makes a table."""
        ...


@runtime_checkable
class GroupedSql(Sql, Protocol):
    """A database that remembers groups of the released file, for all audits of the release."""

    def groups(self, query: str) -> Any:
        """Return the result of a SELECT over ``candidate`` alone as an Arrow table, which is made at most once."""
        ...


def quoted(identifier: str) -> str:
    """An identifier for SQL."""
    return '"' + identifier.replace('"', '""') + '"'


def sibling(release: str) -> str:
    """The relation of another release of the same run, for SQL; an identifier to be quoted."""
    return f"release {release}"


@dataclass(frozen=True, slots=True)
class SeededStep:
    """A step on the way to a release: its name, its plugin, and what it does to the rows (``Effect.rows``)."""

    name: str
    use: str
    rows: str


@dataclass(frozen=True, slots=True)
class PublicSeed:
    """The seed of a policy in reproducible mode, which its readers know, and the steps, first to last."""

    seed: str
    steps: tuple[SeededStep, ...]


@dataclass(frozen=True, slots=True)
class OtherRelease:
    """Another release of the run, which a reader of this one may have as well.

    ``attributes`` are its columns, ``pairs`` its rows beside their originals. ``left_out_at_random`` are the numbers
    (rows,) of source rows, ascending, that a random step left out regardless of their cells; which others are missing
    goes by the attributes ``decided_by``. Files with the same ``ordered_by`` have their rows in one order,
    ``in_source_order`` in that of the source. ``table`` is the linked table whose rows they are. ``everyone`` yields
    columns of all rows of the source, with their numbers, those that were left out too.
    """

    name: str
    attributes: Mapping[str, AttributeFacts]
    candidate: DataView
    pairs: PairedView
    left_out_at_random: npt.NDArray[np.int64]
    decided_by: frozenset[str] = frozenset()
    ordered_by: str = ""
    in_source_order: bool = False
    table: str = ""
    everyone: Callable[[Sequence[str]], Iterator[Table]] | None = None


class FilesReader(Protocol):
    """Somebody who holds all files of a run."""

    def together(self, grouping: Sequence[str], sensitive: str = "") -> Any:
        """Return what all files reveal of ``sensitive``, given ``grouping``; None where each reveals as much."""
        ...

    def together_sql(self, sql: Sql, grouping: Sequence[str], sensitive: str = "") -> Any:
        """Return the same by the second route."""
        ...

    def singled_out(self, attributes: Sequence[str], size: int) -> Any:
        """Return the people whom ``size`` of these attributes single out; None where files tell no more than each."""
        ...

    def singled_out_sql(self, sql: Sql, attributes: Sequence[str], size: int) -> Any:
        """Return the shares of them by the second route."""
        ...


@dataclass(frozen=True, slots=True)
class AuditContext:
    """The context of an audit beside the two views.

    ``attributes`` are those of the release, ``original_attributes`` those of the source. ``requirements`` are the
    ones that this audit has to measure (none for a utility audit). ``operators`` are the known channels by released
    attribute, ``pairs`` is None where original and released rows cannot be matched. ``show_values`` is the policy's
    ``report: {values: show}``; ``declared`` the values that the policy itself wrote, by attribute. ``home`` is the
    folder of the policy, for files that an audit's parameters name. ``seeded`` is given where the policy holds a
    seed. ``set_operators`` are the known channels by released attribute with sets, ``operator_pairs`` what went into
    them beside what was released, where rows can be matched. ``holdout`` are the original rows that no generator on
    the way to the release learned from, where there are such. ``generation`` is what the last of them read and made.
    ``siblings`` are the other releases of the run, by name, as read back from their files; none where a file is judged
    alone. ``others`` are those of them that the same people may read, and whose rows are those of people; ``reader`` is
    who holds all of these.
    ``history`` are the people of this and of earlier releases, where the policy has a ledger and it is used; ``ledger``
    says that the policy has one which knows people. ``people`` says whose rows the rows are where people are counted,
    and not rows; the subject is then an attribute of the source that ``pairs`` can tell, or ``pseudonyms``: those are
    the rows of a file beside what it has itself in place of the subject, where nothing else of the source is known.
    """

    release: str
    attributes: Mapping[str, AttributeFacts]
    original_attributes: Mapping[str, AttributeFacts]
    requirements: tuple[Requirement, ...] = ()
    nulls: Nulls = Nulls.OWN_CATEGORY
    operators: Mapping[str, ValueOperator] = field(default_factory=dict)
    operator_inputs: Mapping[str, DataView] = field(default_factory=dict)
    pairs: PairedView | None = None
    sql: Sql | None = None
    declared: Mapping[str, frozenset[str]] = field(default_factory=dict)
    show_values: bool = False
    progress: Callable[[int], None] | None = None
    home: Path = field(default_factory=Path)
    seeded: PublicSeed | None = None
    holdout: Holdout | None = None
    generation: Generation | None = None
    set_operators: Mapping[str, SetOperator] = field(default_factory=dict)
    operator_pairs: Mapping[str, PairedView] = field(default_factory=dict)
    siblings: Mapping[str, DataView] = field(default_factory=dict)
    history: ReleaseHistory | None = None
    ledger: bool = False
    others: tuple[OtherRelease, ...] = ()
    reader: FilesReader | None = None
    people: PeopleCount | None = None
    pseudonyms: PairedView | None = None

    @property
    def owners(self) -> PairedView | None:
        """The released rows beside their subjects; None where nothing says whose they are."""
        return self.pairs if self.pairs is not None else self.pseudonyms

    def label(self, attribute: str, value: str | None, number: int) -> str:
        """Return how a value may be shown: itself where the policy declares it or allows it, else a number."""
        if value is None:
            return "missing"
        if self.show_values or value in self.declared.get(attribute, frozenset()):
            return value
        return f"value {number}"


@runtime_checkable
class Audit(Protocol):
    """An algorithm that measures, made from its parameters."""

    def __init__(self, params: Any) -> None: ...

    def measure(self, original: DataView, candidate: DataView, ctx: AuditContext) -> AuditOutcome:
        """Measure. Figures that are estimates carry their interval and sample size."""
        ...


@runtime_checkable
class RecheckedAudit(Protocol):
    """An audit with a second, independent route: every audit that measures a requirement must have one."""

    def recheck(self, original: DataView, candidate: DataView, ctx: AuditContext) -> Mapping[str, float | int | None]:
        """Return figures by the same keys as ``measure`` (a subset); the engine compares them within 1e-9 relative."""
        ...
