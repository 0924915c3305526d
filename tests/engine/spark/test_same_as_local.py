"""The engine of a cluster on a farm in this process: bundled policies make the same releases, with the same figures.

``tests/cluster`` has the same with real sessions of Spark.
"""

from __future__ import annotations

import re
import shutil
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pyarrow as pa
import pytest

from ppdm_flow.api.run import run
from ppdm_flow.api.show import show
from ppdm_flow.api.where import EngineChoice
from ppdm_flow.core.errors import PpdmError, RunError
from ppdm_flow.engine.spark import engine, source
from ppdm_flow.engine.spark.engine import SparkEngine

PIPELINES = Path(__file__).resolve().parents[3] / "pipelines"
BUNDLED = (
    "hospital.yaml",
    "hospital_partition.yaml",
    "hospital_generated.yaml",
    "laboratory.yaml",
    "pharmacy.yaml",
    "wages.yaml",
)
SEED = 'randomness: {mode: reproducible, seed: "7"}\n'


@pytest.fixture
def here(farm_here, monkeypatch) -> Iterator[Callable[..., object]]:
    """Runs a policy by the local engine or, with ``spark=True``, by the cluster's; fragments and parts are small."""
    monkeypatch.setattr(source, "FRAGMENT_ROWS", 3000)
    monkeypatch.setattr(engine, "PART_ROWS", 4096)
    farm = farm_here()

    @contextmanager
    def opened(_where, _name):
        yield SparkEngine(farm)

    def carry_out(policy: Path, out: Path, *, spark: bool, memory: int | None = None):
        with monkeypatch.context() as patched:
            if spark:
                patched.setattr(sys.modules["ppdm_flow.api.run"], "opened_engine", opened)
            return run(policy, out=out, where=EngineChoice(memory=memory))

    carry_out.farm = farm
    return carry_out


def seeded(folder: Path, policy: str, **changes: str) -> Path:
    """Return a bundled policy with a seed, beside its data; a template's floor that refuses seeds is taken away."""
    shutil.copytree(PIPELINES / "data", folder / "data")
    text = (PIPELINES / policy).read_text(encoding="utf-8")
    if "\nextends:" in text:
        text = re.sub(r"\n +randomness.mode:.*", "", show(PIPELINES / policy))
    for before, after in changes.values():
        assert before in text
        text = text.replace(before, after)
    place = folder / policy
    place.write_text(text.replace("\nattributes:", f"\n{SEED}attributes:", 1), encoding="utf-8")
    return place


def released(result) -> dict[str, pa.Table]:
    """Return the rows of each release in their order, part after part."""
    from ppdm_flow.python.result import released_table

    document = result.document
    planned = {release["name"]: release for release in document["plan"]["releases"]}
    return {name: released_table(result.run_dir, about, planned[name]) for name, about in document["releases"].items()}


@pytest.mark.slow(quick=1)
@pytest.mark.parametrize("policy", BUNDLED)
def test_a_bundled_policy_makes_the_same_release(tmp_path, here, policy) -> None:
    path = seeded(tmp_path, policy)
    one, other = (here(path, tmp_path / name, spark=name == "spark") for name in ("local", "spark"))
    assert one.verdict == other.verdict == "released"
    assert one.document["metrics"] == other.document["metrics"]
    assert one.document["requirements"] == other.document["requirements"]
    assert one.document["findings"] == other.document["findings"]
    left, right = released(one), released(other)
    assert left.keys() == right.keys()
    for name, table in left.items():
        assert right[name].to_pylist() == table.to_pylist(), name
    assert here.farm.asked_for["each"] > 5


@pytest.mark.slow
def test_releases_are_part_files_and_verify_makes_them_again(tmp_path, here, cli) -> None:
    path = seeded(tmp_path, "hospital.yaml")
    result = here(path, tmp_path / "spark", spark=True)
    parts = sorted(p.name for p in (result.run_dir / "released" / "billing" / "billing.csv").iterdir())
    assert parts == [f"part-{i:05d}.csv" for i in range(8)]
    done = cli("verify", result.run_dir, "--data", tmp_path / "data" / "hospital.csv.gz")
    assert done.returncode == 0, done
    assert "make the same" in done.stdout + done.stderr


@pytest.mark.slow
def test_partitions_are_the_same_folders(tmp_path, here) -> None:
    path = seeded(
        tmp_path, "hospital.yaml", by=("    path: billing.csv\n", "    path: billing.csv\n    partition_by: [region]\n")
    )
    one, other = (here(path, tmp_path / name, spark=name == "spark") for name in ("local", "spark"))
    folders = [
        sorted(p.name for p in (r.run_dir / "released" / "billing" / "billing.csv").iterdir()) for r in (one, other)
    ]
    assert folders[0] == folders[1] == ["region=coast", "region=inland"]
    assert released(one)["billing"].to_pylist() == released(other)["billing"].to_pylist()


POLICY = """
version: 1
name: visits
randomness: {mode: reproducible, seed: "7"}
source: {path: visits.csv}
attributes:
  age: {role: quasi_identifier, type: integer}
  town: {role: quasi_identifier}
  seen: {role: insensitive, type: timestamp}
  n: {role: weight}
  note: {role: insensitive}
privacy: {k_anonymity: {k: 2}}
releases: {all: {path: all.csv}}
"""


def visits(folder: Path, rows: int = 12_000, **wrong: str) -> Path:
    """Write a CSV file of rows with quotes and line ends in cells; ``wrong`` replaces the line of a row."""
    lines = [
        f'{i % 90},"town {i % 7}",2026-01-{i % 28 + 1:02d}T08:00:00,{i % 3 + 1},"a ""note"",\nline {i}"'
        for i in range(rows)
    ]
    for row, line in wrong.items():
        lines[int(row.removeprefix("row")) - 1] = line
    (folder / "visits.csv").write_text("age,town,seen,n,note\n" + "\n".join(lines) + "\n", encoding="utf-8")
    policy = folder / "visits.yaml"
    policy.write_text(POLICY, encoding="utf-8")
    return policy


@pytest.mark.slow
@pytest.mark.parametrize("missing", [False, True])
def test_weights_timestamps_and_quoted_lines_are_the_same(tmp_path, here, missing) -> None:
    policy = visits(tmp_path, **({"row5": ",x,,2,", "row7000": "3,,2026-01-01,0,z"} if missing else {}))
    one, other = (here(policy, tmp_path / name, spark=name == "spark") for name in ("local", "spark"))
    assert one.document["metrics"] == other.document["metrics"]
    assert released(one)["all"].to_pylist() == released(other)["all"].to_pylist()
    parts = list((other.run_dir / "released" / "all" / "all.csv").iterdir())
    assert len(parts) > 1


@pytest.mark.slow(quick=1)
@pytest.mark.parametrize("change", ["all.csv", "all.parquet", "all.csv, partition_by: [town]"])
def test_records_with_counts_are_one_file_of_the_driver(tmp_path, here, change) -> None:
    """Of weighted rows too: executors write them out singly."""
    policy = visits(tmp_path)
    text = POLICY.replace("  note: {role: insensitive}\n", "").replace("attributes:", "undeclared: drop\nattributes:")
    policy.write_text(text.replace("path: all.csv", f"path: {change}, collapse: count"), encoding="utf-8")
    one, other = (here(policy, tmp_path / name, spark=name == "spark") for name in ("local", "spark"))
    assert one.verdict == other.verdict == "released"
    assert one.document["metrics"] == other.document["metrics"]
    assert released(one)["all"].to_pylist() == released(other)["all"].to_pylist()
    assert sum(released(other)["all"]["count"].to_pylist()) == 24_000
    assert one.document["releases"]["all"]["sha256"] == other.document["releases"]["all"]["sha256"]


@pytest.mark.parametrize(
    ("line", "code"),
    [
        ("90,town,2026-01-01,1", "PPF703"),
        ("ninety,town,2026-01-01,1,x", "PPF712"),
        ("9,town,2026-01-01T00:00:00+01:00,1,x", "PPF712"),
        ("9,town,2026-01-01,-1,x", "PPF715"),
        ("9,\N{NULL},2026-01-01,1,x", "PPF706"),
    ],
)
def test_what_is_wrong_with_a_row_is_said_alike(tmp_path, here, line, code) -> None:
    policy = visits(tmp_path, row11000=line)
    told = []
    for spark in (False, True):
        with pytest.raises(PpdmError) as caught:
            here(policy, tmp_path / "out", spark=spark)
        told.append([(d.code, d.message) for d in caught.value.diagnostics])
    if "+01:00" in line:  # each fragment has one kind, so that the fragment is told, and not the row
        assert [code for code, _ in told[0]] == [code for code, _ in told[1]] == ["PPF712"]
    else:
        assert told[0] == told[1]
    assert told[0][0][0] == code
    assert not list((tmp_path / "out").rglob("released"))


def test_a_whole_table_beyond_the_limit_is_refused_before_it_is_read(tmp_path, here) -> None:
    path = seeded(tmp_path, "hospital_partition.yaml")
    with pytest.raises(RunError) as caught:
        here(path, tmp_path / "out", spark=True, memory=0)
    assert caught.value.diagnostics[0].code == "PPF953"


UNDECLARED = """version: 1
name: shops
source: {path: table.csv}
attributes:
  town: {role: quasi_identifier}
  remark: {role: sensitive}
  code: {role: insensitive}
privacy: {k_anonymity: {k: 2}}
releases: {study: {path: study.csv, audience: public}}
"""


def undeclared(folder: Path, **cells: str) -> Path:
    """Return a policy beside data of 9,000 rows, so of three fragments."""
    rows = [f"{'ab'[i % 2]},{cells.get(str(i), 'ok')},X{i}Y\n" for i in range(9000)]
    (folder / "table.csv").write_text("town,remark,code\n" + "".join(rows))
    (folder / "policy.yaml").write_text(UNDECLARED)
    return folder / "policy.yaml"


@pytest.mark.slow
def test_personal_data_is_looked_for_where_the_rows_are(tmp_path, here):
    policy = undeclared(tmp_path, **{"10": "jo@example.org", "8000": "al@example.org"})
    found = [here(policy, tmp_path / engine, spark=engine == "spark").report.findings for engine in ("local", "spark")]
    told = [[f.text for f in findings if f.code == "PPF649"] for findings in found]
    assert told[0] == told[1]
    assert "e-mail addresses (2 rows)" in told[0][0]
    assert "codes that nearly every row has for itself (9,000 rows)" in told[0][1]


def test_two_spellings_are_found_where_the_rows_are(tmp_path, here):
    policy = undeclared(tmp_path, **{"10": "Flu", "8000": "flu"})
    with pytest.raises(PpdmError) as caught:
        here(policy, tmp_path / "spark", spark=True)
    assert [d.code for d in caught.value.diagnostics] == ["PPF932"]
    assert caught.value.diagnostics[0].message.startswith("rows 11 and 8,001:")
