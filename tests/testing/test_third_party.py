"""Plugins of other people: really built and installed, into a folder of their own, without a network."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

PLUGINS = Path(__file__).resolve().parents[1] / "plugins"

ASK = """
import json, sys
from ppdm_flow.core.errors import PluginError
from ppdm_flow.sdk import registry
said = {}
for name in sys.argv[1:]:
    try:
        said[name] = registry.load("anonymizers", name).info.summary
    except PluginError as error:
        said[name] = [error.diagnostics[0].code, error.diagnostics[0].message, error.exit_status]
print(json.dumps(said))
"""


@pytest.fixture
def ask(python):
    return lambda env, *names: json.loads(python("-c", ASK, *names, env=env).stdout)


@pytest.mark.slow
def test_an_installed_plugin_is_found_and_loaded(ask, acme):
    assert ask(acme, "acme_rounding", "drop") == {
        "acme_rounding": "Rounds whole numbers up or down at random, without bias.",
        "drop": "Takes attributes out of the table.",
    }


@pytest.mark.slow
def test_its_author_can_test_it_with_the_kit(python, acme):
    tests = str(PLUGINS / "acme_plugin" / "tests")
    words = ["-m", "pytest", "-q", "-c", os.devnull, "--rootdir", tests, "-p", "no:cacheprovider", tests]
    done = python("-B", *words, env=acme)
    assert "62 passed" in done.stdout


def test_without_it_the_name_is_unknown(ask):
    found = ask(dict(os.environ), "acme_rounding")
    assert found["acme_rounding"][0] == "PPF401"


@pytest.mark.slow
def test_the_command_line_lists_it(forked, acme):
    done = forked("-m", "ppdm_flow", "list", "anonymizers", env=acme)
    assert "acme_rounding" in done.stdout
    assert "acme-rounding" in done.stdout.replace("acme_rounding", "")


POLICY = """version: 1
name: incomes
source: {path: incomes.csv}
attributes:
  income: {role: insensitive, type: integer}
  sex: {role: insensitive}
steps:
  round: {use: acme_rounding, with: {attribute: income, base: 10}}
releases:
  partner: {from: round, path: incomes.csv}
randomness: {mode: reproducible, seed: a test}
"""


@pytest.mark.slow
def test_a_policy_can_use_it_from_end_to_end(forked, acme, tmp_path):
    (tmp_path / "incomes.csv").write_text("income,sex\n" + "".join(f"{i * 7},{'FM'[i % 2]}\n" for i in range(200)))
    (tmp_path / "policy.yaml").write_text(POLICY)
    done = forked("-m", "ppdm_flow", "run", str(tmp_path / "policy.yaml"), "--out", str(tmp_path / "runs"), env=acme)
    (released,) = (tmp_path / "runs").glob("*/*/released/partner/incomes.csv")
    incomes = [int(line.split(",")[0]) for line in released.read_text().splitlines()[1:]]
    assert len(incomes) == 200, done.stderr
    assert {i % 10 for i in incomes} == {0}


@pytest.mark.slow
def test_its_format_is_known_by_its_own_ending(forked, acme, tmp_path):
    (tmp_path / "incomes.psv").write_text("income|sex\n" + "".join(f"{i * 7}|{'FM'[i % 2]}\n" for i in range(200)))
    text = POLICY.replace("{path: incomes.csv}", "{path: incomes.psv}").replace("incomes.csv", "incomes.ssv")
    (tmp_path / "policy.yaml").write_text(text)
    done = forked("-m", "ppdm_flow", "run", str(tmp_path / "policy.yaml"), "--out", str(tmp_path / "runs"), env=acme)
    (released,) = (tmp_path / "runs").glob("*/*/released/partner/incomes.ssv")
    rows = [line.split(";") for line in released.read_text().splitlines()]
    assert (rows[0], len(rows)) == (["income", "sex"], 201), done.stderr


def test_a_wrong_parameter_of_it_is_drawn_at_its_line(forked, acme, tmp_path):
    (tmp_path / "policy.yaml").write_text(POLICY.replace("base: 10", "base: 1"))
    done = forked("-m", "ppdm_flow", "check", str(tmp_path / "policy.yaml"), env=acme, check=False)
    assert done.returncode == 1
    assert "policy.yaml:8:" in done.stdout + done.stderr


@pytest.mark.slow
def test_two_plugins_of_one_name_and_a_shadowed_built_in_are_refused_unimported(ask, install):
    env = install("acme_plugin", "clashing_plugin")
    found = ask(env, "acme_rounding", "drop", "rename")
    assert found["acme_rounding"][0] == found["drop"][0] == "PPF402"
    assert "acme-rounding 2.1.0 and clashing-plugin 0.3" in found["acme_rounding"][1]
    assert "shadows the built-in `drop`" in found["drop"][1]
    assert found["drop"][2] == 2
    assert isinstance(found["rename"], str)  # what is not in conflict still works


@pytest.mark.slow
def test_plugins_that_cannot_be_imported_or_are_none(ask, install):
    found = ask(install("broken_plugin"), "broken_import", "no_plugin", "wrong_name", "rename")
    assert [found[n][0] for n in ("broken_import", "no_plugin", "wrong_name")] == ["PPF403", "PPF404", "PPF404"]
    assert "ModuleNotFoundError" in found["broken_import"][1]
    assert isinstance(found["rename"], str)
