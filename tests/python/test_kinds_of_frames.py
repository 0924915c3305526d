"""What a data frame holds arrives as it is; what cannot be held is an error before anything is run."""

from __future__ import annotations

import datetime as dt
import json
from decimal import Decimal
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given
from hypothesis import strategies as st
from tiers import examples

import ppdm_flow as pf
from ppdm_flow.core.errors import DataError, PpdmError
from ppdm_flow.core.pages import pages
from ppdm_flow.python.frames import as_file, reader_of
from ppdm_flow.sources.parquet.algorithm import ParquetSource
from ppdm_flow.sources.parquet.spec import ParquetSourceParams

CANARY = "canary-5d0e"
TEXTS = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\x00"), max_size=8)
MOMENTS = st.datetimes(dt.datetime.fromisoformat("1700-01-01"), dt.datetime.fromisoformat("2200-01-01"))
KINDS = [
    (pa.int64(), st.integers(-(2**63), 2**63 - 1), str),
    (pa.uint64(), st.integers(0, 2**64 - 1), str),
    (pa.int8(), st.integers(-128, 127), str),
    (pa.float64(), st.floats(allow_nan=False, allow_infinity=False), None),
    (pa.bool_(), st.booleans(), lambda v: str(v).lower()),
    (pa.string(), TEXTS, str),
    (pa.large_string(), TEXTS, str),
    (pa.string_view(), TEXTS, str),
    (pa.dictionary(pa.int32(), pa.string()), TEXTS, str),
    (pa.date32(), st.dates(dt.date(1, 1, 1)), str),
    (pa.timestamp("us"), MOMENTS, None),
    (pa.timestamp("us", "UTC"), MOMENTS.map(lambda m: m.replace(tzinfo=dt.UTC)), None),
    (pa.decimal128(12, 3), st.decimals(-(10**8), 10**8, places=3), lambda v: f"{v:.3f}"),
]


def read(data, column="c"):
    with as_file(data) as file:
        batches = ParquetSource(ParquetSourceParams(), Path(file)).batches((column,))
        return [value for batch in batches for value in batch.column(0).to_pylist()]


@pytest.mark.slow(quick=6)
@examples(10, suppress_health_check=[HealthCheck.function_scoped_fixture])
@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: str(kind[0]))
@given(data=st.data())
def test_values_of_arrow_arrive(kind, data):
    type_, values, text = kind
    given_ = data.draw(st.lists(st.none() | values, min_size=1, max_size=6))
    got = read(pa.table({"c": pa.array(given_, type_)}))
    assert [g is None for g in got] == [v is None for v in given_]
    for value, read_ in zip(given_, got, strict=True):
        if value is None:
            continue
        if text:
            assert read_ == text(value)
        elif isinstance(value, float):
            assert float(read_) == value
        else:
            assert dt.datetime.fromisoformat(read_) == value


@examples(10)
@given(st.lists(st.none() | TEXTS, min_size=1, max_size=6), st.lists(st.none() | st.integers(-9, 2**53)))
def test_pandas_and_polars_arrive_alike(words, numbers):
    polars = pytest.importorskip("polars", reason="polars is not installed")
    for frame in (
        pd.DataFrame({"c": words}),
        pd.DataFrame({"c": pd.Series(words, dtype="string")}),
        pd.DataFrame({"c": pd.Categorical(words)}),
        polars.DataFrame({"c": polars.Series("c", words, dtype=polars.String)}),
        polars.DataFrame({"c": polars.Series("c", words, dtype=polars.Categorical)}),
    ):
        assert read(frame) == words
    digits = [None if n is None else str(n) for n in numbers]
    if numbers:
        assert read(pd.DataFrame({"c": pd.array(numbers, dtype="Int64")})) == digits
        assert read(polars.DataFrame({"c": polars.Series("c", numbers, dtype=polars.Int64)})) == digits


def test_moments_of_pandas_and_polars_keep_their_zone():
    polars = pytest.importorskip("polars", reason="polars is not installed")
    moment = dt.datetime(2024, 7, 1, 12, 30, tzinfo=dt.UTC)
    here = pd.Series([moment, None]).dt.tz_convert("Europe/Vienna")
    for frame in (
        pd.DataFrame({"c": here}),
        polars.DataFrame({"c": [moment, None]}).with_columns(polars.col("c").dt.convert_time_zone("Europe/Vienna")),
    ):
        first, second = read(frame)
        assert (dt.datetime.fromisoformat(first), second) == (moment, None)
    assert read(polars.DataFrame({"c": [Decimal("1.50"), None]})) == ["1.50", None]


def test_what_is_not_a_number_is_missing_in_pandas_as_pandas_has_it():
    assert read(pd.DataFrame({"c": [1.5, np.nan]})) == ["1.5", None]
    assert read(pd.DataFrame({"c": pd.Series([1, None, 3])})) == ["1.0", None, "3.0"]


@pytest.mark.parametrize(
    ("frame", "word"),
    [
        (pd.DataFrame([[1, 2]], columns=["a", "a"]), "two columns `a`"),
        (pa.table([pa.array([1]), pa.array([2])], names=["a", "a"]), "two columns `a`"),
        (pd.DataFrame([[1]], columns=pd.MultiIndex.from_tuples([("a", "b")])), "no text for a name"),
        (pd.DataFrame({"a": [1]}, index=pd.Index([CANARY])), "index"),
        (pd.DataFrame({"a": [1]}, index=pd.Index([7], name=CANARY)), "index"),
        (pd.DataFrame({"a": [1]}, index=pd.MultiIndex.from_tuples([(1, 2)])), "index"),
        (pd.DataFrame({"a": [1]}, index=pd.to_datetime(["2024-01-01"])), "index"),
        (pd.DataFrame({"a": [object()]}), "several kinds"),
        (pd.DataFrame({"a": [1 + 2j]}), "`a`"),
        (pd.Series([1], name="a"), "no data frame"),
        ([[CANARY]], "no data frame"),
        ({"a": [CANARY]}, "no data frame"),
        (pa.table({"a": pa.array([(1, 2, 3)], pa.month_day_nano_interval())}), "could not be taken"),
    ],
    ids=range(13),
)
def test_what_cannot_be_held_is_an_error(frame, word):
    with pytest.raises(DataError) as error, as_file(frame):
        pass
    assert error.value.diagnostics[0].code == "PPF679"
    assert word in str(error.value)
    assert CANARY not in str(error.value)


@pytest.mark.parametrize("index", [None, [3, 1], pd.RangeIndex(5, 7)])
def test_numbers_of_rows_are_no_column(index):
    assert reader_of(pd.DataFrame({"c": [1, 2]}, index=index)).schema.names == ["c"]


def broken():
    def batches():
        yield pa.record_batch({"age": ["1", "1"]})
        raise ValueError(CANARY)

    return pa.RecordBatchReader.from_batches(pa.schema({"age": pa.string()}), batches())


POLICY = {
    "version": 1,
    "name": "few",
    "source": {"path": "x.csv"},
    "attributes": {"age": {"role": "quasi_identifier"}},
    "privacy": {"k_anonymity": {"k": 2}},
    "releases": {"study": {"path": "study.csv"}},
}


def test_a_reader_that_breaks_off_releases_nothing(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(DataError) as error:
        pf.run(POLICY, broken())
    assert CANARY not in str(error.value)
    assert list(tmp_path.iterdir()) == []
    whole = pa.table({"age": ["1", "1"]}).to_reader()
    assert pf.run(POLICY, whole).released
    with pytest.raises(PpdmError):
        pf.run(POLICY, whole)
    with pytest.raises(PpdmError):
        pf.run(POLICY, pd.DataFrame({"age": pd.Series([], dtype="string")}))
    assert len(list(tmp_path.rglob("released"))) == 1


@pytest.mark.parametrize(
    "values",
    [[{"a": 1}], [[{"a": 1}]], [b"\xff\xfe"], [dt.timedelta(1)]],
    ids=["struct", "list of struct", "bytes", "duration"],
)
def test_cells_without_a_text_end_the_run(values, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    table = pa.table({"age": pa.array(values * 2)})
    if isinstance(values[0], dt.timedelta):
        assert pf.run(POLICY, table).released
        return
    with pytest.raises(PpdmError):
        pf.run(POLICY, table)
    assert not list(tmp_path.rglob("released"))


@pytest.mark.slow
def test_an_error_says_what_the_command_line_prints(tmp_path, monkeypatch, cli):
    monkeypatch.chdir(tmp_path)
    Path("p.yaml").write_text("version: 1\nname: few\nsorce: {path: x.csv}\n", encoding="utf-8")
    with pytest.raises(pf.PolicyError) as error:
        pf.run("p.yaml")
    done = cli("run", "p.yaml", cwd=tmp_path)
    assert str(error.value).strip() == done.stderr.strip()
    assert len(error.value.diagnostics) > 1
    assert "sorce" in str(error.value)


def test_nothing_of_the_source_shows_in_the_result(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    frame = pd.DataFrame({"age": [f"{CANARY}-{i}" for i in range(4)]})
    result = pf.run(POLICY, frame)
    assert not result.released
    shown = [repr(result), result._repr_html_(), str(result.report), str(result.requirements), str(result.figures)]
    assert not [text for text in shown if CANARY in text]
    left = [file for file in tmp_path.rglob("*") if file.is_file() and CANARY.encode() in file.read_bytes()]
    assert left == []


def test_the_page_of_the_code_says_it_in_python(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    policy = {**POLICY, "attributes": {"zip": {"role": "insensitive"}}, "privacy": {}}
    Path("policy.yaml").write_text(json.dumps(policy), encoding="utf-8")
    page = pages()["PPF679"]
    with pytest.raises(DataError, match="`zip`"):
        exec(page.bad, {})
    exec(page.good, {})
    assert len(list(tmp_path.rglob("study.csv"))) == 1
