"""Partitioned releases: every reader of such folders finds the rows that a release in one file has."""

from __future__ import annotations

import json
import random
from collections import Counter
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.csv as pcsv
import pyarrow.dataset as ds
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, example, given
from hypothesis import strategies as st
from tiers import examples

import ppdm_flow as pf
from ppdm_flow.api import verify
from ppdm_flow.core.errors import DataError, PpdmError, UsageError
from ppdm_flow.core.file_sets import data_sha256
from ppdm_flow.engine.local import partitions
from ppdm_flow.engine.local.partitions import Partitions, Spool
from ppdm_flow.engine.streams.stream import StreamPart
from ppdm_flow.plan.definition import ReleaseNode
from ppdm_flow.tables.table import Table

POLICY = """
version: "1"
name: visits
randomness: {mode: reproducible, seed: 7}
source: {path: visits.csv}
attributes:
  town: {role: insensitive}
  year: {role: insensitive, type: integer}
  ill: {role: sensitive}
  number: {role: insensitive, type: integer}
releases:
  study: {path: study.parquet, partition_by: [town, year]}
"""
VALUE = "zqtown"


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    chosen = random.Random(3)
    towns, ills = ["Lyon", f"{VALUE}/%20 =é", "", "x."], ["flu", "cold"]
    rows = [(chosen.choice(towns), chosen.choice([2001, 2002]), chosen.choice(ills), i) for i in range(600)]
    lines = ["town,year,ill,number", *(",".join(map(str, row)) for row in rows)]
    (tmp_path / "visits.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    (tmp_path / "p.yaml").write_text(POLICY, encoding="utf-8")
    return tmp_path


def run(text: str = POLICY, **words: Any) -> pf.Result:
    Path("p.yaml").write_text(text, encoding="utf-8")
    return pf.run("p.yaml", out="runs", **words)


def folder_of(result: pf.Result) -> Path:
    return result.run_dir / "released" / "study" / result.report["releases"]["study"]["path"].split("/", 1)[1]


def original(home: Path) -> Counter[tuple[Any, ...]]:
    table = pcsv.read_csv(
        home / "visits.csv", convert_options=pcsv.ConvertOptions(null_values=[""], strings_can_be_null=True)
    )
    return Counter(tuple(row.values()) for row in table.to_pylist())


@pytest.mark.slow(quick=2)
@pytest.mark.parametrize("ending", ["parquet", "csv", "csv.gz", "tsv"])
def test_other_readers_find_the_rows(home: Path, ending: str) -> None:
    result = run(POLICY.replace("study.parquet", f"study.{ending}"))
    folder = folder_of(result)
    files = sorted(p.relative_to(folder).as_posix() for p in folder.rglob("*") if p.is_file())
    assert len(files) == 8
    assert all(name.endswith(f"/part-0.{ending}") for name in files)
    assert "town=__HIVE_DEFAULT_PARTITION__/year=2001/part-0." + ending in files
    assert Counter(tuple(row.values()) for row in result.table().to_pylist()) == original(home)
    assert result.table().schema.field("year").type == pa.int64()
    glob = f"{str(folder).replace(chr(39), chr(39) * 2)}/*/*/*"
    options = "hive_partitioning = true, hive_types_autocast = false"
    reader = f"read_parquet('{glob}', {options})" if ending == "parquet" else f"read_csv('{glob}', {options})"
    rows = duckdb.sql(f"SELECT town, year::BIGINT, ill, number::BIGINT FROM {reader}").fetchall()
    assert Counter(rows) == original(home)
    if ending == "parquet":
        keys = pa.schema([("town", pa.string()), ("year", pa.int64())])
        table = ds.dataset(folder, partitioning=ds.HivePartitioning(keys, segment_encoding="uri")).to_table()
        assert Counter(
            map(tuple, zip(*(table[n].to_pylist() for n in ("town", "year", "ill", "number")), strict=True))
        ) == original(home)
        assert set(pq.read_schema(next(folder.rglob("*.parquet"))).names) == {"ill", "number"}


def test_the_report_and_the_dictionary_say_it(home: Path) -> None:
    result = run()
    entry = result.report["releases"]["study"]
    folder = folder_of(result)
    assert entry["rows"] == 600
    assert entry["bytes"] == sum(p.stat().st_size for p in folder.rglob("*") if p.is_file())
    assert entry["sha256"] == data_sha256(folder)
    dictionary = json.loads((folder.parent / "dictionary.json").read_text(encoding="utf-8"))
    assert dictionary["partition_by"] == ["town", "year"]
    assert dictionary["file"] == "study.parquet"
    assert VALUE not in (result.run_dir / "report.json").read_text(encoding="utf-8")
    assert VALUE not in (result.run_dir / "report.html").read_text(encoding="utf-8")


def test_verify_makes_it_again_and_sees_every_change(home: Path) -> None:
    result = run()
    again = verify(result.run_dir, Path("visits.csv"))
    assert again.holds
    assert any("the same bytes" in line or "same" in line for line in again.remeasured.lines)
    folder = folder_of(result)
    file = next(p for p in folder.rglob("*.parquet") if VALUE in str(p))
    content = file.read_bytes()
    file.write_bytes(content[:-1] + b"x")
    assert [VALUE in each for each in verify(result.run_dir).changed] == [False]
    assert "town=…/year=…/part-0.parquet" in verify(result.run_dir).text
    file.rename(file.with_name("part-1.parquet"))
    outcome = verify(result.run_dir)
    assert len(outcome.missing) == len(outcome.extra) == 1
    assert VALUE not in outcome.text
    file.with_name("part-1.parquet").rename(file)
    file.write_bytes(content)
    assert verify(result.run_dir).holds
    moved = folder / "town=Lyon" / "year=2003"
    (folder / "town=Lyon" / "year=2001").rename(moved)  # the same bytes elsewhere are other rows
    assert not verify(result.run_dir).holds


@pytest.mark.slow
def test_columns_before_a_draw_are_made_again(home: Path) -> None:
    """Also where all of them are names of folders."""
    text = POLICY.replace("{mode: reproducible, seed: 7}", "{mode: sealed}").replace(
        "  number: {role: insensitive, type: integer}\n", ""
    )
    text = text.replace("attributes:", "undeclared: drop\nattributes:")
    perturbed = "privacy: {sensitivities: {ill: {default: {tolerance: 8}}}}\nsteps: {p: {use: fine_grain_perturbation}}"
    result = run(text.replace("releases:", f"{perturbed}\nreleases:"))
    again = verify(result.run_dir, Path("visits.csv"))
    assert again.holds
    (line,) = [line for line in again.remeasured.lines if "first draw" in line]
    assert line.endswith("make the same rows in town and year")


@pytest.mark.slow
def test_a_release_in_a_folder_is_audited(home: Path) -> None:
    text = POLICY.replace("{role: insensitive, type: integer}\n  ill", "{role: quasi_identifier, type: integer}\n  ill")
    text = text.replace("town: {role: insensitive}", "town: {role: quasi_identifier}")
    text = text.replace("releases:", "privacy: {k_anonymity: {k: 2}}\nreleases:")
    result = run(text)
    assert result.released
    assert pf.audit("p.yaml", "visits.csv", folder_of(result)).holds
    other = pf.run("p.yaml", out="other")
    first = next(p for p in folder_of(other).rglob("*.parquet") if "year=2001" in str(p))
    lonely = first.parent.parent / "year=1999"
    lonely.mkdir()
    table = pq.read_table(first, partitioning=None).slice(0, 1)
    pq.write_table(table, lonely / "part-0.parquet")
    assert not pf.audit("p.yaml", "visits.csv", folder_of(other)).holds


def test_the_order_of_rows(home: Path) -> None:
    plain = POLICY.replace("year]}", "year], shuffle: false}")
    for file in folder_of(run(plain)).rglob("*.parquet"):
        numbers = pq.read_table(file, partitioning=None)["number"].to_pylist()
        assert numbers == sorted(numbers)
    shuffled = [pq.read_table(f, partitioning=None)["number"].to_pylist() for f in folder_of(run()).rglob("*.parquet")]
    assert all(numbers != sorted(numbers) for numbers in shuffled)


@pytest.mark.slow
def test_bytes_depend_on_rows_alone(home: Path, bench: Any) -> None:
    plan = bench.plan(POLICY, home / "visits.csv")
    hashes = set()
    for words in ({}, {"partition_rows": 37}, {"partition_rows": 37, "memory_limit": 1}):
        hashes.add(bench.run(plan, home / "visits.csv", **words).report.releases["study"]["sha256"])
    assert len(hashes) == 1


TEXT = st.none() | st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0⊥"), min_size=1, max_size=5)


@examples(12, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    rows=st.lists(st.tuples(TEXT, TEXT, st.integers(0, 3)), min_size=1, max_size=60),
    cut=st.integers(1, 60),
    limit=st.sampled_from([0, 1 << 20]),
)
@example(rows=[(".", "..", 0), ("a/b", "=", 1), ("%41", "A", 2)], cut=1, limit=0)
def test_rows_come_by_partition_in_their_order(tmp_path_factory, rows, cut, limit) -> None:
    folder = tmp_path_factory.mktemp("spool")
    columns = {name: [row[i] for row in rows] for i, name in enumerate(("a", "b"))}
    columns["n"] = [str(row[2]) for row in rows]
    tables = [Table.of({n: c[at : at + cut] for n, c in columns.items()}, at) for at in range(0, len(rows), cut)]
    node = ReleaseNode("r", "", "r.csv", "csv", {}, "internal", (), partition_by=("a", "b"))

    class Rows:
        attributes = ()

        def parts(self, _columns=None):
            return (StreamPart(table) for table in tables)

    folded = Counter(f"{a}/{b}".casefold() for a, b in {row[:2] for row in rows})
    if max(folded.values()) > 1:
        with pytest.raises(DataError, match="capitals"):
            Partitions.of(node, Rows())
        return
    parted = Partitions.of(node, Rows())
    got: dict[tuple[str | None, ...], list[int]] = {}
    numbers = []
    for number, table in parted.sorted_tables(Rows().parts(), Spool(("a", "b", "n"), folder, limit)):
        numbers.append(number)
        values = parted.values[number]
        assert set(zip(table["a"].texts(), table["b"].texts(), strict=True)) == {values}
        got.setdefault(values, []).extend(table.rows.tolist())
    assert numbers == sorted(numbers)
    wanted: dict[tuple[str | None, ...], list[int]] = {}
    for place, (a, b, _) in enumerate(rows):
        wanted.setdefault((a, b), []).append(place)
    assert got == wanted
    assert dict(zip(parted.values, parted.rows, strict=True)) == {v: len(r) for v, r in wanted.items()}
    for number, values in enumerate(parted.values):
        place = parted.path(number, Path("home"))
        assert place.name == "part-0.csv"
        texts = [unquote(part.partition("=")[2]) for part in place.parts[1:3]]
        assert texts == ["__HIVE_DEFAULT_PARTITION__" if v is None else v for v in values]
        assert not any(part.startswith(".") or part.endswith(".") for part in place.parts)


@pytest.mark.parametrize(
    ("value", "other", "words"),
    [
        ("zq" * 130, "y", "too long"),
        ("zqA", "zqa", "capitals"),
        ("__HIVE_DEFAULT_PARTITION__", "y", "missing"),
    ],
)
def test_values_that_are_no_folders(home: Path, value: str, other: str, words: str) -> None:
    lines = ["town,year,ill,number", *(f"{t},2001,flu,{i}" for i, t in enumerate([value, other] * 20))]
    Path("visits.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    with pytest.raises(PpdmError) as caught:
        run()
    (diagnostic,) = caught.value.diagnostics
    assert diagnostic.code == "PPF496"
    assert words in diagnostic.message
    assert "zq" not in f"{diagnostic.message} {diagnostic.help}"
    assert not [p for p in Path("runs").rglob("*") if p.is_file()]
    Path("p.yaml").write_text(POLICY.replace("[town, year]", "[year]"), encoding="utf-8")
    assert pf.run("p.yaml", out="runs").released


def test_too_many_partitions(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(partitions, "MOST", 7)
    with pytest.raises(DataError, match="more than 7 partitions"):
        run()
    monkeypatch.setattr(partitions, "MOST", 8)
    assert run().released


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (("[town, year]", "[nope]"), "no column `nope`"),
        (("[town, year]", "[town, town]"), "stands there twice"),
        (("[town, year]", "[town, year, ill, number]"), "no column is left"),
        (("study.parquet", "study.xlsx"), "not read from folders"),
        (("study.parquet", "study.sav"), "not read from folders"),
    ],
)
def test_what_cannot_be_partitioned_is_said_before_the_run(home: Path, change: tuple[str, str], words: str) -> None:
    with pytest.raises(PpdmError) as caught:
        run(POLICY.replace(*change))
    (error,) = [d for d in caught.value.diagnostics if d.severity.value == "error"]
    assert error.code == "PPF495"
    assert words in error.message


def test_a_withheld_release_leaves_nothing(home: Path) -> None:
    text = POLICY.replace("town: {role: insensitive}", "town: {role: quasi_identifier}")
    result = run(text.replace("releases:", "privacy: {k_anonymity: {k: 100000}}\nreleases:"))
    assert not result.released
    assert not list(result.run_dir.rglob("*.parquet"))
    assert VALUE not in "".join(p.read_text("utf-8") for p in result.run_dir.rglob("*.json"))


def test_sets_beside_partitions(home: Path) -> None:
    chosen = np.random.default_rng(1)
    items = [[f"i{j}" for j in chosen.choice(6, 2, replace=False)] for _ in range(100)]
    table = pa.table({"shop": [f"s{i % 3}" for i in range(100)], "items": pa.array(items, pa.list_(pa.string()))})
    pq.write_table(table, "baskets.parquet")
    text = """
version: "1"
name: baskets
source: {path: baskets.parquet}
attributes: {shop: {role: insensitive}, items: {role: items}}
releases: {study: {path: study.parquet, partition_by: [shop]}}
"""
    result = run(text)
    assert result.released
    got = Counter((row["shop"], tuple(sorted(row["items"]))) for row in result.table().to_pylist())
    assert got == Counter((f"s{i % 3}", tuple(sorted(each))) for i, each in enumerate(items))
    with pytest.raises((UsageError, PpdmError)) as caught:
        run(text.replace("[shop]", "[items]"))
    assert "PPF495" in [d.code for d in caught.value.diagnostics]
