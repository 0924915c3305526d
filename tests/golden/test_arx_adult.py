"""The optima that ARX finds on its Adult, through the worked policy and the whole run: levels, rows and classes."""

from __future__ import annotations

from collections import Counter

import pyarrow.csv as pa_csv
import pytest

from ppdm_flow import api

OCCUPATION = "version: 1\nextends:\n  - template: {}\nattributes:\n  occupation: {{role: sensitive, hierarchy: null}}\n"
LEVELS = {
    "age": 3,
    "education": 1,
    "marital-status": 1,
    "native-country": 1,
    "occupation": 2,
    "race": 0,
    "salary-class": 0,
    "sex": 0,
    "workclass": 1,
}


@pytest.fixture
def ran(root, data, tmp_path, report_of):
    file = data / "arx_adult" / "adult.csv.gz"
    if not file.is_file():
        pytest.skip("ARX's Adult is not at hand: set PPDM_DATA to the folder that holds arx_adult")

    def run(sets=None, more=None):
        policy = root / "pipelines/arx_adult.yaml"
        if more is not None:
            template, policy = policy, tmp_path / "with-a-sensitive-attribute.yaml"
            policy.write_text(OCCUPATION.format(template) + more)
        done = api.run(policy, sets or {}, file, tmp_path / "runs")
        assert done.released
        report = report_of(done.run_dir)
        table = pa_csv.read_csv(done.run_dir / "released/study/adult.csv")
        figures = {k.partition(".")[2]: v["value"] for k, v in report["metrics"].items() if k.startswith("recode.")}
        return figures, report, table

    return run


def classes(table, *without):
    names = [n for n in table.column_names if n not in without]
    return Counter(zip(*(table[n].to_pylist() for n in names), strict=True))


@pytest.mark.parametrize(
    ("sets", "suppressed", "many"),
    [
        ({}, 1178, 370),
        ({"k": "10"}, 1163, 168),
        ({"suppression": "0"}, 0, 24),
    ],
)
def test_nine_attributes(ran, sets, suppressed, many) -> None:
    figures, report, table = ran(sets)
    assert (figures["suppressed_rows"], figures["classes"]) == (suppressed, many)
    assert (figures["lattice_nodes"], figures["optimum_proven"]) == (12_960, 1)
    assert table.num_rows == 30_162 - suppressed
    found = classes(table)
    assert len(found) == many
    assert min(found.values()) >= int(sets.get("k", 5))
    assert report["requirements"][0]["measured"] == min(found.values())
    if not sets:
        assert {name: figures[f"{name}.level"] for name in LEVELS} == LEVELS


@pytest.mark.parametrize(
    ("privacy", "suppressed", "many"),
    [
        ("", 1178, 370),
        ("privacy: {l_diversity: {occupation: {l: 5}}}\n", 1109, 193),
        (
            "privacy: {t_closeness: {occupation: {t: 0.2}}}\n",
            235,
            6,
        ),  # the table that is compared with is the released one
    ],
)
def test_eight_attributes_and_a_sensitive_one(ran, privacy, suppressed, many) -> None:
    figures, report, table = ran(more=privacy)
    assert (figures["suppressed_rows"], figures["classes"]) == (suppressed, many)
    assert (figures["lattice_nodes"], figures["optimum_proven"]) == (4320, 1)
    assert len(classes(table, "occupation")) == many
    assert all(r["holds"] for r in report["requirements"])
