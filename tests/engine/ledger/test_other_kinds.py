"""Requirements whose figures are about one run: beside earlier releases that tell more, they are unknown."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from ppdm_flow import api
from ppdm_flow.api.run import RunResult
from tests.engine.ledger.test_ledger import Home

ROWS = [(f"i{n}", 20 + n % 5, 100 + n // 5 % 4, ("flu", "hiv")[n % 2], 1000 + 37 * n) for n in range(80)]
POLICY = """version: 1
name: NAME
source: {path: one.csv}
ledger: {LEDGER, subject: id}
attributes:
  id: {role: identifier}
  age: {role: quasi_identifier, type: integer}
  zip: {role: quasi_identifier}
  ill: {role: sensitive, domain: [flu, hiv]}
  pay: {role: insensitive, type: integer}
privacy: REQUIREMENT
steps:
  p: {use: pseudonymize, with: {attributes: [id], key_env: HELD_TEST_KEY}}
  STEPS
releases:
  r: {path: r.csv}
"""
BASKETS = """version: 1
name: NAME
source: {path: sales.parquet}
ledger: {LEDGER, subject: who}
attributes:
  who: {role: identifier}
  product: {role: items}
privacy: {km_anonymity: {k: 2, m: 1}}
releases:
  r: {path: r.parquet}
"""
KNOWN = "{k_map: {k: 5, population: {path: population.csv}, attributes: [age, zip]}}"
UNIQUES = "{special_uniques: {size: 2, max_share: 0.1, attributes: [age, zip]}}"
NUMBERS = "{interval_disclosure: {pay: {width: {absolute: 10}, max: 0.9}}}"
SPREAD = "{sensitivities: {ill: {default: {r1: 0.4, r2: 0.9}}}}"
NOTHING = "none"
NOISE = "n: {use: add_noise, with: {attributes: [pay], scale: 1}}"
DRAWN = "f: {use: fine_grain_perturbation, with: {attributes: [ill]}}"


def drop(*attributes: str) -> str:
    return f"d: {{use: drop, with: {{attributes: [{', '.join(attributes)}]}}}}"


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Home:
    monkeypatch.setenv("HELD_TEST_KEY", "a long key that nobody else has 0123456789")
    api.create_ledger(str(tmp_path / "releases.ledger"), tmp_path / "releases.ledger.key")
    write(tmp_path / "one.csv", range(80))
    population = [f"{20 + n % 5},{100 + n // 5 % 4}\n" for n in range(200)]
    (tmp_path / "population.csv").write_text("age,zip\n" + "".join(population))
    return Home(tmp_path, str(tmp_path / "releases.ledger"), "path: releases.ledger")


def write(path: Path, people: range) -> None:
    path.write_text("id,age,zip,ill,pay\n" + "".join(",".join(map(str, ROWS[n])) + "\n" for n in people))


def run(home: Home, name: str, requirement: str, *steps: str, policy: str = POLICY) -> RunResult:
    text = policy.replace("NAME", name).replace("REQUIREMENT", requirement).replace("STEPS", "\n  ".join(steps))
    home.policy(text, f"{name}.yaml")
    return api.run(home / f"{name}.yaml", out=home / "runs")


def unknown(ran: RunResult) -> list[str]:
    return [r.metric for r in ran.report.requirements if not r.holds]


def test_one_attribute_first_and_the_other_later(home: Home) -> None:
    assert run(home, "first", KNOWN, drop("age", "ill", "pay")).released
    later = run(home, "later", KNOWN, drop("zip", "ill", "pay"))
    assert unknown(later) == ["privacy.k_map.together_earlier"]
    assert {f.code for f in later.report.findings} >= {"PPF915"}


def test_people_whom_two_runs_single_out_together(home: Home) -> None:
    write(home / "one.csv", range(20))
    assert run(home, "first", UNIQUES, drop("age", "ill", "pay")).released
    (result,) = [r for r in run(home, "later", UNIQUES, drop("zip", "ill", "pay")).report.requirements if not r.holds]
    assert (result.metric, result.measured) == ("privacy.special_uniques.together_share", 1.0)


@pytest.mark.parametrize("requirement", [KNOWN, UNIQUES])
def test_the_same_file_again_and_other_attributes_tell_no_more(home: Home, requirement: str) -> None:
    assert run(home, "first", NOTHING, drop("age", "zip", "pay")).released
    for name in ("later", "again"):
        assert run(home, name, requirement, drop("ill", "pay")).released


def test_other_people_tell_no_more(home: Home) -> None:
    write(home / "one.csv", range(40))
    assert run(home, "first", KNOWN, drop("age", "ill", "pay")).released
    write(home / "one.csv", range(40, 80))
    assert run(home, "later", KNOWN, drop("zip", "ill", "pay")).released


def test_people_who_came_later_tell_no_more_of_others(home: Home) -> None:
    write(home / "one.csv", range(40))
    assert run(home, "first", KNOWN, drop("ill", "pay")).released
    write(home / "one.csv", range(80))
    assert run(home, "later", KNOWN, drop("ill", "pay")).released


def test_a_number_with_other_noise(home: Home) -> None:
    assert run(home, "first", NUMBERS, NOISE, drop("age", "zip", "ill")).released
    later = run(home, "later", NUMBERS, NOISE, drop("age", "zip", "ill"))
    assert unknown(later) == ["privacy.interval_disclosure.pay.together_earlier"]


def test_a_number_beside_other_attributes(home: Home) -> None:
    assert run(home, "first", NOTHING, drop("pay", "ill")).released
    assert run(home, "later", NUMBERS, NOISE, drop("age", "zip", "ill")).released


def test_a_value_as_it_is_first_and_a_drawn_one_later(home: Home) -> None:
    assert run(home, "first", NOTHING, drop("age", "zip", "pay")).released
    later = run(home, "later", SPREAD, DRAWN, drop("age", "zip", "pay"))
    assert "privacy.sensitivities.ill.together_earlier" in unknown(later)


def test_two_draws_are_for_the_requirement_on_draws(home: Home) -> None:
    assert run(home, "first", SPREAD, DRAWN, drop("age", "zip", "pay")).released
    assert {m.partition(".")[0] for m in unknown(run(home, "later", SPREAD, DRAWN, drop("age", "zip", "pay")))} == {
        "ledger"
    }


def test_sets_of_which_a_ledger_keeps_nothing(home: Home) -> None:
    sales = {"who": [f"i{n}" for n in range(8)], "product": [[f"{n % 2}"] for n in range(8)]}
    pq.write_table(pa.table(sales), home / "sales.parquet")
    assert run(home, "first", "", policy=BASKETS).released
    assert unknown(run(home, "later", "", policy=BASKETS)) == ["privacy.km_anonymity.together_earlier"]
