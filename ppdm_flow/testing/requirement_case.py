"""One kind of requirement with clauses, and tables to measure them on: what the kit looks at."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from ppdm_flow.core.attributes import AttributeFacts
from ppdm_flow.core.requirement import Requirement, within
from ppdm_flow.core.results import AuditOutcome, Measured
from ppdm_flow.core.roles import Nulls, Role
from ppdm_flow.policy.clause_place import ClausePlace
from ppdm_flow.policy.language.kinds import Entries, RequirementSpec
from ppdm_flow.policy.language.models import Policy
from ppdm_flow.policy.loaded import Places
from ppdm_flow.sdk.audit import AuditContext
from ppdm_flow.tables.column import Column
from ppdm_flow.tables.table import Table
from ppdm_flow.testing.strategies import cells, tables
from ppdm_flow.testing.view import InMemorySql, InMemoryView

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
WEIGHT = "how often"
"""The column of weights of the tables that have some."""
ROLES: Mapping[str, Role] = {"age": Role.QUASI_IDENTIFIER, "town": Role.QUASI_IDENTIFIER, "disease": Role.SENSITIVE}


@dataclass(frozen=True)
class BadEntry:
    """An entry that must be refused, with a message that names ``names``: a key, an attribute, a value."""

    entry: Entry
    names: str


@dataclass(frozen=True)
class TwoRouteOutcome:
    """What an audit says of one requirement by both routes; ``again`` are the figures of the second."""

    outcome: AuditOutcome
    again: Mapping[str, float | int | None]

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
        return ClausePlace(("privacy", self.spec.name, *named), self.name, self.policy(nulls), Places({}, {}))

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

    def judge(
        self, requirement: Requirement, original: Table, nulls: Nulls, weights: Column | None = None
    ) -> TwoRouteOutcome:
        """Measure a requirement by both routes; with ``weights`` each row of both tables stands for so many."""
        released = original if self.release is None else self.release(original)
        roles = dict(self.roles)
        if weights is not None:
            original, released = (t.replaced({WEIGHT: weights}) for t in (original, released))
            roles[WEIGHT] = Role.WEIGHT
        views = [InMemoryView.of(t, roles, 7) for t in (original, released)]
        facts = {n: AttributeFacts(n, role, source=n) for n, role in roles.items()}
        released_facts = {n: facts[n] for n in released.names}
        sql = InMemorySql({"original": original, "candidate": released})
        context = AuditContext("release", released_facts, facts, (requirement,), nulls, sql=sql)
        return TwoRouteOutcome(self.audit.measure(*views, context), self.audit.recheck(*views, context))

    def judge_once(self, requirement: Requirement, original: Table, nulls: Nulls) -> TwoRouteOutcome:
        """Return the outcome of one of `requirements` on one of `random_tables`, measured once for all checks."""
        key = id(requirement), id(original), nulls
        if key not in self._outcomes:
            self._outcomes[key] = self.judge(requirement, original, nulls)
        return self._outcomes[key]

    @cached_property
    def _outcomes(self) -> dict[tuple[int, int, Nulls], TwoRouteOutcome]:
        return {}
