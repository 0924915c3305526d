from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from ppdm_flow.core.attributes import AttributeFacts, HierarchySpec
from ppdm_flow.core.draws import Draws, RunKey
from ppdm_flow.core.roles import AttributeType, Role
from ppdm_flow.sdk import registry
from ppdm_flow.sdk.anonymizer import StepContext
from ppdm_flow.sdk.spec import Scope
from ppdm_flow.tables.schema import Field, Schema
from ppdm_flow.tables.table import Table
from ppdm_flow.testing.view import InMemoryView

SPEC = registry.load("anonymizers", "krimp_generator")


class Bench:
    """A table, what is declared of it, and the generator on it."""

    def __init__(self, columns, roles=None, intervals=None, requirements=(), partition_rows=1 << 18):
        self.table = columns if isinstance(columns, Table) else Table.of(columns)
        self.facts = {n: self._facts(n, roles or {}, intervals or {}) for n in self.table.names}
        self.requirements = requirements
        schema = Schema(tuple(Field(f.name, f.role, f.type) for f in self.facts.values()))
        self.view = InMemoryView(self.table, schema, partition_rows)

    @staticmethod
    def _facts(name, roles, intervals):
        role = roles.get(name, Role.INSENSITIVE)
        if name not in intervals:
            return AttributeFacts(name, role)
        edges, kind = intervals[name]
        return AttributeFacts(name, role, AttributeType(kind), hierarchy=HierarchySpec(intervals=tuple(edges)))

    def effect(self, **params):
        known = {n: f for n, f in self.facts.items() if f.role is not Role.WEIGHT}
        return SPEC.effect(SPEC.params.model_validate(params), Scope("step", known, self.requirements))

    def fit(self, progress=None, home=Path(), **params):
        context = StepContext("step", self.facts, self.requirements, progress=progress, home=home)
        return SPEC.load()(SPEC.params.model_validate(params)).fit(self.view, context)

    def rows(self, rows=None, seed="seed", **params):
        """Return generated rows, and what fitting gave."""
        fitted = self.fit(**params)
        transform = fitted.transform
        draws = Draws(RunKey.from_seed(seed).step("step"), transform.draws_per_row)
        count = transform.row_count if rows is None else rows
        return transform.generate(np.arange(count, dtype=np.int64), draws), fitted


@pytest.fixture(scope="session")
def bench():
    return Bench
