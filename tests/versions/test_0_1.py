"""What 0.1.0 made is read, made anew by a verb, or refused with a code that says what to do.

`0.1.0.zip` is a repository of policies as that version left it: templates, a lock, policy tests, a ledger with its key,
signers with their keys, a plugin as it was installed, and runs that were released (one of them signed), withheld and
held with all its signatures.
"""

from __future__ import annotations

import json
import os
import shutil
import zipfile
from pathlib import Path

import pytest

ARCHIVE = Path(__file__).parent / "0.1.0.zip"
RUNS = {"visits": 0, "perturbed": 0, "rounded": 0, "strict": 1, "approved": 4}
"""The exit status of `run` by policy."""
PLUGINS = Path(__file__).parents[1] / "plugins/acme_plugin"
PRIVATE = ("*.key", "releases.ledger*", "held.private.json")


@pytest.fixture
def home(tmp_path):
    with zipfile.ZipFile(ARCHIVE) as archive:
        archive.extractall(tmp_path)
    for pattern in PRIVATE:
        for file in tmp_path.rglob(pattern):
            file.chmod(0o600)
    return tmp_path


@pytest.fixture
def ppdm_flow(cli, home):
    def run(*words, env=None):
        return cli(*map(str, words), cwd=home, env=env)

    return run


def run_of(home: Path, policy: str) -> Path:
    (run,) = (home / "runs" / policy).iterdir()
    return run


def plugin(home: Path) -> dict[str, str]:
    """Return the environment with the plugins of then, but for kinds of requirements that have modules of today."""
    requirements = home / "plugins/acme_requirements"
    shutil.rmtree(requirements)
    shutil.copytree(PLUGINS / "acme_requirements", requirements)
    return with_plugins(home)


def with_plugins(home: Path) -> dict[str, str]:
    return {"PYTHONPATH": os.pathsep.join(filter(None, (str(home / "plugins"), os.environ.get("PYTHONPATH"))))}


@pytest.mark.slow
def test_policies_and_their_tests_are_read(ppdm_flow, home):
    checked = ppdm_flow("check", "policies", "tests", env=plugin(home))
    assert checked.returncode == 0, checked.stdout
    assert "5 policies and 1 test file checked: 0 errors" in checked.stderr
    tested = ppdm_flow("test", "tests")
    assert tested.returncode == 0, tested.stdout


@pytest.mark.slow
def test_a_plugin_on_modules_that_have_moved_is_refused(ppdm_flow, home):
    """Its kind of requirement is made of modules of built-in kinds."""
    checked = ppdm_flow("check", "policies/rounded.yaml", env=with_plugins(home))
    assert checked.returncode == 1
    assert "error[PPF403]: the plugin `acme_p_sensitive` of acme-rounding 2.1.0 cannot be imported" in checked.stdout
    assert "cannot be imported: ModuleNotFoundError: ppdm_flow." in checked.stdout


@pytest.mark.slow
def test_a_lock_is_written_anew(ppdm_flow, home):
    words = ("run", "policies/perturbed.yaml", "--out", "new", "--locked")
    refused = ppdm_flow(*words)
    assert refused.returncode == 2
    assert "error[PPF339]" in refused.stderr
    assert "ppdm-flow lock --upgrade ppdm_flow" in refused.stderr
    assert ppdm_flow("lock", "--upgrade", "ppdm_flow", env=plugin(home)).returncode == 0
    assert ppdm_flow(*words).returncode == 0


@pytest.mark.slow(quick=1)
@pytest.mark.parametrize("policy", RUNS)
def test_a_run_is_verified_and_reported(ppdm_flow, home, policy):
    run = run_of(home, policy)
    verified = ppdm_flow("verify", run)
    assert verified.returncode == (4 if policy == "approved" else 0), verified.stdout + verified.stderr
    for form in ("json", "md", "html"):
        reported = ppdm_flow("report", run, "--format", form)
        assert reported.returncode == 0, reported.stderr
        assert reported.stdout == (run / f"report.{form}").read_text() or form != "json"


@pytest.mark.slow
def test_a_statement_is_checked(ppdm_flow, home):
    run = run_of(home, "visits")
    for place in (run, run / "released" / "study"):
        verified = ppdm_flow("verify", place, "--signers", "signers.yaml")
        assert verified.returncode == 0, verified.stderr
        assert "was signed by `ana` as `author`" in verified.stdout
    released = run / "released" / "study" / "study.csv"
    released.write_text(released.read_text().replace("flu", "cold"))
    assert ppdm_flow("verify", run, "--signers", "signers.yaml").returncode == 1


def test_a_held_run_is_released(ppdm_flow, home):
    run = run_of(home, "approved")
    done = ppdm_flow("release", run, "--signers", "signers.yaml")
    assert done.returncode == 0, done.stdout + done.stderr
    assert (run / "released" / "study" / "approved.csv").is_file()
    assert ppdm_flow("verify", run, "--signers", "signers.yaml").returncode == 0


@pytest.mark.slow
def test_a_ledger_is_read_and_continued(ppdm_flow, home):
    def releases():
        shown = ppdm_flow("ledger", "releases.ledger", "--key", "releases.key", "--format", "json")
        document = json.loads(shown.stdout)
        assert document["version"] == 1
        return document["releases"]

    before = releases()
    assert len(before) == 1
    again = ppdm_flow("run", "policies/visits.yaml", "--out", "new")
    assert again.returncode == 1, again.stderr  # nobody knows what a release told that is there without its cells
    assert "the ledger knows no cells of release no. 1" in " ".join(again.stdout.split())
    assert releases() == before
    rows = (home / "data" / "visits.csv").read_text().replace("\np", "\nq")
    (home / "data" / "visits.csv").write_text(rows)
    others = ppdm_flow("run", "policies/visits.yaml", "--out", "new")
    assert others.returncode == 0, others.stdout + others.stderr
    assert releases()[:1] == before
    assert len(releases()) == 2


def test_an_operator_is_read(ppdm_flow, home):
    done = ppdm_flow("reconstruct", run_of(home, "perturbed"), "--format", "json")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)


@pytest.mark.slow(quick=1)
@pytest.mark.parametrize("policy", RUNS)
def test_a_policy_runs_as_it_did(ppdm_flow, home, policy):
    text = (home / "policies" / f"{policy}.yaml").read_text()
    (home / "policies" / "again.yaml").write_text(
        "".join(x for x in text.splitlines(True) if not x.startswith("ledger"))
    )
    done = ppdm_flow("run", "policies/again.yaml", "--out", "new", "--sign", "keys/ana.key", env=plugin(home))
    assert done.returncode == RUNS[policy], done.stdout + done.stderr
    (again,) = (home / "new").glob("*/*")
    runs = run_of(home, policy), again
    before, after = (json.loads((run / "report.json").read_text())["verdict"] for run in runs)
    assert before == after
    if policy != "rounded":  # its randomness is sealed
        before, after = ([file.read_bytes() for file in sorted(run.glob("*/*/*.csv"))] for run in runs)
        assert before == after
