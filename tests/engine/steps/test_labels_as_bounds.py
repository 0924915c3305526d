"""Labels of numbers that leave as two columns of numbers."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from ppdm_flow.plan.compile import compile_policy
from ppdm_flow.policy import load

POLICY = """version: 1
name: bounds
source: {path: table.csv, missing: [""]}
attributes:
  town: {role: quasi_identifier}
  age: {role: quasi_identifier, type: integer, hierarchy: {intervals: [0, 40, 120]}}
privacy: {k_anonymity: {k: 2}}
steps:
  bands: {use: generalize, with: {attributes: [age]}}
STEPreleases:
  study: {path: study.parquetWITH}
"""
CSV = "town,age\n" + "A,10\nA,20\nA,30\nA,50\nA,60\nA,\nA,\n"
EXPECTED = {("A", 0, 39), ("A", 40, 119), ("A", None, None)}


@pytest.mark.parametrize(
    "policy",
    [
        POLICY.replace("STEP", "  ends: {use: interval_bounds}\n").replace("WITH", ""),
        POLICY.replace("STEP", "").replace("WITH", ", with: {labels: bounds}"),
    ],
    ids=["step", "release"],
)
def test_labels_leave_as_two_columns_of_numbers(bench, policy):
    (bench.folder / "table.csv").write_text(CSV)
    run = bench.run(bench.plan(policy))
    assert run.report.verdict == "released"
    table = pq.read_table(run.run_dir / "released/study/study.parquet")
    assert table.schema.names == ["town", "age_low", "age_high"]
    assert table.schema.types[1:] == [pa.int64(), pa.int64()]
    assert {tuple(row.values()) for row in table.to_pylist()} == EXPECTED
    assert run.report.requirements[0].measured == 2


def test_the_two_bounds_count_as_what_they_are_computed_from(bench):
    """Bounds of single ages single people out, as the ages do."""
    (bench.folder / "table.csv").write_text(CSV)
    policy = POLICY.replace("STEP", "  ends: {use: interval_bounds}\n").replace("WITH", "")
    run = bench.run(bench.plan(policy.replace("[0, 40, 120]", "[0, 11, 12, 40, 120]")))
    assert run.report.verdict == "withheld"
    assert run.report.requirements[0].measured == 1


def test_another_word_for_bounds(bench):
    (bench.folder / "table.csv").write_text(CSV)
    text = POLICY.replace("STEP", "").replace("WITH", ", with: {labels: numbers}")
    assert "PPF205" in codes(bench, text)


def test_texts_have_no_bounds(bench):
    (bench.folder / "table.csv").write_text(CSV)
    step = "  ends: {use: interval_bounds, with: {attributes: [town]}}\n"
    assert "PPF780" in codes(bench, POLICY.replace("STEP", step).replace("WITH", ""))


def codes(bench, text):
    (bench.folder / "policy.yaml").write_text(text)
    loaded = load(bench.folder / "policy.yaml")
    compiled = compile_policy(loaded, None)
    return [d.code for d in (*loaded.diagnostics, *compiled.diagnostics)]
