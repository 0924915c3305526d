"""Mondrian through the kit, with models measured by pandas."""

from __future__ import annotations

from types import MappingProxyType

import numpy as np
import pandas as pd
import pytest

from ppdm_flow.core.anonymity import LDiversity, TCloseness
from ppdm_flow.core.attributes import AttributeFacts, HierarchySpec
from ppdm_flow.core.requirements import KAnonymity
from ppdm_flow.core.roles import AttributeType, Nulls, Role
from ppdm_flow.sdk import registry
from ppdm_flow.tables.table import Table
from ppdm_flow.testing.case import BadInput, Case
from ppdm_flow.testing.conformance import AnonymizerConformance

NAMES = ("age", "job", "country")
COUNTRIES = tuple((f"country-{i}-canary", (f"region-{i // 2}", "*")) for i in range(6))
FACTS = {
    "age": AttributeFacts("age", Role.QUASI_IDENTIFIER, AttributeType.INTEGER),
    "job": AttributeFacts("job", Role.QUASI_IDENTIFIER),
    "country": AttributeFacts("country", Role.QUASI_IDENTIFIER, hierarchy=HierarchySpec(levels=COUNTRIES)),
    "disease": AttributeFacts("disease", Role.SENSITIVE),
}
K = KAnonymity("privacy.k_anonymity", 5, NAMES)
DIVERSE = LDiversity("privacy.l_diversity", "disease", 3, NAMES)
CLOSE = TCloseness("privacy.t_closeness", "disease", 0.25, NAMES)


def people(rows: int = 900, **columns: list[str | None]) -> Table:
    rng = np.random.default_rng(3)
    missing = rng.random(rows) < 0.05
    return Table.of(
        {
            "age": [str(a) for a in rng.integers(18, 90, rows)],
            "job": [None if m else f"job, {j}" for m, j in zip(missing, rng.integers(0, 7, rows), strict=True)],
            "country": [f"country-{c}-canary" for c in rng.integers(0, 6, rows) // (1 + (rng.random(rows) < 0.5))],
            "disease": [f"disease-{d}-canary" for d in rng.integers(0, 5, rows)],
            **columns,
        }
    )


def frame(table: Table) -> pd.DataFrame:
    return pd.DataFrame({n: table[n].texts() for n in table.names}, dtype=object).fillna("\0missing")


def classes_keep(*requirements):
    """The requirements, measured on the released rows by pandas."""

    def claim(outcome) -> str | None:
        found = frame(outcome.released)
        base = found["disease"].value_counts(normalize=True)
        for _, part in found.groupby(list(NAMES)):
            if len(part) < K.k:
                return "a class is too small"
            if DIVERSE in requirements and part["disease"].nunique() < DIVERSE.l:
                return "a class is not diverse"
            share = part["disease"].value_counts(normalize=True).reindex(base.index).fillna(0)
            if CLOSE in requirements and (share - base).abs().sum() / 2 > CLOSE.t + 1e-9:
                return "a class is not close"
        return None

    return claim


class TestMondrian(AnonymizerConformance):
    params = MappingProxyType({})
    requirements = (K,)
    nulls = Nulls.OWN_CATEGORY

    def case(self):
        return Case(
            registry.load("anonymizers", "mondrian"),
            self.params,
            people(),
            requirements=self.requirements,
            facts=FACTS,
            nulls=self.nulls,
            claims=(classes_keep(*self.requirements),),
            bad=(BadInput("age", people(5, age=["1", "x", "2", "3", "4"])),),
        )


class TestRelaxed(TestMondrian):
    params = MappingProxyType({"partitioning": "relaxed"})


class TestMedian(TestMondrian):
    params = MappingProxyType({"cut": "median", "labels": {"country": "sets"}})


class TestRelaxedMedian(TestMondrian):
    params = MappingProxyType({"cut": "median", "partitioning": "relaxed"})


class TestWithModels(TestMondrian):
    requirements = (K, DIVERSE, CLOSE)


class TestRelaxedWithModels(TestRelaxed):
    requirements = (K, DIVERSE, CLOSE)


class TestWildcards(TestMondrian):
    nulls = Nulls.WILDCARD


@pytest.mark.parametrize("partitioning", ["strict", "relaxed"])
def test_labels_cover_what_they_stand_for(partitioning):
    table = people()
    case = Case(
        registry.load("anonymizers", "mondrian"),
        {"partitioning": partitioning},
        table,
        requirements=(K,),
        facts=FACTS,
    )
    released = case.fit().transform.apply(table, None)
    for own, label in zip(table["age"].texts(), released["age"].texts(), strict=True):
        low, high = label.strip("[]").split(", ") if label.startswith("[") else (label, label)
        assert int(low) <= int(own) <= int(high)
    for own, label in zip(table["job"].texts(), released["job"].texts(), strict=True):
        assert label == "*" or label == own or (own and f'"{own}"' in label)
    regions = {c: ancestors[0] for c, ancestors in COUNTRIES}
    for own, label in zip(table["country"].texts(), released["country"].texts(), strict=True):
        assert label in (own, regions[own], "*")
