"""Test files: what their keys mean, how short forms are written out, and what the schema says of them."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import jsonschema
import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from ppdm_flow.core.errors import UsageError
from ppdm_flow.policy.language.schemas import TESTS, descriptions
from ppdm_flow.policy.language.shape import FixedKeys, ListOf, MapOf, Shape, shape_of
from ppdm_flow.policy.test import CaseFile, load, schema, text_of

ROOT = Path(__file__).resolve().parents[2]
WHOLE = ROOT / "tests" / "examples" / "cases" / "good" / "clinic.test.yaml"


def loaded(tmp_path, text):
    file = tmp_path / "a.test.yaml"
    file.write_text(text, encoding="utf-8")
    return load(file)


def one(tmp_path, expect, data='"a\\n1\\n"'):
    found = loaded(tmp_path, f"policy: p.yaml\ntests:\n  t:\n    data: {data}\n    expect: {expect}\n")
    assert found.diagnostics == (), found.diagnostics
    return found.cases.tests["t"]


def test_short_forms_are_written_out(tmp_path):
    expect = one(
        tmp_path,
        "{fails: [a.b], rows: 3, columns: {include: [x]}, released_values: {x: y}, suppressed: {x: [y, z]},"
        " metrics: {m.n: 0.5, o.p: {min: 1}}, findings: PPF780}",
    ).expect
    assert expect.fails.exactly == ("a.b",)
    assert expect.rows.equals == 3
    assert (expect.columns.exactly, expect.columns.include) == (None, ("x",))
    assert expect.released_values["x"].exactly == ("y",)
    assert expect.suppressed["x"].somewhere == ("y", "z")
    assert (expect.metrics["m.n"].equals, expect.metrics["o.p"].min) == (0.5, 1)
    assert expect.findings.exactly == ("PPF780",)


def test_nothing_expected_is_not_an_empty_list(tmp_path):
    assert one(tmp_path, "{fails: []}").expect.fails.exactly == ()
    assert one(tmp_path, "{verdict: released}").expect.fails is None


def test_tables_in_all_forms(tmp_path):
    assert one(tmp_path, "{rows: 1}", "|\n      a,b\n      1,2\n").data.text == "a,b\n1,2\n"
    assert one(tmp_path, "{rows: 1}", "[[a, b], [1, ~]]").data.rows == (["a", "b"], ["1", None])
    assert one(tmp_path, "{rows: 1}", "[{a: NO, b: 010}]").data.rows == ({"a": "NO", "b": "010"},)
    assert one(tmp_path, "{rows: 1}", "{csv: x.csv}").data.csv == "x.csv"


def test_a_fault_in_a_short_form_is_drawn_at_its_place(tmp_path):
    line = "  t: {data: x, expect: {metrics: {a.b: many}, rows: [3]}}"
    found = loaded(tmp_path, f"policy: p\ntests:\n{line}\n")
    places = [(d.code, line[d.span.column - 1 : d.span.end_column - 1]) for d in found.diagnostics]
    assert places == [("PPF203", "many"), ("PPF208", "[3]")]
    assert found.cases is None


def test_a_file_that_is_not_there(tmp_path):
    with pytest.raises(UsageError) as caught:
        load(tmp_path / "none.test.yaml")
    assert caught.value.diagnostics[0].code == "PPF100"


@given(st.lists(st.lists(st.none() | st.text(), min_size=2, max_size=2), min_size=1))
def test_rows_are_the_same_after_reading_them_as_csv(rows):
    """Quoted cells come back as they were; a missing one is empty and stands without quotes."""
    text = text_of([["a", "b"], *rows])
    plain = [["" if cell is None else cell for cell in row] for row in rows]
    assert list(csv.reader(io.StringIO(text, newline=""), strict=True)) == [["a", "b"], *plain]
    lines = text_of([["a"], [None], [""]]).splitlines()
    assert lines == ['"a"', "", '""']


def test_maps_are_written_in_the_order_of_the_first(tmp_path):
    assert text_of([{"b": "1", "a": "2"}, {"a": "3", "b": "4"}]) == '"b","a"\n"1","2"\n"4","3"\n'


def models(shape: Shape) -> set[str]:
    if isinstance(shape, FixedKeys):
        here = {f"{shape.model.__name__}.{name}" for name in shape.keys}
        return here.union(*(models(key.shape) for key in shape.keys.values()))
    if isinstance(shape, ListOf):
        return models(shape.item)
    return models(shape.value) if isinstance(shape, MapOf) else set()


def test_every_key_is_described_and_nothing_else():
    assert set(descriptions(TESTS)) == models(shape_of(CaseFile))


def test_examples_of_the_schema_satisfy_their_own_key():
    whole = schema()
    jsonschema.Draft7Validator.check_schema(whole)
    for name, definition in whole["definitions"].items():
        for key, about in definition.get("properties", {}).items():
            part = {**about, "definitions": whole["definitions"]}
            for example in about["examples"]:
                jsonschema.Draft7Validator(part).validate(example)
                assert about["description"], (name, key)


def test_the_schema_is_in_step():
    text = (ROOT / "schemas" / "test.v1.json").read_text(encoding="utf-8")
    assert text == json.dumps(schema(), indent=2, ensure_ascii=False) + "\n"


def keys_of(tree, path=()):
    """Every fixed key of the good example, with its path."""
    for name, value in tree.items():
        own = path in ((), ("tests",)) or ((path and path[-1] in ("expect", "data", "rows")) or len(path) == 2)
        if own and path != ("tests",):
            yield (*path, name)
        if isinstance(value, dict):
            yield from keys_of(value, (*path, name))


EDITS = ("{0}s", "{0[0]}{0}", "x{0}")


def test_misspelt_keys_are_suggested_back_and_drawn_on_their_token(tmp_path):
    text = WHOLE.read_text(encoding="utf-8")
    tree = yaml.safe_load(text)
    every = good = 0
    for path in dict.fromkeys(p[-1] for p in keys_of(tree)):
        for edit in EDITS:
            typo = edit.format(path)
            wrong = (
                text.replace(f"\n{path}:", f"\n{typo}:")
                .replace(f" {path}:", f" {typo}:")
                .replace(f"{{{path}:", f"{{{typo}:")
            )
            if wrong == text:
                continue
            found = [d for d in loaded(tmp_path, wrong).diagnostics if d.code == "PPF201"]
            assert found, typo
            lines = wrong.splitlines()
            for each in found:
                assert lines[each.span.line - 1][each.span.column - 1 :].startswith(typo)
            every += 1
            good += all(each.hint == f"did you mean `{path}`?" for each in found)
    assert every > 30
    assert good / every >= 0.95
