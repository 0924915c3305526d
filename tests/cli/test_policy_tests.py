"""``ppdm-flow test``, and what ``check`` says of its files."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from xml.etree import ElementTree as ET

import pytest

TESTS = """policy: clinic.yaml
data: {csv: small.csv}
tests:
  released-as-it-is:
    expect: {verdict: released}
  clean:
    expect: {check: []}
  NAME:
    description: Not so
    expect: {verdict: withheld}
"""


@pytest.fixture
def folder(root, tmp_path):
    for name in ("clinic.yaml", "small.csv"):
        shutil.copy(root / "tests" / "examples" / "cases" / name, tmp_path / name)
    (tmp_path / "bad.test.yaml").write_text(TESTS.replace("NAME", "fails"), encoding="utf-8")
    (tmp_path / "good").mkdir()
    text = TESTS.partition("  NAME")[0].replace("clinic", "../clinic").replace("small", "../small")
    (tmp_path / "good" / "good.test.yaml").write_text(text, encoding="utf-8")
    return tmp_path


@pytest.mark.slow
def test_a_line_for_each_test_and_what_failed(here, folder):
    done = here("test", cwd=folder)
    assert done.returncode == 1
    lines = done.stdout.splitlines()
    assert lines[0] == "bad.test.yaml"
    assert [re.sub(r"\s+\d.*", "", line).split() for line in lines[1:4]] == [
        ["ok", "released-as-it-is"],
        ["ok", "clean"],
        ["FAIL", "fails"],
    ]
    assert lines[4] == "good/good.test.yaml"
    assert "bad.test.yaml::fails\nNot so\n" in done.stdout
    assert "10 |     expect: {verdict: withheld}\n   |                       ^^^^^^^^ released" in done.stdout
    assert "ppdm-flow test bad.test.yaml -k fails -v" in done.stdout
    assert re.search(r"^4 passed, 1 failed in \d", lines[-1])
    assert done.stderr == ""


def test_exit_statuses(here, folder):
    assert here("test", "good", cwd=folder).returncode == 0
    assert here("test", "-k", "clean", cwd=folder).returncode == 0
    for words, code in ((["test", "-k", "none"], "PPF651"), (["test", "clinic.yaml"], "PPF201")):
        done = here(*words, cwd=folder)
        assert (done.returncode, done.stdout) == (2, "")
        assert code in done.stderr
    (folder / "empty").mkdir()
    done = here("test", "empty", cwd=folder)
    assert done.returncode == 2
    assert "PPF690" in done.stderr
    (folder / "bad.test.yaml").write_text("policy: clinic.yaml\ntests: {a: {expect: {verdikt: x}}}\n", encoding="utf-8")
    done = here("test", cwd=folder)
    assert (done.returncode, done.stdout) == (2, "")  # nothing is carried out where a file is at fault
    assert "did you mean `verdict`?" in done.stderr


def test_list_and_patterns(here, folder):
    assert here("test", "--list", cwd=folder).stdout.splitlines() == [
        "bad.test.yaml::released-as-it-is",
        "bad.test.yaml::clean",
        "bad.test.yaml::fails",
        "good/good.test.yaml::released-as-it-is",
        "good/good.test.yaml::clean",
    ]
    done = here("test", "-k", "good/", "-k", "fai*", "--list", cwd=folder)
    assert [line.rpartition("::")[2] for line in done.stdout.splitlines()] == ["fails", "released-as-it-is", "clean"]


@pytest.mark.slow
def test_json(here, folder):
    done = here("test", "--format", "json", "--coverage", cwd=folder)
    found = json.loads(done.stdout)
    assert (done.returncode, found["passed"], found["failed"], found["errors"]) == (1, 4, 1, 0)
    assert [t["outcome"] for t in found["tests"]] == ["passed", "passed", "failed", "passed", "passed"]
    assert found["tests"][2]["failures"][0]["line"] == 10
    assert {p["policy"]: p["tests"] for p in found["coverage"]["policies"]} == {"clinic.yaml": 5}
    assert "4 passed, 1 failed" in done.stderr


@pytest.mark.slow
def test_junit(here, folder):
    done = here("test", "--format", "junit", "-o", "out.xml", cwd=folder)
    assert (done.returncode, done.stdout) == (1, "")
    tree = ET.fromstring((folder / "out.xml").read_text(encoding="utf-8"))
    assert {k: tree.get(k) for k in ("tests", "failures", "errors")} == {"tests": "5", "failures": "1", "errors": "0"}
    assert [s.get("name") for s in tree] == ["bad.test.yaml", "good/good.test.yaml"]
    case = next(c for c in tree.iter("testcase") if c.get("name") == "fails")
    assert (case.get("file"), case.get("line")) == ("bad.test.yaml", "8")
    failure = case.find("failure")
    assert failure is not None
    assert failure.get("type") == "PPF652"
    assert "expected `withheld`, and the verdict is `released`" in str(failure.get("message"))
    assert "^^^^^^^^ released" in str(failure.text)


def test_coverage_and_its_bound(here, folder):
    done = here("test", "good", "--coverage", cwd=folder)
    assert done.returncode == 0
    assert re.search(r"^clinic\.yaml +2 +3/3 +0/3 +1/2 +1/1 +56 %$", done.stdout, re.MULTILINE)
    assert "clinic.yaml:12  privacy.k_anonymity  never fails" in done.stdout
    assert "clinic.yaml:20  steps.suppress  never changes anything" in done.stdout
    done = here("test", "good", "--fail-under", "60", cwd=folder)
    assert done.returncode == 1
    assert "PPF653" in done.stderr


@pytest.mark.slow
def test_everything_that_was_measured(here, folder):
    done = here("test", "good", "-k", "released", "-v", cwd=folder)
    assert re.search(r"^ +ok +study/privacy\.k_anonymity +3  at least 2$", done.stdout, re.MULTILINE)
    assert re.search(r"^ +distributions\.job\.suppressed +0$", done.stdout, re.MULTILINE)
    text = here("test", "good", "-k", "released", cwd=folder).stdout
    assert "distributions" not in text


@pytest.mark.slow
def test_a_process_of_its_own(cli, folder):
    done = cli("test", "good", "--workers", "2", cwd=folder)
    assert done.returncode == 0, done.stderr
    assert "2 processes" in done.stdout


def test_check_looks_at_tests(here, folder):
    done = here("check", ".", cwd=folder)
    assert done.returncode == 0
    assert "1 policy and 2 test files checked: 0 errors, 0 warnings" in done.stderr
    text = (folder / "bad.test.yaml").read_text(encoding="utf-8")
    (folder / "bad.test.yaml").write_text(text.replace("{verdict: withheld}", "{holds: [privacy.k]}"), encoding="utf-8")
    done = here("check", ".", "--format", "json", cwd=folder)
    assert [d["code"] for d in json.loads(done.stdout)["diagnostics"]] == ["PPF143"]
    assert here("check", "bad.test.yaml", "good", cwd=folder).returncode == 1
    assert here("check", "good", cwd=folder).returncode == 0


@pytest.mark.slow
def test_check_of_tests_stays_light(folder):
    code = (
        "import sys; from ppdm_flow import api; assert api.check(['.']).tests; "
        "heavy = {'numpy', 'pandas', 'pyarrow', 'duckdb', 'numba'} & set(sys.modules); assert not heavy"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


@pytest.mark.slow
def test_nothing_is_written(here, folder):
    before = sorted(p.name for p in folder.rglob("*"))
    here("test", cwd=folder)
    assert sorted(p.name for p in folder.rglob("*")) == before
