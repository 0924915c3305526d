"""Typed columns from file to file: how they are read, released, read back and seen by the second route."""

from __future__ import annotations

import datetime as dt
import json

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.csv as pcsv
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from ppdm_flow.core.attributes import AttributeFacts
from ppdm_flow.core.errors import DataError
from ppdm_flow.core.roles import AttributeType, Role
from ppdm_flow.engine.local.sql import _as_text
from ppdm_flow.engine.streams.multiset import MultisetHash
from ppdm_flow.engine.streams.narrow import NarrowNumbers
from ppdm_flow.engine.streams.numbers import NumberReader, Spellings, numeric
from ppdm_flow.sdk.registry import load
from ppdm_flow.tables.column import Column
from ppdm_flow.tables.numeric.column import NumericColumn, texts_of
from ppdm_flow.tables.table import Table

INTEGER, FLOAT = AttributeType.INTEGER, AttributeType.FLOAT
DATE, TIMESTAMP = AttributeType.DATE, AttributeType.TIMESTAMP

POLICY = """version: 1
name: numbers
source: {path: SOURCE, missing: ["", "-9", "NaN"]WITH}
attributes:
  town: {role: quasi_identifier}
  age: {role: quasi_identifier, type: integer}
  born: {role: insensitive, type: date}
  seen: {role: insensitive, type: timestamp}
  pay: {role: insensitive, type: float}
  code: {role: insensitive}
privacy: {k_anonymity: {k: 2}}
STEPSreleases:
  table: {path: table.parquet}
  sheet: {path: sheet.csv}
"""
CSV = """town,age,born,seen,pay,code
A,+05,2020-02-29,2020-02-29T10:00,1.50,007
A,5,1999-12-31,1999-12-31 23:59:59.500,-9,1.50
A,5,,2020-01-01,12345678901.5,
A,-9,2020-02-29,,1e-7,007
A,,2020-02-29,,-0.0,x
"""
ROWS = {
    ("A", 5, dt.date(2020, 2, 29), dt.datetime(2020, 2, 29, 10), 1.5, "007"),  # noqa: DTZ001
    ("A", 5, dt.date(1999, 12, 31), dt.datetime(1999, 12, 31, 23, 59, 59, 500000), None, "1.50"),  # noqa: DTZ001
    ("A", 5, None, dt.datetime(2020, 1, 1), 12345678901.5, None),  # noqa: DTZ001
    ("A", None, dt.date(2020, 2, 29), None, 1e-7, "007"),
    ("A", None, dt.date(2020, 2, 29), None, 0.0, "x"),
}
LINES = {
    "A,5,2020-02-29,2020-02-29T10:00:00,1.5,007",
    "A,5,1999-12-31,1999-12-31T23:59:59.5,,1.50",
    "A,5,,2020-01-01T00:00:00,12345678901.5,",
    "A,,2020-02-29,,1e-7,007",
    "A,,2020-02-29,,0,x",
}


def policy(source: str, steps: str = "", options: str = "") -> str:
    return POLICY.replace("SOURCE", source).replace("STEPS", steps).replace("WITH", options)


def released(bench, text: str):
    run = bench.run(bench.plan(text))
    assert run.report.verdict == "released", run.report.requirements
    return run.run_dir / "released"


def held_against(folder) -> None:
    table = pq.read_table(folder / "table/table.parquet")
    assert table.schema.types[1:5] == [pa.int64(), pa.date32(), pa.timestamp("us"), pa.float64()]
    assert {tuple(row.values()) for row in table.to_pylist()} == ROWS
    assert set((folder / "sheet/sheet.csv").read_text().splitlines()[1:]) == LINES
    columns = json.loads((folder / "table/dictionary.json").read_text())["attributes"]
    assert [c["type"] for c in columns] == ["text", "integer", "date", "timestamp", "float", "text"]


def test_numbers_of_csv_leave_as_numbers(bench):
    (bench.folder / "table.csv").write_text(CSV)
    held_against(released(bench, policy("table.csv")))


@pytest.mark.slow
def test_what_was_released_as_parquet_and_as_csv_reads_as_the_same_numbers(bench):
    (bench.folder / "table.csv").write_text(CSV)
    folder = released(bench, policy("table.csv"))
    for name, file in (("again.parquet", "table/table.parquet"), ("again.csv", "sheet/sheet.csv")):
        (bench.folder / name).write_bytes((folder / file).read_bytes())
        held_against(released(bench, policy(name)))


@pytest.mark.slow
def test_numbers_that_json_lines_have(bench):
    lines = [
        {"town": "A", "age": 5, "born": "2020-02-29", "seen": "2020-02-29T10:00", "pay": 1.5, "code": "007"},
        {"town": "A", "age": 5, "born": "1999-12-31", "seen": "1999-12-31 23:59:59.5", "pay": -9, "code": "1.50"},
        {"town": "A", "age": 5, "born": None, "seen": "2020-01-01", "pay": 12345678901.5, "code": None},
        {"town": "A", "age": -9, "born": "2020-02-29", "seen": None, "pay": 1e-7, "code": "007"},
        {"town": "A", "age": None, "born": "2020-02-29", "seen": None, "pay": 0.0, "code": "x"},
    ]
    (bench.folder / "table.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    held_against(released(bench, policy("table.jsonl")))


@pytest.mark.slow
def test_labels_of_numbers_leave_as_texts(bench):
    (bench.folder / "table.csv").write_text(CSV)
    steps = "steps: {bands: {use: generalize, with: {attributes: {age: {intervals: [0, 50, 120]}}}}}\n"
    folder = released(bench, policy("table.csv", steps))
    table = pq.read_table(folder / "table/table.parquet")
    assert set(table["age"].to_pylist()) == {"[0, 50)", None}
    columns = json.loads((folder / "table/dictionary.json").read_text())["attributes"]
    assert columns[1]["type"] == "text"


@pytest.mark.slow
def test_a_decimal_comma_and_separators_of_thousands(bench):
    text = CSV.replace(",", ";").replace("1.50;007", "1,50;007").replace("12345678901.5", "12.345.678.901,5")
    text = text.replace("-0.0", "-0,0")
    (bench.folder / "table.csv").write_text(text)
    options = ', with: {delimiter: ";", decimal: comma, thousands: point}'
    held_against(released(bench, policy("table.csv", options=options)))


DATED = """version: 1
name: table
source: {path: table.csv, with: {dates: FORMS}}
attributes: {born: {role: insensitive, type: date}, seen: {role: insensitive, type: timestamp}}
privacy: none
releases: {table: {path: table.csv}}
"""


def test_dates_as_a_csv_source_says_them(bench):
    (bench.folder / "table.csv").write_text(
        "born,seen\n31.12.1999,01.02.2020 12:30\n1.2.2003,\n2004-05-06,2020-01-01T00:00:01\n"
    )
    folder = released(bench, DATED.replace("FORMS", '["%d.%m.%Y", "%d.%m.%Y %H:%M"]'))
    lines = (folder / "table/table.csv").read_text().splitlines()
    assert sorted(lines[1:]) == sorted(
        ["1999-12-31,2020-02-01T12:30:00", "2003-02-01,", "2004-05-06,2020-01-01T00:00:01"]
    )


@pytest.mark.parametrize(
    ("forms", "words"),
    [
        ("%d.%m", "day, month and year"),
        ("yes", "day, month and year"),
        (["%d/%m/%Y", "%m/%d/%Y"], "no two read the same dates"),
    ],
)
def test_forms_of_dates_that_do_not_say_which_day_it_is(forms, words):
    with pytest.raises(ValidationError, match=words):
        load("sources", "csv").params.model_validate({"dates": forms})


def test_a_date_in_another_form_is_an_error(bench):
    (bench.folder / "table.csv").write_text("born,seen\n12/31/1999,\n")
    (fault,) = bench.fails(bench.plan(DATED.replace("FORMS", '"%d.%m.%Y"'))).diagnostics
    assert fault.code == "PPF712"


@pytest.mark.parametrize("wrong", ["1.5", "1,234.5", "12.34,5", "1.2345", "1 000", "1.234.56"])
def test_a_separator_in_another_place_is_no_number(bench, wrong):
    (bench.folder / "table.csv").write_text(CSV.replace(",", ";").replace("1.50;007", f"{wrong};007"))
    options = ', with: {delimiter: ";", decimal: comma, thousands: point}'
    error = bench.fails(bench.plan(policy("table.csv", options=options)))
    assert [(d.code, d.message) for d in error.diagnostics] == [
        ("PPF712", "row 1: column `pay` has a value that is not a valid finite number")
    ]


@pytest.mark.parametrize(
    ("options", "advised", "repeated"),
    [
        ("", "decimal: comma", None),
        (", decimal: comma", "thousands: point", "decimal: comma"),
        (", thousands: point, decimal: comma", None, "thousands"),
        (", thousands: space", "decimal: comma", "thousands: "),
    ],
)
def test_advice_names_the_option_that_is_missing(bench, options, advised, repeated):
    (bench.folder / "table.csv").write_text(CSV.replace(",", ";").replace("1.50;007", "1.234,5x;007"))
    with_ = f', with: {{delimiter: ";"{options}}}'
    (fault,) = bench.fails(bench.plan(policy("table.csv", options=with_))).diagnostics
    assert fault.code == "PPF712"
    assert advised is None or advised in fault.help
    assert repeated is None or repeated not in fault.help


def test_a_parquet_column_that_does_not_fit_its_type(bench):
    table = pcsv.read_csv(pa.BufferReader(CSV.replace("+05", "5").encode()))
    fractions = table.set_column(1, "age", pa.array([5.0, 5.5, 1.0, 2.0, None]))
    pq.write_table(fractions, bench.folder / "table.parquet")
    error = bench.fails(bench.plan(policy("table.parquet")))
    assert [d.message for d in error.diagnostics] == ["row 2: column `age` has a value that is not a valid integer"]


def reader(kind, domain=None, **options):
    return NumberReader(AttributeFacts("x", Role.INSENSITIVE, kind, domain), **options)


def test_what_is_missing_is_so_as_a_text_and_as_a_number():
    cells = pa.array(["-9", "-9.0", "NaN", "n.a.", "1"])
    read = reader(FLOAT, missing=("-9", "NaN", "n.a.")).read(cells, 0)
    assert read.texts() == [None, None, None, None, "1"]
    assert reader(FLOAT, missing=("nan",)).read(pa.array([float("nan"), 1.0]), 0).texts() == [None, "1"]
    with pytest.raises(DataError, match="row 8: column `x` has a value that is not a valid finite number"):
        reader(FLOAT).read(pa.array([1.0, float("nan")]), 6)


def test_a_domain_is_one_of_numbers():
    assert reader(FLOAT, ("0.5", "1")).read(pa.array(["0.50", "1.0", None]), 0).texts() == ["0.5", "1", None]
    with pytest.raises(DataError, match="PPF711"):
        reader(FLOAT, ("0.5", "1")).read(pa.array(["2"]), 0)
    assert reader(FLOAT, ("0.5", "1"), released=True).read(pa.array(["2"]), 0).texts() == ["2"]


def test_all_timestamps_have_an_offset_or_none_also_in_different_blocks():
    moments = reader(TIMESTAMP)
    moments.read(pa.array(["2024-01-01T10:00:00Z"]), 0)
    with pytest.raises(DataError, match="row 3: column `x` has a timestamp with an offset"):
        moments.read(pa.array([None, "2024-01-01T10:00:00"]), 1)


def test_labels_are_numbers_only_where_all_cells_are():
    assert numeric(Column.of(["5", "05", None]), INTEGER).texts() == ["5", "5", None]
    assert numeric(Column.of(["5", "⊥"]), INTEGER) is None
    assert numeric(Column.of(["5", "old"]), INTEGER) is None
    assert numeric(Column(np.array([0], np.int32), pa.array(["5", "old"])), INTEGER).texts() == ["5"]
    assert numeric(Column.of([None, None]), FLOAT).texts() == [None, None]


def spellings(*blocks):
    known = Spellings(AttributeFacts("x", Role.INSENSITIVE, FLOAT))
    texts = []
    for i, cells in enumerate(blocks):
        texts += known.look(Column.of(cells), np.arange(10 * i, 10 * i + len(cells))).texts()
    return texts


def test_a_number_of_another_tool_has_one_spelling():
    """Two would tell rows apart that count as alike."""
    assert spellings(["5.0", "old", "⊥", None], ["5.0", "7", "[1, 2)"]) == ["5", "old", "⊥", None, "5", "7", "[1, 2)"]
    for blocks in (["5", "1", "5.0"],), (["5"], ["1", "5.0"]), (["5.0"], ["7"], ["5"]):
        with pytest.raises(DataError, match="has a number that other rows spell otherwise"):
            spellings(*blocks)


VALUES = {
    INTEGER: st.integers(-(1 << 63), (1 << 63) - 1),
    FLOAT: st.floats(allow_nan=False, allow_infinity=False),
    DATE: st.integers(-719_162, 2_932_896),
    TIMESTAMP: st.integers(-62_135_596_800_000_000, 253_402_300_799_999_999),
}
ARROW = {INTEGER: pa.int64(), FLOAT: pa.float64(), DATE: pa.date32(), TIMESTAMP: pa.timestamp("us")}


@pytest.fixture(scope="module")
def connection():
    with duckdb.connect() as opened:
        yield opened


@pytest.mark.parametrize("kind", list(VALUES))
@given(data=st.data())
def test_the_second_route_spells_numbers_as_the_first_one_does(connection, kind, data):
    cells = data.draw(st.lists(VALUES[kind], min_size=1, max_size=10))
    values = np.array(cells, dtype=np.float64 if kind is FLOAT else np.int64) + 0
    plain = values.astype(np.int32) if kind is DATE else values
    rows = pa.table({"x": pa.array(plain, ARROW[kind])})
    facts = AttributeFacts("x", Role.INSENSITIVE, kind)
    connection.register("t", rows)
    spelled = connection.execute(f"SELECT {_as_text('x', facts)} FROM t").fetchall()
    assert [text for (text,) in spelled] == texts_of(values, kind).to_pylist()


@given(st.lists(st.one_of(st.integers(-(1 << 63), (1 << 63) - 1), st.integers(-200, 200), st.none()), max_size=8))
def test_few_bytes_hold_the_same_numbers(cells):
    numbers = np.array([0 if c is None else c for c in cells], dtype=np.int64)
    column = NumericColumn(numbers, INTEGER, np.array([c is None for c in cells], dtype=bool))
    narrow = NarrowNumbers.of(column)
    assert narrow.column().texts() == column.texts()
    if cells and all(c is None or -128 <= c < 128 for c in cells):
        assert narrow.values.itemsize == 1


def test_the_hash_of_rows_of_numbers():
    """Equal rows in any order have equal hashes; a changed number, mask, place or type has another one."""

    def value(*columns, order=slice(None)):
        rows = {f"c{i}": column.take(order) for i, column in enumerate(columns)}
        hashed = MultisetHash("0123456789abcdef")
        hashed.look(Table(rows, np.arange(len(columns[0].take(order)), dtype=np.int64)))
        return hashed.value

    one, two = NumericColumn(np.array([1, 2, 3]), INTEGER), NumericColumn(np.array([0.5, 0.0, 2.5]), FLOAT)
    other = NumericColumn(np.array([0.5, 0.0, 2.5]), FLOAT, np.array([False, True, False]))
    assert value(one, two) == value(one, two, order=np.array([2, 0, 1]))
    different = {
        value(one, two),
        value(two, one),
        value(one, other),
        value(one, one),
        value(one, two.take(np.array([1, 0, 2]))),
    }
    assert len(different) == 5


def test_labels_that_differ_in_their_spelling_are_different_labels(bench):
    """A step cannot hide small classes behind two spellings of one number."""
    (bench.folder / "table.csv").write_text("town,age\n" + "A,17\nA,18\nA,18\n" * 2)
    text = POLICY[: POLICY.index("  born")] + "privacy: {k_anonymity: {k: 4}}\n"
    text += "steps: {words: {use: recode, with: {attributes: {age: {values: {17: '5', 18: '05'}}}}}}\n"
    text += "releases: {sheet: {path: sheet.csv}}\n"
    run = bench.run(bench.plan(text.replace("SOURCE", "table.csv").replace("WITH", "")))
    assert run.report.verdict == "withheld"
    assert run.report.requirements[0].measured == 2
