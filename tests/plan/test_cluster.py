"""What a run on a cluster takes, said before it."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from ppdm_flow.api.plan import plan
from ppdm_flow.api.where import EngineChoice
from ppdm_flow.core.errors import RunError
from ppdm_flow.plan.cluster.amounts import combinations, table_bytes
from ppdm_flow.plan.cluster.foreseen import PER_ROWS

SPARK = EngineChoice("spark")
POLICY = """version: 1
name: small
source: {path: table.csv}
attributes:
  age: {role: quasi_identifier, type: integer}
  sex: {role: quasi_identifier, domain: [f, m]}
  ill: {role: sensitive, domain: [flu, cold]}
privacy: {k_anonymity: {k: 2}}
steps:
  STEP
releases: {out: {path: out.csv}}
"""
STEPS = {
    "row": "hide: {use: rename, with: {attributes: {ill: illness}}}",
    "strict": "classes: {use: mondrian}",
    "relaxed": "classes: {use: mondrian, with: {partitioning: relaxed}}",
    "table": "mixed: {use: swap, with: {attributes: [ill], share: 0.1}}",
}


def small(folder: Path, step: str, rows: int | None = None) -> Path:
    if rows is not None:
        lines = [f"{i % 90},{'fm'[i % 2]},flu" for i in range(rows)]
        (folder / "table.csv").write_text("\n".join(["age,sex,ill", *lines]) + "\n", encoding="utf-8")
    policy = folder / "small.yaml"
    policy.write_text(POLICY.replace("STEP", STEPS[step]), encoding="utf-8")
    return policy


def works(path: Path, **more):
    cluster = plan(path, where=SPARK, **more).cluster
    return cluster, {work.title: work for work in cluster.works}


def test_each_step_release_and_audit_has_a_line(tmp_path) -> None:
    ready = plan(small(tmp_path, "strict"), where=SPARK)
    titles = [work.title for work in ready.cluster.works]
    steps = [f"step {node.name}" for node in ready.plan.steps]
    assert titles == ["read", *steps, "write out", *(f"audit {node.name}" for node in ready.plan.audits)]
    assert ready.picture("text").startswith(plan(small(tmp_path, "strict")).picture("text"))
    for title in titles:
        assert title in ready.picture("text")


def test_what_a_step_takes(tmp_path) -> None:
    _, by_title = works(small(tmp_path, "row"), rows=10**9)
    assert by_title["step hide"].amount.passes == 0
    assert by_title["step hide"].where == "distributed"
    _, by_title = works(small(tmp_path, "strict"), rows=10**9)
    classes = by_title["step classes"]
    assert (classes.where, classes.whole_table, classes.amount.bound) == ("distributed", False, True)
    _, by_title = works(small(tmp_path, "relaxed"), rows=10**6)
    assert (by_title["step classes"].where, by_title["step classes"].whole_table) == ("driver", True)
    _, by_title = works(small(tmp_path, "table"), rows=10**6)
    mixed = by_title["step mixed"]
    assert (mixed.where, mixed.amount.driver_bytes) == ("driver", table_bytes(10**6, 3))
    assert by_title["write out"].where == "driver"
    assert by_title["audit k_anonymity"].where == "driver"


def test_over_the_limit_it_is_refused_with_the_name_of_the_step(tmp_path) -> None:
    cluster, by_title = works(small(tmp_path, "table"), rows=10**9)
    assert by_title["step mixed"].where == "not"
    with pytest.raises(RunError) as caught:
        cluster.check()
    assert {d.code for d in caught.value.diagnostics} == {"PPF953"}
    assert any(d.message.startswith("step mixed needs 18.6 GB on the driver") for d in caught.value.diagnostics)
    rows, memory = 10**6, table_bytes(10**6, 3) >> 20
    works(small(tmp_path, "table"), rows=rows)[0].check()
    enough = plan(small(tmp_path, "table"), where=EngineChoice("spark", memory=memory + 1), rows=rows)
    assert "step mixed" not in enough.cluster.document["refused"]
    less = plan(small(tmp_path, "table"), where=EngineChoice("spark", memory=memory - 1), rows=rows)
    assert "step mixed" in less.cluster.document["refused"]
    works(small(tmp_path, "strict"), rows=10**12)[0].check()


def test_an_order_goes_through_the_shuffle(tmp_path) -> None:
    _, by_title = works(small(tmp_path, "row"), rows=1000)
    assert by_title["write out"].amount.shuffled == 1000 * (3 * 4 + 8 + 8)


def test_domains_bound_combinations() -> None:
    class Column:
        def __init__(self, domain):
            self.domain = domain

    assert combinations([Column(("a", "b")), Column(("c",))], 1000) == (12, True)
    assert combinations([Column(("a", "b")), Column(None)], 1000) == (1000, False)
    assert combinations([Column(("a", "b")), Column(("c",))], 11) == (11, False)
    assert combinations([], 11) == (1, True)


@pytest.mark.parametrize("packed", [False, True])
def test_rows_of_csv_are_guessed(tmp_path, packed) -> None:
    policy = small(tmp_path, "row", 60_000)
    if packed:
        file = tmp_path / "packed.csv.gz"
        file.write_bytes(gzip.compress((tmp_path / "table.csv").read_bytes()))
    else:
        file = tmp_path / "table.csv"
    cluster = plan(policy, data=file, where=SPARK).cluster
    (rows,) = cluster.rows.values()
    assert rows.about
    assert 50_000 < rows.number < 70_000
    text = plan(policy, data=file, where=SPARK).picture("text")
    assert "about" in text
    assert ("it is packed" in text) == packed


def test_rows_of_parquet_are_those_of_its_metadata_and_of_several_files_their_sum(tmp_path) -> None:
    policy = small(tmp_path, "row")
    table = pa.table({"age": pa.array([1, 2, 3], pa.int64()), "sex": ["f", "m", "f"], "ill": ["flu"] * 3})
    folder = tmp_path / "parts"
    folder.mkdir()
    for number in range(2):
        pq.write_table(table, folder / f"{number}.parquet")
    (one,) = plan(policy, data=folder / "0.parquet", where=SPARK).cluster.rows.values()
    (both,) = plan(policy, data=folder, where=SPARK).cluster.rows.values()
    assert (one.number, one.about, one.several) == (3, False, False)
    assert (both.number, both.about, both.several) == (6, False, True)


def test_where_nobody_knows_amounts_are_for_a_million_rows(tmp_path) -> None:
    cluster, by_title = works(small(tmp_path, "table"))
    assert cluster.document["rows"]["source"] == {
        "rows": None,
        "about": False,
        "how": "",
        "amounts_are_for": PER_ROWS,
    }
    assert by_title["step mixed"].amount.driver_bytes == table_bytes(PER_ROWS, 3)
    assert "nobody knows how many rows" in plan(small(tmp_path, "table"), where=SPARK).picture("text")


def test_releases_read_together_and_linked_tables_are_held(root) -> None:
    _, by_title = works(root / "pipelines/hospital.yaml", rows=1000)
    assert by_title["join billing + medical"].where == "driver"
    assert by_title["people of releases"].amount.driver_bytes == 2 * 1000 * 72
    cluster, by_title = works(root / "pipelines/clinic_visits.yaml", rows=1000)
    assert set(cluster.rows) == {"patients", "visits"}
    assert by_title["people of patients"].where == "driver"
    assert "join patients + visits" in by_title


def test_the_printed_document_has_it_and_the_plan_does_not(tmp_path) -> None:
    ready = plan(small(tmp_path, "row"), where=SPARK, rows=5)
    printed = json.loads(json.dumps(ready.with_preview))
    assert printed["cluster"]["parts"][0]["what"] == "read"
    assert "cluster" not in ready.document
    assert ready.document == plan(small(tmp_path, "row")).document
    assert {part["where"] for part in printed["cluster"]["parts"]} <= {"distributed", "driver", "not"}


@pytest.mark.parametrize(
    "policy",
    sorted(path.name for path in (Path(__file__).parents[2] / "pipelines").glob("*.yaml")),
)
def test_every_bundled_policy_is_foreseen(root, policy) -> None:
    path = root / "pipelines" / policy
    cluster = plan(path, where=SPARK, rows=10_000).cluster
    assert len(cluster.works) >= 4
    cluster.check()
