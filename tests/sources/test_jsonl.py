"""The reader of JSON lines."""

from __future__ import annotations

import gzip
import json

import pytest

from ppdm_flow.core.errors import DataError


def read(reader, content: bytes, name: str = "t.jsonl") -> dict[str, list]:
    return reader.table("jsonl", reader.path(name, content))


def test_numbers_keep_the_digits_of_the_file(reader):
    found = read(
        reader, b'{"x": 1.10}\n{"x": 1e5}\n{"x": -0}\n{"x": 12345678901234567890123}\n{"x": 0.1000000000000000055}\n'
    )
    assert found == {"x": ["1.10", "1e5", "-0", "12345678901234567890123", "0.1000000000000000055"]}


def test_keys_in_order_of_first_appearance_and_missing_ones_are_null(reader):
    found = read(reader, b'{"b": "1", "a": null}\n\n{"c": true, "a": "x"}\n{"c": false}')
    assert list(found) == ["b", "a", "c"]
    assert found == {"b": ["1", None, None], "a": [None, "x", None], "c": [None, "true", "false"]}


def test_escapes_and_a_byte_order_mark(reader):
    assert read(reader, '\ufeff{"ä": "\\u00e9\\n"}\n'.encode()) == {"ä": ["é\n"]}
    assert read(reader, b'{"a": "\\ud83d\\ude00"}\n') == {"a": ["\N{GRINNING FACE}"]}


def test_gzip(reader):
    assert read(reader, gzip.compress(b'{"a": 1}\n'), "t.jsonl.gz") == {"a": ["1"]}


@pytest.mark.slow
def test_many_lines_and_a_cell_of_ten_megabytes(reader):
    lines = [json.dumps({"a": str(i), "b": "x" * 10_000_000 if i == 20_000 else "y"}) for i in range(40_000)]
    found = read(reader, "\n".join(lines).encode())
    assert found["a"] == [str(i) for i in range(40_000)]
    assert len(found["b"][20_000]) == 10_000_000


@pytest.mark.parametrize(
    ("line", "code", "word"),
    [
        (b'{"a": ["zqcanary"]}', "PPF719", "`a` is nested"),
        (b'{"a": {"zqcanary": 1}}', "PPF719", "`a` is nested"),
        (b'{"a": zqcanary}', "PPF718", "not JSON"),
        (b'{"a": "zqcanary"', "PPF718", "not JSON"),
        (b'{"a": "zqcanary"} {"a": 1}', "PPF718", "not JSON"),
        (b'["zqcanary"]', "PPF718", "no object"),
        (b'"zqcanary"', "PPF718", "no object"),
        (b'{"a": "zqcanary", "a": 2}', "PPF718", "one key twice"),
        (b'{"a": NaN, "b": "zqcanary"}', "PPF718", "NaN"),
        (b'{"a": -Infinity, "b": "zqcanary"}', "PPF718", "NaN"),
        (b'{"a": "zqcanary\xff"}', "PPF704", "encoding"),
        (b'{"a": "zqcanary\\ud800"}', "PPF704", "surrogate"),
        (b'{"a": "zqcanary\\u0000"}', "PPF706", "NUL"),
        (b"[" * 100_000, "PPF718", "not JSON"),
    ],
)
def test_what_is_no_row_is_named_by_its_line(reader, line, code, word):
    path = reader.path("t.jsonl", b'{"a": "1"}\n\n{"a": "2"}\n' + line + b"\n")
    message = reader.fails("jsonl", path, code)
    assert message.startswith("line 4")
    assert word in message


def test_files_that_are_empty_cut_off_or_not_there(reader, tmp_path):
    assert "empty" in reader.fails("jsonl", reader.path("e.jsonl", b"\n \n"), "PPF702")
    packed = gzip.compress(b'{"a": "zqcanary"}\n' * 100)
    assert "damaged" in reader.fails("jsonl", reader.path("c.jsonl.gz", packed[:-9]), "PPF705")
    assert "no such file" in reader.fails("jsonl", tmp_path / "none.jsonl", "PPF701")


@pytest.mark.parametrize(
    ("lines", "keys", "words"),
    [(2, 6_000, "more than 10,000 different keys"), (4_000, 1, "4,000 lines have 4,000 different keys")],
)
def test_keys_that_differ_from_line_to_line_are_no_columns(reader, lines, keys, words):
    """A megabyte of them was a table of many gigabytes."""
    content = "\n".join(json.dumps({f"zqcanary{line * keys + n}": n for n in range(keys)}) for line in range(lines))
    with pytest.raises(DataError, match=words) as caught:
        read(reader, content.encode())
    assert caught.value.diagnostics[0].code == "PPF718"
    assert "zqcanary" not in str(caught.value)


def test_lines_with_few_of_many_keys(reader):
    rows = [{f"k{n % 700}": n, f"k{(n * 7 + 3) % 700}": None, "id": f"p{n % 9}"} for n in range(1_500)]
    found = read(reader, "\n".join(map(json.dumps, rows)).encode())
    assert len(found) == 701
    for name, cells in found.items():
        assert cells == [None if row.get(name) is None else str(row[name]) for row in rows]
