"""Full-domain recoding at its edges: missing values, weights, other null semantics, names, populations, bad input."""

from __future__ import annotations

from collections import Counter
from typing import ClassVar

import numpy as np
import pytest

from ppdm_flow.anonymizers.full_domain_recoding.algorithm import FullDomainRecoding
from ppdm_flow.anonymizers.full_domain_recoding.spec import SPEC, RecodingParams, effect
from ppdm_flow.core.attributes import AttributeFacts, HierarchySpec
from ppdm_flow.core.errors import PluginError
from ppdm_flow.core.requirement_families import by_attribute
from ppdm_flow.core.roles import AttributeType, Nulls, Role
from ppdm_flow.mining.populations.population import PopulationFile
from ppdm_flow.requirements.k_anonymity.requirement import KAnonymity
from ppdm_flow.requirements.k_map.requirement import KMap
from ppdm_flow.requirements.l_diversity.requirement import LDiversity
from ppdm_flow.requirements.lkc.requirement import LKC
from ppdm_flow.requirements.t_closeness.requirement import Distance, TCloseness
from ppdm_flow.sdk.anonymizer import StepContext
from ppdm_flow.sdk.spec import Scope
from ppdm_flow.tables.numeric.column import NumericColumn
from ppdm_flow.tables.table import Table
from ppdm_flow.testing.case import BadInput, Case
from ppdm_flow.testing.claims import smallest_group
from ppdm_flow.testing.conformance import AnonymizerConformance, run
from ppdm_flow.testing.view import InMemoryView

CITY = HierarchySpec(levels=(("Paris", ("FR", "*")), ("Lyon", ("FR", "*")), ("Rome", ("IT", "*"))))
AGE = HierarchySpec(intervals=(0.0, 10.0, 20.0, 30.0, 40.0), then=(2,), numeric=True)
FACTS = {
    "city": AttributeFacts("city", Role.QUASI_IDENTIFIER, hierarchy=CITY),
    "age": AttributeFacts("age", Role.QUASI_IDENTIFIER, hierarchy=AGE),
    "s": AttributeFacts("s", Role.SENSITIVE),
}


def two(k=2, names=("city", "age")):
    return KAnonymity.of("privacy.k_anonymity", k=k, attributes=names)


def done(columns, requirements, facts=FACTS, *, roles=None, nulls=Nulls.OWN_CATEGORY, home=None, **params):
    table = Table.of(columns)
    context = StepContext("r", facts, requirements, nulls, **({"home": home} if home else {}))
    fitted = FullDomainRecoding(RecodingParams.model_validate(params)).fit(InMemoryView.of(table, roles), context)
    return fitted, run(fitted.transform, table, partition_rows=3)[""]


def code(*args, **rest):
    with pytest.raises(PluginError) as raised:
        done(*args, **rest)
    return raised.value.diagnostics[0].code


def test_levels_of_intervals_and_of_names() -> None:
    columns = {"city": ["Paris", "Lyon", "Rome", "Rome"], "age": ["3", "7", "21", "39"]}
    found, released = done(columns, (two(),), suppression=0)
    assert released["city"].texts() == ["FR", "FR", "IT", "IT"]
    assert released["age"].texts() == ["[0, 20)", "[0, 20)", "[20, 40)", "[20, 40)"]
    assert (found.figures["city.level"].value, found.figures["age.level"].value) == (1, 2)
    assert found.figures["lattice_nodes"].value == 3 * 4
    assert found.transform.describe()["levels"] == {"city": "level 1 of 2", "age": "level 2 of 3"}
    assert [c.id for c in found.charts] == ["solution_space"]
    assert found.charts[0].series[0].y[0] == found.figures["cost"].value


@pytest.mark.parametrize("cost", ["loss", "ncp", "precision", "entropy"])
def test_what_is_important_is_kept_rather_than_the_rest(cost) -> None:
    columns = {"city": ["Paris", "Lyon", "Rome"] * 4, "age": [text for text in ("3", "7", "23", "27") for _ in "abc"]}
    for name, nodes in {"city": (0, 3), "age": (2, 0)}.items():
        found, _ = done(columns, (two(k=3),), suppression=0, cost=cost, importance={name: 50})
        assert (found.figures["city.level"].value, found.figures["age.level"].value) == nodes


@pytest.mark.parametrize(
    ("params", "expected"),
    [({"importance": {"s": 2}}, "PPF606"), ({"importance": {"age": 2}, "cost": "discernibility"}, "PPF782")],
)
def test_importance_that_nothing_can_heed(params, expected) -> None:
    scope = Scope("r", FACTS, (two(),))
    (problem,) = effect(RecodingParams.model_validate(params), scope).problems
    assert (problem.code, problem.path[0]) == (expected, "importance")


def test_an_interval_covers_as_many_values_as_it_is_wide() -> None:
    columns = {"city": ["Rome"] * 4, "age": ["3", "7", "21", "22"]}
    found, _ = done(columns, (two(),), suppression=0, cost="ncp")
    assert found.figures["age.level"].value == 1
    assert found.figures["cost"].value == pytest.approx((10 - 1) / (40 - 1) / 2)


def test_a_number_that_only_dropped_rows_have_leaves_the_labels_of_others_alone() -> None:
    table = Table.of({"city": ["Paris", "Rome", "Rome", "Rome", "Rome"], "age": ["10", "3", "7", "21", "22"]})
    numbers = NumericColumn(np.array([10, 3, 7, 21, 22], dtype=np.int64), AttributeType.INTEGER)
    context = StepContext("r", FACTS, (two(),))
    params = RecodingParams.model_validate({"suppression": 0.2})
    fitted = FullDomainRecoding(params).fit(InMemoryView.of(table), context)
    released = fitted.transform.apply(table.replaced({"age": numbers}), None)
    assert released["city"].texts() == ["Rome"] * 4
    assert released["age"].texts() == ["[0, 10)", "[0, 10)", "[20, 30)", "[20, 30)"]


def test_missing_cells_are_a_value_of_their_own_up_to_the_top() -> None:
    columns = {"city": ["Paris", None, None, "Lyon"], "age": ["1", "2", "3", "4"]}
    _, released = done(columns, (two(),), suppression=0)
    assert released["city"].texts() == ["FR", None, None, "FR"]
    _, released = done(columns, (two(4),), suppression=0)
    assert released["city"].texts() == ["*"] * 4


@pytest.mark.parametrize("nulls", [Nulls.WILDCARD, Nulls.EXCLUDE])
def test_missing_cells_become_suppressed_ones_where_they_could_be_anything(nulls) -> None:
    columns = {"city": ["Paris", None, None, "Lyon"], "age": ["1", "2", "3", "4"]}
    found, released = done(columns, (two(),), suppression=0, nulls=nulls)
    assert released["city"].texts() == ["FR", "⊥", "⊥", "FR"]
    assert [f.code for f in found.findings] == ["PPF739"]


def test_weights_count() -> None:
    columns = {"city": ["Paris", "Lyon", "Rome"], "age": ["1", "2", "3"], "n": ["5", "1", "5"]}
    found, released = done(columns, (two(5, ("city",)),), roles={"n": Role.WEIGHT}, suppression=0.1)
    assert released["city"].texts() == ["Paris", "Rome"]
    assert found.figures["suppressed_rows"].value == 1
    assert released["age"].texts() == ["1", "3"]  # no requirement groups by it


def test_after_a_renaming_the_attribute_is_still_the_same() -> None:
    facts = {
        "town": AttributeFacts("town", Role.QUASI_IDENTIFIER, hierarchy=CITY, source="city"),
        "illness": AttributeFacts("illness", Role.SENSITIVE, source="s"),
    }
    diverse = LDiversity.of("privacy.l_diversity.s", "s", l=2, attributes=("city",))
    columns = {"town": ["Paris", "Lyon", "Rome", "Rome"], "illness": ["x", "y", "x", "y"]}
    found, released = done(columns, (diverse,), facts, suppression=0)
    assert released["town"].texts() == ["FR", "FR", "IT", "IT"]
    assert set(found.figures) >= {"town.level"}


def test_while_columns_are_unread_patterns_stand_for_them() -> None:
    facts = {"q_*": AttributeFacts("q_*", Role.QUASI_IDENTIFIER), "s": FACTS["s"]}
    found = effect(
        RecodingParams(), Scope("r", facts, (two(5, ("q_*",)), LDiversity.of("l", "s", l=2, attributes=("q_*",))))
    )
    assert found.changes.keys() == {"q_*"}
    assert found.serves == ("privacy.k_anonymity", "l")
    assert found.reads == ("q_*", "s")
    assert found.problems == ()


def test_what_classes_cannot_enforce_is_not_claimed() -> None:
    few = LKC.of("privacy.lkc", l=1, k=5, attributes=("city", "age"))
    found = effect(RecodingParams(), Scope("r", FACTS, (few,)))
    assert (found.serves, [p.code for p in found.problems]) == ((), ["PPF780"])
    assert "privacy.lkc" in found.problems[0].message
    full = LKC.of("privacy.lkc", l=2, k=5, attributes=("city", "age"))
    assert effect(RecodingParams(), Scope("r", FACTS, (few, full))).serves == ("privacy.lkc",)
    own = LDiversity.of("l", "city", l=2, attributes=("city", "age"))
    assert effect(RecodingParams(), Scope("r", FACTS, (two(), own))).serves == ("privacy.k_anonymity",)
    population = KMap.of("privacy.k_map", k=5, attributes=("city",), population=PopulationFile(path="people.csv"))
    assert effect(RecodingParams(), Scope("r", FACTS, (two(), population))).serves == ("privacy.k_anonymity",)


def test_the_values_of_an_attribute_of_lkc_count_together() -> None:
    """Paris has both illnesses and nothing else; each by itself is in half of its rows."""
    columns = {
        "city": ["Paris", "Paris", "Lyon", "Lyon", "Rome", "Rome"],
        "age": ["1"] * 6,
        "s": ["HIV", "syphilis", "flu", "flu", "HIV", "flu"],
    }
    one = LKC.of("privacy.lkc", l=2, k=2, attributes=("city", "age"), c=0.5, sensitive=by_attribute((("s", "HIV"),)))
    _, released = done(columns, (one,), suppression=0)
    assert released["city"].texts() == columns["city"]
    both = LKC.of(
        "privacy.lkc",
        l=2,
        k=2,
        attributes=("city", "age"),
        c=0.5,
        sensitive=by_attribute((("s", "HIV"), ("s", "syphilis"))),
    )
    _, released = done(columns, (both,), suppression=0)
    assert released["city"].texts() == ["FR", "FR", "FR", "FR", "IT", "IT"]


def test_k_map_counts_the_people_of_the_population(tmp_path) -> None:
    (tmp_path / "people.csv").write_text("town;x\n" + "Paris;1\n" * 3 + "Lyon;1\n" + "Rome;1\n" * 4)
    wanted = KMap.of(
        "privacy.k_map",
        k=3,
        attributes=("city",),
        population=PopulationFile(
            path="people.csv",
            columns={
                "city": "town",
            },
            delimiter=";",
        ),
    )
    columns = {"city": ["Paris", "Rome"], "s": ["x", "x"]}
    found, released = done(columns, (wanted,), home=tmp_path, suppression=0)
    assert released["city"].texts() == ["Paris", "Rome"]  # each fits three people
    assert found.figures["classes"].value == 2
    _, released = done({"city": ["Lyon", "Rome"]}, (wanted,), home=tmp_path, suppression=0)
    assert released["city"].texts() == ["FR", "IT"]


def test_a_population_beside_a_sensitive_attribute(tmp_path) -> None:
    (tmp_path / "people.csv").write_text("city\n" + "Paris\n" * 3 + "Lyon\n" * 3 + "Rome\n" * 6)
    wanted = KMap.of("privacy.k_map", k=3, attributes=("city",), population=PopulationFile(path="people.csv"))
    diverse = LDiversity.of("privacy.l_diversity.s", "s", l=2, attributes=("city",))
    columns = {"city": ["Paris", "Lyon", "Rome", "Rome"], "s": ["x", "y", "x", "x"]}
    _, released = done(columns, (wanted, diverse), home=tmp_path, suppression=0.5)
    assert Counter(released["city"].texts()) == {"FR": 2}


@pytest.mark.parametrize(
    ("text", "columns"),
    [(None, {}), ("town\nParis\n", {}), ("city\nBerlin\n", {}), ('city\n"Paris\n', {}), ("", {})],
)
def test_a_population_that_cannot_be_used(tmp_path, text, columns) -> None:
    if text is not None:
        (tmp_path / "people.csv").write_text(text)
    wanted = KMap.of(
        "privacy.k_map",
        k=3,
        attributes=("city",),
        population=PopulationFile(path="people.csv", columns=dict(tuple(columns.items()))),
    )
    assert code({"city": ["Paris", "Rome"]}, (wanted,), home=tmp_path) in ("PPF789", "PPF878")


@pytest.mark.parametrize(
    ("cells", "asked", "nulls"),
    [
        (["x", None, "y", "x"], LDiversity.of("l", "s", l=2, attributes=("city",)), Nulls.EXCLUDE),
        (
            ["1", None, "2", "1"],
            TCloseness.of("t", "s", t=0.5, attributes=("city",), distance=Distance.ORDERED),
            Nulls.OWN_CATEGORY,
        ),
        (
            ["1", "canary", "2", "1"],
            TCloseness.of("t", "s", t=0.5, attributes=("city",), distance=Distance.ORDERED),
            Nulls.OWN_CATEGORY,
        ),
        (
            ["1", "3", "2", "1"],
            TCloseness.of("t", "s", t=0.5, attributes=("city",), distance=Distance.ORDERED, order=("1", "2")),
            Nulls.OWN_CATEGORY,
        ),
    ],
)
def test_values_that_a_requirement_cannot_be_enforced_on(cells, asked, nulls) -> None:
    with pytest.raises(PluginError) as raised:
        done({"city": ["Paris", "Lyon", "Rome", "Rome"], "s": cells}, (asked,), nulls=nulls)
    assert raised.value.diagnostics[0].code == "PPF807"
    assert "canary" not in str(raised.value)


def test_bad_levels_and_too_much_to_ask() -> None:
    columns = {"city": ["Paris", "Lyon", "Rome"], "age": ["1", "2", "3"]}
    assert code(columns, (two(),), levels={"city": {"max": 7}}) == "PPF788"
    assert code(columns, (two(),), levels={"city": {"max": 0}}, suppression=0) == "PPF806"
    assert code({"city": ["Oslo"], "age": ["1"]}, (two(),)) == "PPF789"
    assert code({"city": ["Rome"], "age": ["99"]}, (two(),)) == "PPF789"


def test_a_search_that_is_ended_says_so_and_still_holds() -> None:
    columns = {"city": ["Paris", "Lyon", "Rome", "Rome"], "age": ["3", "7", "21", "39"]}
    found, released = done(columns, (two(),), suppression=0, most_nodes=3)
    assert found.figures["optimum_proven"].value == 0
    assert [f.code for f in found.findings] == ["PPF809"]
    assert smallest_group(released, ("city", "age")) >= 2


def test_a_lattice_of_billions_of_nodes_is_searched_within_bounds() -> None:
    rng = np.random.default_rng(5)
    names = [f"q{i:02}" for i in range(24)]
    halves = HierarchySpec(levels=tuple((f"v{v}", (f"h{v // 2}", "*")) for v in range(4)))
    facts = {n: AttributeFacts(n, Role.QUASI_IDENTIFIER, hierarchy=halves) for n in names}
    base = rng.integers(0, 4, 60)
    columns = {n: [f"v{v}" for v in np.where(rng.random(60) < 0.02, rng.integers(0, 4, 60), base)] for n in names}
    found, released = done(columns, (two(3, tuple(names)),), facts, suppression=0.4, most_nodes=400)
    assert found.figures["lattice_nodes"].value == 3**24
    assert found.figures["nodes_checked"].value <= 400
    assert found.figures["optimum_proven"].value == 0
    assert 0 < found.figures["cost"].value < 1
    assert smallest_group(released, tuple(names)) >= 3


class TestConformance(AnonymizerConformance):
    params: ClassVar = {"suppression": "0.05"}

    def case(self):
        rng = np.random.default_rng(2)
        city = [None if x < 0.04 else f"city-{int(x * 9)}-canary" for x in rng.random(2000)]
        age = [str(a) for a in rng.integers(0, 40, 2000)]
        disease = [f"disease-{d}-canary" for d in rng.integers(0, 4, 2000)]
        above = tuple((f"city-{i}-canary", (f"land-{i // 3}", "*")) for i in range(9))
        facts = {**FACTS, "city": AttributeFacts("city", Role.QUASI_IDENTIFIER, hierarchy=HierarchySpec(levels=above))}
        wanted = (two(12), LDiversity.of("privacy.l_diversity.s", "s", l=3, attributes=("city", "age")))
        labels = {f"[{a}, {b})" for a in range(0, 40, 10) for b in (a + 10, a + 20)}
        return Case(
            SPEC,
            self.params,
            Table.of({"city": city, "age": age, "s": disease}),
            {"city": Role.QUASI_IDENTIFIER, "age": Role.QUASI_IDENTIFIER, "s": Role.SENSITIVE},
            wanted,
            facts,
            domains={"age": frozenset((*labels, *age, "*"))},
            claims=(_at_least_twelve,),
            bad=(BadInput("age", Table.of({"city": [None, None], "age": ["1", "x"], "s": ["a", "b"]})),),
        )


class TestConformanceWithCells(TestConformance):
    params: ClassVar = {"suppress": "cells", "suppression": "0.05", "cost": "entropy"}


def _at_least_twelve(outcome):
    smallest = smallest_group(outcome.released, ("city", "age"))
    return None if smallest is None or smallest >= 12 else f"a class of {smallest} rows"


def test_classes_are_found_again_beyond_62_bits() -> None:
    rng = np.random.default_rng(3)
    names = [f"q{i}" for i in range(9)]
    texts = [f"v{i:03}" for i in range(300)]
    rare = {n: rng.choice(texts, 6).tolist() for n in names}
    columns = {n: [*(["v000"] * 3), *(["v001"] * 3), *rare[n], *texts] for n in names}
    facts = {n: AttributeFacts(n, Role.QUASI_IDENTIFIER) for n in names}
    bounds = {n: {"max": 0} for n in names}
    found, released = done(columns, (two(3, tuple(names)),), facts, suppression=1, levels=bounds)
    assert Counter(released["q8"].texts()) == {"v000": 4, "v001": 4}
    assert found.figures["classes"].value == 2
