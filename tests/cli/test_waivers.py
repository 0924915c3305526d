"""Waivers from the policy to the report, through the command line."""

from __future__ import annotations

import json
from datetime import UTC, date, datetime, timedelta
from pathlib import Path

import pytest

from ppdm_flow import api
from ppdm_flow.api.explain.explain import CONCEPTS
from ppdm_flow.core.diagnostics import Severity

SOON = (datetime.now(UTC).date() + timedelta(60)).isoformat()
"""Far enough from either end that no clock matters."""
ROWS = "age,city,disease\n30,A,flu\n30,A,cold\n30,A,flu\n40,B,flu\n40,B,cold\n40,B,cold\n"
POLICY = """version: 1
name: waived
source: {path: data.csv}
attributes:
  age: {role: quasi_identifier, type: integer}
  city: {role: quasi_identifier}
  disease: {role: sensitive}
privacy:
  k_anonymity: {k: %(k)s}
gates:
  risk: {metric: reidentification_risk.prosecutor_highest, max: 0.1}
waivers:
  small:
    of: %(of)s
    reason: the study is small until the new extract
    owner: dpo@bank.example
    until: %(until)s
releases:
  study: {path: study.csv}
"""


@pytest.fixture
def repository(tmp_path):
    """Write the policy and its data; ``org`` is a template beside it."""

    def write(of: str = "gates.risk", until: str = SOON, k: int = 2, org: str = "", more: str = "") -> Path:
        (tmp_path / "data.csv").write_text(ROWS, encoding="utf-8")
        text = POLICY % {"of": of, "until": until, "k": k} + more
        if org:
            (tmp_path / "org.yaml").write_text(org, encoding="utf-8")
            text = text.replace("source:", "extends: ./org.yaml\nsource:", 1)
        (tmp_path / "p.yaml").write_text(text, encoding="utf-8")
        return tmp_path

    return write


def run_of(folder: Path) -> Path:
    return max((folder / "runs" / "waived").iterdir(), key=lambda run: run.stat().st_mtime_ns)  # names count seconds


def report(folder: Path) -> dict:
    return json.loads((run_of(folder) / "report.json").read_text(encoding="utf-8"))


def test_a_gate_that_fails_is_released_under_a_waiver(here, repository) -> None:
    folder = repository()
    done = here("run", "p.yaml", cwd=folder)
    assert done.returncode == 0
    assert done.stdout.startswith("RELEASED UNDER WAIVERS")
    assert f"waived by `small` until {SOON}" in " ".join(done.stdout.split())
    assert (run_of(folder) / "released" / "study" / "study.csv").exists()
    found = report(folder)
    assert found["verdict"] == "released"
    assert [(g["id"], g["holds"], g["waived_by"]) for g in found["gates"]] == [("gates.risk", False, "small")]
    assert found["waivers"][0]["covers"] == ["gates.risk on study"]
    manifest = json.loads((run_of(folder) / "manifest.json").read_text(encoding="utf-8"))
    assert manifest["checks"] == {"total": 2, "failed": 0, "waived": 1}
    assert manifest["waivers"][0] | {"until": ""} == {
        "name": "small",
        "of": "gates.risk",
        "until": "",
        "covers": ["gates.risk on study"],
    }


def test_without_the_waiver_it_is_withheld(here, repository) -> None:
    folder = repository(of="PPF551")
    done = here("run", "p.yaml", cwd=folder)
    assert done.returncode == 1
    assert done.stdout.startswith("WITHHELD")


@pytest.mark.parametrize(("words", "status"), [(("check",), 1), (("run",), 2), (("plan",), 2), (("lock",), 0)])
def test_an_expired_waiver_is_an_error(here, repository, words, status: int) -> None:
    done = here(*words, "p.yaml", cwd=repository(until="2020-01-01"))
    assert done.returncode == status
    assert ("PPF333" in done.stdout + done.stderr) == bool(status)


def test_privacy_is_waived_only_where_a_template_allows_it(here, repository) -> None:
    folder = repository(of="privacy.k_anonymity", k=5)
    assert here("check", "p.yaml", cwd=folder).returncode == 1
    own = repository(of="privacy.k_anonymity", k=5, more="floors: {waivers.privacy: allowed}\n")
    assert here("run", "p.yaml", cwd=own).returncode == 2
    allowed = repository(of="privacy.k_anonymity", k=5, org="floors: {waivers.privacy: allowed}\n")
    done = here("run", "p.yaml", cwd=allowed)
    assert done.returncode == 1  # the gate fails, and is not waived
    lines = [line.split()[:2] for line in done.stdout.splitlines()]
    assert ["NO", "gates.risk"] in lines
    assert ["waived", "privacy.k_anonymity"] in lines


def test_a_waived_warning_does_not_count_under_strict(here, repository) -> None:
    folder = repository(of="PPF551")
    assert here("check", "p.yaml", "--strict", cwd=folder).returncode == 0
    done = here("check", "p.yaml", cwd=folder)
    assert done.stdout.startswith("p.yaml:7: PPF551 waived by `small`")
    assert "0 errors, 0 warnings, 1 waived" in done.stderr
    assert json.loads(here("check", "p.yaml", "--format", "json", cwd=folder).stdout)["waived"] == 1
    assert here("check", "p.yaml", "--strict", cwd=repository(of="gates.risk")).returncode == 1


def test_a_waived_warning_is_suppressed_in_sarif(here, repository) -> None:
    folder = repository(of="PPF551")
    found = json.loads(here("check", "p.yaml", "--format", "sarif", cwd=folder).stdout)
    (result,) = found["runs"][0]["results"]
    assert result["ruleId"] == "PPF551"
    assert [s["status"] for s in result["suppressions"]] == ["accepted"]
    assert "the study is small" in result["suppressions"][0]["justification"]


def test_a_template_s_warning_counts_while_one_policy_does_not_waive_it(here, repository) -> None:
    folder = repository(of="PPF551")
    text = (folder / "p.yaml").read_text(encoding="utf-8")
    (folder / "org.yaml").write_text("attributes:\n  disease: {role: sensitive}\n", encoding="utf-8")
    text = text.replace("source:", "extends: ./org.yaml\nsource:", 1).replace("  disease: {role: sensitive}\n", "")
    (folder / "p.yaml").write_text(text, encoding="utf-8")
    assert here("check", "p.yaml", "--strict", cwd=folder).returncode == 0
    head, _, tail = text.partition("waivers:")
    (folder / "q.yaml").write_text(head + "releases:" + tail.partition("releases:")[2], encoding="utf-8")
    done = here("check", "p.yaml", "q.yaml", "--strict", cwd=folder)
    assert done.returncode == 1
    assert "waived" not in done.stderr


def test_findings_are_waived_by_their_hash(here, repository) -> None:
    folder = repository(
        of="gates.risk", more="audits:\n  classes: {use: classification_error, with: {target: disease}}\n"
    )
    here("run", "p.yaml", cwd=folder)
    noted = next(f for f in report(folder)["findings"] if f["code"] == "PPF830")
    text = (folder / "p.yaml").read_text(encoding="utf-8")
    moved = "# a line\n# and another\n" + text.replace(
        "releases:",
        f"""  few:
    of: {noted["hash"]}
    reason: the test table is small
    owner: me
    until: {SOON}
releases:""",
    )
    (folder / "p.yaml").write_text(moved, encoding="utf-8")
    here("run", "p.yaml", cwd=folder)
    again = next(f for f in report(folder)["findings"] if f["code"] == "PPF830")
    assert again["hash"] == noted["hash"]
    assert again["waived_by"] == "few"


def test_a_waiver_that_nothing_needs_is_a_finding(here, repository) -> None:
    folder = repository(of="0123456789abcdef")
    here("run", "p.yaml", cwd=folder)
    (told,) = [f for f in report(folder)["findings"] if f["code"] == "PPF685"]
    assert told["subject"] == "waivers.small"


class TestVerify:
    def test_it_says_how_long_a_waiver_counts_and_that_it_has_expired(self, here, repository) -> None:
        folder = repository()
        here("run", "p.yaml", cwd=folder)
        done = here("verify", run_of(folder), cwd=folder)
        assert done.returncode == 0
        assert f"waiver `small`: counts until {SOON}" in done.stdout
        later = api.verify(run_of(folder), clock=lambda: date.fromisoformat(SOON) + timedelta(1))
        assert later.holds
        assert f"waiver `small`: has expired since ({SOON}): gates.risk on study would count today" in later.text
        points = {p.name: p for p in api.verification(later, data_given=False).points}
        assert points["waiver small"].holds is None

    def test_measuring_again_does_not_depend_on_the_day(self, repository, monkeypatch) -> None:
        folder = repository(of="privacy.k_anonymity", k=5, org="floors: {waivers.privacy: allowed}\n")
        monkeypatch.chdir(folder)
        long_ago = date(2021, 3, 1)
        text = (folder / "p.yaml").read_text(encoding="utf-8").replace(SOON, "2021-04-01").replace("max: 0.1", "max: 1")
        (folder / "p.yaml").write_text(text, encoding="utf-8")
        ran = api.run(Path("p.yaml"), clock=lambda: long_ago)
        assert ran.released
        again = api.verify(ran.run_dir, Path("data.csv"))
        assert again.holds, again.text
        assert "has expired since (2021-04-01)" in again.text

    def test_a_manifest_that_tells_of_other_waivers_is_found_out(self, here, repository) -> None:
        folder = repository()
        here("run", "p.yaml", cwd=folder)
        file = run_of(folder) / "manifest.json"
        found = json.loads(file.read_text(encoding="utf-8"))
        found["waivers"][0]["until"] = "2099-01-01"
        file.write_text(json.dumps(found), encoding="utf-8")
        done = here("verify", run_of(folder), cwd=folder)
        assert done.returncode == 1
        assert "name different waivers" in done.stdout

    @pytest.mark.slow(quick=2)
    @pytest.mark.parametrize(
        "waivers", ["x", [1], [{"name": "a"}], [{"name": "a", "of": "b", "until": "c", "covers": []}]]
    )
    def test_a_manifest_with_damaged_waivers_is_damaged(self, here, repository, waivers) -> None:
        folder = repository()
        here("run", "p.yaml", cwd=folder)
        file = run_of(folder) / "manifest.json"
        found = json.loads(file.read_text(encoding="utf-8")) | {"waivers": waivers}
        file.write_text(json.dumps(found), encoding="utf-8")
        done = here("verify", run_of(folder), cwd=folder)
        assert done.returncode == 2
        assert "PPF750" in done.stderr


def test_a_run_that_reaches_its_verdict_a_day_too_late_is_withheld(repository, monkeypatch) -> None:
    folder = repository()
    monkeypatch.chdir(folder)
    last = date.fromisoformat(SOON)
    days = iter([last, last, last + timedelta(1)])
    ran = api.run(Path("p.yaml"), clock=lambda: next(days))
    assert not ran.released
    assert "PPF686" in {f.code for f in ran.report.findings}


def test_audit_of_a_file_knows_waivers_too(here, repository) -> None:
    folder = repository()
    (folder / "copy.csv").write_text(ROWS, encoding="utf-8")
    done = here("audit", "p.yaml", "--original", "data.csv", "--released", "copy.csv", cwd=folder)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.startswith("HOLDS UNDER WAIVERS")


def test_the_waiver_of_the_page_is_one(tmp_path, monkeypatch) -> None:
    grant = CONCEPTS["waivers"].page.example("Example").replace("still-useful", "risk") + "\n"
    head, _, tail = (POLICY % {"k": 2, "of": "x", "until": "x"}).partition("waivers:")
    (tmp_path / "p.yaml").write_text(head + grant + "releases:" + tail.partition("releases:")[2], encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    found = api.check(["p.yaml"], clock=lambda: date(2026, 12, 1))
    assert not found.count(Severity.ERROR), found.diagnostics


def test_explain_has_a_page_with_a_good_and_a_bad_example(here, tmp_path) -> None:
    text = here("explain", "waivers", cwd=tmp_path).stdout
    assert "## Example" in text or "Example" in text
    assert "Not so" in text
    assert "waivers.privacy: allowed" in text
