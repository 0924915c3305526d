"""A password in the URL of a ledger: refused wherever it comes from, and shown nowhere."""

from __future__ import annotations

from pathlib import Path

import pytest

from ppdm_flow import api
from ppdm_flow.core.errors import PolicyError
from ppdm_flow.policy import load
from ppdm_flow.report.diagnostics import render

POLICY = """version: 1
name: ward
source: {path: patients.csv}
PARAMS
ledger: LEDGER
attributes:
  patient: {role: identifier}
  zip: {role: quasi_identifier}
privacy:
  k_anonymity: {k: 5}
releases: {study: {path: study.csv}}
"""
URL = "postgresql://releases:zqsecret@db.example/ledger"


def codes(folder: Path, ledger: str, params: str = "", **sets: str) -> tuple[set[str], str]:
    """The codes found, and everything that is printed of them."""
    path = folder / "policy.yaml"
    path.write_text(POLICY.replace("LEDGER", ledger).replace("PARAMS\n", params))
    loaded = load(path, sets)
    with pytest.raises(PolicyError) as caught:
        api.show(path, sets)
    shown = render(loaded.diagnostics, loaded.sources, color=False) + repr(loaded.sources) + repr(loaded.diagnostics)
    return {d.code for d in loaded.diagnostics}, shown + str(caught.value) + repr(caught.value.diagnostics)


@pytest.mark.parametrize(
    ("ledger", "code"),
    [
        (f"{{url: '{URL}', key: k, subject: patient}}", "PPF472"),
        (f"{{path: '{URL}', subject: patient}}", "PPF472"),
        (f"{{url: {URL}, key: k, subject: patient, sujbect: x}}", "PPF472"),
        ("{url: 'postgresql://db.example/ledger?password=zqsecret', key: k, subject: patient}", "PPF472"),
        (f"{{url: '{URL.replace('postgresql', 'mysql')}', key: k, subject: patient}}", "PPF472"),
        (f"{{url: '{URL}', key: k, subject: patient, repeat: '{URL}'}}", "PPF472"),
        (f"'{URL}'", "PPF208"),
        (f"{{url: ['{URL}'], key: k}}", "PPF208"),
    ],
)
def test_a_password_that_is_written_there(tmp_path: Path, ledger: str, code: str) -> None:
    found, shown = codes(tmp_path, ledger)
    assert code in found
    assert "zqsecret" not in shown


@pytest.mark.parametrize("value", [URL, "zqsecret"])
def test_a_password_from_the_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, value: str) -> None:
    monkeypatch.setenv("PPDM_TEST_LEDGER", value)
    url = "${params.it}" if value == URL else "postgresql://releases:${params.it}@db.example/ledger"
    found, shown = codes(tmp_path, f"{{url: '{url}', key: k}}", "params: {it: {from_env: PPDM_TEST_LEDGER}}\n")
    assert "PPF472" in found
    assert "zqsecret" not in shown


def test_a_password_from_the_command_line(tmp_path: Path) -> None:
    found, shown = codes(tmp_path, "{url: '${params.it}', key: k}", "params: {it: {default: x}}\n", it=URL)
    assert "PPF472" in found
    assert "zqsecret" not in shown


def test_a_url_without_one(tmp_path: Path) -> None:
    path = tmp_path / "policy.yaml"
    ledger = "{url: 'postgresql://releases@db.example/ledger', key: k, subject: patient}"
    path.write_text(POLICY.replace("LEDGER", ledger).replace("PARAMS\n", ""))
    assert load(path).diagnostics == ()
