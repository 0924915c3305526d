"""Good and bad policies, one a file: adding a case is adding a file.

A bad one is named ``PPFnnn-what-is-wrong.yaml``; beside it stands ``….expected``, what ``check`` draws. Codes of a
policy's own (1xx to 3xx, 500 to 549) are raised by reading it, the others by compiling it. ``PPDM_WRITE_EXPECTED=1``
writes the expected files anew: read the difference before you commit it.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from datetime import date
from pathlib import Path

import pytest

from ppdm_flow.core.diagnostics import Diagnostic, Severity, has_errors
from ppdm_flow.core.pages import pages
from ppdm_flow.plan.compile import compile_policy
from ppdm_flow.policy import load
from ppdm_flow.report.diagnostics import render

HERE = Path(__file__).parent / "examples"
SCHEMA = Path(__file__).parents[1] / "schemas" / "policy.v1.json"
GOOD = sorted(p.name for p in (HERE / "good").glob("*.yaml"))
BAD = sorted(p.name for p in (HERE / "bad").glob("*.yaml"))
BY_SHAPE = "# rejected by the schema"

OF_THE_PLAN = {"PPF539", "PPF540", "PPF541", "PPF568"}
"""Codes among those of a policy's own that only its steps can tell."""
WAIVERS = {f"PPF33{digit}" for digit in range(9)}
"""Whether a waiver counts, and what it covers, is known when the policy is compiled, on a day."""
APPROVALS = {"PPF340", "PPF348", "PPF349", *(f"PPF35{digit}" for digit in range(5))}
"""Who may approve, and whether that is enough, is known when the policy is compiled, on a day."""
TODAY = date(2026, 11, 21)

ELSEWHERE = {
    "PPF100": "tests/policy/test_text.py: a file that is not there",
    "PPF101": "tests/policy/test_text.py: a file of more than 1 MB",
    "PPF317": "tests/policy/test_versions.py: needs an installed package with templates",
    **dict.fromkeys(("PPF319", "PPF320", "PPF321", "PPF339"), "tests/cli/test_lock.py: needs a lock file"),
    **dict.fromkeys(("PPF355", "PPF356"), "tests/policy/test_project.py: needs a project file"),
    "PPF357": "tests/cli/test_project_file.py: an option of the command line",
    "PPF313": "tests/policy/test_inherit.py: a chain of more than 16 files",
}


def own(code: str) -> bool:
    """Whether reading alone raises the code; from PPF120 on, other verbs raise them."""
    if code in WAIVERS | APPROVALS:
        return False
    own_rule = "PPF500" <= code < "PPF550" and code not in OF_THE_PLAN
    return code < "PPF120" or code[:4] in ("PPF2", "PPF3") or own_rule


def diagnosed(name: str) -> tuple[tuple[Diagnostic, ...], dict[str, str]]:
    loaded = load(Path("bad", name))
    if own(name[:6]):
        return loaded.diagnostics, dict(loaded.sources)
    compiled = compile_policy(loaded, clock=lambda: TODAY)
    return compiled.diagnostics, dict(compiled.sources)


@pytest.fixture(autouse=True)
def _among_examples(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(HERE)


@pytest.mark.parametrize("name", GOOD)
def test_good(name: str) -> None:
    loaded = load(Path("good", name))
    assert render(loaded.diagnostics, loaded.sources) == ""
    compiled = compile_policy(loaded, clock=lambda: TODAY)
    assert not has_errors(compiled.diagnostics), render(compiled.diagnostics, compiled.sources)
    assert compiled.plan is not None


@pytest.mark.slow(quick=55)
@pytest.mark.parametrize("name", BAD)
def test_bad(name: str) -> None:
    code = name[:6]
    found, sources = diagnosed(name)
    assert code in {d.code for d in found}
    drawn = render(found, sources)
    file = HERE / "bad" / name.replace(".yaml", ".expected")
    if os.environ.get("PPDM_WRITE_EXPECTED"):
        file.write_text(drawn, encoding="utf-8")
    assert file.read_text(encoding="utf-8") == drawn


@pytest.mark.slow(quick=64)
@pytest.mark.parametrize("name", [n for n in BAD if own(n[:6])])
def test_bad_shows_nothing_else(name: str) -> None:
    """An example is about one code; errors of any other would blur it."""
    found, _ = diagnosed(name)
    assert {d.code for d in found if d.severity is Severity.ERROR} <= {name[:6]}


def test_every_code_of_a_policy_has_a_bad_example() -> None:
    shown = {n[:6] for n in BAD}
    wanted = {code for code in pages() if own(code) or code in WAIVERS | APPROVALS}
    assert wanted - shown == set(ELSEWHERE)


def test_every_expected_file_belongs_to_an_example() -> None:
    expected = {p.name.replace(".expected", ".yaml") for p in (HERE / "bad").glob("*.expected")}
    assert expected == set(BAD)


def checked(files: list[Path]) -> tuple[int, dict[str, object]]:
    """Run check-jsonschema, as an editor's or a CI's user would."""
    command = [sys.executable, "-m", "check_jsonschema", "--schemafile", str(SCHEMA), "-o", "json", *map(str, files)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=1200)
    return done.returncode, json.loads(done.stdout)


def test_the_schema_accepts_every_good_example() -> None:
    status, outcome = checked([HERE / "good" / n for n in GOOD])
    assert status == 0, outcome


def test_the_schema_rejects_what_is_bad_by_shape() -> None:
    marked = [n for n in BAD if (HERE / "bad" / n).read_bytes().startswith(BY_SHAPE.encode())]
    assert len(marked) >= 15
    _, outcome = checked([HERE / "bad" / n for n in marked])
    rejected = {Path(str(e["filename"])).name for e in outcome["errors"]}  # type: ignore[attr-defined,index]
    assert rejected == set(marked)
