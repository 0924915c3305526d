"""The case that the kit checks: one plugin with parameters and data."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

from ppdm_flow.core.attributes import AttributeFacts
from ppdm_flow.core.people import PeopleCount
from ppdm_flow.core.requirement import Requirement
from ppdm_flow.core.roles import Nulls, Role
from ppdm_flow.sdk.anonymizer import Fitted, StepContext
from ppdm_flow.sdk.spec import Effect, Params, PluginSpec, Scope
from ppdm_flow.tables.frozen import frozen_table
from ppdm_flow.tables.schema import Field, Schema
from ppdm_flow.tables.table import Table
from ppdm_flow.testing.view import InMemoryView


@dataclass(frozen=True)
class BadInput:
    """Something that ``fit`` or the transform must refuse, with a PluginError that names ``column``."""

    column: str
    table: Table | None = None
    params: Mapping[str, Any] | None = None
    requirements: tuple[Requirement, ...] | None = None


@dataclass(frozen=True)
class TransformOutcome:
    """The result of one run of a transform. ``released`` is the output named ``""``."""

    case: Case
    fitted: Fitted
    outputs: Mapping[str, Table]

    @property
    def original(self) -> Table:
        """The table that went in."""
        return self.case.table

    @property
    def released(self) -> Table:
        """The table that came out."""
        return self.outputs[""]


Claim = Callable[[TransformOutcome], str | None]
"""A guarantee, measured anew by other means than the plugin's own: what is wrong, or None."""


@dataclass(frozen=True)
class Case:
    """``params`` are as a policy writes them. ``domains`` are the values that each released column may have.

    ``other_key`` are parameters that differ from ``params`` in the secret key alone, of a step that reads one.
    ``people``: whom the policy counts; None where it counts rows.
    """

    spec: PluginSpec
    params: Mapping[str, Any]
    table: Table
    roles: Mapping[str, Role] = field(default_factory=dict)
    requirements: tuple[Requirement, ...] = ()
    facts: Mapping[str, AttributeFacts] = field(default_factory=dict)
    context: StepContext | None = None
    nulls: Nulls = Nulls.OWN_CATEGORY
    domains: Mapping[str, frozenset[str]] = field(default_factory=dict)
    claims: tuple[Claim, ...] = ()
    bad: tuple[BadInput, ...] = ()
    other_key: Mapping[str, Any] | None = None
    people: PeopleCount | None = None

    @cached_property
    def bound(self) -> Params:
        """The validated parameters."""
        return self.spec.params.model_validate(dict(self.params))

    @cached_property
    def attributes(self) -> dict[str, AttributeFacts]:
        """What a plan would know of the columns."""
        return {name: self.facts.get(name) or AttributeFacts(name, self._role(name)) for name in self.table.names}

    @cached_property
    def view(self) -> InMemoryView:
        """The table as the plugin sees it."""
        fields = tuple(Field(f.name, f.role, f.type, f.domain) for f in self.attributes.values())
        return InMemoryView(self.table, Schema(fields))

    @cached_property
    def step(self) -> StepContext:
        """The context of the step."""
        if self.context is not None:
            return self.context
        return StepContext("step", self.attributes, self.requirements, self.nulls, people=self.people)

    @cached_property
    def effect(self) -> Effect:
        """What the plugin says beforehand that it will do."""
        scope = Scope(self.step.step, self.attributes, self.requirements, self.nulls, people=self.step.people)
        return self.spec.effect(self.bound, scope)

    def fit(self, *, lent: bool = False) -> Fitted:
        """Fit on the table; ``lent``: on memory that cannot be written to, as other distributions' plugins get it."""
        view = replace(self.view, whole=frozen_table(self.table)) if lent else self.view
        fitted: Fitted = self.spec.load()(self.bound).fit(view, self.step)
        return fitted

    def spoiled(self, bad: BadInput) -> Case:
        """Return the case with something wrong in it."""
        return replace(
            self,
            table=self.table if bad.table is None else bad.table,
            params=self.params if bad.params is None else bad.params,
            requirements=self.requirements if bad.requirements is None else bad.requirements,
        )

    def _role(self, name: str) -> Role:
        return self.roles.get(name, Role.INSENSITIVE)
