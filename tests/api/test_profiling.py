"""``profile``: the written policy passes ``check`` and runs on the data that it came from; no value is ever shown."""

from __future__ import annotations

import csv
import gzip
import io
import json
import random
import re
import tempfile
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import yaml
from hypothesis import example, given
from hypothesis import strategies as st
from tiers import examples

import ppdm_flow as pf
from ppdm_flow import api
from ppdm_flow.core.diagnostics import Severity
from ppdm_flow.core.errors import DataError, UsageError
from ppdm_flow.policy.language.wording import DraftFacts
from ppdm_flow.report.contract import policy_name, privacy, scalar

FORMS = ("yaml", "json", "text")


def written(folder, header, rows, name="people.csv", **more):
    out = io.StringIO()
    csv.writer(out, lineterminator="\n", **more).writerows([header, *rows] if header else rows)
    path = folder / name
    raw = out.getvalue().encode()
    path.write_bytes(gzip.compress(raw) if name.endswith(".gz") else raw)
    return path


def roles(found):
    return {c["name"]: c["role"] for c in found.document["columns"]}


def passes(found, folder):
    """Write the policy beside the data and check it: no errors, and no warnings of a first policy's own making."""
    path = folder / "policy.yaml"
    path.write_text(found.rendered("yaml", beside=folder), encoding="utf-8")
    outcome = api.check([path])
    assert outcome.passes(), outcome.diagnostics
    return path, outcome


@pytest.fixture
def people(tmp_path):
    dice = random.Random(1)
    jobs, ills = ["nursezz", "driverzz", "clerkzz"], ["asthmazz", "fluzz", "gastritiszz", "migrainezz"]
    rows = [
        [
            f"P{i:05}zz",
            f"person{i}zz@mail.example",
            f"+49 30 77{i:05}",
            dice.randrange(18, 90),
            f"{1930 + dice.randrange(70)}-0{1 + dice.randrange(9)}-11",
            f"{dice.randrange(10, 99)}0{dice.randrange(10, 99)}",
            dice.choice(jobs),
            dice.choice(ills),
            dice.randrange(1000, 9000) * 10 + 7,
            "constantzz",
            dice.choice(["", "5.25", "6.75"]),
        ]
        for i in range(400)
    ]
    header = ["key", "contact", "call", "age", "day", "zip", "job", "illness", "income", "site", "score2"]
    return written(tmp_path, header, rows)


def test_planted_columns_get_their_roles(people):
    assert roles(api.profile(people)) == {
        "key": "identifier",
        "contact": "identifier",
        "call": "identifier",
        "age": "quasi_identifier",
        "day": "quasi_identifier",
        "zip": "quasi_identifier",
        "job": "quasi_identifier",
        "illness": "sensitive",
        "income": "sensitive",
        "site": "insensitive",
        "score2": "quasi_identifier",
    }


def test_what_tells_rows_apart_is_told(people):
    found = api.profile(people).document
    assert ["key"] in found["unique_combinations"]
    assert ["contact"] in found["unique_combinations"]
    assert all(not {"key", "contact", "call"} & set(c["columns"]) for c in found["telling_combinations"])
    assert found["combinations_left_out"] == 0


@pytest.mark.parametrize("form", FORMS)
def test_no_value_is_shown(people, form):
    text = api.profile(people).rendered(form)
    assert "zz" not in text
    assert "@mail" not in text
    assert "+49" not in text
    for number in {row["income"] for row in csv.DictReader(io.StringIO(people.read_text()))}:
        assert number not in text


@pytest.mark.slow
def test_the_policy_is_checked_strictly_and_releases(people, tmp_path):
    path, outcome = passes(api.profile(people), tmp_path)
    assert outcome.count(Severity.WARNING) == 0
    tree = yaml.safe_load(path.read_text())
    assert tree["privacy"]["l_diversity"]["illness"] == {"l": 3}
    assert tree["attributes"]["zip"]["hierarchy"] == {"prefix": [4, 3, 2, 1]}
    assert "hierarchy" not in tree["attributes"]["age"]
    assert api.run(path, out=tmp_path / "runs").report.verdict == "released"


def test_documents_are_plain_json(people):
    found = json.loads(api.profile(people).rendered("json"))
    assert found["rows"] == 400
    assert {c["name"]: c["missing"] for c in found["columns"]}["score2"] > 50


NASTY = [
    "a b",
    "a:b",
    "'",
    '"',
    "a#b",
    "- x",
    "{",
    "[x]",
    "*",
    "a*",
    "?",
    "yes",
    "null",
    "~",
    "1",
    "1.5e3",
    "${params.k}",
]
NASTY += [
    "$${x",
    "ü",
    "姓名",
    "a\nb",
    "a\tb",
    "x" * 200,
    "&a",
    "!t",
    "%",
    "@",
    "`",
    "|",
    "<b>",
    "a,b",
    "\u2028",
    "\x85",
    "\u202e",
]
NASTY += ["version", "role", " lead", "trail ", "é", "e\u0301", "#", ": ", "\\", "\\n", "[a-z]", "\x7f", "\ue000"]
CELLS = st.one_of(
    st.sampled_from(
        ["", "?", "NA", "0", "1", "2", "3.5", "yes", "no", "2020-01-01", "31.12.1999", "x@y.example", "é", "a,b"]
    ),
    st.integers(-(10**6), 10**6).map(str),
    st.text("abcZ 'é\"", max_size=4),
)


@st.composite
def tables(draw):
    names = draw(
        st.lists(
            st.one_of(st.sampled_from(NASTY), st.text("aB1_- .:ß", min_size=1, max_size=6)),
            min_size=1,
            max_size=4,
            unique=True,
        )
    )
    rows = draw(st.integers(1, 30))
    return names, [[draw(CELLS) for _ in names] for _ in range(rows)]


@examples(20)
@given(tables())
@example((["a b", "\\"], [["", ""]]))
@example((["${params.k}", "a*", "ab"], [["1", "2", "3"]] * 9))
@example((["only"], [["1"], ["2"]]))
@example((["email", "x"], [[f"u{i}@x.example", "s"] for i in range(9)]))
def test_whatever_the_names_the_policy_passes_check(table):
    names, rows = table
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        path = written(folder, names, rows, quoting=csv.QUOTE_ALL)
        try:
            passes(api.profile(path, header=True), folder)
        except DataError as error:
            assert error.diagnostics[0].code in {"PPF672", "PPF674"}  # noqa: PT017  # which of several


@pytest.mark.slow
@examples(10)
@given(tables())
@example((["a", "b"], [["1", "x"]] * 9))
@example((["a b"], [["NA"]]))
@example((["a", "salary"], [["1", "x"]] * 9))
@example((["*"], [[""]] * 4 + [["NA"]]))
@example((["patient id"], [["1"], ["2"]]))
def test_whatever_the_table_the_policy_runs_on_it(table):
    """Released or withheld, and never an error."""
    names, rows = table
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        path = written(folder, names, rows, quoting=csv.QUOTE_ALL)
        try:
            policy, _ = passes(api.profile(path, header=True), folder)
        except DataError:
            return
        assert api.run(policy, out=folder / "runs").report.verdict in {"released", "withheld"}


class TestFiles:
    ROWS = (["1", "x", "2020-01-01"], ["2", "y", "2020-02-01"], ["3", "x", "2020-03-01"]) * 4

    @pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
    def test_delimiters(self, tmp_path, delimiter):
        path = written(tmp_path, ["age", "job", "day"], self.ROWS, delimiter=delimiter)
        found = api.profile(path)
        assert list(roles(found)) == ["age", "job", "day"]
        assert found.document["source"]["options"] == ({} if delimiter == "," else {"delimiter": delimiter})
        passes(found, tmp_path)

    def test_blanks_after_delimiters_and_gzip(self, tmp_path):
        path = written(
            tmp_path, ["age", " job", " day"], [[r[0], f" {r[1]}", f" {r[2]}"] for r in self.ROWS], "x.data.gz"
        )
        found = api.profile(path)
        assert found.document["source"]["options"] == {"strip": True}
        assert [c["type"] for c in found.document["columns"]] == ["integer", "text", "date"]

    @pytest.mark.parametrize("encoding", ["cp1252", "utf-16", "utf-8-sig"])
    def test_encodings(self, tmp_path, encoding):
        path = tmp_path / "x.csv"
        path.write_text("größe,ort\n" + "180,Köln\n190,Ulm\n" * 5, encoding=encoding)
        found = api.profile(path)
        assert list(roles(found)) == ["größe", "ort"]
        policy, _ = passes(found, tmp_path)
        assert api.run(policy, out=tmp_path / "runs").report.verdict == "released"

    @pytest.mark.slow(quick=3)
    @pytest.mark.parametrize(
        "first",
        [["39", "Never", "x"], ["a@b.example", "b", "c"], ["2020-01-01", "b", "c"], ["q", "y", "z"], ["x", "x", "z"]],
    )
    def test_a_first_row_of_values_is_not_taken_for_names(self, tmp_path, first):
        path = written(tmp_path, None, [first, *self.ROWS])
        found = api.profile(path)
        assert list(roles(found)) == ["column_1", "column_2", "column_3"]
        for form in FORMS:
            assert "Never" not in found.rendered(form)
        policy, _ = passes(found, tmp_path)
        assert api.run(policy, out=tmp_path / "runs").report.releases["study"]["rows"] == 13

    def test_a_first_row_that_comes_again_far_below(self, tmp_path):
        rows = [[f"name{i}", "x"] for i in range(500)] + [["Alice", "y"]]
        found = api.profile(written(tmp_path, None, [["Alice", "z"], *rows]))
        assert list(roles(found)) == ["column_1", "column_2"]
        assert not [form for form in FORMS if "Alice" in found.rendered(form)]

    TEXTS = ([["Anna", "Berlin", "flu"], ["Ben", "Ulm", "gout"], ["Cleo", "Bonn", "asthma"], ["Dora", "Jena", "cold"]],)

    @pytest.mark.parametrize(
        ("first", "taken"),
        [
            (["name", "city", "disease"], True),  # words that columns are called by
            (["q_1", "q_2", "status"], True),  # written as programs write names
            (["birthDate", "homeTown", "x"], True),
            (["Ernst", "Kiel", "mumps"], False),
            (["foo", "bar", "disease"], False),  # one word is no proof
            (["Ernst", "NA", "?"], False),
        ],
    )
    def test_texts_alone_need_what_speaks_for_names(self, tmp_path, first, taken):
        found = api.profile(written(tmp_path, None, [first, *self.TEXTS[0]]))
        assert list(roles(found)) == (first if taken else ["column_1", "column_2", "column_3"])
        if not taken:
            assert not [
                c for c in first if len(c) > 4 and c != "disease" for form in FORMS[1:] if c in found.rendered(form)
            ]
        assert list(roles(api.profile(written(tmp_path, None, [first, *self.TEXTS[0]]), header=True))) == first

    @pytest.mark.parametrize(
        "first",
        [
            ["seen with a phone in her job and city", "Patient of age 40, no job", "disease"],  # words within sentences
            ["job centre", "home city", "mumps"],  # words for columns, as others below
            ["write to zoe@a.example please", "age", "disease"],
            ["call 0170 123 45 67", "age", "disease"],
            ["age", "14 High Road", "disease"],
            ["age", "Lindenstr. 4", "disease"],
            ["name", "12 Elms", "disease"],  # as addresses below
            ["E11", "zoe@a.example", "7"],  # a code above numbers, and what is no name
        ],
    )
    def test_values_with_words_for_columns_are_no_names(self, tmp_path, first):
        rows = [
            ["job loss", "sees 3 Oaks", "flu"],
            ["moved city", "at 4 Elms", "gout"],
            ["phone number", "in 5 Firs", "cold"],
            ["work status", "home at 6 Oaks", "asthma"],
        ]
        if first[0] == "E11":
            rows = [["250", "ben@a.example", "8"], ["401", "c@a.example", "9"]]
        found = api.profile(written(tmp_path, None, [first, *rows]))
        assert list(roles(found)) == ["column_1", "column_2", "column_3"]
        assert not [
            c for c in first if len(c) > 4 and c != "disease" for form in FORMS[1:] if c in found.rendered(form)
        ]

    @pytest.mark.parametrize("word", ["unknown", "n/k", "E11"])
    def test_a_word_above_numbers_is_no_proof(self, tmp_path, word):
        rows = [["Anna", str(i), "flu"] for i in range(9)]
        found = api.profile(written(tmp_path, None, [["Zoe", word, "gout"], *rows]))
        assert list(roles(found)) == ["column_1", "column_2", "column_3"]

    @pytest.mark.parametrize(("names", "many"), [(["iage", "irace", "ikind", "iday"], 3), (["area", "list", "xs"], 25)])
    def test_several_words_above_numbers_or_one_in_a_long_file(self, tmp_path, names, many):
        rows = [[str(30 + i), f"w{'abc'[i % 3]}", f"v{'ab'[i % 2]}", str(i)][: len(names)] for i in range(many)]
        assert list(roles(api.profile(written(tmp_path, names, rows)))) == names

    @pytest.mark.parametrize(
        "names",
        [
            ["Patient age (years)", "Date of birth", "Home address"],
            ["age", "Question 12", "Income 2019/2020"],
            ["age", "30 day mortality", "ICD-10 code"],
            ["What is your age, in years, at this visit?", "job", "city"],
            ["age", "street_2", "phone"],
        ],
    )
    def test_names_with_numbers_and_many_words(self, tmp_path, names):
        assert list(roles(api.profile(written(tmp_path, names, [["30", "x", "u"], ["31", "y", "v"]] * 3)))) == names

    def test_a_sheet_whose_first_row_has_an_address(self, tmp_path):
        openpyxl = pytest.importorskip("openpyxl")
        book = openpyxl.Workbook()
        for row in [["zoe@a.example", "39"], *[[f"a{i}@b.example", str(i)] for i in range(9)]]:
            book.active.append(row)
        book.save(tmp_path / "x.xlsx")
        assert list(roles(api.profile(tmp_path / "x.xlsx"))) == ["column_1", "column_2"]
        assert list(roles(api.profile(tmp_path / "x.xlsx", header=True))) == ["zoe@a.example", "39"]

    def test_a_missing_number_in_the_first_row_is_no_name(self, tmp_path):
        rows = [["Anna", str(i), "flu"] for i in range(9)]
        found = api.profile(written(tmp_path, None, [["Zoe", "NA", "gout"], *rows]))
        assert list(roles(found)) == ["column_1", "column_2", "column_3"]

    def test_a_sheet_has_names(self, tmp_path):
        openpyxl = pytest.importorskip("openpyxl")
        book = openpyxl.Workbook()
        for row in [["2019", "cook"], *[[str(30 + i), f"cook {i % 3}"] for i in range(9)]]:
            book.active.append(row)
        book.save(tmp_path / "x.xlsx")
        assert list(roles(api.profile(tmp_path / "x.xlsx"))) == ["2019", "cook"]
        found = api.profile(tmp_path / "x.xlsx", header=False)
        assert list(roles(found)) == ["column_1", "column_2"]
        policy, _ = passes(found, tmp_path)
        assert "cook" not in policy.read_text()

    def test_formats_with_names_have_no_guess(self, tmp_path):
        table = pa.table({"39": ["40", "41", "39"], "2021-03-04": ["x", "y", "z"], "Bus": ["Bus", None, "Bus"]})
        pq.write_table(table, tmp_path / "x.parquet")
        assert list(roles(api.profile(tmp_path / "x.parquet"))) == table.column_names
        assert list(roles(pf.profile(table.to_pandas()))) == table.column_names

    @pytest.mark.parametrize(
        ("names", "row"),
        [
            (["person", "age", "Bus", "Train"], lambda i: [f"p{i}", 30 + i, "Bus" if i % 3 else "", "Train" * (i % 2)]),
            (["age", "female", "male"], lambda i: [20 + i, "female" * (i % 2), "male" * ((i + 1) % 2)]),
            (["Bus", "Train"], lambda i: ["Bus" * (i % 2), "Train" * ((i + 1) % 2)]),
            (["id", "2019", "2020"], lambda i: [f"a{i}", i * 3, i * 4]),
            (["2019", "2020", "2021"], lambda i: [i, i * 2, i * 3]),
            (["region", "age"], lambda i: ["region" if i == 4 else "north", 30 + i]),
        ],
    )
    def test_names_that_look_like_values(self, tmp_path, names, row):
        path = written(tmp_path, names, [row(i) for i in range(12)])
        assert list(roles(api.profile(path))) == names

    @pytest.mark.parametrize(
        "first",
        [
            ["Ernst", "2019", "Kiel"],  # years stand below, too
            ["Ernst", "2019", "Bonn"],
            ["Bonn", "1990", "Ernst"],
        ],
    )
    def test_years_and_repeated_values_of_rows_are_no_names(self, tmp_path, first):
        rows = [[name, str(1950 + i), "Bonn"] for i, name in enumerate(["Anna", "Ben", "Cleo", "Dora"] * 3)]
        assert list(roles(api.profile(written(tmp_path, None, [first, *rows])))) == [f"column_{i}" for i in (1, 2, 3)]

    def test_a_tsv_is_parted_by_tabs(self, tmp_path):
        path = written(tmp_path, ["age", "job, or not"], [["30", "a, b"], ["31", "c, d"]], "x.tsv", delimiter="\t")
        found = api.profile(path)
        assert list(roles(found)) == ["age", "job, or not"]
        assert found.document["source"]["options"] == {}
        passes(found, tmp_path)

    def test_spaces_part_cells_where_there_are_enough(self, tmp_path):
        path = tmp_path / "x.txt"
        path.write_text('"age" "job title"\n' + '30 "day cook"\n31 "night cook"\n' * 5)
        found = api.profile(path)
        assert found.document["source"]["options"] == {"delimiter": " "}
        assert list(roles(found)) == ["age", "job title"]
        passes(found, tmp_path)
        path.write_text("full name\n" + "Ada Berg\nBen Carl\n" * 5)
        assert len(roles(api.profile(path))) == 1

    def test_escapes(self, tmp_path):
        path = tmp_path / "x.csv"
        path.write_text("note;age\n" + '"18\\"; new";30\n"20\\"";31\n' * 5)
        found = api.profile(path)
        assert found.document["source"]["options"] == {"delimiter": ";", "escape": "\\"}
        assert found.read_as == "cells parted by semicolons, encoding utf-8, `\\` before quotes inside of quotes"
        policy, _ = passes(found, tmp_path)
        assert api.run(policy, out=tmp_path / "runs").report.releases["study"]["rows"] == 10
        path.write_text("note,age\n" + '"18""",30\n"C:\\x\\",31\n' * 5)
        found = api.profile(path)
        assert found.document["source"]["options"] == {}
        assert "two quotes" in found.read_as

    def test_an_encoding_that_shows_far_below(self, tmp_path):
        path = tmp_path / "x.csv"
        path.write_bytes(b"town,age\n" + b"Ulm,30\n" * 20_000 + "Köln,31\n".encode("cp1252"))
        assert api.profile(path).document["source"]["options"] == {"encoding": "cp1252"}
        path.write_bytes(("town,age\n" + "Ulm,30\n" * 3).encode("utf-16-le"))
        assert "utf-16-le" in api.profile(path, header=True).read_as

    def test_what_is_said_is_not_found_out(self, tmp_path):
        path = tmp_path / "x.csv"
        path.write_bytes("a;b,c\n1;ö,2\n".encode("latin-1"))
        found = api.profile(path, delimiter=";", encoding="latin-1", escape="none", names=("x", "y"))
        assert found.document["source"]["options"] == {"delimiter": ";", "encoding": "iso8859-1", "escape": "none"}
        assert list(roles(found)) == ["x", "y"]
        assert found.document["rows"] == 2
        assert api.profile(path, delimiter=";", header=True, names=("x", "y")).document["rows"] == 1
        with pytest.raises(DataError, match="3 are named"):
            api.profile(path, delimiter=";", names=("x", "y", "z"))
        with pytest.raises(UsageError, match="`--delimiter`: must be one ASCII character"):
            api.profile(path, delimiter=";;")

    def test_the_header_can_be_said(self, tmp_path):
        path = written(tmp_path, ["2019", "2020", "x"], self.ROWS)
        assert list(roles(api.profile(path, header=True))) == ["2019", "2020", "x"]
        path = written(tmp_path, ["a", "b", "c"], self.ROWS)
        assert list(roles(api.profile(path, header=False))) == ["column_1", "column_2", "column_3"]

    def test_parquet_and_jsonl(self, tmp_path):
        table = pa.table({"age": list(range(20, 40)), "sex": ["f", "m"] * 10})
        pq.write_table(table, tmp_path / "x.parquet")
        assert roles(api.profile(tmp_path / "x.parquet")) == {"age": "quasi_identifier", "sex": "quasi_identifier"}
        (tmp_path / "x.jsonl").write_text("\n".join(map(json.dumps, table.to_pylist())) + "\n")
        found = api.profile(tmp_path / "x.jsonl")
        assert [c["type"] for c in found.document["columns"]] == ["integer", "text"]
        passes(found, tmp_path)

    def test_marks_of_missing_values(self, tmp_path):
        path = written(tmp_path, ["age", "code", "job"], [["NA", "NA", "?"], ["31", "DE", "x"], ["32", "FR", ""]] * 9)
        found = api.profile(path)
        assert found.document["source"]["missing"] == ["", "?", "NA"]
        assert [c["missing"] for c in found.document["columns"]] == [9, 9, 18]
        assert found.document["columns"][0]["type"] == "integer"

    @pytest.mark.parametrize(
        ("text", "code"),
        [
            ("a,b\n", "PPF714"),
            ("", "PPF702"),
            ("a,a\n1,2\n", "PPF707"),
            ("a,,\n1,2,3\n", "PPF707"),
            ("a,,c\n1,2,3\n", "PPF672"),
            ("a,b\n1\n", "PPF703"),
            ("a,b\n⊥,1\n", "PPF713"),
        ],
    )
    def test_what_cannot_be_profiled_is_said(self, tmp_path, text, code):
        path = tmp_path / "x.csv"
        path.write_text(text)
        with pytest.raises(DataError) as caught:
            api.profile(path)
        assert [d.code for d in caught.value.diagnostics] == [code]

    def test_where_nothing_is_left_to_release(self, tmp_path):
        found = api.profile(written(tmp_path, ["patient id", "e-mail"], [["1", "x"], ["2", "y"]]))
        assert set(roles(found).values()) == {"identifier"}
        assert "identifier" in found.rendered("text")
        with pytest.raises(DataError) as caught:
            found.rendered("yaml")
        assert caught.value.diagnostics[0].code == "PPF674"

    def test_no_such_file(self, tmp_path):
        with pytest.raises(DataError) as caught:
            api.profile(tmp_path / "x.csv")
        assert caught.value.diagnostics[0].code == "PPF701"


class TestPublicTables:
    def test_adult_has_no_identifier(self, data, tmp_path):
        found = api.profile(data / "adult_uci" / "adult.data.gz")
        assert "identifier" not in set(roles(found).values())
        assert found.document["unique_combinations"] == []
        assert found.document["source"]["missing"] == ["", "?"]
        passes(found, tmp_path)
        named = api.profile(data / "arx_adult" / "adult.csv.gz")
        assert "identifier" not in set(roles(named).values())
        assert roles(named)["salary-class"] == "sensitive"

    @pytest.mark.slow
    def test_crx_runs(self, data, tmp_path):
        policy, _ = passes(api.profile(data / "crx" / "crx.data"), tmp_path)
        assert api.run(policy, data=data / "crx" / "crx.data", out=tmp_path / "runs").report.verdict == "released"


@pytest.mark.parametrize(
    ("file", "name"),
    [("data.csv", "data"), ("2020 visits.csv.gz", "data-2020-visits"), ("ä.csv", "data"), (".x.csv", "x")],
)
def test_names_of_policies(file, name):
    assert policy_name(file) == name


@given(st.text())
def test_scalars_come_back(text):
    clean = text.encode("utf-8", "replace").decode()
    assert yaml.safe_load(f"{scalar(clean)}: 1") == {clean.replace("${", "$${"): 1}


def test_survey_weights_are_the_sampling_weight(tmp_path):
    lines = [f"{20 + i % 40},{'nurse' if i % 3 else 'clerk'},{90 + i / 7:.3f},{80 + i / 9:.3f}" for i in range(80)]
    path = tmp_path / "survey.csv"
    path.write_text("age,job,survey_weight,sampling_weight\n" + "\n".join(lines) + "\n")
    found = api.profile(path)
    assert roles(found)["survey_weight"] == "sampling_weight"
    assert roles(found)["sampling_weight"] == "quasi_identifier"  # only one can be it
    path.write_text("age,job,survey_weight\n" + "\n".join(f"{line.rsplit(',', 2)[0]}," for line in lines) + "\n")
    assert roles(api.profile(path))["survey_weight"] != "sampling_weight"  # all of them are missing


@pytest.mark.slow
def test_exact_sensitive_numbers_get_steps_and_a_bound_to_fill_in(tmp_path):
    rng = np.random.default_rng(0)
    lines = [f"{rng.integers(20, 60)},{'fm'[i % 2]},{np.exp(rng.normal(10, 0.6)):.2f}" for i in range(800)]
    data = tmp_path / "employees.csv"
    data.write_text("age,sex,monthly income\n" + "\n".join(lines) + "\n")
    text = api.profile(data).rendered("yaml", beside=tmp_path)
    assert "interval_disclosure" not in yaml.safe_load(text)["privacy"]
    uncommented = re.sub(r"^  # (tails:|noise:|interval_disclosure:|  \S.*width)", r"  \1", text, flags=re.MULTILINE)
    tree = yaml.safe_load(uncommented)
    assert tree["privacy"]["interval_disclosure"] == {"monthly income": {"width": {"sd": 0.1}, "max": 0.5}}
    assert list(tree["steps"]) == ["recode", "tails", "noise"]
    policy = tmp_path / "policy.yaml"
    policy.write_text(uncommented)
    assert api.run(policy, out=tmp_path / "runs").report.verdict == "released"


def test_few_rows_or_few_numbers_get_no_steps_on_numbers(tmp_path):
    data = tmp_path / "small.csv"
    for rows, values in ((300, 300), (800, 10)):
        data.write_text("age,income\n" + "\n".join(f"{20 + i % 40},{i % values}" for i in range(rows)) + "\n")
        text = api.profile(data).rendered("yaml", beside=tmp_path)
        assert "noise" not in text


@pytest.mark.parametrize("rows", [1, 4])
def test_people_with_several_rows_are_counted(tmp_path, rows):
    """A draft that counts people passes check, and its run counts them; with a row a person nothing says so."""
    dice = random.Random(3)
    table = [[f"P{i // rows:05}", dice.randrange(20, 80), dice.choice("mf"), dice.choice("uvwx")] for i in range(1200)]
    dice.shuffle(table)
    found = api.profile(written(tmp_path, ["patient_id", "age", "sex", "diagnosis"], table))
    path, _ = passes(found, tmp_path)
    policy = yaml.safe_load(path.read_text())
    if rows == 1:
        assert policy["attributes"]["patient_id"] == {"role": "identifier"}
        assert "people" not in policy
        return
    assert policy["attributes"]["patient_id"] == {"role": "subject"}
    assert policy["people"] == {"known_rows": 1}
    done = api.run(path, out=tmp_path / "runs").report
    assert done.verdict == "released"
    assert done.metrics["class_sizes.smallest"].unit == "people"


def kept(policy, folder, step=None):
    """Run a policy, with another step if there is one: what it keeps in all, and of each column."""
    tree = yaml.safe_load(policy.read_text())
    if step is not None:
        for attribute in tree["attributes"].values():
            attribute.pop("hierarchy", None)
        tree["steps"] = {"recode": step}
    path = folder / "changed.yaml"
    path.write_text(yaml.safe_dump(tree))
    report = api.run(path, out=folder / "runs").report
    assert report.verdict == "released"
    figures = {name: f.value for name, f in report.metrics.items() if name.startswith("information_kept.")}
    return figures.pop("information_kept.mean_kept"), figures


def test_a_draft_keeps_what_other_steps_keep(tmp_path):
    """At least 90 % of the best, and of no column less than half; nothing is changed by hand."""
    rng = np.random.default_rng(5)
    size = 300
    age = rng.integers(30, 78, size)
    days = np.datetime64("2021-01-01") + rng.integers(0, 90, size)
    columns = {
        "age": age,
        "sex": rng.integers(0, 2, size),
        "chest_pain": rng.integers(0, 4, size),
        "pressure": 2 * rng.normal(65, 8, size).round().astype(int),
        "rate": (200 - age + rng.normal(0, 10, size)).round().astype(int),
        "born": 2021 - age,
        "day": days,
        "zip": rng.integers(10_100, 10_200, size),
        "diag_1": rng.choice(["I21.0", "J45", "E11.9", "K80.2"], size),
    }
    found = api.profile(written(tmp_path, list(columns), list(zip(*columns.values(), strict=True))))
    assert roles(found)["diag_1"] == "sensitive"
    path, outcome = passes(found, tmp_path)
    assert outcome.count(Severity.WARNING) == 0
    tree = yaml.safe_load(path.read_text())
    assert tree["attributes"]["chest_pain"] == {"role": "quasi_identifier"}
    labels = {"significant": 2, "pressure": {"round": 5}, "rate": {"round": 5}, "born": {"round": 5}, "zip": "sets"}
    assert tree["steps"]["recode"]["with"]["labels"] == {**labels, "day": {"round": 7}}
    own, shares = kept(path, tmp_path)
    best, of_best = kept(path, tmp_path, {"use": "mondrian", "with": {"partitioning": "relaxed"}})
    assert own >= 0.9 * best
    assert not [name for name, share in of_best.items() if share is not None and shares[name] < share / 2]


def test_codes_are_no_quantities(tmp_path):
    dice = random.Random(1)
    rows = [[dice.randrange(1, 27), dice.randrange(1, 27), 250 + dice.randrange(40)] for _ in range(200)]
    found = api.profile(written(tmp_path, ["admission_source_id", "days", "diag_1"], rows))
    types = {c["name"]: c["type"] for c in found.document["columns"]}
    assert types == {"admission_source_id": "text", "days": "integer", "diag_1": "text"}
    assert "interval_disclosure" not in found.rendered("yaml")  # a diagnosis is no exact number


def test_a_rare_sensitive_value_is_said_to_need_large_classes():
    column = {"name": "hiv", "type": "text", "distinct": 2, "largest_share": 0.99}
    assert "alpha_k" in privacy(DraftFacts([column], [column], 5))
    assert "alpha_k" not in privacy(DraftFacts([column], [{**column, "largest_share": 0.9}], 5))


@pytest.mark.parametrize(
    ("form", "pattern"),
    [
        ("{y}-{m:02}", "%Y-%m"),
        ("{m:02}/{y}", "%m/%Y"),
        ("{m}/{y}", "%m/%Y"),
        ("{m:02}.{y}", "%m.%Y"),
        ("{y}/{m:02}", "%Y/%m"),
    ],
)
def test_months_are_dates_with_a_hierarchy(tmp_path, form, pattern):
    """They keep much of what a set of months would lose, and the source needs no option for them."""
    dice = random.Random(3)
    months = [form.format(y=dice.randrange(2015, 2025), m=dice.randrange(1, 13)) for _ in range(400)]
    path = written(tmp_path, ["admitted", "sex"], [[month, dice.choice("mf")] for month in months])
    found = api.profile(path)
    (column, _) = found.document["columns"]
    assert column["hierarchy"] == {"date": ["quarter", "year", "decade"], "format": pattern}
    assert column["type"] == "text"
    assert found.document["source"]["options"] == {}
    policy, outcome = passes(found, tmp_path)
    assert outcome.count(Severity.WARNING) == 0
    done = api.run(policy, out=tmp_path / "runs")
    assert done.report.verdict == "released"
    assert done.document["metrics"]["information_kept.admitted.kept"]["value"] > 0.6


@pytest.mark.parametrize(
    "values", [["12.5", "3.25", "11.2024"], ["05.2024", "11.5"], ["13/2024", "14/2024"], ["5.2024"]]
)
def test_numbers_and_codes_that_are_no_months(tmp_path, values):
    path = written(tmp_path, ["measure", "sex"], [[values[i % len(values)], "mf"[i % 2]] for i in range(100)])
    assert api.profile(path).document["columns"][0]["date_format"] is None


class TestSets:
    """One set a line, item numbers, and lists: the draft asks for km-anonymity and is released as it stands."""

    @staticmethod
    def baskets(folder, name="baskets.csv", mark=","):
        dice = random.Random(4)
        items = ["milk", "bread", "beer, dark", "eggs", "soap", "tea"]
        rows = [dice.sample(items, dice.randrange(1, 6)) for _ in range(200)]
        rows[7].append("onlyzz")
        rows[8] = ["milk"]
        lines = [mark.join(f'"{item}"' if mark in item else item for item in row) for row in rows]
        (folder / name).write_text("\n".join(lines) + "\n")
        return folder / name

    @pytest.mark.parametrize("mark", [",", ";", "\t"])
    def test_a_set_a_line(self, tmp_path, mark):
        found = api.profile(self.baskets(tmp_path, mark=mark))
        assert roles(found) == {"items": "items"}
        assert found.document["rows"] == 200
        assert found.document["sets"]["items"] == 7
        assert found.document["sets"]["alone"] == 1
        assert found.document["source"]["format"] == "baskets"
        assert "a set of items in each line" in found.read_as
        path, outcome = passes(found, tmp_path)
        assert outcome.count(Severity.WARNING) == 0
        assert not [form for form in FORMS if "zz" in found.rendered(form) or "milk" in found.rendered(form)]
        tree = yaml.safe_load(path.read_text())
        assert tree["privacy"] == {"km_anonymity": {"k": 5, "m": 2}}
        assert tree["releases"] == {"study": {"path": "baskets.baskets"}}
        done = api.run(path, out=tmp_path / "runs")
        assert done.report.verdict == "released"
        text = next(done.run_dir.glob("released/study/*.baskets")).read_text()
        assert "zz" not in text
        assert "milk" in text

    def test_an_item_that_a_column_may_be_called(self, tmp_path):
        (tmp_path / "x.csv").write_text("pregnancy test,milk,ham,rice\n" + "milk\nham,rice,milk\nrice,ham\n" * 9)
        assert roles(api.profile(tmp_path / "x.csv")) == {"items": "items"}

    def test_long_numbers_are_read_once(self, tmp_path):
        (tmp_path / "x.csv").write_text("".join(f"{'1' * 100_000}{letter},{letter}\n" for letter in "abc"))
        assert len(roles(api.profile(tmp_path / "x.csv"))) == 2

    def test_item_numbers(self, tmp_path):
        dice = random.Random(4)
        lines = [" ".join(map(str, dice.sample(range(9), dice.randrange(1, 8)))) for _ in range(200)]
        for name in ("x.dat", "x.txt"):
            (tmp_path / name).write_text("\n".join(lines) + "\n")
            found = api.profile(tmp_path / name)
            assert found.document["sets"]["items"] == 9
            assert found.document["source"]["format"] == (None if name == "x.dat" else "transactions")
            path, _ = passes(found, tmp_path)
            assert yaml.safe_load(path.read_text())["releases"]["study"]["path"] == "x.dat"
            assert api.run(path, out=tmp_path / "runs").report.verdict == "released"

    def test_items_that_stand_twice_in_a_set(self, tmp_path):
        (tmp_path / "x.dat").write_text("1 2 1\n2 3\n2\n" * 9)
        found = api.profile(tmp_path / "x.dat")
        assert found.document["source"]["options"] == {"repeated": "merge"}
        path, _ = passes(found, tmp_path)
        assert api.run(path, out=tmp_path / "runs").report.verdict == "released"

    def test_lists_in_parquet(self, tmp_path):
        sets = [["a", "b"], ["a"], ["b", "c"]] * 9
        pq.write_table(pa.table({"items": sets}), tmp_path / "x.parquet")
        found = api.profile(tmp_path / "x.parquet")
        path, _ = passes(found, tmp_path)
        assert api.run(path, out=tmp_path / "runs").report.verdict == "released"
        pq.write_table(pa.table({"bought": sets}), tmp_path / "x.parquet")
        found = api.profile(tmp_path / "x.parquet")
        assert roles(found) == {"bought": "items"}
        passes(found, tmp_path)

    @pytest.mark.parametrize(
        ("owner", "why"),
        [
            (lambda i: f"who{i}@mail.example", "200 of its 206 items look like e-mail addresses"),
            (lambda i: f"C{100_000 + i // 3}", "one item of the same form, with digits"),
            (lambda i: f"Name{chr(97 + i % 26)}{chr(97 + i // 26)} Berg", "exactly one item that hardly any other set"),
            (
                lambda i: str(490_000_000_000 + 7919 * (i % 8) + 10 * (i // 40)),
                "one item of the same form, with digits",
            ),
        ],
    )
    def test_items_that_point_to_a_person_are_not_drafted(self, tmp_path, owner, why):
        """By their form, or as nearly every set has one of its own; `text` says why, and shows none."""
        dice = random.Random(4)
        items = ["milk", "bread", "beer", "eggs", "soap", "tea"]
        rows = [[owner(i), *dice.sample(items, dice.randrange(1, 6))] for i in range(200)]
        (tmp_path / "x.csv").write_text("".join(",".join(row) + "\n" for row in rows))
        found = api.profile(tmp_path / "x.csv")
        with pytest.raises(DataError) as caught:
            found.rendered("yaml")
        (diagnostic,) = caught.value.diagnostics
        assert diagnostic.code == "PPF675"
        assert why in diagnostic.message
        shown = [found.rendered("text", width=400), found.rendered("json"), str(diagnostic)]
        assert all(why in text for text in shown)
        assert not [text for text in shown if owner(0) in text]

    def test_product_numbers_are_no_identifiers(self, tmp_path):
        """Several of one form in a set, however long: of one in ten of those the check digit of a card fits."""
        dice = random.Random(4)
        items = [str(4_000_000_000_000 + dice.randrange(10**11)) for _ in range(60)]
        rows = [dice.sample(items, dice.randrange(1, 6)) for _ in range(300)]
        (tmp_path / "x.dat").write_text("".join(" ".join(row) + "\n" for row in rows))
        passes(api.profile(tmp_path / "x.dat"), tmp_path)

    @staticmethod
    def pairs(folder, header, *, mark=",", shuffled=True, items=14):
        """Write a row for each of 150 ids and its items."""
        dice = random.Random(8)
        rows = [[1000 + i, f"itemzz{j}"] for i in range(150) for j in dice.sample(range(items), dice.randrange(1, 6))]
        if shuffled:
            dice.shuffle(rows)
        return written(folder, header, rows, name="sales.csv", delimiter=mark)

    @pytest.mark.parametrize("header", [["receipt", "product"], ["customer_id", "bought"], ["tid", "item"]])
    @pytest.mark.parametrize("mark", [",", ";"])
    def test_a_row_for_each_id_and_item(self, tmp_path, header, mark):
        """The draft makes one set of all items of an id, and is the same policy as that of a set a line."""
        found = api.profile(self.pairs(tmp_path, header, mark=mark))
        assert roles(found) == {"items": "items"}
        assert found.document["rows"] == 150
        assert found.document["source"]["format"] == "long"
        assert f"a row for each `{header[0]}` and `{header[1]}`" in found.read_as
        path, outcome = passes(found, tmp_path)
        assert outcome.count(Severity.WARNING) == 0
        assert "Each id counts as a person of its own" in " ".join(path.read_text().replace("#", "").split())
        assert not [form for form in FORMS if "zz" in found.rendered(form)]
        assert yaml.safe_load(path.read_text())["privacy"] == {"km_anonymity": {"k": 5, "m": 2}}
        done = api.run(path, out=tmp_path / "runs")
        assert done.report.verdict == "released"
        assert pq.read_table(next(done.run_dir.glob("released/study/*.parquet"))).column_names == ["items"]

    def test_pairs_without_names_stand_side_by_side(self, tmp_path):
        found = api.profile(self.pairs(tmp_path, None, shuffled=False))
        assert found.document["source"]["options"]["id"] == "column_1"
        path, _ = passes(found, tmp_path)
        assert api.run(path, out=tmp_path / "runs").report.verdict == "released"
        assert "items" not in roles(api.profile(self.pairs(tmp_path, None)))

    def test_a_pair_that_stands_twice_is_one_item(self, tmp_path):
        path = self.pairs(tmp_path, ["receipt", "product"])
        path.write_text(path.read_text() + path.read_text().splitlines()[-1] + "\n")
        found = api.profile(path)
        assert found.document["source"]["options"]["repeated"] == "merge"
        assert api.run(passes(found, tmp_path)[0], out=tmp_path / "runs").report.verdict == "released"

    def test_tables_of_two_columns_that_are_no_sets(self, tmp_path):
        """Few values, equal rows, numbers and dates are attributes of people; `--input-format csv` says so, too."""
        assert "items" not in roles(api.profile(self.pairs(tmp_path, ["patient_id", "ward"], items=9)))
        path = self.pairs(tmp_path, ["receipt", "product"])
        assert "items" not in roles(api.profile(path, input_format="csv"))
        many = [[i % 40, f"town{i % 11}"] for i in range(900)]
        assert "items" not in roles(api.profile(written(tmp_path, ["user_id", "town"], many)))
        dice = random.Random(2)
        ages = [[i // 2, dice.randrange(20, 60)] for i in range(900)]
        assert "items" not in roles(api.profile(written(tmp_path, ["user_id", "age"], ages)))
        days = [[i // 2, f"2024-05-{dice.randrange(1, 29):02}"] for i in range(900)]
        assert "items" not in roles(api.profile(written(tmp_path, ["user_id", "seen"], days)))

    def test_sets_are_said_to_count_as_people(self, tmp_path):
        assert "Each set counts as a person" in api.profile(self.baskets(tmp_path)).rendered("yaml").replace(
            "\n# ", " "
        )

    def test_whose_sets_they_are(self, tmp_path):
        """A column of ids beside sets is the subject: people are counted, and released without it."""
        sets = [["a", "b"], ["a"], ["b", "c"]] * 20
        pq.write_table(
            pa.table({"sets": sets, "customer_id": [f"C{i // 2}zz" for i in range(60)]}), tmp_path / "x.parquet"
        )
        found = api.profile(tmp_path / "x.parquet")
        assert roles(found) == {"customer_id": "subject", "sets": "items"}
        path, _ = passes(found, tmp_path)
        assert "Each set counts as a person" not in path.read_text().replace("\n# ", " ")
        done = api.run(path, out=tmp_path / "runs")
        assert done.report.verdict == "released"
        assert done.report.requirements[0].metric == "privacy.km_anonymity.k"
        assert pq.read_table(next(done.run_dir.glob("released/study/*.parquet"))).column_names == ["sets"]

    @pytest.mark.parametrize(("name", "said"), [("x.basket", None), ("x.baskets", None), ("x.foo", "baskets")])
    def test_the_ending_or_the_format_says_what_it_is(self, tmp_path, name, said):
        found = api.profile(self.baskets(tmp_path, name, mark=";"), input_format=said)
        assert found.document["source"]["options"] == {"delimiter": ";"}
        assert found.document["sets"]["items"] == 7
        path, _ = passes(found, tmp_path)
        assert api.run(path, out=tmp_path / "runs").report.verdict == "released"

    def test_a_format_that_the_name_does_not_tell(self, tmp_path, people):
        """The advice names an option that this verb has, and what it takes."""
        file = self.baskets(tmp_path, "x.foo")
        with pytest.raises(DataError) as caught:
            api.profile(file)
        assert caught.value.diagnostics[0].code == "PPF407"
        assert "`--input-format` with `csv`, `baskets`" in caught.value.diagnostics[0].help
        with pytest.raises(UsageError, match="--input-format bask"):
            api.profile(file, input_format="bask")
        table = tmp_path / "people.dump"
        table.write_bytes(people.read_bytes())
        assert roles(api.profile(table, input_format="csv")) == roles(api.profile(people))
        passes(api.profile(table, input_format="csv"), tmp_path)

    def test_sets_beside_other_columns(self, tmp_path):
        pq.write_table(pa.table({"age": [1, 2], "items": [["a"], ["b", "c"]]}), tmp_path / "x.parquet")
        with pytest.raises(DataError) as caught:
            api.profile(tmp_path / "x.parquet")
        assert caught.value.diagnostics[0].code == "PPF671"

    @pytest.mark.parametrize(
        "text",
        [
            "name,city,job\n" + "Ada,Ulm,cook\nBen,Bonn,\n" * 20 + "Eve,Kiel,cook,extra\nFay,Jena\n",  # damaged
            "full name\n" + "Ada Berg\nBen\nEve van der Lo Berg\nFay\n" * 9,  # words, not items
            "email,job\nx\n" + "a,b,c,d,e,f\ng\nh,i,j\n" * 9,  # a header
            "a,b,c\n" * 9,
            "a\nb,c\nd,e,f,g\n",  # too few lines
        ],
    )
    def test_what_is_no_file_of_sets(self, tmp_path, text):
        (tmp_path / "x.csv").write_text(text)
        try:
            found = api.profile(tmp_path / "x.csv")
        except DataError as error:
            assert error.diagnostics[0].code == "PPF703"  # noqa: PT017  # a table with broken lines
        else:
            assert "sets" not in found.document

    def test_a_table_can_be_said(self, tmp_path):
        with pytest.raises(DataError) as caught:
            api.profile(self.baskets(tmp_path), header=False)
        assert caught.value.diagnostics[0].code == "PPF703"


def test_nothing_is_drafted_that_check_would_refuse():
    """Sensitive columns without quasi-identifiers have no groups; a key that holds comments alone is commented out."""
    column = {"name": "income", "type": "float", "distinct": 400}
    assert "l_diversity" not in privacy(DraftFacts([], [column], 5))
    assert "templates" not in privacy(DraftFacts([], [column], 5))
    assert privacy(DraftFacts([], [column], 5)).startswith("# privacy:\n")
    assert privacy(DraftFacts([], [], 5)) == ""
    assert privacy(DraftFacts([column], [column], 5)).startswith("privacy:\n")


def test_a_german_file_is_read_as_it_is_written(tmp_path):
    """Decimal commas and dates with points keep as much as the same table with points and ISO dates."""
    dice = random.Random(7)
    header = ["geburtsdatum", "aufnahme", "bmi", "diagnose"]
    cells = [
        (1930 + i % 70, 1 + i % 12, 1 + i % 28, dice.randrange(2, 28), f"{dice.gauss(27, 4):.1f}", dice.choice("abcd"))
        for i in range(600)
    ]
    iso = [[f"{y}-{m:02}-{d:02}", f"2024-03-{a:02}", bmi, ill] for y, m, d, a, bmi, ill in cells]
    german = [[f"{d}.{m}.{y}", f"{a:02}.03.2024", bmi.replace(".", ","), ill] for y, m, d, a, bmi, ill in cells]
    kept = {}
    for name, rows, mark in (("iso", iso, ","), ("german", german, ";")):
        found = api.profile(written(tmp_path, header, rows, f"{name}.csv", delimiter=mark))
        path, _ = passes(found, tmp_path)
        types = {c["name"]: c["type"] for c in found.document["columns"]}
        assert (types["geburtsdatum"], types["aufnahme"], types["bmi"]) == ("date", "date", "float")
        figures = pf.run(path, out=tmp_path / name).figures
        kept[name] = {n: v for n, v in figures.items() if n.startswith("information_kept.")}
    assert found.document["source"]["options"] == {"delimiter": ";", "decimal": "comma", "dates": "%d.%m.%Y"}
    assert kept["german"] == kept["iso"]
    assert kept["german"]["information_kept.geburtsdatum.kept"] > 0.3


def test_dates_that_leave_something_open_say_what_to_do(tmp_path):
    rows = [[f"{1 + i % 12:02}/{1 + i % 11:02}/{1950 + i % 50}", "xy"[i % 2]] for i in range(400)]
    found = api.profile(written(tmp_path, ["born", "sort"], rows))
    text = " ".join(found.rendered("yaml", beside=tmp_path).replace("#", "").split())
    assert 'hierarchy: {date: [year, decade], format: "%d/%m/%Y"}' in text
    assert "nothing shows whether the day or the month comes first" in text
    passes(found, tmp_path)
    rows = [[f"{1 + i % 28}.{1 + i % 12}.{1950 + i % 50}" if i % 200 else "00.5.1960", "xy"[i % 2]] for i in range(400)]
    found = api.profile(written(tmp_path, ["born", "sort"], rows))
    text = " ".join(found.rendered("yaml", beside=tmp_path).replace("#", "").split())
    assert "cannot be read as dates (DD.MM.YYYY)" in text
    assert 'write `type: date` here and `with: {dates: "%d.%m.%Y"}` in the source' in text
    passes(found, tmp_path)
    rows = [
        [f"{1 + i % 28:02}.{1 + i % 12:02}.{1950 + i % 50}" if i % 200 else "00.00.0000", "xy"[i % 2]]
        for i in range(400)
    ]
    found = api.profile(written(tmp_path, ["born", "sort"], rows))
    assert found.document["source"]["missing"] == ["", "00.00.0000"]
    assert found.document["columns"][0]["type"] == "date"
