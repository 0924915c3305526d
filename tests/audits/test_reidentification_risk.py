"""The audit `reidentification_risk`."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tiers import examples

from ppdm_flow.audits.reidentification_risk.algorithm import ReidentificationRiskAudit
from ppdm_flow.core.attributes import Change
from ppdm_flow.core.errors import DataError
from ppdm_flow.mining.populations.population import PopulationFile
from ppdm_flow.requirements.k_map.requirement import KMap
from ppdm_flow.sdk.registry import load

SPEC = load("audits", "reidentification_risk")
AUDIT = ReidentificationRiskAudit(SPEC.params())
cells = st.tuples(*[st.sampled_from([None, "⊥", "a", "b"])] * 2)


def table(rows):
    return {n: [r[i] for r in rows] for i, n in enumerate("pq")}


@examples(25)
@given(st.lists(cells, min_size=1, max_size=30), st.lists(cells, max_size=30))
def test_a_sample_of_the_original(build, rows, others):
    """Unchanged quasi-identifiers and fewer rows: the original is the population."""
    case = build.case(table([*rows, *others]), table(rows), "qq")
    found = {n: f.value for n, f in AUDIT.measure(*case.args).figures.items()}
    sizes, population = Counter(rows), Counter([*rows, *others])
    assert found["prosecutor_highest"] == pytest.approx(max(1 / sizes[r] for r in rows))
    assert found["prosecutor_average"] == pytest.approx(len(sizes) / len(rows))
    assert found["prosecutor_at_risk"] == pytest.approx(sum(1 / sizes[r] > 0.2 for r in rows) / len(rows))
    smallest = min(sizes.values())
    assert found["prosecutor_at_highest"] == pytest.approx(sum(sizes[r] == smallest for r in rows) / len(rows))
    assert found["journalist_highest"] == pytest.approx(max(1 / population[r] for r in rows))
    assert found["journalist_average"] == found["marketer_average"]
    assert found["marketer_average"] == pytest.approx(sum(1 / population[r] for r in rows) / len(rows))


def test_a_whole_release_is_its_own_population(build):
    case = build.case(table([("a", "x"), ("b", "x")]), table([("*", "x"), ("*", "x")]), "qq")
    found = AUDIT.measure(*case.args).figures
    assert found["journalist_highest"].value == found["prosecutor_highest"].value == 0.5
    assert "every row" in found["journalist_highest"].note


def test_generalized_samples_are_bounded_from_above(build):
    rows = [("a", "x"), ("b", "x"), ("a", "y")]
    changes = {"p": (("coarsen", Change.GENERALIZED),)}
    case = build.case(table(rows), table([("*", "x"), ("*", "x")]), "qq", changes=changes)
    found = AUDIT.measure(*case.args).figures
    assert found["journalist_highest"].value == 0.5
    assert found["journalist_highest"].note.startswith("at most")


def test_a_population_file(build, tmp_path):
    (tmp_path / "people.csv").write_text("q,name,p\nx,Ann,*\nx,Bob,*\nx,Cat,*\nx,Dan,*\ny,Eve,*\n,Flo,*\n")
    audit = ReidentificationRiskAudit(SPEC.params(population="people.csv", threshold="0.3"))
    case = build.case(table([("a", "x")] * 3), table([("*", "x"), ("*", "x"), ("*", "y")]), "qq", home=tmp_path)
    outcome = audit.measure(*case.args)
    found = {n: f.value for n, f in outcome.figures.items()}
    assert found["prosecutor_highest"] == found["journalist_highest"] == 1.0
    assert found["marketer_average"] == pytest.approx((1 / 4 + 1 / 4 + 1) / 3)
    assert found["journalist_at_risk"] == pytest.approx(1 / 3)
    assert not outcome.findings
    strange = build.case(table([("a", "x")] * 2), table([("?", "x"), (None, "x")]), "qq", home=tmp_path)
    outcome = audit.measure(*strange.args)
    assert [f.code for f in outcome.findings] == ["PPF840"]
    assert outcome.figures["journalist_highest"].value == 1.0


def test_a_population_is_read_as_k_map_reads_it(build, tmp_path):
    """People with their own values, and released labels: who fits a class is who has a value below its labels."""
    ages = [21, 25, 28, 33, 33, 38, 45]
    (tmp_path / "people.csv").write_text("age,sex\n" + "".join(f"{a},{'fm'[a % 2]}\n" for a in ages for _ in "12"))
    released = {"p": ["[20, 30)", "[30, 40)", "*"], "q": ["m", "⊥", "f"]}
    original = {"age": ["21", "33", "45"], "sex": ["m", "f", "f"]}
    changes = {"p": (("coarsen", Change.GENERALIZED),), "q": (("hide", Change.SUPPRESSED),)}
    population = PopulationFile(path="people.csv")
    case = build.case(
        original, released, "qq", sources={"p": "age", "q": "sex"}, changes=changes, home=tmp_path, paired=False
    )
    figures = ReidentificationRiskAudit(SPEC.params(population="people.csv")).measure(*case.args).figures
    asked = KMap.of("privacy.k_map", k=2, attributes=("age", "sex"), population=population)
    mapped = load("audits", "k_map").load()(None)
    again = replace(case.ctx, requirements=(asked,))
    smallest = mapped.measure(case.original, case.candidate, again).figures["privacy.k_map.k"].value
    assert smallest == 4  # 28 and 38, twice each
    assert figures["journalist_highest"].value == 1 / smallest
    for text in ("age\n1\n", "age,age,sex\n1,1,m\n"):
        (tmp_path / "people.csv").write_text(text)
        for audit, ctx in (
            (ReidentificationRiskAudit(SPEC.params(population="people.csv")), case.ctx),
            (mapped, again),
        ):
            with pytest.raises(DataError) as caught:
                audit.measure(case.original, case.candidate, ctx)
            assert caught.value.diagnostics[0].code == "PPF878"


@pytest.mark.parametrize("text", [None, "p\nx\n", 'p,q\n"canary,1,2\n', "p,q\ncanary,2,3\n"])
def test_a_bad_population_file_is_refused_without_its_values(build, tmp_path, text):
    if text is not None:
        (tmp_path / "people.csv").write_text(text)
    audit = ReidentificationRiskAudit(SPEC.params(population="people.csv"))
    case = build.case(table([("a", "x")]), table([("a", "x")]), "qq", home=tmp_path)
    with pytest.raises(DataError) as caught:
        audit.measure(*case.args)
    assert caught.value.diagnostics[0].code == "PPF878"
    assert "canary" not in str(caught.value)
    assert caught.value.__cause__ is None


def test_no_quasi_identifier_and_no_rows(build):
    found = AUDIT.measure(*build.case({"s": ["a"] * 10}, {"s": ["a"] * 10}, "s").args).figures
    assert found["prosecutor_highest"].value == 0.1
    found = AUDIT.measure(*build.case(table([]), table([]), "qq").args).figures
    assert found["prosecutor_highest"].value == 0


def test_generated_rows_belong_to_nobody(build):
    """As many rows as the original, and yet not its rows."""
    data = {"p": ["a", "a", "b"], "q": ["x", "x", "y"]}
    case = build.case(data, data, "qq", changes=dict.fromkeys("pq", (("make", Change.GENERATED),)), paired=False)
    assert "belong to nobody" in AUDIT.measure(*case.args).figures["journalist_highest"].note
