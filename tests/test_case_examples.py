"""Policy tests, one file a case: good ones pass, bad ones are drawn by `check`, failing ones by `test`.

Beside each bad or failing one stands what is drawn (``….expected``); ``PPDM_WRITE_EXPECTED=1`` writes these anew: read
the difference before you commit it.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from ppdm_flow.api.test.files import CompiledPolicies, examined
from ppdm_flow.api.test.test import run_tests
from ppdm_flow.core.diagnostics import Severity
from ppdm_flow.core.pages import pages
from ppdm_flow.report.diagnostics import render
from ppdm_flow.report.test import PolicyTestOutcome, failure

HERE = Path(__file__).parent / "examples" / "cases"
SCHEMA = Path(__file__).parents[1] / "schemas" / "test.v1.json"
GOOD, BAD, FAILING = (sorted((HERE / name).glob("*.test.yaml")) for name in ("good", "bad", "failing"))
BY_SHAPE = "# rejected by the schema"


@pytest.fixture(autouse=True)
def _among_examples(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(HERE)


def same(drawn: str, file: Path) -> None:
    expected = file.with_name(file.name.replace(".test.yaml", ".expected"))
    if os.environ.get("PPDM_WRITE_EXPECTED"):
        expected.write_text(drawn, encoding="utf-8")
    assert expected.read_text(encoding="utf-8") == drawn


@pytest.mark.parametrize("file", BAD, ids=lambda f: f.name)
def test_bad(file: Path) -> None:
    found = examined(file.relative_to(HERE), CompiledPolicies())
    same(render(found.diagnostics, found.sources), file)
    assert {d.code for d in found.diagnostics if d.severity is Severity.ERROR} == {file.name[:6]}


def test_every_code_of_a_test_file_has_a_bad_example() -> None:
    assert len(BAD) >= 12
    assert {code for code in pages() if "PPF141" <= code < "PPF150"} <= {f.name[:6] for f in BAD}


@pytest.mark.slow
def test_good_ones_pass() -> None:
    tested = run_tests(["good"])
    assert [f"{r.id}: {r.failures}" for r in tested.results if r.outcome is not PolicyTestOutcome.PASSED] == []
    assert tested.exit_status == 0


@pytest.mark.slow
def test_those_of_the_worked_policies_pass(root: Path) -> None:
    tested = run_tests([root / "pipelines"])
    assert [f"{r.id}: {r.failures}" for r in tested.results if r.outcome is not PolicyTestOutcome.PASSED] == []
    assert len({r.policy for r in tested.results}) >= 2


@pytest.mark.slow(quick=1)
@pytest.mark.parametrize("file", FAILING, ids=lambda f: f.name)
def test_failing(file: Path) -> None:
    tested = run_tests([file.relative_to(HERE)])
    assert {r.outcome for r in tested.results} == {PolicyTestOutcome.FAILED}
    same("\n".join(failure(each) for each in tested.results), file)
    assert tested.exit_status == 1


def test_every_expected_file_belongs_to_an_example() -> None:
    files = {p.name.replace(".expected", "") for p in HERE.rglob("*.expected")}
    assert files == {p.name.replace(".test.yaml", "") for p in (*BAD, *FAILING)}


def checked(files: list[Path]) -> dict[str, list[dict[str, str]]]:
    """Run check-jsonschema, as an editor's or a CI's user would."""
    command = [sys.executable, "-m", "check_jsonschema", "--schemafile", str(SCHEMA), "-o", "json", *map(str, files)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=1200)
    found: dict[str, list[dict[str, str]]] = json.loads(done.stdout)
    return found


@pytest.mark.slow
def test_the_schema_accepts_what_can_be_run(root: Path) -> None:
    assert checked([*GOOD, *FAILING, *(root / "pipelines").rglob("*.test.yaml")])["errors"] == []


def test_the_schema_rejects_what_is_bad_by_shape() -> None:
    marked = [f for f in BAD if f.read_text(encoding="utf-8").startswith(BY_SHAPE)]
    assert len(marked) >= 5
    assert {Path(e["filename"]) for e in checked(marked)["errors"]} == set(marked)
