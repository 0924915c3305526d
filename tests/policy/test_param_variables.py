"""Which variables of the environment params take values from."""

from __future__ import annotations

from pathlib import Path

import pytest

from ppdm_flow.policy.loading import load
from ppdm_flow.policy.params import ALLOWED

POLICY = """\
version: 1
name: p
params: {why: {from_env: VARIABLE, default: nothing}}
description: "${params.why}"
source: {path: d.csv}
attributes: {a: {role: quasi_identifier}}
privacy: {k_anonymity: {k: 2}}
releases: {r: {path: r.csv}}
"""


def described(folder: Path, variable: str) -> object:
    file = folder / "p.yaml"
    file.write_text(POLICY.replace("VARIABLE", variable))
    return load(file).tree["description"]


def test_the_passphrase_of_a_key_is_never_the_value_of_a_param(tmp_path: Path, monkeypatch):
    for name in ("PPDM_KEY_PASSWORD", "TEAM"):
        monkeypatch.setenv(name, "canary")
    assert described(tmp_path, "PPDM_KEY_PASSWORD") == "nothing"
    assert described(tmp_path, "TEAM") == "canary"


@pytest.mark.parametrize(("allowed", "value"), [("", "nothing"), ("OTHER,TEA", "nothing"), ("OTHER,TEAM", "canary")])
def test_who_runs_policies_of_others_says_which_variables_they_read(tmp_path: Path, monkeypatch, allowed, value):
    monkeypatch.setenv("TEAM", "canary")
    monkeypatch.setenv(ALLOWED, allowed)
    assert described(tmp_path, "TEAM") == value
    assert described(tmp_path, ALLOWED) == "nothing"
