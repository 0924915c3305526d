"""The case that the kit checks: one kind of requirement with clauses, and tables to measure them on."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from ppdm_flow.core.attributes import AttributeFacts, Change
from ppdm_flow.core.lineage import Lineage
from ppdm_flow.core.people import PeopleCount
from ppdm_flow.core.requirement import Requirement, within
from ppdm_flow.core.results import AuditOutcome, Measured
from ppdm_flow.core.roles import Nulls, Role
from ppdm_flow.policy.language.kinds import Entries, RequirementSpec
from ppdm_flow.policy.language.models import Policy
from ppdm_flow.policy.loaded import ClausePlace, ResolvedPlaces
from ppdm_flow.reader.run import RunReader
from ppdm_flow.sdk.audit import AuditContext, OtherRelease, sibling
from ppdm_flow.tables.column import SUPPRESSED_TEXT, Column
from ppdm_flow.tables.table import Table, concat
from ppdm_flow.testing.strategies import cells, tables
from ppdm_flow.testing.view import InMemoryPairs, InMemorySql, InMemoryView

Entry = Mapping[str, Any]
CLASSES = tables(
    {
        "age": cells(["1", "2"], missing=True, suppressed=True),
        "town": cells(["a", "b"], missing=True),
        "disease": cells(["1", "2", "10"], missing=True, suppressed=True),
    },
    max_rows=14,
)
"""Small tables with two quasi-identifiers and a sensitive attribute, whose cells may be missing or suppressed."""
_STACKED = 5
"""How many random tables become a larger one."""
ROLES: Mapping[str, Role] = {"age": Role.QUASI_IDENTIFIER, "town": Role.QUASI_IDENTIFIER, "disease": Role.SENSITIVE}


@dataclass(frozen=True)
class BadEntry:
    """An entry that must be refused, with a message that names ``names``: a key, an attribute, a value."""

    entry: Entry
    names: str


@dataclass(frozen=True)
class TwoRouteOutcome:
    """The result of an audit on one requirement by both routes; the second is computed when it is asked for."""

    outcome: AuditOutcome
    recheck: Callable[[], Mapping[str, float | int | None]]

    @cached_property
    def second_figures(self) -> Mapping[str, float | int | None]:
        """The figures of the second route."""
        return self.recheck()

    @property
    def measured(self) -> tuple[Measured, ...]:
        """The figures that it is judged by."""
        return self.outcome.measured

    @property
    def passes(self) -> bool:
        """Whether it holds, as the engine decides."""
        return bool(self.measured) and all(
            m.verifiable and m.figure.value is not None and within(m.figure.value, m.bound, at_most=m.at_most)
            for m in self.measured
        )


@dataclass(frozen=True)
class RequirementCase:
    """``clauses`` are entries as a policy writes them, some of them stricter than others.

    ``name`` is what an entry stands under (an attribute, or a name of its own), where the kind has such entries.
    ``originals`` are random tables, whose columns have ``roles``; ``release`` makes of one what is released (the same).
    ``attributes`` has more of what a policy declares (a type, a domain). ``bad`` are entries that must be refused.
    ``nulls`` are the null semantics to look at. ``examples`` is the number of random tables; by default it is that of
    the active profile of Hypothesis, which is 100 unless a test suite loads another one.
    """

    spec: RequirementSpec
    clauses: tuple[Entry, ...]
    name: str = ""
    originals: st.SearchStrategy[Table] = CLASSES
    roles: Mapping[str, Role] = field(default_factory=lambda: dict(ROLES))
    release: Callable[[Table], Table] | None = None
    attributes: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    bad: tuple[BadEntry, ...] = ()
    nulls: tuple[Nulls, ...] = tuple(Nulls)
    examples: int = field(default_factory=lambda: settings().max_examples)

    def policy(self, nulls: Nulls) -> Policy:
        """Return a policy that declares the columns, without requirements."""
        declared = {n: {"role": role.value, **self.attributes.get(n, {})} for n, role in self.roles.items()}
        tree = {
            "version": "1",
            "name": "case",
            "source": {"path": "original.csv"},
            "attributes": declared,
            "nulls": nulls.value,
            "releases": {"release": {"path": "release.csv"}},
        }
        return Policy.model_validate(tree)

    def place(self, nulls: Nulls) -> ClausePlace:
        """Return where an entry stands."""
        named = () if self.spec.entries is Entries.ONCE else (self.name,)
        return ClausePlace(("privacy", self.spec.name, *named), self.name, self.policy(nulls), ResolvedPlaces({}, {}))

    def entry(self, entry: Entry) -> Requirement:
        """Return an entry as a clause, bound to no policy. Raises ValidationError."""
        return self.spec.requirement.model_validate(dict(entry))

    def requirement(self, entry: Entry, nulls: Nulls) -> Requirement:
        """Return what an entry asks for."""
        return self.entry(entry).bound(self.place(nulls))

    @cached_property
    def audit(self) -> Any:
        """The audit that measures it."""
        return self.spec.audit.load()(self.spec.audit.params())

    @cached_property
    def requirements(self) -> dict[Nulls, tuple[Requirement, ...]]:
        """All requirements under each of the null semantics."""
        return {nulls: tuple(self.requirement(entry, nulls) for entry in self.clauses) for nulls in self.nulls}

    @cached_property
    def random_tables(self) -> tuple[tuple[Table, Nulls], ...]:
        """The random tables, each with null semantics; the same ones in each process."""
        drawn: list[tuple[Table, Nulls]] = []

        @settings(
            max_examples=self.examples,
            deadline=None,
            database=None,
            derandomize=True,
            phases=(Phase.generate,),
            suppress_health_check=list(HealthCheck),
        )
        @given(self.originals, st.sampled_from(self.nulls))
        def draw(original: Table, nulls: Nulls) -> None:
            drawn.append((original, nulls))

        draw()
        return tuple(drawn)

    @cached_property
    def larger_tables(self) -> tuple[tuple[Table, Nulls], ...]:
        """Some random tables at a time as one, so that few of its rows stand alone."""
        rest = {nulls: [t for t, n in self.random_tables if n is nulls] for nulls in self.nulls}
        larger = []
        for first in range(0, len(self.random_tables), _STACKED):
            for nulls, alike in rest.items():
                if len(some := alike[first : first + _STACKED]) == _STACKED:
                    rows = concat(some)
                    larger.append((Table(rows.columns, np.arange(len(rows))), nulls))
        return tuple(larger)

    def judge(
        self, requirement: Requirement, original: Table, nulls: Nulls, weights: Column | None = None
    ) -> TwoRouteOutcome:
        """Measure a requirement by both routes; with ``weights`` each row of both tables counts so many."""
        file = self.file(original)
        if weights is not None:
            of_rows = AttributeFacts(WEIGHT, Role.WEIGHT, source=WEIGHT)
            original = original.replaced({WEIGHT: weights})
            file = FileOfRun(file.table.replaced({WEIGHT: weights}), {**file.facts, WEIGHT: of_rows})
        return self.judge_file(requirement, original, file, nulls)

    def released(self, original: Table) -> Table:
        """Return what is released of a table."""
        return original if self.release is None else self.release(original)

    def file(self, original: Table) -> FileOfRun:
        """Return what is released of a table as a file."""
        table = self.released(original)
        return FileOfRun(table, {name: AttributeFacts(name, self.roles[name], source=name) for name in table.names})

    def judge_file(
        self, requirement: Requirement, original: Table, file: FileOfRun, nulls: Nulls, **more: Any
    ) -> TwoRouteOutcome:
        """Measure a requirement on a file by both routes; ``more`` is passed to the audit (:class:`AuditContext`)."""
        roles = {WEIGHT: Role.WEIGHT, SUBJECT: Role.SUBJECT, KEY: Role.INSENSITIVE, **self.roles}
        known = {name: AttributeFacts(name, roles[name], source=name) for name in original.names}
        views = InMemoryView.of(original, {n: f.role for n, f in known.items()}, PARTITION), file.view
        others = {sibling(name): view.table() for name, view in more.get("siblings", {}).items()}
        sql = InMemorySql({"original": original, "candidate": file.table, **others})
        context = AuditContext("release", file.facts, known, (requirement,), nulls, sql=sql)
        context = replace(context, **more)
        return TwoRouteOutcome(self.audit.measure(*views, context), lambda: self.audit.recheck(*views, context))

    def judge_people(
        self, requirement: Requirement, original: Table, nulls: Nulls, often: npt.NDArray[np.int64]
    ) -> TwoRouteOutcome | None:
        """Measure it where each row is there ``often`` (rows,), always as a row of one person.

        None where the release has other rows, so that nobody can say whose they are.
        """
        person = np.repeat(np.arange(len(original)), often)
        rows = Table(original.take(person).columns, np.arange(len(person)))
        file = self.file(rows)
        if len(file.table) != len(rows):
            return None
        owned = rows.replaced({SUBJECT: Column.of([f"person {n}" for n in person.tolist()])})
        people, pairs = PeopleCount(SUBJECT, known_rows=1), InMemoryPairs(owned, file.table)
        return self.judge_file(requirement, owned, file, nulls, people=people, pairs=pairs)

    def judge_beside(self, requirement: Requirement, run: RunOfTwo, at: int) -> TwoRouteOutcome:
        """Measure it on the file ``at`` of two that the same people may read."""
        read, beside = run.read[at], run.read[1 - at]
        return self.judge_file(
            requirement,
            run.original,
            run.files[at],
            run.nulls,
            release=read.name,
            pairs=read.pairs,
            others=(beside,),
            siblings={beside.name: beside.candidate},
            reader=run.reader,
        )

    def judge_once(self, requirement: Requirement, original: Table, nulls: Nulls) -> TwoRouteOutcome:
        """Return the outcome of one of `requirements` on one of `random_tables`, measured once for all checks."""
        key = id(requirement), id(original), nulls
        if key not in self._outcomes:
            self._outcomes[key] = self.judge(requirement, original, nulls)
        return self._outcomes[key]

    @cached_property
    def _outcomes(self) -> dict[tuple[int, int, Nulls], TwoRouteOutcome]:
        return {}


# Files that a run could release of a small table: with copies of a column, in two parts, with rows of people.


WEIGHT = "how often"
"""The column of weights of the tables that have some."""
SUBJECT = "whose row"
"""The column that says whose row it is, of tables of people."""
KEY = "number of the row"
"""The column by which the rows of two files can be put together."""
COPY = "copy"
"""The column with a copy of another one."""
PARTITION = 7
"""Rows of a partition: fewer than most tables have."""


@dataclass(frozen=True)
class FileOfRun:
    """A file of a run: its cells, and what is known of its columns."""

    table: Table
    facts: Mapping[str, AttributeFacts]

    @property
    def view(self) -> InMemoryView:
        """The file as audits read it."""
        return InMemoryView.of(self.table, {name: facts.role for name, facts in self.facts.items()}, PARTITION)

    def part(self, names: Sequence[str], key: Column) -> FileOfRun:
        """Return a file with these columns alone, and the number of each row."""
        facts = {n: self.facts[n] for n in names}
        known = AttributeFacts(KEY, Role.INSENSITIVE, source=KEY)
        return FileOfRun(self.table.select(names).replaced({KEY: key}), {**facts, KEY: known})


@dataclass(frozen=True)
class RunOfTwo:
    """Two files with the same rows, which anybody can put together by their numbers, and the original of both."""

    original: Table
    files: tuple[FileOfRun, FileOfRun]
    nulls: Nulls

    @classmethod
    def of(cls, file: FileOfRun, name: str, original: Table, nulls: Nulls) -> RunOfTwo:
        """Return a file with one column, and one with all others."""
        key = Column.of([str(n) for n in range(len(original))])
        rest = [other for other in file.table.names if other != name]
        return cls(original.replaced({KEY: key}), (file.part([name], key), file.part(rest, key)), nulls)

    @cached_property
    def read(self) -> tuple[OtherRelease, ...]:
        """The files as their readers see them."""
        none = np.zeros(0, dtype=np.int64)
        return tuple(
            OtherRelease(name, f.facts, f.view, InMemoryPairs(self.original, f.table), none, everyone=self._everyone)
            for name, f in zip(("one", "other"), self.files, strict=True)
        )

    @cached_property
    def reader(self) -> RunReader:
        """Somebody who has both files."""
        facts = (fact for file in self.files for fact in file.facts.values())
        known = frozenset(fact.source for fact in facts if fact.role is Role.QUASI_IDENTIFIER)
        return RunReader(self.read, None, self.nulls, quasi_identifiers=known)

    def _everyone(self, columns: Sequence[str]) -> Iterator[Table]:
        yield self.original.select(columns)


def copies(file: FileOfRun, name: str) -> Iterator[tuple[str, FileOfRun, FileOfRun]]:
    """Yield copies of a column: in words, as a file with the copy in the column's place, and as one with both.

    The column itself is suppressed beside its copy.
    """
    facts, plain = file.facts[name], file.table[name]
    hidden = file.table.replaced({name: Column.of([SUPPRESSED_TEXT] * len(file.table))})
    suppressed = {**file.facts, name: replace(facts, changes=(("hide", Change.SUPPRESSED),))}
    renamed = FileOfRun(hidden.replaced({COPY: plain}), {**suppressed, COPY: replace(facts, name=COPY)})
    yield f"it is suppressed, and released once more as `{COPY}`", file, renamed
    coarse, changes = retold(plain, width=1), (("cut", Change.GENERALIZED),)
    computed = AttributeFacts(COPY, Role.INSENSITIVE, changes=changes, derived=Lineage(frozenset((name,))))
    yield (
        f"it is suppressed, and released in coarser values as `{COPY}`",
        FileOfRun(file.table.replaced({name: coarse}), {**file.facts, name: replace(facts, changes=changes)}),
        FileOfRun(hidden.replaced({COPY: coarse}), {**suppressed, COPY: computed}),
    )


def retold(column: Column, missing: str | None = None, width: int | None = None) -> Column:
    """Return a column with ``missing`` for missing values, and no more than ``width`` letters of the others."""
    texts = column.texts()
    return Column.of([missing if text is None else text if text == SUPPRESSED_TEXT else text[:width] for text in texts])


def uneven(table: Table) -> npt.NDArray[np.int64]:
    """Return how often each row counts (rows,): once, twice, three times, and so on."""
    return np.arange(len(table)) % 3 + 1
