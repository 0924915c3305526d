"""Reports on cells that only the run that made them could decode."""

from __future__ import annotations

import json

import pytest

POLICY = """version: 1
name: patients
source: {path: patients.csv}
attributes:
  town: {role: quasi_identifier}
  sex: {role: quasi_identifier}
  illness: {role: sensitive}
privacy:
  k_anonymity: {k: 2}
  l_diversity: {illness: {l: 2, kind: distinct}}
steps:
  short: {use: recode, with: {attributes: {illness: {values: {HIV: viral, flu: viral}, keep_others: true}}}}
  groups: {use: assign_class_id, with: {attributes: [town, illness], name: cohort}}
  less: {use: drop, with: {attributes: [illness]}}
releases:
  recoded: {from: short, path: recoded.csv}
  classed: {from: less, path: classed.csv}
recipients: apart
"""
PLAIN = POLICY[: POLICY.index("steps:")] + "releases: {plain: {from: source, path: plain.csv}}\n"
ILLNESSES = ("HIV", "flu", "cold", "cough")
ROWS = [f"{town},{sex},{illness}" for town in "ab" for sex in "xy" for illness in ILLNESSES for _ in range(3)]


@pytest.fixture
def run_of(tmp_path, cli, only_run):
    def run_of(policy):
        (tmp_path / "policy.yaml").write_text(policy)
        (tmp_path / "patients.csv").write_text("town,sex,illness\n" + "\n".join(ROWS) + "\n")
        done = cli("run", tmp_path / "policy.yaml", "--out", tmp_path / "runs")
        assert done.returncode == 0, done.stdout + done.stderr
        return only_run(tmp_path / "runs")

    return run_of


SWAPPED = POLICY.replace("steps:\n", "steps:\n  swap: {use: swap, with: {attributes: [illness]}}\n").replace(
    "[town, illness], name", "[town, sex], name"
)


@pytest.mark.slow
def test_verify_measures_changed_columns_again_as_the_run_did(run_of, cli, tmp_path):
    done = cli("verify", run_of(POLICY), "--data", tmp_path / "patients.csv")
    assert done.returncode == 0, done.stdout
    for name in ("recoded", "classed"):
        made = "its steps, carried out again, make the same rows, whose order is drawn"
        assert f"release `{name}`: {made}\n" in done.stdout
    assert "only the run" not in done.stdout


@pytest.mark.slow
def test_verify_says_what_only_the_run_could_tell(run_of, cli, tmp_path):
    """Measuring again without pairs is no second measurement: figures that need them are listed, not called wrong."""
    done = cli("verify", run_of(SWAPPED), "--data", tmp_path / "patients.csv")
    assert done.returncode == 0, done.stdout
    told = "only the run itself can tell: steps on its way draw at random"
    assert f"not measured again: privacy.l_diversity.illness on recoded: {told}" in done.stdout
    assert "privacy.k_anonymity on" not in done.stdout
    assert "`recoded`: the run alone tells what is behind its columns: illness: not value by value" in done.stdout


@pytest.mark.slow
def test_verify_measures_plain_columns_again(run_of, cli, tmp_path):
    done = cli("verify", run_of(PLAIN), "--data", tmp_path / "patients.csv")
    assert done.returncode == 0, done.stdout
    assert "2 requirements measured again, with the same outcome" in done.stdout
    assert "only the run" not in done.stdout


@pytest.mark.slow
def test_verify_gives_programs_the_same_points(run_of, cli, tmp_path):
    done = cli("verify", run_of(SWAPPED), "--data", tmp_path / "patients.csv", "--format", "json")
    points = {p["name"]: p for p in json.loads(done.stdout)["points"]}
    assert points["privacy.l_diversity.illness on recoded"]["holds"] is None
    assert points["steps of recoded"]["holds"] is True
    assert points["columns of recoded"]["text"].endswith("illness: not value by value")
    assert points["privacy.k_anonymity on recoded"]["holds"] is True


@pytest.mark.slow(quick=1)
@pytest.mark.parametrize("form", ["text", "html", "md", "json"])
def test_audit_says_first_whose_cells_count_as_they_are(run_of, cli, tmp_path, form):
    file = run_of(POLICY) / "released/recoded/recoded.csv"
    given = ("--original", tmp_path / "patients.csv", "--released", file)
    done = cli("audit", tmp_path / "policy.yaml", *given, "--release", "recoded", "--format", form)
    said = " ".join(done.stdout.split())
    told = "the figures of privacy.l_diversity.illness take the cells of the release as they are"
    if form == "json":
        assert ("PPF838", "privacy.l_diversity.illness") in [
            (f["code"], f["subject"]) for f in json.loads(done.stdout)["findings"]
        ]
    else:
        assert told in said.replace("\\", "")
        assert said.index("Rows cannot be paired") < said.index("at least 2")


@pytest.mark.slow
def test_audit_of_plain_columns_says_nothing_of_it(run_of, cli, tmp_path):
    file = run_of(PLAIN) / "released/plain/plain.csv"
    done = cli("audit", tmp_path / "policy.yaml", "--original", tmp_path / "patients.csv", "--released", file)
    assert done.returncode == 0, done.stderr
    assert "take the cells of the release as they are" not in " ".join(done.stdout.split())


@pytest.mark.slow(quick=1)
@pytest.mark.parametrize(("policy", "told"), [(POLICY, True), (PLAIN, False)])
def test_policy_tests_say_so_where_all_is_shown(cli, tmp_path, policy, told):
    (tmp_path / "policy.yaml").write_text(policy)
    rows = "".join(f"      {row}\n" for row in ["town,sex,illness", *ROWS])
    (tmp_path / "policy.test.yaml").write_text(
        f"policy: policy.yaml\ntests:\n  given:\n    data: &rows |\n{rows}    released: *rows\n"
        + ("    release: recoded\n" if told else "")
        + "    expect: {verdict: released}\n"
    )
    done = cli("test", tmp_path / "policy.test.yaml", "-v")
    assert done.returncode == 0, done.stdout + done.stderr
    said = "privacy.l_diversity.illness: the release was given, so cells count as they are"
    assert (said in done.stdout) is told
