"""Mondrian through the kit, with models measured by pandas."""

from __future__ import annotations

from types import MappingProxyType

import numpy as np
import pandas as pd
import pytest

from ppdm_flow.core.attributes import AttributeFacts, HierarchySpec
from ppdm_flow.core.errors import PluginError
from ppdm_flow.core.requirement_families import by_attribute
from ppdm_flow.core.roles import AttributeType, Nulls, Role
from ppdm_flow.mining.populations.population import PopulationFile
from ppdm_flow.requirements.k_anonymity.requirement import KAnonymity
from ppdm_flow.requirements.k_map.requirement import KMap
from ppdm_flow.requirements.l_diversity.requirement import LDiversity
from ppdm_flow.requirements.lkc.requirement import LKC
from ppdm_flow.requirements.t_closeness.requirement import TCloseness
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
K = KAnonymity.of("privacy.k_anonymity", k=5, attributes=NAMES)
DIVERSE = LDiversity.of("privacy.l_diversity", "disease", l=3, attributes=NAMES)
KNOWN = LKC.of(
    "privacy.lkc",
    l=3,
    k=5,
    attributes=NAMES,
    c=0.45,
    sensitive=by_attribute((("disease", "disease-0-canary"), ("disease", "disease-1-canary"))),
)
CLOSE = TCloseness.of("privacy.t_closeness", "disease", t=0.25, attributes=NAMES)


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
            named = part["disease"].isin([value for _, value in KNOWN.pairs])
            if KNOWN in requirements and named.mean() > KNOWN.c + 1e-9:
                return "a class has too many of the named values"
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


class TestWithValuesTogether(TestMondrian):
    requirements = (K, KNOWN)


class TestRelaxedWithModels(TestRelaxed):
    requirements = (K, DIVERSE, CLOSE)


class TestRoundedEnds(TestMondrian):
    params = MappingProxyType({"labels": {"round": "5"}})


class TestRelaxedRoundedEnds(TestMondrian):
    params = MappingProxyType({"labels": {"age": {"significant": "1"}}, "partitioning": "relaxed"})


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


def fitted(table, params, facts, k=2):
    names = tuple(facts)
    case = Case(
        registry.load("anonymizers", "mondrian"),
        params,
        table,
        requirements=(KAnonymity.of("k", k=k, attributes=names),),
        facts=facts,
    )
    found = case.fit()
    return found, found.transform.apply(table, None)


def test_spellings_of_a_number_are_one_value_and_dates_are_intervals():
    table = Table.of({"x": ["1", "1.0", "2", "3"], "day": ["2020-01-01", "2020-02-01", "2021-01-01", "2021-03-01"]})
    facts = {
        "x": AttributeFacts("x", Role.QUASI_IDENTIFIER, AttributeType.FLOAT),
        "day": AttributeFacts("day", Role.QUASI_IDENTIFIER, AttributeType.DATE),
    }
    _, released = fitted(table, {}, facts)
    assert released["x"].texts() == ["1", "1", "[2, 3]", "[2, 3]"]
    assert released["day"].texts() == ["[2020-01-01, 2020-02-01]"] * 2 + ["[2021-01-01, 2021-03-01]"] * 2


def test_a_set_that_looks_like_a_value_is_refused():
    table = Table.of({"x": ["a", "b", "{a, b}", "{a, b}", "c", "c"]})
    with pytest.raises(PluginError) as raised:
        fitted(table, {}, {"x": AttributeFacts("x", Role.QUASI_IDENTIFIER)})
    assert raised.value.diagnostics[0].code == "PPF788"


@pytest.mark.parametrize("partitioning", ["strict", "relaxed"])
def test_weights_count_as_rows(partitioning):
    table = Table.of({"x": ["a", "b", "c"], "n": ["3", "1", "2"]})
    facts = {"x": AttributeFacts("x", Role.QUASI_IDENTIFIER)}
    case = Case(
        registry.load("anonymizers", "mondrian"),
        {"partitioning": partitioning},
        table,
        requirements=(KAnonymity.of("k", k=3, attributes=("x",)),),
        facts=facts | {"n": AttributeFacts("n", Role.WEIGHT)},
    )
    assert case.fit().transform.apply(table, None)["x"].texts() == ["a", "{b, c}", "{b, c}"]


def test_fewer_rows_than_k_are_refused_and_none_pass():
    facts = {"x": AttributeFacts("x", Role.QUASI_IDENTIFIER)}
    with pytest.raises(PluginError) as raised:
        fitted(Table.of({"x": ["a"]}), {}, facts)
    assert raised.value.diagnostics[0].code == "PPF784"
    for partitioning in ("strict", "relaxed"):
        found, released = fitted(Table.of({"x": []}), {"partitioning": partitioning}, facts)
        assert len(released) == 0
        assert found.figures["ncp"].value is None


@pytest.mark.parametrize(
    ("params", "requirements", "expected"),
    [
        ({"labels": {"disease": "sets"}}, (K,), ["PPF606"]),
        ({"importance": {"disease": "2"}}, (K,), ["PPF606"]),
        ({"labels": {"job": "hierarchy"}}, (K,), ["PPF780"]),
        ({"labels": {"country": "bounds"}}, (K,), ["PPF780"]),
        ({"labels": {"job": {"round": "5"}}}, (K,), ["PPF780"]),
        ({"labels": {"round": "5", "significant": "2"}}, (K,), ["PPF782"]),
        ({"attributes": ["agee"]}, (K,), ["PPF606", "PPF780"]),
        ({}, (), ["PPF780"]),
        ({}, (KMap.of("privacy.k_map", k=3, attributes=NAMES, population=PopulationFile(path="p.csv")),), ["PPF780"]),
    ],
)
def test_problems_are_seen_before_a_run(params, requirements, expected):
    case = Case(registry.load("anonymizers", "mondrian"), params, people(5), requirements=requirements, facts=FACTS)
    assert sorted(p.code for p in case.effect.problems) == expected
    assert case.effect.serves == (
        ("privacy.k_anonymity",) if requirements == (K,) and "attributes" not in params else ()
    )
