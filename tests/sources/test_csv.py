"""The CSV reader: what it reads, and what it says of files that are not in order."""

from __future__ import annotations

import csv
import gzip
import io
import sys
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given
from hypothesis import strategies as st
from tiers import examples

from ppdm_flow.core.errors import DataError
from ppdm_flow.sources.csv import algorithm, text

sys.path.insert(0, str(Path(__file__).parents[1] / "campaigns"))
import csv_files

HEAD = b"a,b,c\n"
LONG = HEAD + b"1,zqcanary,3\n" * 5_000


def read(reader, content: bytes, name: str = "t.csv", **options: str) -> dict[str, list]:
    return reader.table("csv", reader.path(name, content), **options)


def test_every_cell_is_text_and_an_empty_one_without_quotes_is_missing(reader):
    found = read(reader, b'a,b,c\n010,,NO\n1.10,"",2024-01-01\nnull,NaN,true\n')
    assert found == {"a": ["010", "1.10", "null"], "b": [None, "", "NaN"], "c": ["NO", "2024-01-01", "true"]}


def test_columns_come_in_the_order_that_is_asked_for(reader):
    path = reader.path("t.csv", b"a,b,c\n1,2,3\n")
    assert list(reader.table("csv", path, ["c", "a"])) == ["c", "a"]
    assert sum(b.num_rows for b in reader.batches("csv", path, [])) == 1


@pytest.mark.parametrize("end", [b"\n", b"\r\n", b"\r"])
def test_line_ends(reader, end):
    assert read(reader, end.join([b"a,b", b"1,2", b"3,4", b""])) == {"a": ["1", "3"], "b": ["2", "4"]}


def test_quotes_delimiters_and_lines_inside_cells(reader):
    found = read(reader, b'"a\nx",b\n"1,2","he said ""no""\r\nagain"\n')
    assert found == {"a\nx": ["1,2"], "b": ['he said "no"\r\nagain']}


def test_blank_lines_are_skipped_but_are_cells_where_there_is_one_column(reader):
    assert read(reader, b"\na,b\n1,2\n\n3,4\n\n") == {"a": ["1", "3"], "b": ["2", "4"]}
    assert read(reader, b"a\n1\n\n2\n") == {"a": ["1", None, "2"]}


def test_a_byte_order_mark_is_no_letter_of_the_first_name(reader):
    assert read(reader, b"\xef\xbb\xbfa,b\n1,2\n") == {"a": ["1"], "b": ["2"]}


MARK = "\N{ZERO WIDTH NO-BREAK SPACE}"


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-32"])
@pytest.mark.parametrize("packed", [False, True])
def test_a_byte_order_mark_behind_the_start_of_a_file_is_a_letter(reader, encoding, packed):
    def cells(text: str, **options: str) -> dict[str, list]:
        start = "" if encoding in ("utf-8-sig", "utf-16", "utf-32") else MARK  # those encode with a mark
        content = (start + text).encode(encoding)
        name, content = ("t.csv.gz", gzip.compress(content)) if packed else ("t.csv", content)
        return read(reader, content, name, encoding=encoding, **options)

    assert cells(f'a,b\n{MARK}"x,Ada\nfine,Bob\nbad",Carl\n') == {
        "a": [f'{MARK}"x', "fine", 'bad"'],
        "b": ["Ada", "Bob", "Carl"],
    }
    assert cells(f"a\n{MARK}\n1\n") == {"a": [MARK, "1"]}
    assert cells(f"title\n{MARK}1,2\n", skip_rows="1", header="false") == {"column_1": [f"{MARK}1"], "column_2": ["2"]}
    assert cells(f"{MARK}1,2\n", header="false") == {"column_1": [f"{MARK}1"], "column_2": ["2"]}
    assert cells(f'a,b\n{MARK}x,"y\\"z"\n', escape="\\") == {"a": [f"{MARK}x"], "b": ['y"z']}
    assert cells('"1\n0",2\n', header="false") == {"column_1": ["1\n0"], "column_2": ["2"]}


def test_without_a_header_columns_are_named_by_position(reader):
    assert read(reader, b"1,2\n3,4\n", header="false") == {"column_1": ["1", "3"], "column_2": ["2", "4"]}


def test_adults_blanks_after_commas_are_stripped_and_equal_values_fall_together(reader):
    found = read(reader, b"39, State-gov, ?\n39,State-gov ,\n\n", header="false", strip="true")
    assert found == {"column_1": ["39", "39"], "column_2": ["State-gov"] * 2, "column_3": ["?", None]}
    path = reader.path("s.csv", b"a\nx\n x\nx \n")
    batch = reader.batches("csv", path, strip="true")[0]
    assert batch.column(0).dictionary.to_pylist() == ["x"]


def test_a_blank_cell_is_missing_once_stripped_and_quotes_keep_the_empty_text(reader):
    assert read(reader, b'a,b\n1, \n2,""\n', strip="true")["b"] == [None, ""]


def test_lines_before_the_header_are_skipped(reader):
    assert read(reader, b"made by X,,,,\n\na,b\n1,2\n", skip_rows="1") == {"a": ["1"], "b": ["2"]}
    assert read(reader, b"|1x3 test\n1,2\n", skip_rows="1", header="false") == {"column_1": ["1"], "column_2": ["2"]}


@pytest.mark.parametrize(("name", "mark"), [(";", ";"), ("tab", "\t"), ("|", "|")])
def test_delimiters(reader, name, mark):
    assert read(reader, f"a{mark}b\n1,5{mark}2\n".encode(), delimiter=name) == {"a": ["1,5"], "b": ["2"]}


def test_another_quote(reader):
    assert read(reader, b"a,b\n'1,2',\"\n", quote="'") == {"a": ["1,2"], "b": ['"']}


@pytest.mark.parametrize("encoding", ["latin-1", "cp1252", "utf-16", "utf-16-le", "UTF_8", "utf-7", "cp037"])
def test_encodings(reader, encoding):
    assert read(reader, "ä,b\né,ü\n".encode(encoding), encoding=encoding) == {"ä": ["é"], "b": ["ü"]}


def test_gzip_shows_by_its_first_bytes_whatever_the_name(reader):
    packed = gzip.compress(b"a,b\n1,2\n") + gzip.compress(b"3,4\n")
    assert read(reader, packed, "plain.csv") == {"a": ["1", "3"], "b": ["2", "4"]}
    assert read(reader, b"a,b\n1,2\n", "named.csv.gz") == {"a": ["1"], "b": ["2"]}


def test_a_cell_of_ten_megabytes(reader):
    large = "x" * 10_000_000
    found = read(reader, f'a,b\n1,2\n3,"{large}\n"\n5,6\n'.encode())
    assert found["a"] == ["1", "3", "5"]
    assert found["b"][1] == large + "\n"


def test_a_cell_larger_than_a_block_far_into_the_file_repeats_no_row(reader, monkeypatch):
    monkeypatch.setattr(algorithm, "_BLOCK", 1 << 14)
    rows = [(str(i), "y" * (i % 7)) for i in range(20_000)]
    rows[15_000] = ("15000", "z" * 100_000)
    text = "a,b\n" + "".join(f'{a},"{b}"\n' for a, b in rows)
    found = read(reader, text.encode())
    assert list(zip(found["a"], found["b"], strict=True)) == rows


@pytest.mark.slow
def test_two_thousand_columns(reader):
    names = [f"c{i}" for i in range(2_000)]
    line = ",".join(str(i) for i in range(2_000))
    found = read(reader, "\n".join([",".join(names), *[line] * 50, ""]).encode())
    assert list(found) == names
    assert found["c1999"] == ["1999"] * 50


def test_a_header_and_no_rows(reader):
    for content in (b"a,b\n", b"a,b", b"a,b\n\n\n"):
        assert read(reader, content) == {"a": [], "b": []}


CELL = st.text(st.characters(exclude_characters="\0", exclude_categories=("Cs",)), max_size=8)


@examples(25, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(rows=st.lists(st.tuples(CELL, CELL), min_size=1, max_size=8))
def test_whatever_pythons_writer_quotes_comes_back(reader, rows):
    out = io.StringIO(newline="")
    csv.writer(out, quoting=csv.QUOTE_ALL).writerows([("a", "b"), *rows])
    found = read(reader, out.getvalue().encode())
    assert list(zip(found["a"], found["b"], strict=True)) == rows


# files that are not in order


@pytest.mark.parametrize("row", [b"1,zqcanary\n", b"1,zqcanary,3,4\n"])
def test_a_ragged_row_is_named_by_its_number(reader, row):
    path = reader.path("t.csv", LONG + row + LONG)
    cells = row.count(b",") + 1
    assert reader.fails("csv", path, "PPF703") == f"row 5001 has {cells} cells where there should be 3"


def test_a_ragged_row_below_other_headers(reader):
    assert "row 2 " in reader.fails("csv", reader.path("a.csv", b'"a\nb",c\n1,2\nzqcanary\n'), "PPF703")
    assert "row 2 " in reader.fails("csv", reader.path("b.csv", b"1,2\nzqcanary\n"), "PPF703", header="false")
    path = reader.path("c.csv", b"x\ny\na,b\n1,2\nzqcanary\n")
    assert "row 2 " in reader.fails("csv", path, "PPF703", skip_rows="2")


def test_a_ragged_row_in_a_gzip(reader):
    path = reader.path("t.csv.gz", gzip.compress(LONG + b"zqcanary\n"))
    assert "row 5001 " in reader.fails("csv", path, "PPF703")


@pytest.mark.parametrize("bad", [b"zqcanary\xff", b"\xc3\x28zqcanary"])
def test_a_wrong_encoding_is_named_by_its_row(reader, bad):
    path = reader.path("t.csv", LONG + b"1," + bad + b",2\n" + LONG)
    assert reader.fails("csv", path, "PPF704") == "row 5001 is not text in the encoding utf-8"


def test_a_wrong_encoding_in_the_header_and_in_other_encodings(reader):
    assert "the header" in reader.fails("csv", reader.path("h.csv", b"a\xff,b\nzqcanary,2\n"), "PPF704")
    path = reader.path("t.csv", LONG + "1,zqcanaryé,3\n".encode())
    assert reader.fails("csv", path, "PPF704", encoding="ascii") == "line 5002 is not text in the encoding ascii"


@pytest.mark.parametrize("encoding", ["utf-16", "utf-32"])
def test_an_encoding_that_needs_a_byte_order_mark(reader, encoding):
    path = reader.path("t.csv", "a,b\nzqcanary,1\n".encode(f"{encoding}-le"))
    assert reader.fails("csv", path, "PPF704", encoding=encoding) == f"line 1 is not text in the encoding {encoding}"


def test_a_column_that_nobody_reads_may_be_in_any_encoding(reader):
    path = reader.path("t.csv", b"a,b\n1,\xff\n")
    assert reader.table("csv", path, ["a"]) == {"a": ["1"]}


def test_nul_bytes(reader):
    path = reader.path("t.csv", LONG + b"1,zq\0canary,3\n")
    assert reader.fails("csv", path, "PPF706") == "row 5001 has a NUL byte"
    assert "header" in reader.fails("csv", reader.path("h.csv", b"a\0,b\nzqcanary,2\n"), "PPF706")


@pytest.mark.parametrize("cut", [3, 8, 100])
def test_a_cut_off_gzip(reader, cut):
    packed = gzip.compress(LONG)
    assert "damaged" in reader.fails("csv", reader.path("t.csv.gz", packed[:-cut]), "PPF705")


def test_a_gzip_that_is_cut_off_in_its_header_or_has_a_wrong_checksum(reader):
    packed = bytearray(gzip.compress(LONG))
    assert "damaged" in reader.fails("csv", reader.path("s.csv.gz", bytes(packed[:5])), "PPF705")
    packed[-6] ^= 0xFF
    assert "damaged" in reader.fails("csv", reader.path("t.csv.gz", bytes(packed)), "PPF705")


def test_two_columns_of_one_name(reader):
    path = reader.path("t.csv", b"zqcanary,b,zqcanary\n1,2,3\n")
    assert "columns 1 and 3" in reader.fails("csv", path, "PPF707")


def test_a_title_above_the_header(reader):
    path = reader.path("t.csv", b"zqcanary 2026,,\na,b,c\n1,2,3\n")
    assert "columns 2 and 3 have no name" in reader.fails("csv", path, "PPF707")


def test_an_empty_file(reader):
    for content in (b"", b"\n\n", b"\xef\xbb\xbf"):
        assert "empty" in reader.fails("csv", reader.path("t.csv", content), "PPF702")
    assert "empty" in reader.fails("csv", reader.path("t.csv", b"one line\n"), "PPF702", skip_rows="3")


def test_a_file_that_is_not_there_or_is_a_folder(reader, tmp_path):
    assert "no such file" in reader.fails("csv", tmp_path / "nowhere.csv", "PPF701")
    assert "directory" in reader.fails("csv", tmp_path, "PPF701")


def test_a_quote_that_is_never_closed(reader, monkeypatch):
    for name, content in {
        "small": b'a,b\n1,2\n1,"zqcanary\n2,3\n',
        "last": b'a,b\n1,2\n1,"zqcanary',
        "first": b'"a",b\n1,"2"\n"zqcanary,2\n"3",4\n5,6\n',
    }.items():
        path = reader.path(f"{name}.csv", content)
        with pytest.raises(DataError) as caught:
            reader.table("csv", path, ["a"])
        assert caught.value.diagnostics[0].code in ("PPF486", "PPF703", "PPF716")
        assert "row 1" in str(caught.value) or "row 2" in str(caught.value)
        assert "zqcanary" not in str(caught.value)
    monkeypatch.setattr(algorithm, "_BLOCK", 1 << 12)
    monkeypatch.setattr(algorithm, "_LARGEST_BLOCK", 1 << 14)
    large = reader.path("large.csv", b'a,b\n1,"2"\n3,"zqcanary\n' + b"2,3\n" * 50_000)
    assert reader.fails("csv", large, "PPF716").startswith(("row 2 of", "after row 1 there"))


def test_a_quote_inside_a_cell_without_quotes_is_itself(reader):
    assert read(reader, b'a,b\n5",x\n6,7\n') == {"a": ['5"', "6"], "b": ["x", "7"]}


@pytest.mark.parametrize(
    "row",
    [b'"18\\"",x\n', b'"zq"canary,x\n', b'x,"zqcanary" \n', b'x,"zqcanary"\t""\n', b'"zq""canary"x,y\n'],
)
def test_text_after_a_quote_that_closes(reader, row, monkeypatch):
    content = b'a,b\n"1\n1",""\n\n' + b"2,3\n" * 10 + row * 3
    assert "row 12 of" in reader.fails("csv", reader.path("t.csv", content), "PPF486")
    assert "row 12 of" in reader.fails("csv", reader.path("t.csv.gz", gzip.compress(content)), "PPF486")
    wide = reader.path("w.csv", content.decode().encode("utf-16"))
    assert "row 12 of" in reader.fails("csv", wide, "PPF486", encoding="utf-16")
    monkeypatch.setattr(text, "_CHUNK", 1)  # puts every character at the edge of a chunk
    assert "row 12 of" in reader.fails("csv", reader.path("t.csv", content), "PPF486")


@pytest.mark.parametrize("chunk", [1, 2, 3, 5, 1 << 20])
def test_quotes_in_order_at_the_edges_of_chunks(reader, monkeypatch, chunk):
    monkeypatch.setattr(text, "_CHUNK", chunk)
    found = read(reader, b'a,b\r\n"x""",\r\n"""","1,\r\n2"\r\n5" 6"",""\r\n')
    assert found == {"a": ['x"', '"', '5" 6""'], "b": [None, "1,\r\n2", ""]}
    found = read(reader, b'a,b\n"x\\"","\\\\"\n"\\\\\\"",\\N\n"1\\,\\\n2",5" 6\n', escape="\\")
    assert found == {"a": ['x"', '\\"', "1,\n2"], "b": ["\\", "\\N", '5" 6']}


def test_blanks_before_a_quote_where_blanks_are_stripped(reader):
    path = reader.path("t.csv", b'a,b\n1, "x, y"\n2, zqcanary\n')
    assert "row 1 of" in reader.fails("csv", path, "PPF486", strip="true")
    assert read(reader, b'a,b\n1, 5" x\n', strip="true") == {"a": ["1"], "b": ['5" x']}


def test_escapes_of_spark_hive_and_mysql(reader):
    content = b'note,name\n"18\\"",Ada\n"a \\"b\\", c","C:\\\\"\n"x\\\ny",\\N\n'
    found = read(reader, content, escape="\\")
    assert found == {"note": ['18"', 'a "b", c', "x\ny"], "name": ["Ada", "C:\\", "\\N"]}
    reader.fails("csv", reader.path("t.csv", content), "PPF486")
    assert read(reader, b"a,b\nC:\\x,1\n", escape="none") == {"a": ["C:\\x"], "b": ["1"]}
    assert read(reader, b'"a\\"x",b\n1,2\n', escape="\\") == {'a"x': ["1"], "b": ["2"]}


@pytest.mark.parametrize(
    "row", [b"C:\\zqcanary,1\n", b'"C:\\zqcanary",1\n', b'x\\"zqcanary,1\n', b"x\\,zqcanary\n", b"\\Nzqcanary,1\n"]
)
def test_escapes_that_tools_read_differently(reader, row):
    path = reader.path("t.csv", b"a,b\n1,2\n" + row)
    assert "row 2 of" in reader.fails("csv", path, "PPF487", escape="\\")


def test_a_file_that_is_in_order_with_and_without_escapes(reader):
    path = reader.path("t.csv", b'a\n"zqcanary\\"\n6"\n')
    reader.fails("csv", path, "PPF489")
    assert reader.table("csv", path, escape="none") == {"a": ["zqcanary\\", '6"']}
    assert reader.table("csv", path, escape="\\") == {"a": ['zqcanary"\n6']}
    folders = b'a,b\n"C:\\x\\",1\n"D:\\y\\",2\n'
    assert read(reader, folders) == {"a": ["C:\\x\\", "D:\\y\\"], "b": ["1", "2"]}


def test_a_header_between_the_rows(reader):
    content = b"a,zqcanary,c\n1,2,3\n\n4,5,6\n"
    path = reader.path("t.csv", content + b'a,"zqcanary",c\n' + content)
    assert reader.fails("csv", path, "PPF488") == f"row 3 of `{path}` is the header once more"
    assert [b.num_rows for b in reader.batches("csv", path, skip_rows="1", header="false")] == [6]
    with pytest.raises(DataError, match="row 3 of"):
        reader.batches("csv", path, ["c"])
    stripped = reader.path("s.csv", b"a, b\n1, 2\na , b\n")
    assert "row 2 " in reader.fails("csv", stripped, "PPF488", strip="true")


@pytest.mark.parametrize(
    "row",
    [
        MARK + "a,zqcanary,c",
        MARK + '"a","zqcanary","c"',
        "A,ZqCanary,C",
        "c,a,zqcanary",
        " a , zqcanary,c",
        f"{MARK}c,A,zqcanary",
    ],
)
@pytest.mark.parametrize("columns", [None, ["c"], ["zqcanary", "a"]])
def test_a_header_between_the_rows_in_another_form(reader, row, columns):
    path = reader.path("t.csv", f"a,zqcanary,c\n1,2,3\n4,5,6\n{row}\n7,zqcanary,9\n".encode())
    assert reader.fails("csv", path, "PPF488") == f"row 3 of `{path}` is the header once more"
    with pytest.raises(DataError, match="row 3 of"):
        reader.batches("csv", path, columns)


@pytest.mark.parametrize("row", ["a,b,b", "a,b,x", "a,,b", "aa,b,c", "b,a,"])
def test_rows_with_some_names_are_rows(reader, row):
    path = reader.path("t.csv", f"a,b,c\n1,2,3\n{row}\n".encode())
    for columns in (None, ["a"], ["a", "b"]):
        assert [b.num_rows for b in reader.batches("csv", path, columns)] == [2]


def named(reader, content: bytes, names: list[str], **options: object):
    source = reader.open("csv", reader.path("t.csv", content), header=False, **options)
    source.name_columns(names)
    return source


@pytest.mark.parametrize("head", [b"a,b\n", b"\xef\xbb\xbfa,b\n", b"B,A\n", b'"a","b"\n'])
def test_a_header_of_a_file_that_should_have_none(reader, head):
    for skipped in (0, 1):
        source = named(reader, b"title\n" * skipped + head + b"1,2\n3,4\n", ["a", "b"], skip_rows=skipped)
        for columns in (source.names(), source.names()[1:]):
            with pytest.raises(DataError) as caught:
                list(source.batches(columns))
            (diagnostic,) = caught.value.diagnostics
            assert (diagnostic.code, "row 1 of" in diagnostic.message) == ("PPF488", True)
            assert f"skip_rows: {skipped + 1}" in diagnostic.help
        with pytest.raises(DataError, match="is a header"):
            [list(piece.starting_at(0).batches(source.names())) for piece in source.pieces(1)]


def test_rows_of_a_file_without_a_header(reader):
    for content in (b"1,2\na,4\n", b"a,b\na,\n,b\n", b"x,y\n1,2\n"):
        source = named(reader, content, ["a", "b"])
        assert sum(b.num_rows for b in source.batches(source.names())) == content.count(b"\n")
    source = named(reader, b"a,b\n1,2\na,b\n", ["a", "b"], skip_rows=1)  # who says that it is a row
    assert sum(b.num_rows for b in source.batches(source.names())) == 2
    with pytest.raises(DataError, match="row 1 of"):
        list(named(reader, b"a\n1\n", ["a"]).batches(["column_1"]))


def test_cells_that_say_the_name_of_their_column_are_answers(reader):
    content = b"age,Bus,Car\n30,Bus,Car\n31,,Car\n"
    assert read(reader, content)["Car"] == ["Car", "Car"]
    path = reader.path("t.csv", content)
    assert reader.table("csv", path, ["Bus", "Car"])["Bus"] == ["Bus", None]
    assert read(reader, b"Bus,Car\nBus,Car\nBus,\n,Car\n")["Bus"] == ["Bus", "Bus", None]
    assert read(reader, b"Bus\nBus\n\n") == {"Bus": ["Bus", None]}


@pytest.mark.random
def test_random_files_as_python_and_duckdb_read_them(tmp_path):
    counts, wrong = csv_files.campaign(150, 1, tmp_path)
    assert not wrong
    assert csv_files.accepted_share(counts) >= csv_files.ENOUGH


@pytest.mark.parametrize(
    "options",
    [
        {"delimiter": "ab"},
        {"delimiter": ""},
        {"delimiter": "\n"},
        {"encoding": "klingon"},
        {"encoding": "rot13"},
        {"encoding": "hex"},
        {"encoding": "base64"},
        {"encoding": "punycode"},
        {"encoding": "idna"},
        {"encoding": "unicode_escape"},
        {"encoding": "undefined"},
        {"skip_rows": "-1"},
        {"escape": "ab"},
        {"escape": ","},
    ],
)
def test_options_are_checked_by_their_model(reader, options):
    with pytest.raises(ValueError, match="validation error"):
        reader.open("csv", reader.path("t.csv", b"a\n"), **options)
