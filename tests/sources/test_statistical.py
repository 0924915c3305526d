"""The readers of SPSS, Stata and SAS, on files that pyreadstat writes."""

from __future__ import annotations

import datetime as dt
import re
import subprocess

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given
from hypothesis import strategies as st
from tiers import examples

from ppdm_flow.core.errors import DataError, PluginError
from ppdm_flow.core.roles import AttributeType
from ppdm_flow.sources import statistical
from ppdm_flow.sources.statistical import of_sas, of_spss, of_stata

pyreadstat = pytest.importorskip("pyreadstat")

KINDS = {"sav": "spss", "zsav": "spss", "por": "spss", "dta": "stata", "xpt": "sas"}
WRITE = {
    "sav": pyreadstat.write_sav,
    "zsav": lambda frame, path, **more: pyreadstat.write_sav(frame, path, compress=True, **more),
    "por": pyreadstat.write_por,
    "dta": pyreadstat.write_dta,
    "xpt": pyreadstat.write_xport,
}
EVERY = pytest.mark.parametrize("ending", list(KINDS))
LABELLED = pytest.mark.parametrize("ending", ["sav", "zsav", "dta"])


@pytest.fixture
def trusted(monkeypatch):
    """No process for each of hundreds of files: none of them ends the process of its reader."""
    monkeypatch.setattr(statistical, "survives", lambda *_: True)


@pytest.fixture
def made(tmp_path):
    def make(ending, columns, name="t", **more):
        path = tmp_path / f"{name}.{ending}"
        WRITE[ending](pd.DataFrame(columns), str(path), **more)
        return path

    return make


def lower(table):
    return {name.lower(): cells for name, cells in table.items()}


@EVERY
def test_numbers_texts_and_missing_cells(made, reader, ending):
    path = made(ending, {"age": [41.0, 2.5, np.nan, 1e12, -3.0], "job": ["nurse", "", "ward 7", "x", "007"]})
    assert lower(reader.table(KINDS[ending], path)) == {
        "age": ["41", "2.5", None, "1000000000000", "-3"],
        "job": ["nurse", None, "ward 7", "x", "007"],
    }


@pytest.mark.parametrize("ending", ["sav", "zsav", "dta", "xpt"])
def test_names_and_texts_of_any_script(made, reader, ending):
    path = made(ending, {"name": ["Zoë", "日本", "Ω"]})
    assert reader.table(KINDS[ending], path)["name"] == ["Zoë", "日本", "Ω"]


@pytest.mark.parametrize("ending", ["sav", "zsav", "dta", "xpt"])
def test_dates_and_moments_keep_their_type(made, reader, ending):
    days = [dt.date(2024, 2, 29), None, dt.date(1899, 12, 31)]
    stamps = pd.to_datetime(["2024-01-01 12:30:00.123", None, "1959-12-31 23:59:59"], format="mixed")
    path = made(ending, {"day": days, "at": stamps})
    assert reader.table(KINDS[ending], path) == {
        "day": ["2024-02-29", None, "1899-12-31"],
        "at": ["2024-01-01T12:30:00.123", None, "1959-12-31T23:59:59"],
    }
    types = {"day": AttributeType.DATE, "at": AttributeType.TIMESTAMP}
    (batch,) = reader.open(KINDS[ending], path).typed_batches(["at", "day"], types)
    assert batch.schema.types == [pa.timestamp("us"), pa.date32()]
    assert batch["day"].to_pylist() == days
    assert batch["at"].to_pylist() == [None if pd.isna(x) else x.to_pydatetime() for x in stamps]


@EVERY
def test_numbers_are_left_as_they_are_where_they_are_wanted(made, reader, ending):
    path = made(ending, {"a": [1.0, np.nan, 0.1], "b": [1.0, 2.0, 3.0]})
    source = reader.open(KINDS[ending], path)
    first, second = source.names()
    (batch,) = source.typed_batches([second, first], {first: AttributeType.FLOAT})
    assert pa.types.is_floating(batch[first].type)
    assert [None if x is None else round(x, 6) for x in batch[first].to_pylist()] == [1.0, None, 0.1]
    assert batch[second].to_pylist() == ["1", "2", "3"]


def test_times_of_day_are_texts(made, reader):
    path = made("sav", {"t": [dt.time(7, 5), dt.time(23, 59, 59, 500_000), None]})
    assert reader.table("spss", path) == {"t": ["07:05:00", "23:59:59.5", None]}
    durations = made("sav", {"t": [93_784.0, -60.0, np.nan]}, name="d", variable_format={"t": "DTIME20.2"})
    assert reader.table("spss", durations) == {"t": ["26:03:04", "-00:01:00", None]}


@LABELLED
def test_labels_stand_for_their_codes(made, reader, ending):
    columns = {"sex": [1.0, 2.0, 9.0, np.nan], "age": [30.0, 98.0, 31.0, 32.0]}
    path = made(ending, columns, variable_value_labels={"sex": {1: "male", 2: "female"}, "age": {98: "older"}})
    assert reader.table(KINDS[ending], path) == {
        "sex": ["male", "female", "9", None],
        "age": ["30", "older", "31", "32"],
    }
    codes = reader.table(KINDS[ending], path, labels="codes")
    assert codes == {"sex": ["1", "2", "9", None], "age": ["30", "98", "31", "32"]}
    types = {"age": AttributeType.INTEGER}
    source = reader.open(KINDS[ending], path, labels="codes")
    assert next(source.typed_batches(["age"], types))["age"].to_pylist() == [30.0, 98.0, 31.0, 32.0]


def test_texts_have_labels_in_spss(made, reader):
    path = made("sav", {"s": ["a", "b", ""]}, variable_value_labels={"s": {"a": "ann"}})
    assert reader.table("spss", path) == {"s": ["ann", "b", None]}


@LABELLED
@pytest.mark.parametrize("labels", [{1: "zqcanary", 2: "zqcanary"}, {1: "2"}])
def test_labels_that_make_two_codes_one(made, reader, ending, labels):
    path = made(ending, {"fine": [1.0, 2.0], "sex": [1.0, 2.0]}, variable_value_labels={"sex": labels})
    assert "`sex`" in reader.fails(KINDS[ending], path, "PPF676")
    assert reader.table(KINDS[ending], path, labels="codes")["sex"] == ["1", "2"]
    assert reader.table(KINDS[ending], path, ["fine"]) == {"fine": ["1", "2"]}


def test_labels_of_codes_that_are_missing_may_be_the_same(made, reader):
    path = made(
        "sav",
        {"a": [1.0, 98.0, 99.0]},
        variable_value_labels={"a": {1: "one", 98: "no answer", 99: "no answer"}},
        missing_ranges={"a": [{"lo": 98, "hi": 99}]},
    )
    assert reader.table("spss", path) == {"a": ["one", None, None]}


def test_missing_values_of_users_are_missing(made, reader):
    columns = {"a": [1.0, 98.0, 99.0, np.nan], "s": ["x", "NA", "y", ""]}
    path = made("sav", columns, missing_ranges={"a": [{"lo": 98, "hi": 99}], "s": ["NA"]})
    for labels in ("values", "codes"):
        table = reader.table("spss", path, labels=labels)
        assert table == {"a": ["1", None, None, None], "s": ["x", None, "y", None]}
    tagged = made("dta", {"a": [1.0, "a", "z"]}, missing_user_values={"a": ["a", "z"]})
    assert reader.table("stata", tagged) == {"a": ["1", None, None]}


@EVERY
def test_blocks_are_put_together(made, reader, ending, monkeypatch):
    columns = {"a": np.arange(25.0), "s": [f"row {i}" for i in range(25)]}
    path = made(ending, columns)
    whole = reader.table(KINDS[ending], path)
    for rows in (1, 5, 7, 25, 26):
        monkeypatch.setattr(statistical, "ROWS", rows)
        assert reader.table(KINDS[ending], path) == whole
        assert sum(batch.num_rows for batch in reader.batches(KINDS[ending], path, [])) == 25
    assert len(reader.batches(KINDS[ending], path, ["a" if ending != "por" else "A"])) == 1


def whole_or_fault(reader, kind, path):
    """Return the table, or the code of what is wrong with the file."""
    try:
        return reader.table(kind, path)
    except DataError as error:
        (fault,) = error.diagnostics
        return fault.code if "zqcanary" not in f"{error}{fault}" else "a value is told"


@pytest.mark.parametrize("ending", ["sav", "zsav", "dta", "por"])
@pytest.mark.parametrize("rows", [4, 1 << 17])
@pytest.mark.slow(quick=1)
@pytest.mark.usefixtures("trusted")
def test_a_file_that_is_cut_off_is_never_a_shorter_table(made, reader, ending, rows, monkeypatch):
    monkeypatch.setattr(statistical, "ROWS", rows)
    path = made(ending, {"a": np.arange(40.0), "s": [f"zqcanary {i}" for i in range(40)]})
    whole = path.read_bytes()
    table = reader.table(KINDS[ending], path)
    for left in sorted({*range(0, len(whole), 41), *range(len(whole) - 90, len(whole))}):
        cut = reader.path(f"cut.{ending}", whole[:left])
        found = whole_or_fault(reader, KINDS[ending], cut)
        assert found in (table, "PPF717"), left  # what is gone belonged to no row


def test_a_transport_file_that_ends_within_a_record(made, reader):
    path = made("xpt", {"a": np.arange(40.0)})
    for less in (1, 40, 79):
        reader.fails("sas", reader.path("cut.xpt", path.read_bytes()[:-less]), "PPF717")
    assert reader.table("sas", path)["a"][-1] == "39"


def test_a_transport_file_of_several_tables(made, reader):
    one = made("xpt", {"a": [1.0]}).read_bytes()
    two = reader.path("two.xpt", one + one[240:])
    assert "2 tables" in reader.fails("sas", two, "PPF717")


@pytest.mark.slow(quick=3)
@pytest.mark.parametrize("ending", [*KINDS, "sas7bdat"])
def test_files_of_another_format(reader, tmp_path, ending):
    kind = KINDS.get(ending, "sas")
    for number, content in enumerate(
        (b"", b"zqcanary", b"age,job\n41,zqcanary\n" * 50, bytes(4096), b"PK\x03\x04" * 99)
    ):
        reader.fails(kind, reader.path(f"t{number}.{ending}", content), "PPF717")
    assert "no such file" in reader.fails(kind, tmp_path / f"none.{ending}", "PPF701")


@pytest.mark.parametrize(("ending", "other"), [("sav", "stata"), ("dta", "spss"), ("xpt", "stata"), ("dta", "sas")])
def test_a_format_under_the_name_of_another(made, reader, ending, other):
    reader.fails(other, made(ending, {"a": [1.0]}), "PPF717")


@pytest.mark.slow
def test_a_file_that_ends_the_process_of_its_reader(made, reader, monkeypatch):
    monkeypatch.setattr(statistical, "subprocess", subprocess)  # new processes, as users have them
    path = made("sav", {"a": [1.0, 2.0], "s": ["zqcanary", "b"]}, variable_value_labels={"a": {1: "one"}})
    assert reader.table("spss", path)["a"] == ["one", "2"]
    crash = "import os, sys; os.abort() if sys.argv[2].endswith('crash.sav') else None"
    monkeypatch.setattr(statistical, "_CODE", crash)
    assert "cannot be read" in reader.fails("spss", reader.path("crash.sav", path.read_bytes()), "PPF717")
    fine = reader.path("fine.sav", path.read_bytes())
    assert reader.table("spss", fine)["a"] == ["one", "2"]


@pytest.mark.parametrize("error", [IndexError, TypeError, MemoryError, OverflowError, KeyError])
def test_whatever_the_library_raises_is_told_without_a_value(made, reader, monkeypatch, error):
    def broken(*_args, **_options):
        raise error("zqcanary")

    path = made("dta", {"a": [1.0]})
    monkeypatch.setattr(pyreadstat, "read_dta", broken)
    reader.fails("stata", path, "PPF717")


@pytest.mark.slow
def test_damaged_files_end_with_a_diagnostic_or_a_table(made, reader):
    path = made("sav", {"a": [1.0, 2.0], "s": ["zqcanary", "b"]}, variable_value_labels={"a": {1: "one"}})
    whole = path.read_bytes()
    for place in range(100, len(whole), 97):
        damaged = bytearray(whole)
        damaged[place] ^= 0xFF
        found = whole_or_fault(reader, "spss", reader.path(f"d{place}.sav", bytes(damaged)))
        assert isinstance(found, dict) or found in ("PPF704", "PPF717", "PPF719", "PPF676", "PPF707", "PPF706"), place


def test_bytes_that_are_no_text_in_the_encoding(made, reader):
    path = made("dta", {"s": ["zqcanary é", "b"]})
    broken = reader.path("broken.dta", path.read_bytes().replace("é".encode(), b"\xe9a"))
    assert "not text" in reader.fails("stata", broken, "PPF704")
    assert reader.table("stata", broken, encoding="cp1252") == {"s": ["zqcanary éa", "b"]}
    sav = made("sav", {"s": ["zqcanary é", "b"]})
    broken = reader.path("broken.sav", sav.read_bytes().replace("é".encode(), b"\xe9a"))
    assert "not text" in reader.fails("spss", broken, "PPF704")


def test_two_columns_with_one_name(made, reader):
    path = made("dta", {"aa": [1.0], "bb": [2.0]})
    twice = reader.path("twice.dta", path.read_bytes().replace(b"bb\0", b"aa\0"))
    assert "same name" in reader.fails("stata", twice, "PPF707")
    alike = made("dta", {"aa": [1.0], "aa_duplicated": [2.0]}, name="alike")
    assert reader.table("stata", alike) == {"aa": ["1"], "aa_duplicated": ["2"]}


@EVERY
def test_no_rows(made, reader, ending):
    path = made(ending, {"a": pd.Series([], dtype=float)})
    assert lower(reader.table(KINDS[ending], path)) == {"a": []}


def test_moments_outside_the_calendar(made, reader):
    path = made("sav", {"fine": [1.0], "t": [1e15]}, variable_format={"t": "DATETIME20"})
    assert "`t`" in reader.fails("spss", path, "PPF719")
    assert reader.table("spss", path, ["fine"]) == {"fine": ["1"]}


def test_moments_with_leap_seconds(made, reader):
    path = made("dta", {"t": [1e12]}, variable_format={"t": "%tC"})
    assert "leap" in reader.fails("stata", path, "PPF719")


def test_a_date_with_a_time_of_day_is_seen(made, reader):
    path = made("sav", {"d": [13_928_544_000.0, 13_928_544_060.0]}, variable_format={"d": "DATE11"})
    assert reader.table("spss", path) == {"d": ["2024-02-29", "2024-02-29T00:01:00"]}


def test_single_precision_keeps_its_digits(reader, tmp_path):
    path = tmp_path / "t.dta"
    pd.DataFrame({"x": np.array([0.1, 2.5, 3.0], dtype=np.float32)}).to_stata(path, write_index=False)
    assert reader.table("stata", path) == {"x": ["0.1", "2.5", "3"]}


def test_negative_zero_is_zero(made, reader):
    table = reader.table("spss", made("sav", {"x": [0.0, -0.0]}))
    assert len(set(table["x"])) == 1


def test_formats_of_dates():
    assert of_spss("DATE11").what == of_sas("YYMMDD10.").what == "date"
    assert of_spss("DATETIME23.2").what == of_sas("E8601DT19.").what == "moment"
    assert of_stata("%tdD_m_Y").what == of_stata("%-td").what == of_stata("%d").what == "date"
    assert of_stata("%tc").what == "moment"
    assert of_spss("F8.2").what == of_stata("%9.0g").what == of_sas("BEST12.").what == of_sas("").what == "number"
    assert of_stata("%tm").what == "number"
    assert of_stata("%tC") is None


def test_what_stands_beside_the_cells(made, reader):
    path = made(
        "sav",
        {"a": [1.0, 98.0], "s": ["x", "y"]},
        file_label="zqcanary",
        note="zqcanary",
        column_labels=["zqcanary", None],
        variable_value_labels={"a": {1: "one", 7: "zqcanary", 98: "none"}},
        missing_ranges={"a": [98]},
    )
    found = [(f.code, re.sub(r"`\w+`", "`x`", f.text)) for f in reader.open("spss", path).beside()]
    assert [code for code, _ in found] == ["PPF922", "PPF922", "PPF921", "PPF921"]
    assert "zqcanary" not in str(found)
    assert "1 label for codes" in found[2][1]
    assert "1 cell of" in found[3][1]
    plain = made("sav", {"a": [1.0, 98.0]}, name="plain", variable_value_labels={"a": {1: "one"}})
    assert list(reader.open("spss", plain).beside()) == []


def test_marks_of_stata_are_beside_the_cells(made, reader):
    tagged = made("dta", {"a": [1.0, "a", "z"]}, missing_user_values={"a": ["a", "z"]})
    (finding,) = reader.open("stata", tagged).beside()
    assert finding.code == "PPF921"
    assert "2 cells" in finding.text
    assert list(reader.open("stata", made("dta", {"a": [1.0, np.nan]}, name="plain")).beside()) == []


def test_without_the_extra_the_message_says_what_to_install(reader, tmp_path, monkeypatch):
    monkeypatch.setattr(statistical, "pyreadstat", None)
    for kind in ("spss", "stata", "sas"):
        with pytest.raises(PluginError) as caught:
            reader.open(kind, tmp_path / "t")
        assert caught.value.exit_status == 2
        assert "ppdm_flow[statistics]" in str(caught.value.diagnostics[0].help)


NUMBER = st.none() | st.floats(allow_nan=False, allow_infinity=False, min_value=-1e300, max_value=1e300, width=64)
TEXT = st.text(st.characters(exclude_characters="\0", exclude_categories=("Cs",)), max_size=9)
DAY = st.none() | st.dates(dt.date(1600, 1, 1), dt.date(9999, 12, 31))


@pytest.mark.parametrize("ending", ["sav", "zsav", "dta"])
@pytest.mark.usefixtures("trusted")
@examples(12, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(rows=st.lists(st.tuples(NUMBER, TEXT, DAY), min_size=1, max_size=12))
def test_every_cell_is_read(made, reader, ending, rows):
    cells = {"n": [r[0] for r in rows], "s": [r[1] for r in rows], "d": [r[2] for r in rows]}
    path = made(
        ending, {"n": pd.array(cells["n"], dtype=float), "s": cells["s"], "d": pd.Series(cells["d"], dtype=object)}
    )
    types = {"n": AttributeType.FLOAT, "d": AttributeType.DATE}
    (batch,) = reader.open(KINDS[ending], path).typed_batches(["n", "s", "d"], types)
    texts = [text.rstrip(" ") if ending != "dta" else text for text in cells["s"]]
    assert batch["n"].to_pylist() == cells["n"]
    assert batch["s"].to_pylist() == [text or None for text in texts]
    if any(cells["d"]):
        assert batch["d"].to_pylist() == cells["d"]
