"""The generator passes through the kit that third parties use."""

from __future__ import annotations

import numpy as np
import pandas as pd

from ppdm_flow.core.attributes import AttributeFacts, HierarchySpec
from ppdm_flow.core.roles import AttributeType, Role
from ppdm_flow.core.supports import SupportBound
from ppdm_flow.requirements.blend.requirement import Blend
from ppdm_flow.sdk import registry
from ppdm_flow.tables.table import Table
from ppdm_flow.testing.case import BadInput, Case
from ppdm_flow.testing.conformance import AnonymizerConformance

AGE = AttributeFacts(
    "age", Role.QUASI_IDENTIFIER, AttributeType.INTEGER, hierarchy=HierarchySpec(intervals=(0.0, 30.0, 60.0, 100.0))
)


def people(rows=600, **columns):
    """Every text is a canary for the account."""
    rng = np.random.default_rng(2)
    job = rng.integers(0, 4, rows)
    ill = np.where(rng.random(rows) < 0.6, job, rng.integers(0, 4, rows))
    return Table.of(
        {
            "name": [f"name-{i}-canary" for i in range(rows)],
            "job": [None if j == 3 else f"job-{j}-canary" for j in job],
            "ill": [f"ill-{i}-canary" for i in ill],
            "age": [str(a) for a in rng.integers(18, 90, rows)],
            **columns,
        }
    )


def spec():
    return registry.load("anonymizers", "krimp_generator")


def nothing_rare(limit):
    def claim(outcome):
        names = list(outcome.released.names)
        frames = [
            pd.DataFrame({n: t[n].texts() for n in names}, dtype=object).fillna("\0")
            for t in (outcome.original, outcome.released)
        ]
        support = frames[0].groupby(names).size()
        released = pd.MultiIndex.from_frame(frames[1].drop_duplicates())
        found = support.reindex(released).dropna()
        return None if (found >= limit).all() else f"{(found < limit).sum()} rare rows are released"

    return claim


def frequent(table, names):
    return {n: frozenset(table[n].categories.to_pylist()) for n in names}


class TestGenerator(AnonymizerConformance):
    def case(self):
        table = people()
        bad = (
            BadInput("jbo", params={"attributes": ["jbo"]}),
            BadInput("jbo", params={"remove": [["jbo", "ill"]]}),
            BadInput("age", people(3, age=["11", "x", "12"])),
            BadInput("age", people(3, age=["11", "100", "12"])),
        )
        domains = {**frequent(table, ("job", "ill")), "age": frozenset(str(a) for a in range(100))}
        return Case(
            spec(), {"min_support": "5"}, table, {"name": Role.IDENTIFIER}, facts={"age": AGE}, domains=domains, bad=bad
        )


class TestStrictEmpiricalHeldOut(AnonymizerConformance):
    def case(self):
        table = people()
        params = {"draw": "empirical", "blend": "strict", "holdout": "0.3", "candidates": "closed", "laplace": "0.01"}
        return Case(
            spec(),
            params,
            table,
            {"name": Role.IDENTIFIER},
            (Blend.of("privacy.blend", min_support=SupportBound(count=3)),),
            facts={"age": AGE},
            domains=frequent(table, ("job", "ill", "age")),
            claims=(nothing_rare(3),),
        )


class TestSlim(AnonymizerConformance):
    def case(self):
        params = {"algorithm": "slim", "attributes": ["job", "ill"], "rows": "100", "min_support": {"ratio": "0.02"}}
        return Case(spec(), params, people(), {"name": Role.IDENTIFIER})
