"""Releases of distinct records with their counts: every reader of such a file has the rows again."""

from __future__ import annotations

import csv
import json
import random
from collections import Counter
from datetime import datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as pcsv
import pyarrow.parquet as pq
import pytest

import ppdm_flow as pf
from ppdm_flow import api
from ppdm_flow.api import verify
from ppdm_flow.core.errors import DataError, PolicyError, PpdmError
from ppdm_flow.engine.local import sql
from ppdm_flow.engine.opening import collapsed
from ppdm_flow.engine.opening.collapsed import CollapsingSink, expanded
from ppdm_flow.page.services.released.files import ReleasedFolder
from ppdm_flow.page.services.tables.copying import text_tables
from ppdm_flow.page.services.tables.tables import ReleasedTable

PIPELINES = Path(__file__).resolve().parents[3] / "pipelines"
POLICY = """
version: "1"
name: visits
randomness: {mode: reproducible, seed: 7}
source: {path: visits.csv}
attributes:
  town: {role: quasi_identifier}
  age: {role: quasi_identifier, type: integer}
  ill: {role: sensitive}
privacy:
  k_anonymity: {k: 2}
  l_diversity: {ill: {l: 2}}
  t_closeness: {ill: {t: 0.7}}
releases:
  study: {path: study.csv}
"""
COLLAPSED = POLICY.replace("{path: study.csv}", "{path: study.csv, collapse: count}")


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    write_rows(200, random.Random(3))
    return tmp_path


def write_rows(number: int, chosen: random.Random) -> list[list[str]]:
    towns, ages, ills = ["Lyon", 'q,"a"', "", "é"], ["40", "50", ""], ["flu", "cold", "", "⊥x"]
    rows = [[chosen.choice(each) for each in (towns, ages, ills)] for _ in range(number)]
    with Path("visits.csv").open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([["town", "age", "ill"], *rows])
    return rows


def run(text: str = COLLAPSED, **words: Any) -> pf.Result:
    Path("p.yaml").write_text(text, encoding="utf-8")
    return pf.run("p.yaml", out="runs", **words)


def file_of(result: pf.Result) -> Path:
    return result.run_dir / "released" / result.report["releases"]["study"]["path"]


def records(result: pf.Result) -> list[tuple[Any, ...]]:
    return [tuple(row.values()) for row in result.table().to_pylist()]


def judged(result: Any) -> dict[Any, Any]:
    return {(r["id"], r["release"], r["metric"]): (r["measured"], r["holds"]) for r in result.report["requirements"]}


def original() -> Counter[tuple[Any, ...]]:
    options = pcsv.ConvertOptions(null_values=[""], strings_can_be_null=True)
    return Counter(tuple(row.values()) for row in pcsv.read_csv("visits.csv", convert_options=options).to_pylist())


@pytest.mark.slow(quick=2)
@pytest.mark.parametrize("ending", ["csv", "parquet", "tsv", "csv.gz", "xlsx", "dta", "sav"])
def test_each_record_is_written_once_with_its_count(home: Path, ending: str) -> None:
    result = run(COLLAPSED.replace("study.csv", f"study.{ending}"))
    assert result.released
    table = result.table()
    assert table.column_names == ["town", "age", "ill", "count"]
    if ending not in {"dta", "sav"}:  # whose numbers are floating point
        assert table.schema.field("count").type == pa.int64()
    found = {row[:3]: row[3] for row in records(result)}
    assert len(found) == table.num_rows
    assert sum(found.values()) == result.report["releases"]["study"]["rows"] == 200
    texts = {tuple("" if v is None else v for v in record): count for record, count in found.items()}
    assert texts == {tuple("" if v is None else v for v in record): n for record, n in original().items()}
    plain = run(POLICY if ending == "xlsx" else POLICY.replace("study.csv", f"study.{ending}"))  # no row without cells
    assert judged(result) == judged(plain)
    again = verify(result.run_dir, Path("visits.csv"))
    assert again.holds
    assert any("same bytes" in line for line in again.remeasured.lines)
    assert pf.audit("p.yaml", "visits.csv", file_of(plain)).holds


def test_bytes_are_a_function_of_the_rows(home: Path) -> None:
    first = file_of(run()).read_bytes()
    lines = Path("visits.csv").read_text(encoding="utf-8").splitlines()
    Path("visits.csv").write_text("\n".join([lines[0], *reversed(lines[1:])]) + "\n", encoding="utf-8")
    assert file_of(run(COLLAPSED.replace("seed: 7", "seed: 8"))).read_bytes() == first


def test_recipients_are_told(home: Path) -> None:
    result = run(
        COLLAPSED.replace("collapse: count", "collapse: {count: persons}, audience: public").replace(
            "{mode: reproducible, seed: 7}", "{mode: sealed}"
        )
    )
    folder = file_of(result).parent
    dictionary = json.loads((folder / "dictionary.json").read_text(encoding="utf-8"))
    (counts,) = [a for a in dictionary["attributes"] if a["name"] == "persons"]
    assert (counts["role"], counts["type"]) == ("weight", "integer")
    assert "equal to this record" in counts["description"]
    assert result.report["releases"]["study"]["columns"] == 4
    sheet = (folder / "datasheet.md").read_text(encoding="utf-8")
    assert "persons says how many rows it represents" in sheet
    assert "| persons | whole number" in sheet
    public = (result.run_dir / "report.md").read_text(encoding="utf-8")
    assert "how many rows are equal to this record" in public


def test_the_page_shows_rows(home: Path) -> None:
    result = run()
    table = ReleasedTable.of(ReleasedFolder(result.run_dir, "study"))
    assert [c.name for c in table.columns] == ["town", "age", "ill"]
    pieces = text_tables(file_of(result), table.format, table.options, [c.name for c in table.columns])
    assert sum(piece.num_rows for piece in pieces) == table.rows == 200


def test_a_release_that_does_not_hold_is_withheld(home: Path) -> None:
    """One row of its own among many is found in the counts as it is in the rows."""
    with Path("visits.csv").open("a", encoding="utf-8") as file:
        file.write("Nice,40,flu\n")
    assert not run().released
    assert judged(run()) == judged(run(POLICY))


def test_partitions_of_records(home: Path) -> None:
    text = COLLAPSED.replace("collapse: count", "collapse: count, partition_by: [age]")
    for ending in ("csv", "parquet"):
        result = run(text.replace("study.csv", f"study.{ending}"))
        assert judged(result) == judged(run(POLICY))
        assert Counter({row[:3]: row[3] for row in records(result)}) == original()
        assert verify(result.run_dir, Path("visits.csv")).holds


def test_two_releases_are_judged_together_by_their_rows(home: Path) -> None:
    text = (
        COLLAPSED.replace("k_anonymity: {k: 2}", "k_anonymity: {k: 2}\n  cumulative_k: {k: 2}")
        .replace(
            "releases:",
            "steps:\n  less: {use: drop, with: {attributes: [age]}, input: source}\nreleases:\n"
            "  other: {from: less, path: other.parquet, collapse: {count: rows}}",
        )
        .replace("study: {", "study: {from: source, ")
    )
    counted, plain = run(text), run(text.replace(", collapse: count", "").replace(", collapse: {count: rows}", ""))
    assert judged(counted) == judged(plain)
    assert {id_ for id_, _, _ in judged(counted)} > {"privacy.k_anonymity"}
    assert any("cumulative" in metric for _, _, metric in judged(counted))
    assert counted.released == plain.released


def test_weighted_rows_become_records(home: Path) -> None:
    """Table 2 of Wang, Fung and Yu (ICDM 2005)."""
    result = pf.run(PIPELINES / "bank_credit_records.yaml", out="runs")
    assert result.released
    counts = Counter()
    for *record, _rating, count in records(result):
        counts[tuple(record)] += count
    assert counts == {
        ("Cook", "US", "No", "Current"): 4,
        ("Artist", "France", "No", "Current"): 4,
        ("Doctor", "US", "Yes", "Never"): 6,
        ("⊥", "⊥", "No", "Never"): 5,
        ("⊥", "⊥", "No", "Discharged"): 5,
    }
    ratings = {tuple(record): count for *record, count in records(result)}
    assert len(ratings) == 7
    assert ratings["Doctor", "US", "Yes", "Never", "Good"] == 4
    assert ratings["⊥", "⊥", "No", "Discharged", "Good"] == 5
    weighted = pf.run(PIPELINES / "bank_credit.yaml", out="runs")
    assert judged(result) == judged(weighted)
    assert verify(result.run_dir, PIPELINES / "data" / "bank_credit.csv").holds


def test_files_of_other_tools(home: Path) -> None:
    """The count is the policy's own column, the one that is said, or there is none."""
    Path("p.yaml").write_text(COLLAPSED, encoding="utf-8")
    wanted = judged(run())
    counted = original()
    with Path("theirs.csv").open("w", encoding="utf-8", newline="") as file:
        rows = [("rows", "ill", "age", "town"), *((n, *reversed(record)) for record, n in counted.items())]
        csv.writer(file, delimiter=";").writerows(rows)
    words = [("delimiter", ";"), ("count", "rows")]
    assert figures(api.audit(Path("p.yaml"), None, Path("theirs.csv"), released_with=words)) == figures_of(wanted)
    Path("said.yaml").write_text(
        POLICY.replace("study.csv}", 'study.csv, received: {delimiter: ";", count: rows}}'), encoding="utf-8"
    )
    assert figures(api.audit(Path("said.yaml"), None, Path("theirs.csv"))) == figures_of(wanted)
    assert figures(api.audit(Path("p.yaml"), None, Path("visits.csv"))) == figures_of(wanted)  # no counts: rows
    for said, message in (("town", "is a column of release"), ("nope", "has no column `nope`")):
        with pytest.raises(DataError, match=message) as caught:
            api.audit(Path("p.yaml"), None, Path("theirs.csv"), released_with=[words[0], ("count", said)])
        assert caught.value.diagnostics[0].code == "PPF498"
    with pytest.raises(DataError) as caught:
        api.audit(Path("p.yaml"), None, Path("theirs.csv"), released_with=words[:1])
    assert caught.value.diagnostics[0].code == "PPF709"


def figures(audited: Any) -> dict[str, Any]:
    return {r.id: (r.measured, r.holds) for r in audited.report.requirements}


def figures_of(every: dict[Any, Any]) -> dict[str, Any]:
    return {id_: value for (id_, _, _), value in every.items()}


@pytest.mark.parametrize("count", ["0", "-1", "1.5", "", "zq", "01", "1000000000000"])
def test_counts_that_are_none(home: Path, count: str) -> None:
    Path("theirs.csv").write_text(f"town,age,ill,count\nLyon,40,flu,2\nLyon,40,cold,{count}\n", encoding="utf-8")
    Path("p.yaml").write_text(COLLAPSED, encoding="utf-8")
    with pytest.raises(DataError, match="row 2: column `count`") as caught:
        api.audit(Path("p.yaml"), None, Path("theirs.csv"))
    (diagnostic,) = caught.value.diagnostics
    assert diagnostic.code == "PPF498"
    assert "zq" not in diagnostic.message


def test_counts_of_more_rows_than_are_read(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two counts that come to fifty billion rows; with the bound at three rows, three are read, and four are not."""
    Path("p.yaml").write_text(COLLAPSED, encoding="utf-8")
    lines = "town,age,ill,count\nLyon,40,flu,2\nLyon,40,cold,{}\n"
    Path("theirs.csv").write_text(lines.format(50_000_000_000), encoding="utf-8")
    with pytest.raises(DataError, match="more than 1,000,000,000 rows"):
        api.audit(Path("p.yaml"), None, Path("theirs.csv"))
    monkeypatch.setattr(collapsed, "MOST_ROWS", 3)
    Path("theirs.csv").write_text(lines.format(1), encoding="utf-8")
    api.audit(Path("p.yaml"), None, Path("theirs.csv"))
    Path("theirs.csv").write_text(lines.format(2), encoding="utf-8")
    with pytest.raises(DataError, match="more than 3 rows") as caught:
        api.audit(Path("p.yaml"), None, Path("theirs.csv"))
    assert caught.value.diagnostics[0].code == "PPF498"


def test_a_changed_count_is_seen(home: Path) -> None:
    result = run()
    file = file_of(result)
    lines = file.read_text(encoding="utf-8").splitlines()
    head, _, count = lines[1].rpartition(",")
    file.write_text("\n".join([lines[0], f"{head},{int(count) + 1}", *lines[2:]]) + "\n", encoding="utf-8")
    outcome = verify(result.run_dir, Path("visits.csv"))
    assert not outcome.holds


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (("collapse: count", "collapse: {count: Town}"), "column `town` already"),
        (("collapse: count", "collapse: count, shuffle: false"), "order of the rows"),
        (
            ("collapse: count", 'collapse: count, into: {url: "postgresql://db.example/x", table: t}'),
            "holds the rows themselves",
        ),
    ],
)
def test_what_cannot_be_counted_is_said_before_the_run(home: Path, change: tuple[str, str], words: str) -> None:
    with pytest.raises(PpdmError) as caught:
        run(COLLAPSED.replace(*change))
    (error,) = [d for d in caught.value.diagnostics if d.severity.value == "error"]
    assert error.code == "PPF497"
    assert words in error.message


def test_weighted_rows_are_counted_in_every_release_or_in_none(home: Path) -> None:
    """What two releases tell together is found by row numbers, which are those of weighted or of single rows."""
    text = (PIPELINES / "bank_credit.yaml").read_text(encoding="utf-8")
    text = text.replace("data/bank_credit.csv", f"{PIPELINES}/data/bank_credit.csv")
    both = text.replace(
        "  study: {path: bank_credit.csv}", "  a: {path: a.csv, collapse: count}\n  b: {path: b.csv, collapse: count}"
    )
    one = both.replace("b.csv, collapse: count", "b.csv")
    with pytest.raises(PolicyError, match="those of release `b` are not") as caught:
        run(one)
    assert caught.value.diagnostics[0].code == "PPF497"
    assert run(both).released
    assert run(f"{one}recipients: apart\n").released


def test_sets_are_not_counted(home: Path) -> None:
    pq.write_table(pa.table({"items": pa.array([["a"], ["b"]], pa.list_(pa.string()))}), "baskets.parquet")
    text = """
version: "1"
name: baskets
source: {path: baskets.parquet}
attributes: {items: {role: items}}
releases: {study: {path: study.parquet, collapse: count}}
"""
    with pytest.raises(PolicyError, match="holds sets"):
        run(text)


def test_linked_tables_are_not_counted(home: Path) -> None:
    Path("people.csv").write_text("person,town\n1,a\n2,b\n", encoding="utf-8")
    Path("stays.csv").write_text("person,ill\n1,x\n2,y\n", encoding="utf-8")
    text = """
version: "1"
name: linked
tables:
  people: {source: {path: people.csv}, key: person, attributes: {person: {role: subject}, town: {role: insensitive}}}
  stays: {source: {path: stays.csv}, refers: {person: people}, attributes: {ill: {role: insensitive}}}
people: {known_rows: 1}
privacy: none
releases:
  one: {from: people, path: one.csv, collapse: count}
  two: {from: stays, path: two.csv}
"""
    with pytest.raises(PolicyError) as caught:
        run(text)
    assert "PPF549" in [d.code for d in caught.value.diagnostics]


@pytest.mark.random(quick=4)
@pytest.mark.parametrize("seed", range(40))
def test_figures_are_those_of_the_rows(home: Path, seed: int) -> None:
    """Both routes agree within each run (else it ends with PPF902), and collapsed or not the figures are the same."""
    chosen = random.Random(seed)
    write_rows(chosen.choice([3, 12, 60, 200]), chosen)
    ending, nulls = chosen.choice(["csv", "parquet"]), chosen.choice(["own_category", "wildcard", "exclude"])
    change = [("releases:", f"nulls: {nulls}\nreleases:"), ("study.csv", f"study.{ending}")]
    if nulls == "wildcard":
        change.append(("  t_closeness: {ill: {t: 0.7}}\n", ""))
    plain, counted = POLICY, COLLAPSED
    if chosen.random() < 0.5:
        lines = Path("visits.csv").read_text(encoding="utf-8").splitlines()
        weights = ["n", *(str(chosen.choice([0, 1, 2, 30])) for _ in lines[1:-1]), "1"]
        text = "\n".join(f"{line},{n}" for line, n in zip(lines, weights, strict=True))
        Path("visits.csv").write_text(f"{text}\n", encoding="utf-8")
        change.append(("  ill: {role: sensitive}", "  ill: {role: sensitive}\n  n: {role: weight}"))
    for old, new in change:
        plain, counted = plain.replace(old, new), counted.replace(old, new)
    one, other = run(plain), run(counted)
    assert judged(one) == judged(other)
    assert one.released == other.released


class Kept:
    """A writer that keeps what it is given."""

    def __init__(self) -> None:
        self.batches: list[pa.RecordBatch] = []
        self.closed = False

    def write(self, batch: pa.RecordBatch) -> None:
        self.batches.append(batch)

    def close(self) -> None:
        self.closed = True


class Given:
    """A reader of batches."""

    def __init__(self, batches: list[pa.RecordBatch]) -> None:
        self._batches = batches

    def names(self) -> tuple[str, ...]:
        return tuple(self._batches[0].schema.names)

    def batches(self, columns):
        return (batch.select(list(columns)) for batch in self._batches)


DAY = datetime(2026, 1, 2, 3, 4, 5)  # noqa: DTZ001  # as files have it
VALUES = {
    pa.string(): ["a", ""],
    pa.dictionary(pa.int32(), pa.string()): ["a", ""],
    pa.int64(): [-1, 2],
    pa.float64(): [0.1, 1e300],
    pa.float16(): [np.float16(0.5), np.float16(2)],
    pa.bool_(): [True, False],
    pa.date32(): [DAY.date(), DAY.date() + timedelta(1)],
    pa.timestamp("us"): [DAY, DAY + timedelta(1)],
    pa.timestamp("ns", "UTC"): [DAY, DAY + timedelta(1)],
    pa.time32("s"): [DAY.time(), DAY.time().replace(second=1)],
    pa.duration("s"): [timedelta(1), timedelta(2)],
    pa.decimal128(12, 2): [Decimal("1.20"), Decimal("-3.45")],
}


@pytest.mark.parametrize("kind", VALUES, ids=str)
def test_every_type_that_is_released_comes_back(kind: pa.DataType, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(collapsed, "_TOGETHER", 50)
    monkeypatch.setattr(collapsed, "_ROWS", 7)
    numbers = np.random.default_rng(5).integers(0, 3, 300)
    column = pa.array([None, *VALUES[kind]], kind).take(pa.array(numbers))
    kept = Kept()
    sink = CollapsingSink(kept, ["count_sum"], "rows", typed=True)
    for start in range(0, 300, 40):
        sink.write(pa.RecordBatch.from_arrays([column[start : start + 40]], ["count_sum"]))
    sink.close()
    assert kept.closed
    table = pa.Table.from_batches(kept.batches)
    counted = Counter(map(str, column.to_pylist()))
    assert dict(zip(map(str, table["count_sum"].to_pylist()), table["rows"].to_pylist(), strict=True)) == counted
    rows = pa.Table.from_batches(list(expanded(Given(kept.batches), "rows").batches(["count_sum"])))
    assert Counter(map(str, rows["count_sum"].to_pylist())) == counted
    assert sum(batch.num_rows for batch in expanded(Given(kept.batches), "rows").batches([])) == 300


def test_the_second_route_makes_rows_of_its_own(home: Path) -> None:
    """DuckDB expands what it reads itself, in blocks, for any names of columns."""
    table = pa.table({"start": ["a", "b", None], "range": ["x", "x", "y"], "Number of": [2, 1025, 3000]})
    pq.write_table(table, "t.parquet")
    rows = sql._expanded("read_parquet('t.parquet')", "Number of")
    found = duckdb.sql(f'SELECT start, "range", count(*) FROM {rows} GROUP BY ALL').fetchall()
    assert Counter(found) == Counter(zip(*(table[n].to_pylist() for n in table.column_names), strict=True))
    assert pc.sum(table["Number of"]).as_py() == sum(row[2] for row in found)
