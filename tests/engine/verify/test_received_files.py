"""Files that other tools made, audited as they are written: by `--released-with`, by the policy, or as its own data."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import ppdm_flow as pf
from ppdm_flow import api
from ppdm_flow.core.errors import DataError, UsageError

POLICY = """version: 1
name: ward
source: {{path: ward.csv{source}}}
nulls: exclude
attributes:
  age: {{role: quasi_identifier, type: integer}}
  town: {{role: quasi_identifier}}
  pay: {{role: insensitive, type: float}}
  illness: {{role: sensitive}}
privacy: {{l_diversity: {{illness: {{l: 2}}}}, k_anonymity: {{k: 2}}}}
audits: {{loss: {{use: information_loss}}}}
releases: {{out: {{path: out.csv{release}}}}}
"""
HEADER = ("age", "town", "pay", "illness")
ROWS = [
    ("30", "Köln", "1000.5", "flu"),
    ("30", "Köln", "2000", "cold"),
    ("30", "Köln", "1500", "NA"),
    ("40", "Ulm", "1800", "flu"),
    ("40", "Ulm", "", "NA"),
    ("40", "Ulm", "2500", "flu"),
]


@pytest.fixture
def ward(tmp_path):
    """A folder with data, and a function that writes a policy and a released file."""

    def write(name="theirs.csv", rows=ROWS, delimiter=",", encoding="utf-8", source="", release="", header=HEADER):
        lines = [delimiter.join(row) for row in ([header] if header else []) + list(rows)]
        (tmp_path / name).write_bytes("\n".join([*lines, ""]).encode(encoding))
        (tmp_path / "ward.yaml").write_text(POLICY.format(source=source, release=release))
        return tmp_path / "ward.yaml", tmp_path / name

    (tmp_path / "ward.csv").write_bytes("\n".join([",".join(r) for r in [HEADER, *ROWS]] + [""]).encode())
    return write


def figures(judged):
    metrics = judged.report.metrics
    return {name: metrics[name].value for name in ("privacy.l_diversity.illness.l", "privacy.k_anonymity.k")}


MISSING = ', missing: ["", NA]'


def test_missing_values_are_written_as_in_the_policys_own_data(ward):
    policy, released = ward(source=MISSING)
    judged = api.audit(policy, None, released)
    assert not judged.holds  # Ulm has one illness
    assert figures(judged) == {"privacy.l_diversity.illness.l": 1, "privacy.k_anonymity.k": 3}
    policy, released = ward()  # a harmless likeness: NA is an illness
    assert api.audit(policy, None, released).holds


def test_a_parquet_file_has_the_same_missing_values(ward):
    policy, released = ward(source=MISSING)
    table = pa.table({name: [row[i] for row in ROWS] for i, name in enumerate(HEADER)})
    pq.write_table(table, released.with_suffix(".parquet"))
    judged = api.audit(policy, None, released.with_suffix(".parquet"))
    assert figures(judged)["privacy.l_diversity.illness.l"] == 1


@pytest.mark.slow
def test_what_is_said_of_an_audit_comes_first_then_the_policy(ward):
    rows = [(a, t, p.replace(".", ","), i) for a, t, p, i in ROWS]
    how = {"delimiter": ";", "encoding": "cp1252", "decimal": ",", "missing": ",NA"}
    policy, released = ward(rows=rows, delimiter=";", encoding="cp1252", source=MISSING)
    by_words = api.audit(policy, None, released, released_with=list(how.items()))
    said = ', received: {delimiter: ";", encoding: cp1252, decimal: comma, missing: ["", NA]}'
    policy, released = ward(rows=rows, delimiter=";", encoding="cp1252", source=MISSING, release=said)
    by_policy = api.audit(policy, None, released)
    policy, released = ward(rows=rows, delimiter=";", encoding="cp1252", source=MISSING, release=said.replace(";", "|"))
    again = api.audit(policy, None, released, released_with=list(how.items()))
    in_python = pf.audit(policy, None, released, released_with={**how, "missing": ["", "NA"]})
    policy, released = ward(source=MISSING)
    usual = api.audit(policy, None, released)
    values = [{n: m.value for n, m in j.report.metrics.items()} for j in (by_words, by_policy, again, in_python, usual)]
    for each in values:
        assert each == values[0]


def test_the_policys_own_options_go_for_an_audited_file(ward, tmp_path):
    data = "\n".join([";".join(r) for r in [HEADER, *ROWS]] + [""]).encode("cp1252")
    (tmp_path / "ward.csv").write_bytes(b"made by a program\n" + data)
    source = ", with: {delimiter: ';', encoding: cp1252, skip_rows: 1}" + MISSING
    policy, released = ward(delimiter=";", encoding="cp1252", source=source)
    assert figures(api.audit(policy, None, released))["privacy.l_diversity.illness.l"] == 1
    policy, released = ward(source=source, release=', received: {delimiter: ",", encoding: utf-8}')
    assert figures(api.audit(policy, None, released))["privacy.l_diversity.illness.l"] == 1


def test_a_file_beside_its_data_dictionary_is_our_own(ward, tmp_path):
    data = "\n".join([";".join(r) for r in [HEADER, *ROWS]] + [""])
    (tmp_path / "ward.csv").write_text(data)
    source, release = ", with: {delimiter: ';'}", ", with: {delimiter: tab}, received: {delimiter: '|'}"
    policy, _ = ward(source=source, release=release)
    run = api.run(policy, out=tmp_path / "runs")
    assert api.audit(policy, None, run.run_dir / "released/out/out.csv").holds


def test_a_file_without_a_header(ward):
    policy, released = ward(source=MISSING, header=None)
    words = [("columns", ",".join(HEADER))]
    assert figures(api.audit(policy, None, released, released_with=words))["privacy.k_anonymity.k"] == 3
    with pytest.raises(DataError) as caught:
        api.audit(policy, None, released, released_with=[("columns", "age,town")])
    assert "`--released-with columns=…`" in str(caught.value.diagnostics[0].help)


@pytest.mark.parametrize(
    ("content", "code", "advice"),
    [
        ("age;town;pay;illness\n30;Ulm;1;zqcanary\n", "PPF708", '--released-with delimiter=";"'),
        ("age,town,pay,illness\n30,Ulm,1\n", "PPF703", "--released-with NAME=VALUE"),
        ('age,town,pay,illness\n30,"Ulm\\"zq",1,zqcanary\n', "PPF486", '--released-with escape="\\\\"'),
        ("age,town,pay,illness\n30,K\xf6ln,1,zqcanary\n", "PPF704", "--released-with encoding="),
        (",age,town,pay,illness\n1,30,Ulm,1,zqcanary\n", "PPF709", "--released-with NAME=VALUE"),
    ],
)
def test_errors_name_the_file_and_what_mends_it(ward, content, code, advice):
    policy, released = ward(source=MISSING)
    released.write_bytes(content.encode("latin-1"))
    with pytest.raises(DataError) as caught:
        api.audit(policy, None, released)
    (fault,) = caught.value.diagnostics
    assert fault.code == code
    assert f"`{released}`" in fault.message
    assert advice in str(fault.help)
    assert "source:" not in str(fault.help)
    assert "zqcanary" not in f"{fault.message} {fault.help}"


@pytest.mark.parametrize("content", ["age;town;pay;illness\n30;Ulm;1;flu\n", "age,town,pay,illness\n30,Ulm,1\n"])
def test_errors_of_the_original_name_it(ward, tmp_path, content):
    policy, released = ward(source=MISSING)
    original = tmp_path / "before.csv"
    original.write_text(content)
    with pytest.raises(DataError) as caught:
        api.audit(policy, original, released)
    (fault,) = caught.value.diagnostics
    assert f"`{original}`" in fault.message
    assert "--released-with" not in str(fault.help)


def test_options_that_a_reader_has_not(ward, tmp_path):
    policy, released = ward()
    with pytest.raises(UsageError, match="`--released-with delimeter=;`") as caught:
        api.audit(policy, None, released, released_with=[("delimeter", ";")])
    assert caught.value.diagnostics[0].code == "PPF490"
    table = pa.table({name: [row[i] for row in ROWS] for i, name in enumerate(HEADER)})
    pq.write_table(table, tmp_path / "theirs.parquet")
    policy, _ = ward(release=', received: {delimiter: ";"}')
    with pytest.raises(DataError, match="PPF490"):
        api.audit(policy, None, tmp_path / "theirs.parquet")


@pytest.mark.slow
def test_the_command_line(ward, cli, tmp_path):
    ward(delimiter=";", source=MISSING)
    done = cli("audit", "ward.yaml", "--released", "theirs.csv", "--released-with", "delimiter=;", cwd=tmp_path)
    assert done.returncode == 1
    assert done.stdout.startswith("DOES NOT HOLD")
    done = cli("audit", "ward.yaml", "--released", "theirs.csv", "--released-with", "delimiter", cwd=tmp_path)
    assert "PPF490" in done.stderr


@pytest.mark.slow
def test_how_a_file_of_another_tool_is_written(cli, tmp_path):
    policy = (
        "version: 1\nname: a\nsource: {path: a.csv}\nattributes: {age: {role: quasi_identifier}}\n"
        "privacy: {k_anonymity: {k: 5}}\nreleases: {out: {path: a.csv, received: {RECEIVED}}}\n"
    )
    (tmp_path / "p.yaml").write_text(policy.replace("RECEIVED", 'delimiter: ";", missing: ["", NA], columns: [age]'))
    done = cli("check", "p.yaml", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    (tmp_path / "p.yaml").write_text(policy.replace("RECEIVED", 'delimiter: ";;", foo: 1, missing: NA'))
    done = cli("check", "p.yaml", cwd=tmp_path)
    assert done.returncode == 1
    for fault in ("must be one ASCII character", "unknown key `foo`", "`missing` must be a list of texts"):
        assert fault in done.stdout + done.stderr


@pytest.mark.parametrize(
    ("before", "after", "relation"),
    [
        ("", 'delimiter: ";"', "incomparable"),
        ('delimiter: ";"', 'delimiter: "|"', "incomparable"),
        ("decimal: comma", 'decimal: comma, missing: ["", NA]', "weaker"),
        ('missing: ["", NA]', 'missing: ["", NA, "30"]', "weaker"),
        ('missing: ["", NA, "30"]', 'missing: ["", NA]', "incomparable"),
        ('missing: ["", NA]', 'missing: [""], delimiter: ";"', "incomparable"),
        ('missing: ["", NA]', 'missing: ["", NA]', "equal"),
    ],
)
def test_another_way_to_read_a_file_of_another_tool_is_not_the_same_policy(ward, tmp_path, before, after, relation):
    for name, said in (("old", before), ("new", after)):
        path, _ = ward(release=f", received: {{{said}}}" if said else "")
        path.rename(tmp_path / f"{name}.yaml")
    compared = pf.diff(tmp_path / "old.yaml", tmp_path / "new.yaml")
    assert compared.document["pairs"][0]["relation"] == relation
    assert compared.weaker is (relation != "equal")
    assert ("releases.out.received" in str(compared.document)) is (relation != "equal")


@pytest.mark.parametrize(
    ("texts", "source"),
    [
        (["30"], ""),  # an age
        (["+40"], ""),  # another spelling of one
        (["", "flu"], MISSING),
        (["2000.0"], ""),
        (["Ulm"], ", normalize: [case]"),
        (["ULM"], ", normalize: [case]"),
    ],
)
def test_a_value_of_the_original_stands_for_no_missing_one(ward, texts, source):
    policy, released = ward(source=source, release=f", received: {{missing: {texts}}}")
    for words in ([], [("missing", ",".join(texts))]):
        with pytest.raises(DataError) as caught:
            api.audit(policy, None, released, released_with=words)
        (diagnostic,) = caught.value.diagnostics
        assert diagnostic.code == "PPF494"
        assert not any(text in diagnostic.message for text in texts if text)


def test_what_is_missing_in_the_original_too_or_is_no_value_of_it(ward):
    rows = [(a, t, p, "n/a" if i == "NA" else i) for a, t, p, i in ROWS]
    policy, released = ward(rows=rows, source=MISSING, release=", received: {missing: ['', n/a, NA, '-9', ulm]}")
    assert figures(api.audit(policy, None, released))["privacy.l_diversity.illness.l"] == 1


def test_a_header_in_a_file_that_should_have_none(ward):
    columns = ", received: {columns: [age, town, pay, illness]}"
    policy, released = ward(release=columns)
    with pytest.raises(DataError, match="PPF488"):
        api.audit(policy, None, released)
    policy, released = ward(release=columns, header=None)
    assert api.audit(policy, None, released).holds


def test_two_spellings_of_a_sensitive_value_in_a_file_of_another_tool(ward):
    rows = [(a, t, p, i.replace("flu", "Flu") if a == "40" else i) for a, t, p, i in ROWS]
    policy, released = ward(rows=rows)
    with pytest.raises(DataError) as caught:
        api.audit(policy, None, released)
    (diagnostic,) = caught.value.diagnostics
    assert diagnostic.code == "PPF932"
    assert diagnostic.message.startswith("release `out`, rows 1 and 4: two values of `illness` differ in letter case")
    policy, released = ward(rows=rows, source=", keep_apart: [case]")
    assert api.audit(policy, None, released).holds


@pytest.mark.parametrize(
    ("numbers", "received"),
    [
        (("1.5", "2.5", "3.5", "4.5"), ""),
        (("1.000,5", "2.000,5", "3.000,5", "4.000,5"), ", received: {delimiter: ';', decimal: comma}"),
    ],
)
def test_numbers_with_other_separators_than_those_of_the_file_are_no_crowd(tmp_path, numbers, received):
    """They were all read as one text, so that four different numbers held k = 4."""
    text = (
        "version: 1\nname: z\nsource: {path: z.csv, with: {delimiter: ';', decimal: comma}}\n"
        "attributes: {x: {role: quasi_identifier, type: float}, y: {role: insensitive}}\n"
        f"privacy: {{k_anonymity: {{k: 4}}}}\nreleases: {{s: {{path: z.csv{received}}}}}\n"
    )
    (tmp_path / "z.yaml").write_text(text)
    (tmp_path / "z.csv").write_text("x;y\n1,5;a\n2,5;a\n3,5;a\n4,5;a\n")
    (tmp_path / "theirs.csv").write_text("x;y\n" + "".join(f"{number};a\n" for number in numbers))
    with pytest.raises(DataError) as refused:
        api.audit(tmp_path / "z.yaml", None, tmp_path / "theirs.csv")
    (told,) = refused.value.diagnostics
    assert (told.code, "row 1" in told.message, "decimal=" in told.help) == ("PPF712", True, True)
    (tmp_path / "theirs.csv").write_text("x;y\n" + '"[1,5]";a\n' * 4)  # labels of a step are no numbers
    assert api.audit(tmp_path / "z.yaml", None, tmp_path / "theirs.csv").holds
