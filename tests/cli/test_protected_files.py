"""No outcome goes over the data, a policy, a template, a ledger, a key or a run; over an earlier outcome it does."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

import pytest

from ppdm_flow import api
from ppdm_flow.cli.main import main

POLICY = """
version: 1
name: ward
extends: ./house/base.yaml
params: {table: {type: text, default: one.csv}}
source: {path: "${params.table}"}
ledger: {path: releases.ledger, key: secure/my key, subject: patient}
attributes:
  patient: {role: identifier}
  zip: {role: quasi_identifier, hierarchy: {csv: zip.csv}}
  illness: {role: sensitive}
privacy: {l_diversity: {illness: {l: 2}}}
steps: {areas: {use: generalize, with: {attributes: {zip: {level: 1}}}}}
releases: {public: {path: ward.csv}}
"""


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A policy with all that it names, and a run of it."""
    home = tmp_path_factory.mktemp("made")
    (home / "house").mkdir()
    (home / "secure").mkdir()
    (home / "policy.yaml").write_text(POLICY)
    (home / "house/base.yaml").write_text("version: 1\nprivacy: {k_anonymity: {k: 5}}\n")
    (home / "zip.csv").write_text("8001;80\n8002;80\n9001;90\n9002;90\n")
    lines = "".join(f"p{i},{(8001, 8002, 9001, 9002)[i % 4]},{'flu' if i % 3 else 'cold'}\n" for i in range(40))
    for name in ("one.csv", "two.csv"):
        (home / name).write_text(f"patient,zip,illness\n{lines}")
    api.create_ledger(home / "releases.ledger", home / "secure/my key")
    ran = api.run(home / "policy.yaml", out=home / "runs", escrow=home / "escrow.json")
    assert ran.released
    ran.run_dir.rename(home / "runs/ward/RUN")
    return home


@pytest.fixture
def home(made: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "home"
    shutil.copytree(made, folder)
    monkeypatch.chdir(folder)
    return folder


def status(*words: str) -> int:
    with pytest.raises(SystemExit) as ended:
        main(list(words))
    return int(ended.value.code or 0)


READ = ["policy.yaml", "house/base.yaml", "zip.csv", "one.csv", "releases.ledger", "secure/my key", "escrow.json"]
RUN = ["runs/ward/RUN/report.json", "runs/ward/RUN/manifest.json", "runs/ward/RUN/released/public/ward.csv"]
VERBS = [
    ("check", "policy.yaml", "--format", "json"),
    ("show", "policy.yaml"),
    ("plan", "policy.yaml", "--format", "json"),
    ("run", "policy.yaml", "--format", "json"),
    ("report", "runs/ward/RUN", "--format", "json"),
    ("verify", "runs/ward/RUN", "--format", "json"),
    ("ledger", "releases.ledger", "--key", "secure/my key"),
    ("diff", "policy.yaml", "policy.yaml", "--format", "json"),
]


PRECIOUS = ["releases.ledger", "secure/my key", "escrow.json", *RUN]
"""What no verb goes over, even one that reads no policy."""
BLIND = ("report", "verify", "ledger")


@pytest.mark.slow(quick=5)
@pytest.mark.parametrize(
    ("verb", "file"),
    [(v, f) for v in VERBS for f in (PRECIOUS if v[0] in BLIND else (*READ, *RUN))],
    ids=lambda each: each if isinstance(each, str) else each[0],
)
def test_what_cannot_be_made_again_is_not_written_over(
    home: Path, capsys: pytest.CaptureFixture[str], verb: tuple[str, ...], file: str
) -> None:
    before = {p: p.read_bytes() for p in home.rglob("*") if p.is_file()}
    assert status(*verb, "--output-file", file) == 2
    assert "PPF664" in capsys.readouterr().err
    assert {p: p.read_bytes() for p in home.rglob("*") if p.is_file()} == before


@pytest.mark.parametrize("file", ["policy.yaml", "one.csv", "releases.ledger"])
def test_a_resolved_policy_goes_over_nothing_either(home: Path, capsys: pytest.CaptureFixture[str], file: str) -> None:
    before = (home / file).read_bytes()
    assert status("plan", "policy.yaml", "--resolved", file) == 2
    assert "PPF664" in capsys.readouterr().err
    assert (home / file).read_bytes() == before


def test_a_resolved_policy_goes_over_an_earlier_one(home: Path) -> None:
    Path("resolved.yaml").write_text("an earlier one")
    assert status("plan", "policy.yaml", "--resolved", "resolved.yaml") == 0
    assert "name: ward" in Path("resolved.yaml").read_text()


@pytest.mark.parametrize("link", ["symlink_to", "hardlink_to"])
def test_a_link_to_it_is_the_same(home: Path, link: str) -> None:
    getattr(home / "out.json", link)(home / "one.csv")
    content = (home / "one.csv").read_bytes()
    assert status("check", "policy.yaml", "--format", "json", "-o", "out.json") == 2
    assert (home / "one.csv").read_bytes() == content


@pytest.mark.slow(quick=4)
@pytest.mark.parametrize("verb", VERBS, ids=lambda v: v[0])
def test_an_earlier_outcome_is_written_over(home: Path, verb: tuple[str, ...]) -> None:
    Path("out.json").write_text("an earlier one")
    assert status(*verb, "--output-file", "out.json") in (0, 1)
    assert Path("out.json").read_text() != "an earlier one"


def test_a_param_names_the_data(home: Path) -> None:
    words = ("check", "policy.yaml", "--format", "json", "--output-file", "two.csv")
    assert status(*words, "--set", "table=two.csv") == 2
    assert status("run", "policy.yaml", "--data", "two.csv", "--format", "json", "--output-file", "two.csv") == 2
    assert (home / "two.csv").read_text().startswith("patient,")
    assert status(*words) == 0  # nobody says that this is data


def test_what_policies_in_a_folder_name(home: Path) -> None:
    words = ("check", ".", "--format", "json", "--output-file")
    assert status(*words, "zip.csv") == 2
    assert status(*words, "house/base.yaml") == 2
    Path("out.json").write_text("x")
    assert status(*words, "out.json") in (0, 1)


def test_a_policy_that_is_wrong_still_keeps_what_it_names(home: Path) -> None:
    Path("policy.yaml").write_text(POLICY.replace("role: sensitive", "role: no_role"))
    assert status("check", "policy.yaml", "--format", "json", "--output-file", "zip.csv") == 2
    assert status("check", "policy.yaml", "--format", "json", "--output-file", "fresh.json") == 1


def test_a_manifest_of_something_else_makes_no_run(home: Path) -> None:
    Path("manifest.json").write_text("{}")
    Path("out.json").write_text("x")
    assert status("check", "policy.yaml", "--format", "json", "--output-file", "out.json") == 0


def test_nothing_is_imported_for_it_while_the_file_is_new(home: Path, cli) -> None:
    code = "import sys; from ppdm_flow.cli.terminal.verbs import refuse_overwriting; from pathlib import Path;"
    code += "refuse_overwriting({'output_file': Path('new')}); sys.exit('ppdm_flow.api.protected' in sys.modules)"
    import subprocess

    assert subprocess.run([sys.executable, "-c", code], check=False, cwd=home).returncode == 0
