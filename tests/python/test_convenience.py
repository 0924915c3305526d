"""What people who know pandas expect: results as frames, requirements as objects, policies that methods change."""

from __future__ import annotations

import random

import pandas as pd
import pytest

import ppdm_flow as pf

POLICY = """version: 1
name: clinic
source: {path: clinic.csv}
attributes:
  age: {role: quasi_identifier, type: integer}  # years
  ill: {role: insensitive}
privacy: none
releases: {study: {path: study.parquet}}
"""


@pytest.fixture(scope="module")
def frame():
    dice = random.Random(3)
    ages = [dice.randrange(18, 90) for _ in range(300)]
    ills = [dice.choice(["flu", "gout", "cold", "acne"]) for _ in ages]
    return pd.DataFrame(
        {"age": ages, "ill": ills, "cost": [i % 7 for i in range(300)], "name": [f"N{i}" for i in ages]}
    )


@pytest.fixture(autouse=True)
def in_an_empty_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def test_a_policy_is_changed_by_methods_that_return_another(frame):
    policy = pf.read_policy(POLICY)
    stricter = policy.with_role("ill", "sensitive").with_requirement("k_anonymity", k=5)
    stricter = stricter.with_requirement("l_diversity", "ill", l=2).with_step(
        "recode", "mondrian", partitioning="relaxed"
    )
    assert repr(policy) == "<policy clinic>"
    assert repr(stricter) == "<policy clinic: k_anonymity, l_diversity; steps recode>"
    assert "privacy: none" in policy.text
    assert "# years" in stricter.text
    result = pf.run(stricter, frame[["age", "ill"]])
    assert result.released
    assert "at least 5: holds>" in repr(result.requirements[0])
    stricter.write("clinic.yaml")
    assert pf.read_policy("clinic.yaml").text == stricter.text
    assert pf.check(stricter).passes()
    assert pf.diff(policy, stricter).weaker is False


def test_a_change_that_is_wrong_raises():
    policy = pf.read_policy(POLICY)
    with pytest.raises(pf.PolicyError) as caught:
        policy.with_requirement("k_anonymity", k=0)
    assert caught.value.diagnostics
    with pytest.raises(pf.PolicyError):
        policy.with_role("age", "secret")
    with pytest.raises(pf.PolicyError):
        pf.read_policy({"version": 1, "name": "clinic"})


def test_tables_come_in_each_form_and_requirements_are_objects(frame):
    policy = pf.read_policy(POLICY).with_requirement("k_anonymity", k=3).with_step("recode", "mondrian")
    result = pf.run(policy, frame[["age", "ill"]])
    polars = pytest.importorskip("polars")
    assert result.to_arrow().num_rows == len(result.to_pandas()) == len(result.to_polars()) == 300
    assert isinstance(result.to_polars(), polars.DataFrame)
    (requirement,) = result.requirements
    assert (requirement.id, requirement.release, requirement.holds) == ("privacy.k_anonymity", "study", True)
    assert requirement.bound == 3 <= requirement.measured
    assert requirement["sentence"] == requirement.sentence


def test_what_was_withheld_says_why(frame):
    policy = pf.read_policy(POLICY).with_requirement("k_anonymity", k=50)
    result = pf.run(policy, frame[["age", "ill"]])
    with pytest.raises(pf.WithheldError, match="nothing was released: it was withheld") as caught:
        result.to_pandas()
    (requirement,) = caught.value.requirements
    assert not requirement.holds
    assert f"privacy.k_anonymity: {requirement.sentence}" in str(caught.value)
    assert "does not hold>" in repr(requirement)
    for method in (result.to_arrow, result.to_polars, result.table):
        with pytest.raises(pf.WithheldError):
            method()


def test_a_sweep_is_a_frame_and_a_picture(frame):
    policy = pf.read_policy(POLICY).with_requirement("k_anonymity", k=3).with_step("recode", "mondrian")
    sweep = pf.sweep(policy, {"privacy.k_anonymity.k": [3, 30]}, frame[["age", "ill"]])
    table = sweep.to_pandas()
    assert list(table.index) == [1, 2]
    assert list(table["privacy.k_anonymity.k"]) == [3, 30]
    assert (table["privacy.k_anonymity.k measured"] >= table["privacy.k_anonymity.k"]).all()
    assert list(table["verdict"]) == ["released", "released"]
    assert table["information_kept.mean_kept"].is_monotonic_decreasing
    picture = sweep.plot()
    assert picture._repr_svg_().startswith("<svg")
    assert repr(picture).startswith("<SVG picture")
    assert "2 points" in repr(sweep)


def test_one_line_anonymizes_a_frame(frame):
    result, policy = pf.anonymize(frame, k=5, quasi_identifiers=["age"], sensitive=["ill"], keep=["cost"])
    assert result.released
    released = result.to_pandas()
    assert list(released.columns) == ["age", "ill", "cost"]
    assert released.groupby("age").size().min() >= 5
    assert policy.with_requirement("k_anonymity", k=7) != policy
    assert "undeclared: drop" in policy.text
    frame.to_csv("people.csv", index=False)
    again, _ = pf.anonymize("people.csv", quasi_identifiers=["age"])
    assert list(again.to_pandas().columns) == ["age"]


@pytest.mark.parametrize(
    ("columns", "words"),
    [
        ({"quasi_identifiers": ["agee"]}, "no column `agee`"),
        ({"quasi_identifiers": ["age"], "sensitive": ["age"]}, "two"),
    ],
)
def test_columns_that_cannot_be_chosen(frame, columns, words):
    with pytest.raises(pf.UsageError, match=words):
        pf.anonymize(frame, **columns)


def test_each_result_says_what_it_is_in_one_line(frame):
    frame = frame[["age", "ill"]]
    policy = pf.read_policy(POLICY)
    results = [
        pf.check(policy),
        pf.plan(policy, frame),
        pf.run(policy, frame),
        pf.profile(frame),
        pf.diff(policy, policy),
    ]
    for result in results:
        assert "\n" not in repr(result)
        assert len(repr(result)) < 150, repr(result)


def test_the_package_lists_what_is_for_users():
    assert not {"Any", "sys", "import_module", "ModuleType", "TYPE_CHECKING"} & set(dir(pf))
    assert {"run", "anonymize", "read_policy", "WithheldError", "__version__"} <= set(dir(pf))
