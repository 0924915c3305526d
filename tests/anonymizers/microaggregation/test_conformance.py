"""Microaggregation through the kit, and what groups become."""

from __future__ import annotations

from types import MappingProxyType

import numpy as np
import pandas as pd
import pytest

from ppdm_flow.core.attributes import AttributeFacts, HierarchySpec
from ppdm_flow.core.errors import PluginError
from ppdm_flow.core.roles import AttributeType, Role
from ppdm_flow.requirements.k_anonymity.requirement import KAnonymity
from ppdm_flow.sdk import registry
from ppdm_flow.tables.column import MISSING, SUPPRESSED, Column
from ppdm_flow.tables.numeric.column import NumericColumn
from ppdm_flow.tables.table import Table
from ppdm_flow.testing.case import BadInput, Case
from ppdm_flow.testing.conformance import AnonymizerConformance, run

NAMES = ("age", "income", "grade", "city")
GRADES = ("low", "middle", "high", "top")
FACTS = {
    "age": AttributeFacts("age", Role.QUASI_IDENTIFIER, AttributeType.INTEGER),
    "income": AttributeFacts("income", Role.QUASI_IDENTIFIER, AttributeType.FLOAT),
    "grade": AttributeFacts("grade", Role.QUASI_IDENTIFIER, hierarchy=HierarchySpec(order=GRADES)),
    "city": AttributeFacts("city", Role.QUASI_IDENTIFIER),
    "n": AttributeFacts("n", Role.WEIGHT),
}
K = KAnonymity.of("privacy.k_anonymity", k=4, attributes=NAMES)


def spec():
    return registry.load("anonymizers", "microaggregation")


def people(rows: int = 400, **columns: list[str | None]) -> Table:
    rng = np.random.default_rng(5)
    return Table.of(
        {
            "age": [str(a) for a in rng.integers(18, 90, rows)],
            "income": [f"{v:.2f}" for v in rng.lognormal(8, 1, rows)],
            "grade": [GRADES[g] for g in rng.integers(0, 4, rows)],
            "city": [f"city-{c}-canary" for c in rng.integers(0, 5, rows)],
            "disease": [f"disease-{d}-canary" for d in rng.integers(0, 5, rows)],
            **columns,
        }
    )


def hidden(table: Table, name: str) -> Table:
    """Return the table with a suppressed cell."""
    column = table[name]
    codes = np.where(np.arange(len(column.codes)) == 1, SUPPRESSED, column.codes).astype(np.int32)
    return table.replaced({name: Column(codes, column.categories)})


def groups_hold(names, k):
    def claim(outcome) -> str | None:
        found = pd.DataFrame({n: outcome.released[n].texts() for n in names})
        return None if found.groupby(list(names), dropna=False).size().min() >= k else "a group is too small"

    return claim


class TestTogether(AnonymizerConformance):
    params = MappingProxyType({})
    claims = (groups_hold(NAMES, 4),)

    def case(self):
        bad = (
            BadInput("age", hidden(people(5), "age")),
            BadInput("age", people(5, age=[*"12345x"][1:])),
        )
        return Case(spec(), self.params, people(), requirements=(K,), facts=FACTS, claims=self.claims, bad=bad)


class TestMedian(TestTogether):
    params = MappingProxyType({"release": "median"})


class TestSlices(TestTogether):
    params = MappingProxyType({"most": "100"})


class TestApart(TestTogether):
    params = MappingProxyType({"apart": "true"})
    claims = tuple(groups_hold((n,), 4) for n in NAMES)


def gaps(rows: int = 400) -> Table:
    """Return people of whom some have no age, no income, or neither, and a few no grade."""
    table, rng = people(rows), np.random.default_rng(6)
    missing = {"age": rng.random(rows) < 0.2, "income": rng.random(rows) < 0.1, "grade": np.arange(rows) < 3}
    return table.replaced(
        {
            n: Column(np.where(m, MISSING, table[n].codes).astype(np.int32), table[n].categories)
            for n, m in missing.items()
        }
    )


def missing_stays(outcome) -> str | None:
    kept = all((outcome.released[n].codes[outcome.original[n].codes == MISSING] == MISSING).all() for n in NAMES)
    return None if kept else "a missing cell has a value"


class TestMissing(TestTogether):
    claims = (groups_hold(NAMES, 4), missing_stays)

    def case(self):
        return Case(spec(), self.params, gaps(), requirements=(K,), facts=FACTS, claims=self.claims)


class TestMissingApart(TestMissing):
    params = MappingProxyType({"apart": "true"})
    claims = (missing_stays,)


class TestWithin(TestMissing):
    """Groups in strata keep k-anonymity over these too."""

    params = MappingProxyType({"within": ["city"], "k": "4"})


def outcome(table, params, facts=FACTS, requirements=()):
    case = Case(spec(), params, table, requirements=requirements, facts=facts)
    fitted = case.fit()
    return fitted, fitted.transform.apply(table, None)


def test_a_group_becomes_its_rounded_mean():
    table = Table.of({"age": ["1", "2", "2", "50", "51", "60"], "income": ["1.0", "1.25", "2", "9", "9", "9.5"]})
    fitted, released = outcome(table, {"attributes": ["age", "income"], "k": "3"})
    assert released["age"].texts() == ["2", "2", "2", "54", "54", "54"]
    assert released["income"].texts() == ["1.42"] * 3 + ["9.17"] * 3
    assert fitted.figures["groups"].value == 2
    assert 0 < fitted.figures["information_loss"].value < 0.1
    _, released = outcome(table, {"attributes": ["age", "income"], "k": "3", "release": "median"})
    assert released["income"].texts() == ["1.25"] * 3 + ["9"] * 3


AGES = ["2", "3", None, "20", "21", "4", None, None]
INCOMES = ["1", "2", "2.1", "19", "20", None, "1.7", "2.2"]


def test_missing_cells_stay_and_the_fewest_others_become_missing():
    """Three rows have no age and are a group; the one without an income takes the nearest row with both along."""
    fitted, released = outcome(Table.of({"age": AGES, "income": INCOMES}), {"attributes": ["age", "income"], "k": "2"})
    assert released["age"].texts() == ["14", "4", None, "14", "14", "4", None, None]
    assert released["income"].texts() == ["13.3", None, "2", "13.3", "13.3", None, "2", "2"]
    assert fitted.figures["emptied_cells"].value == 1


def test_without_missing_cells_nothing_is_emptied():
    fitted, _ = outcome(people(), {"attributes": ["age", "income"], "k": "3"})
    assert "emptied_cells" not in fitted.figures


def test_apart_missing_cells_need_no_company_and_values_do():
    table = Table.of({"age": ["1", None, "2", "3"], "income": ["7", None, None, None]})
    fitted, released = outcome(table, {"attributes": ["age", "income"], "k": "2", "apart": "true"})
    assert released["age"].texts() == ["2", None, "2", "2"]
    assert released["income"].texts() == [None] * 4
    assert fitted.figures["emptied_cells"].value == 1


def test_strata_are_grouped_apart_and_need_k_rows():
    table = Table.of({"age": ["1", "2", "3", "4"], "city": ["a", "b", "a", "b"]})
    _, released = outcome(table, {"attributes": ["age"], "k": "2", "within": ["city"]})
    assert released["age"].texts() == ["2", "3", "2", "3"]
    with pytest.raises(PluginError) as raised:
        outcome(table, {"attributes": ["age"], "k": "3", "within": ["city"]})
    assert raised.value.diagnostics[0].code == "PPF784"
    assert "2 of 2 strata" in raised.value.diagnostics[0].message


def test_strata_count_for_k_anonymity_and_for_what_a_mean_tells():
    def effect(**params):
        return Case(spec(), params, people(), requirements=(K,), facts=FACTS).effect

    assert effect(within=["city"]).serves == ("privacy.k_anonymity",)
    assert effect(within=["city"]).derivations["age"].computed_from == ("age", "income", "grade", "city")
    assert effect(attributes=["age", "city"], within=["city"]).problems[0].code == "PPF782"
    assert effect(within=["town"]).problems[0].code == "PPF606"


def test_orders_have_medians_and_texts_their_most_frequent_value():
    table = Table.of({"grade": ["low", "middle", "high"], "city": ["b", "a", "b"]})
    _, released = outcome(table, {"attributes": ["grade", "city"], "k": "3"})
    assert released["grade"].texts() == ["middle"] * 3
    assert released["city"].texts() == ["b"] * 3


def test_weights_count_as_rows():
    table = Table.of({"age": ["10", "11", "90"], "n": ["1", "4", "5"]})
    _, released = outcome(table, {"attributes": ["age"], "k": "5"})
    assert released["age"].texts() == ["11", "11", "90"]


def test_averaging_apart_does_not_claim_k_anonymity():
    def serves(params):
        return Case(spec(), params, people(), requirements=(K,), facts=FACTS).effect.serves

    assert serves({}) == ("privacy.k_anonymity",)
    assert serves({"apart": "true"}) == serves({"attributes": ["age", "income"]}) == serves({"k": "3"}) == ()


def test_what_cannot_be_grouped_is_refused():
    for table, params, code in [
        (people(3), {}, "PPF784"),
        (people(200, city=[f"c{i}" for i in range(200)]), {}, "PPF882"),
        (people(4, age=["1", "2", "3", "1e200"]), {}, "PPF882"),
        (people(4, grade=["low", "low", "other", "top"]), {}, "PPF789"),
    ]:
        with pytest.raises(PluginError) as raised:
            outcome(table, params, requirements=(K,))
        assert raised.value.diagnostics[0].code == code


def test_means_of_long_numbers_keep_their_digits():
    table = Table.of({"income": ["1e40", "1e40", "3e40", "0.125"]})
    _, released = outcome(table, {"attributes": ["income"], "k": "4"})
    assert released["income"].texts() == ["1.25e+40"] * 4


def test_averaged_apart_each_attribute_is_made_of_itself():
    def made_of(**more):
        params = {"attributes": ["age", "income"], "k": "2", **more}
        return {n: d.computed_from for n, d in Case(spec(), params, people(), facts=FACTS).effect.derivations.items()}

    assert made_of(apart="true") == {"age": ("age",), "income": ("income",)}
    assert made_of() == {"age": ("age", "income"), "income": ("age", "income")}


DAY, MOMENT = (AttributeFacts("x", Role.QUASI_IDENTIFIER, t) for t in (AttributeType.DATE, AttributeType.TIMESTAMP))


@pytest.mark.parametrize(
    ("facts", "values", "expected"),
    [
        (DAY, [0, 1, 1, 9_999, 10_000, 10_003], [1, 1, 1, 10_001, 10_001, 10_001]),
        (DAY, [0, 1, 1, 10_001, 10_001, 10_002], [1, 1, 1, 10_001, 10_001, 10_001]),
        (MOMENT, [0, 1_000_000, 1_000_000, 10**15, 10**15, 10**15], [1_000_000] * 3 + [10**15] * 3),
        (MOMENT, [0, 1, 1, 10**15, 10**15, 10**15], [1, 1, 1] + [10**15] * 3),
    ],
)
def test_dates_and_timestamps_are_averaged_and_stay_such(facts, values, expected):
    table = Table({"x": NumericColumn(np.array(values), facts.type)}, np.arange(len(values)))
    case = Case(spec(), {"attributes": ["x"], "k": "3"}, table, facts={"x": facts})
    column = run(case.fit().transform, table)[""]["x"]
    assert isinstance(column, NumericColumn)
    assert (column.kind, column.present().tolist()) == (facts.type, expected)
    assert case.effect.numbers == ("x",)


def test_numbers_stay_numbers_and_texts_texts():
    case = Case(spec(), {}, people(), requirements=(K,), facts=FACTS)
    assert case.effect.numbers == ("age", "income")
    released = run(case.fit().transform, case.table)[""]
    assert {n for n in NAMES if isinstance(released[n], NumericColumn)} == {"age", "income"}
    assert released["age"].present().dtype == np.int64
    labels = {"age": AttributeFacts("age", Role.QUASI_IDENTIFIER, AttributeType.INTEGER, labels=True)}
    assert Case(spec(), {"attributes": ["age"], "k": "3"}, people(), facts=labels).effect.numbers == ()
