"""``ppdm-flow reconstruct``: from policy to run to what a recipient makes of the release."""

from __future__ import annotations

import csv
import io
import json
import re
import shutil
from collections import Counter

import numpy as np
import pytest

from ppdm_flow.mining.reconstruction.estimate import reconstruct_counts
from ppdm_flow.mining.reconstruction.likelihood import RetentionChannel

POLICY = """version: 1
name: clinic
source: {path: t.csv}
attributes:
  age: {role: quasi_identifier}
  sex: {role: quasi_identifier}
  ill: {role: sensitive, domain: [flu, cold, hiv]}
  diet: {role: sensitive, domain: [meat, fish]}
privacy:
  k_anonymity: {k: 5}
  sensitivities:
    ill: {default: {tolerance: 3}}
    diet: {default: {r1: 0.4, r2: 0.7}}
steps:
  perturb: {use: fine_grain_perturbation}
  plain: {use: drop, input: perturb, with: {attributes: [diet]}}
  healthy: {use: drop, input: source, with: {attributes: [ill, diet]}}
releases:
  one: {from: plain, path: one.csv, with: {delimiter: ";"}}
  two: {from: perturb, path: two.parquet}
  none: {from: healthy, path: none.csv}
"""
ROWS = [
    (
        ("young", "old")[i % 2],
        ("m", "f", "")[i % 3],
        ("flu", "flu", "cold", "hiv", "flu")[i % 5],
        ("meat", "fish")[i % 2],
    )
    for i in range(6000)
]


@pytest.fixture(scope="module")
def run(tmp_path_factory, cli):
    """A finished run; its release ``one`` perturbs ``ill``, ``two`` both, ``none`` nothing."""
    home = tmp_path_factory.mktemp("clinic")
    (home / "t.csv").write_text("age,sex,ill,diet\n" + "\n".join(",".join(row) for row in ROWS) + "\n")
    (home / "p.yaml").write_text(POLICY)
    done = cli("run", "p.yaml", "--out", "runs", cwd=home)
    assert done.returncode == 0, done.stdout + done.stderr
    (found,) = (home / "runs" / "clinic").iterdir()
    return found


@pytest.fixture(scope="module")
def one(run):
    return run / "released" / "one"


def rows_of(text):
    return list(csv.DictReader(io.StringIO(text)))


def released(folder):
    return list(csv.DictReader(io.StringIO((folder / "one.csv").read_text()), delimiter=";"))


@pytest.mark.slow
def test_estimates_are_those_of_the_library(here, one):
    operator = json.loads((one / "operator.json").read_text())["operators"][0]
    counted = Counter(row["ill"] for row in released(one))
    wanted = reconstruct_counts(RetentionChannel.of(operator["retention"]), [counted[v] for v in operator["domain"]])
    done = here("reconstruct", one, "--format", "json")
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    (group,) = found["groups"]
    assert [v["value"] for v in group["values"]] == operator["domain"]
    assert [v["released"] for v in group["values"]] == [counted[v] for v in operator["domain"]]
    for name, array in (("estimate", wanted.estimate), ("standard_error", wanted.error), ("low", wanted.low)):
        assert [v[name] for v in group["values"]] == pytest.approx(array.tolist())
    assert (group["key"], group["rows"], found["level"]) == ({}, 6000, 0.95)
    assert done.stderr == ""


def test_intervals_hold_the_truth(here, one):
    """Six standard errors: 1e-8 a value, for any key of the sealed run."""
    truth = Counter(row[2] for row in ROWS)
    for value in json.loads(here("reconstruct", one, "--format", "json").stdout)["groups"][0]["values"]:
        assert abs(value["unbiased"] - truth[value["value"]]) <= 6 * value["standard_error"]


def test_the_table_says_what_it_means(here, one):
    done = here("reconstruct", one / "one.csv")
    assert done.stdout.startswith(
        "ill in one.csv: 6,000 released rows\noriginal counts by matrix inverse, intervals of 95 %"
    )
    assert re.search(r"^ill +released +estimate +std\. error +low +high$", done.stdout, re.MULTILINE)
    assert len(re.findall(r"^(?:flu|cold|hiv) +[\d,]+(?: +[\d,.]+){4}$", done.stdout, re.MULTILINE)) == 3
    assert "these very rows" in done.stdout


def test_every_way_to_name_a_release_is_the_same(here, one, monkeypatch):
    answers = {here("reconstruct", path).stdout for path in (one, one / "one.csv", one / "operator.json")}
    monkeypatch.chdir(one)
    answers |= {here("reconstruct", path).stdout for path in (".", "one.csv")}
    assert len(answers) == 1


def test_groups(here, one):
    done = here("reconstruct", one, "--by", "sex,age", "--format", "csv", "--method", "em")
    assert done.returncode == 0, done.stderr
    lines = rows_of(done.stdout)
    assert len(lines) == 6 * 3
    plain = Counter((row["sex"], row["age"], row["ill"]) for row in released(one))
    assert {(r["sex"], r["age"], r["value"]): int(r["released"]) for r in lines} == plain
    assert "\n,old," in done.stdout  # a missing value is an empty cell without quotes
    for key in {(r["sex"], r["age"]) for r in lines}:
        mine = [r for r in lines if (r["sex"], r["age"]) == key]
        assert sum(float(r["estimate"]) for r in mine) == pytest.approx(float(mine[0]["rows"]))
    text = here("reconstruct", one, "--by", "sex", "--by", "age").stdout
    assert "sex = (missing), age = old: 1,000 rows\n" in text
    assert text.count("std. error") == 6


def test_conditions(here, one):
    def total(*words):
        done = here("reconstruct", one, "--format", "json", *words)
        assert done.returncode == 0, done.stderr
        return sum(g["rows"] for g in json.loads(done.stdout)["groups"])

    assert total("--where", "sex=f") == 2000
    assert total("--where", "sex=f", "--where", "age=old") == 1000
    assert total("--where", "sex=f", "--where", "sex=m", "--by", "sex") == 4000
    assert total("--where", "sex=") == 2000
    assert "sex = m or f" in here("reconstruct", one, "--where", "sex=m", "--where", "sex=f").stdout


def test_small_groups_are_flagged(here, tmp_path):
    (tmp_path / "operator.json").write_text(json.dumps(operator_of([0.5, 0.5, 0.5])))
    rows = ["a,flu"] * 200 + ["b,cold"] * 20
    (tmp_path / "r.csv").write_text("ward,ill\n" + "\n".join(rows) + "\n")
    text = here("reconstruct", tmp_path, "--by", "ward").stdout
    assert "ward = a: 200 rows\n" in text
    assert "ward = b: 20 rows (too small)\n" in text
    assert "Too small: fewer than 30 rows" in text
    lines = rows_of(here("reconstruct", tmp_path, "--by", "ward", "--format", "csv").stdout)
    assert {(r["ward"], r["small"]) for r in lines} == {("a", "no"), ("b", "yes")}


def operator_of(kept, domain=("flu", "cold", "hiv"), attribute="ill"):
    return {"attribute": attribute, "form": "fine_grain", "domain": list(domain), "retention": list(kept)}


def test_values_that_cannot_be_told_apart(here, tmp_path):
    (tmp_path / "operator.json").write_text(json.dumps(operator_of([0.6, 0.0, 0.0])))
    (tmp_path / "r.csv").write_text("ill\n" + "flu\n" * 500 + "cold\n" * 210 + "hiv\n" * 190)
    text = here("reconstruct", tmp_path).stdout
    assert re.search(r"^cold \* +210 +200\.0 +\? +0\.0", text, re.MULTILINE)
    assert re.search(r"^all \* together +400 +400\.0", text, re.MULTILINE)
    assert "cannot be told apart, since the operator keeps none of them: cold, hiv." in text
    found = json.loads(here("reconstruct", tmp_path, "--format", "json").stdout)
    assert found["alike"] == ["cold", "hiv"]
    assert found["groups"][0]["together"]["estimate"] == pytest.approx(400)
    assert [v["standard_error"] is None for v in found["groups"][0]["values"]] == [False, True, True]
    lines = rows_of(here("reconstruct", tmp_path, "--format", "csv").stdout)
    assert [(r["alike"], r["standard_error"] == "") for r in lines] == [("no", False), ("yes", True), ("yes", True)]


def test_missing_values_are_a_value_where_the_operator_has_them(here, tmp_path):
    (tmp_path / "operator.json").write_text(json.dumps(operator_of([0.5, 0.5, 0.5], (None, "", "a"))))
    (tmp_path / "r.csv").write_text("ill,x\n" + ",1\n" * 50 + '"",1\n' * 60 + "a,1\n" * 70)
    lines = here("reconstruct", tmp_path, "--format", "csv").stdout.splitlines()
    assert [line.split(",")[:2] for line in lines[1:]] == [["", "50"], ['""', "60"], ["a", "70"]]
    text = here("reconstruct", tmp_path).stdout
    assert re.search(r"^\(missing\) +50 ", text, re.MULTILINE)
    assert re.search(r"^\(empty\) +60 ", text, re.MULTILINE)


def test_output_file(here, one, tmp_path):
    done = here("reconstruct", one, "--output-file", tmp_path / "o.txt")
    assert (done.returncode, done.stdout) == (0, "")
    assert (tmp_path / "o.txt").read_text() == here("reconstruct", one).stdout


def test_a_run_whose_only_operator_for_the_attribute_is_one(here, run):
    """Of three releases one has no operator, and only one has an operator for ``diet``."""
    found = here("reconstruct", run, "--attribute", "diet")
    assert found.stdout.startswith("diet in two.parquet: 6,000 released rows"), found.stderr
    assert here("reconstruct", run / "released", "--attribute", "diet").stdout == found.stdout
    several = here("reconstruct", run, "--attribute", "ill")
    assert fault(several) == "PPF760"
    assert str(run / "released" / "one") in several.stderr


def test_maximum_likelihood_says_how_near_it_came(here, one):
    text = here("reconstruct", one, "--method", "em").stdout
    assert "original counts by maximum likelihood" in text
    assert re.search(r"has settled after 0 more rounds: log-likelihood at most \S+ below its maximum", text)
    (group,) = json.loads(here("reconstruct", one, "--method", "em", "--format", "json").stdout)["groups"]
    assert (group["converged"], group["rounds"]) == (True, 0)
    assert group["log_likelihood_gap"] <= 1e-6


def fault(done, status=2):
    assert done.returncode == status, done.stdout + done.stderr
    assert done.stdout == ""
    assert "Traceback" not in done.stderr
    return re.search(r"error\[(PPF\d+)\]", done.stderr)[1]


@pytest.mark.parametrize(
    ("words", "code", "says"),
    [
        (("--by", "agee"), "PPF763", "did you mean `age`?"),
        (("--by", "ill"), "PPF763", "partly chance"),
        (("--where", "ill=flu"), "PPF763", "partly chance"),
        (("--where", "sx=f"), "PPF763", "did you mean `sex`?"),
        (("--where", "sex=female"), "PPF714", "no released row has `sex=female`"),
        (("--where", "sex"), "PPF120", "NAME=VALUE"),
        (("--by", "sex,,age"), "PPF120", "--by"),
        (("--by", "sex", "--by", "sex"), "PPF120", "each once"),
        (("--level", "95"), "PPF120", "--level 0.95"),
        (("--level", "1.5"), "PPF120", "between 0 and 1"),
        (("--attribute", "il"), "PPF694", "did you mean `ill`?"),
        (("--attribute", "sex"), "PPF694", "there is one for `ill`"),
        (("--operator", "nowhere.json"), "PPF701", "cannot read"),
    ],
)
def test_questions_that_have_no_answer(here, one, words, code, says):
    done = here("reconstruct", one, *words)
    assert fault(done) == code
    assert says in done.stderr


def test_places_that_are_no_release(here, run, one, tmp_path):
    assert fault(here("reconstruct", tmp_path / "nowhere")) == "PPF760"
    assert fault(here("reconstruct", tmp_path)) == "PPF760"
    assert fault(here("reconstruct", run)) == "PPF760"  # two releases have an operator
    assert fault(here("reconstruct", run, "--attribute", "age")) == "PPF736"
    assert fault(here("reconstruct", run / "released" / "none")) == "PPF736"
    assert fault(here("reconstruct", run / "released" / "two")) == "PPF694"
    alone = tmp_path / "one.csv"
    shutil.copy(one / "one.csv", alone)
    assert fault(here("reconstruct", alone)) == "PPF736"
    (tmp_path / "withheld").mkdir()
    (tmp_path / "manifest.json").write_text("{}")
    assert "released nothing" in here("reconstruct", tmp_path).stderr


def test_an_operator_from_elsewhere(here, one, tmp_path):
    shutil.copy(run_two(one), tmp_path / "two.parquet")
    done = here(
        "reconstruct",
        tmp_path / "two.parquet",
        "--operator",
        one.parent / "two" / "operator.json",
        "--attribute",
        "ill",
    )
    assert done.returncode == 0, done.stderr


def run_two(one):
    return one.parent / "two" / "two.parquet"


@pytest.mark.parametrize(
    "document",
    [
        "no json",
        "[]",
        "{}",
        json.dumps({"operators": {}}),
        json.dumps(operator_of([0.5, 0.5])),
        json.dumps(operator_of([0.5, 0.5, 1.5])),
        json.dumps(operator_of([0.5, 0.5, None])),
        json.dumps(operator_of([0.5, 0.5, 0.5], ("a", "a", "b"))),
        json.dumps(operator_of([0.5, 0.5, 0.5], ("a", 1, "b"))),
        json.dumps(operator_of([0.5, 0.5, 0.5]) | {"form": "other"}),
        json.dumps({"operators": [operator_of([0.5, 0.5, 0.5])] * 2}),
        "[" * 5000,
    ],
)
def test_broken_operators(here, tmp_path, document):
    (tmp_path / "r.csv").write_text("ill\nflu\n")
    (tmp_path / "operator.json").write_text(document)
    assert fault(here("reconstruct", tmp_path)) == "PPF736"


def test_broken_data(here, one, tmp_path):
    folder = tmp_path / "r"
    shutil.copytree(one, folder)
    file = folder / "one.csv"
    whole = file.read_text()
    file.write_text(whole + "zqcanary;zqcanary;zqcanary\n")
    done = here("reconstruct", folder)
    assert fault(done) == "PPF765"
    assert "zqcanary" not in done.stderr
    file.write_text(whole + "zqcanary\n")
    done = here("reconstruct", folder)
    assert fault(done) == "PPF703"
    assert "zqcanary" not in done.stderr
    file.write_text(whole.splitlines()[0] + "\n")
    assert fault(here("reconstruct", folder)) == "PPF714"
    file.unlink()
    assert fault(here("reconstruct", folder)) == "PPF760"
    (folder / "dictionary.json").write_text('{"file": "../../one.csv"}')
    assert fault(here("reconstruct", folder)) == "PPF769"
    (folder / "dictionary.json").write_text("[" * 9)
    assert fault(here("reconstruct", folder)) == "PPF769"


def test_a_wrong_operator_is_noticed(here, tmp_path):
    (tmp_path / "operator.json").write_text(json.dumps(operator_of([0.1, 0.1, 0.1])))
    (tmp_path / "r.csv").write_text("ill\n" + "flu\n" * 2900 + "cold\n" * 50 + "hiv\n" * 50)
    done = here("reconstruct", tmp_path)
    assert done.returncode == 0
    assert "warning[PPF767]" in done.stderr


def test_too_many_groups(here, tmp_path):
    m = 3000
    (tmp_path / "operator.json").write_text(json.dumps(operator_of([0.5] * m, tuple(map(str, range(m))))))
    (tmp_path / "r.csv").write_text("g,ill\n" + "".join(f"{i},{i % m}\n" for i in range(700)))
    assert fault(here("reconstruct", tmp_path, "--by", "g")) == "PPF768"


@pytest.mark.slow
def test_many_values_in_a_large_file(here, tmp_path):
    """A hundred thousand values, half a million rows: no matrix, no table in memory."""
    m = 100_000
    rng = np.random.default_rng(3)
    (tmp_path / "operator.json").write_text(json.dumps(operator_of([0.5] * m, tuple(map(str, range(m))))))
    (tmp_path / "r.csv").write_text("ill\n" + "\n".join(map(str, rng.integers(0, m, 500_000))) + "\n")
    done = here("reconstruct", tmp_path, "--format", "csv", "--method", "em")
    assert done.returncode == 0, done.stderr
    lines = rows_of(done.stdout)
    assert len(lines) == m
    assert sum(float(r["estimate"]) for r in lines) == pytest.approx(500_000)
