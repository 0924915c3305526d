"""Baskets and operators that make no sense: a clear refusal or the right answer, and nothing is released by mistake."""

from __future__ import annotations

import json

import numpy as np
import pytest

POLICY = """version: 1
name: shop
source: {path: shop.dat, format: transactions}
attributes:
  basket: {role: items, domain: [DOMAIN]}
privacy:
  itemset_breach: {level: 0.5, sizes: [1, 2]}
steps:
  randomize: {use: randomize_transactions, with: {WITH}}
releases:
  study: {path: study.parquet}
randomness: {mode: reproducible, seed: "shop"}
"""
ITEMS = 20


@pytest.fixture
def shop(tmp_path):
    """Write 2,000 baskets of one to three of 20 items, a last line, and the policy."""

    def make(last: str = "", params: str = "form: auto", lines: list[str] | None = None, items: int = ITEMS):
        rng = np.random.default_rng(3)
        sets = [np.sort(rng.choice(ITEMS, size, replace=False)) for size in rng.integers(1, 4, 2000)]
        every = [" ".join(map(str, row)) for row in sets] if lines is None else lines
        (tmp_path / "shop.dat").write_text("".join(f"{line}\n" for line in [*every, *([last] if last else [])]))
        domain = ", ".join(f"'{i}'" for i in range(items))
        policy = tmp_path / "policy.yaml"
        policy.write_text(POLICY.replace("DOMAIN", domain).replace("WITH", params))
        return policy

    return make


@pytest.fixture
def run(here, tmp_path):
    """Run the policy: how it went, and what it released."""

    def go(policy):
        done = here("run", policy, "--out", tmp_path / "runs", "-q")
        return done, list((tmp_path / "runs").glob("*/*/released/study"))

    return go


@pytest.mark.parametrize(
    ("last", "code"),
    [
        ("-3 4", "PPF755"),
        ("4 4 5", "PPF751"),
        ("1.5", "PPF755"),
        ("soap", "PPF755"),
        ("987654321", "PPF711"),
        ("5 99999999999999999999", "PPF755"),
    ],
)
def test_lines_that_are_no_baskets_of_the_alphabet(shop, run, last, code):
    done, released = run(shop(last))
    assert done.returncode == 2
    assert f"error[{code}]" in done.stderr
    assert "2001" in done.stderr
    assert last not in done.stderr
    assert released == []


@pytest.mark.parametrize(
    ("lines", "code"), [([], "PPF714"), (["", "", ""], "PPF777"), (["7"] * 300, "PPF773"), (["1 2"] * 300, "PPF773")]
)
def test_data_that_cannot_be_randomized(shop, run, lines, code):
    done, released = run(shop(lines=lines))
    assert done.returncode == 2
    assert f"error[{code}]" in done.stderr
    assert "above 1," not in done.stderr  # no level above 1 can be asked for
    assert released == []


@pytest.mark.slow
def test_an_empty_basket_among_others_is_randomized(shop, run, here):
    done, (released,) = run(shop("  "))
    assert done.returncode == 0, done.stderr
    contract = json.loads((released / "mining_contract.json").read_text())
    assert contract["by_length"]["0"] == 1
    assert contract["transactions"] == 2001
    mined = here("mine", released, "--min-support", "0.05", "--format", "json")
    assert json.loads(mined.stdout)["transactions"] == 2001


def test_more_items_in_a_basket_than_in_the_alphabet(shop, run):
    done, released = run(shop(items=2))
    assert done.returncode == 2
    assert "error[PPF711]" in done.stderr
    assert released == []


@pytest.mark.parametrize(
    ("params", "said"),
    [
        ("cutoff: 5, insertion: 0", "must be a number above 0 and below 1, not `0`"),
        ("cutoff: 5, insertion: 1", "must be a number above 0 and below 1, not `1`"),
        ("cutoff: 5, insertion: nan", "must be a number above 0 and below 1"),
        ("cutoff: 5, insertion: {2: 1.5}", "`2` of `insertion` of `randomize_transactions`: must be a number above 0"),
        ("cutoff: {-1: 5}, insertion: 0.2", "`-1` does not fit as a key of `cutoff` of `randomize_transactions`"),
        ("cutoff: -1, insertion: 0.2", "must be a whole number of at least 0"),
        ("operator: uniform, keep: 1", "must be a number above 0 and below 1"),
        ("operator: uniform", "needs `keep`"),
    ],
)
def test_parameters_that_check_refuses(shop, here, params, said):
    done = here("check", shop(params=params))
    assert done.returncode == 1
    assert said in " ".join((done.stdout + done.stderr).split())


@pytest.mark.parametrize(
    ("law", "said"),
    [
        ("{1: [0.5, 0.5]}", "has sets of 2 items, and `retained` says nothing of these"),
        ("{1: [0.5, 0.5], 2: [0.5, 0.5], 3: [1, 0, 0, 0]}", "needs 3 probabilities"),
        ("{1: [0.5, 0.5], 2: [0.3, 0.3, 0.3], 3: [1, 0, 0, 0]}", "sum to 1"),
    ],
)
def test_laws_that_are_none(shop, run, law, said):
    done, released = run(shop(params=f"operator: select_a_size, retained: {law}, insertion: 0.2"))
    assert done.returncode == 2
    assert "error[PPF782]" in done.stderr
    assert said in done.stderr
    assert released == []


@pytest.mark.parametrize("params", ["cutoff: 0, insertion: 0.3", "operator: uniform, keep: 0.15"])
def test_no_support_is_estimated_through_a_singular_matrix(shop, run, here, params):
    """With a cutoff of 0 items stay by chance alone; 0.15 is 3 / 20, the chance of any item from sets of three."""
    done, (released,) = run(shop(params=params))
    assert done.returncode == 0, done.stderr
    report = json.loads((released.parents[1] / "report.json").read_text())
    assert report["metrics"]["randomize.lowest_support.1"]["value"] is None
    mined = here("mine", released, "--min-support", "0.05")
    assert mined.returncode == 2
    assert "error[PPF869]" in mined.stderr
    assert "%" not in mined.stdout
