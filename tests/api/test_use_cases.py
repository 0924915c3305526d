"""The use cases for programs."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ppdm_flow import api
from ppdm_flow.api.arguments import settings
from ppdm_flow.api.loading.policies import find_policies
from ppdm_flow.api.scaffold import contents
from ppdm_flow.api.show import resolved_text
from ppdm_flow.core.diagnostics import Severity
from ppdm_flow.core.errors import PolicyError, UsageError
from ppdm_flow.policy import load
from ppdm_flow.report.run.document import document


def test_every_use_case_is_there():
    assert [name for name in api.__all__ if not callable(getattr(api, name, None)) or name not in dir(api)] == []


def test_what_is_not_there_says_so():
    with pytest.raises(AttributeError, match="no attribute 'nonsense'"):
        _ = api.nonsense


def test_importing_the_room_imports_no_use_case():
    code = "import sys; from ppdm_flow import api; print([m for m in sys.modules if m.startswith('ppdm_flow.api.')])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_check(root):
    found = api.check([root / "pipelines"])
    assert found.passes(strict=True), found.diagnostics
    home = root / "pipelines"
    assert set(found.files) == {*home.glob("*.yaml"), *home.glob("tests/*.test.yaml")}
    assert found.count(Severity.ERROR) == 0


def test_plan(root):
    planned = api.plan(root / "pipelines/bank_credit.yaml")
    assert planned.plan.digest == planned.document["digest"]
    assert planned.preview is None
    with pytest.raises(PolicyError):
        api.plan(root / "tests/examples/bad/PPF401-anonymizer.yaml")


def test_strict_turns_warnings_into_errors(root):
    path = root / "tests/examples/bad/PPF559-unshuffled.yaml"
    assert api.plan(path).diagnostics[0].severity is Severity.WARNING
    with pytest.raises(PolicyError) as caught:
        api.plan(path, strict=True)
    assert caught.value.diagnostics[0].severity is Severity.ERROR


def test_run(root, tmp_path):
    events = []
    ran = api.run(root / "pipelines/bank_credit.yaml", out=tmp_path, listener=events.append)
    assert ran.released
    assert (ran.run_dir / "released/study/bank_credit.csv").exists()
    assert events
    assert api.report(ran.run_dir, "json") == (ran.run_dir / "report.json").read_text()
    assert api.verify(ran.run_dir).holds


def test_settings():
    assert settings(["a=1", "b=x=y", "c="]) == {"a": "1", "b": "x=y", "c": ""}
    for words in (["a"], ["=1"], ["a=1", "a=1"]):
        with pytest.raises(UsageError):
            settings(words)


def test_find_takes_each_file_once(tmp_path):
    (tmp_path / "a.yaml").write_text("releases: {}\n")
    found = find_policies([tmp_path / "a.yaml", tmp_path, str(tmp_path / "*.yaml")])
    assert found.policies == (tmp_path / "a.yaml",)
    with pytest.raises(UsageError):
        find_policies([tmp_path / "*.yml"])


def test_the_scaffold_is_the_same_everywhere():
    assert contents() == contents()
    lines = contents()["data/visits.csv"].splitlines()
    assert len(lines) == 4_001


def test_a_template_in_a_folder_is_no_policy(tmp_path):
    (tmp_path / "base.yaml").write_text("attributes: {}\n")
    (tmp_path / "house.yaml").write_text("extends: base.yaml\n")
    (tmp_path / "a.yaml").write_text("name: a\nextends: house.yaml\n")
    (tmp_path / "b.yaml").write_text("releases: {}\n")
    found = find_policies([tmp_path])
    assert [p.name for p in found.policies] == ["a.yaml", "b.yaml"]
    assert [p.name for p in found.others] == ["base.yaml", "house.yaml"]
    assert find_policies([tmp_path / "house.yaml"]).policies  # a file that is named is meant


TEXTS = st.text(st.characters(blacklist_categories=("Cs",)), max_size=12) | st.sampled_from(
    ["null", "true", "no", "010", "1.10", "~", "", "- a", "a: b", "#", "${x}", "⊥", "\x85", "\u2028", "\x7f", "'", '"']
)


@given(st.dictionaries(st.from_regex(r"[a-z_]{1,8}", fullmatch=True), TEXTS, min_size=1, max_size=6))
def test_a_resolved_policy_reads_back_as_it_was(tmp_path_factory, descriptions):
    """Any text that a policy can hold survives being written and read."""
    printable = {k: "".join(c for c in v if c.isprintable() or c in "\x85\x7f") for k, v in descriptions.items()}
    tree = {
        "version": "1",
        "name": "x",
        "attributes": {k: {"role": "insensitive", "description": v} for k, v in printable.items()},
        "releases": {"r": {"path": "r.csv"}},
    }
    path = Path(tmp_path_factory.mktemp("kept")) / "p.yaml"
    path.write_text(resolved_text(tree), encoding="utf-8")
    assert load(path).tree == tree


def test_a_run_builds_its_report_once_and_shows_what_is_on_disk(tmp_path, monkeypatch):
    (tmp_path / "t.csv").write_text("sex,town\n" + "f,east\nm,west\n" * 20)
    (tmp_path / "p.yaml").write_text(
        "version: 1\nname: p\nsource: {path: t.csv}\n"
        "attributes: {sex: {role: quasi_identifier}, town: {role: quasi_identifier}}\n"
        "privacy: {k_anonymity: {k: 2}}\nreleases: {study: {path: study.csv}}\n"
    )
    assert callable(api.run)  # imported from here on
    built = []
    rooms = [module for name, module in sys.modules.items() if name in ("ppdm_flow.api.report", "ppdm_flow.api.run")]
    for room in rooms:
        if hasattr(room, "document"):
            monkeypatch.setattr(room, "document", lambda found: built.append(1) or document(found))
    ran = api.run(tmp_path / "p.yaml", out=tmp_path / "runs")
    shown = ran.judgement(100).document
    assert ran.released
    assert len(built) == 1
    assert shown == json.loads((ran.run_dir / "report.json").read_text()) == document(ran.report)
