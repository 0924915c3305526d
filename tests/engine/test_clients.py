"""Policies for what clients randomized themselves: from check to release, judged from the operator alone."""

from __future__ import annotations

import json
from itertools import product
from pathlib import Path

import numpy as np
import pytest
from scipy.optimize import linprog

import ppdm_flow as pf
from ppdm_flow.mining.transactions.operators import TransactionOperator, document, transition

ITEMS = [f"item {n:02d}" for n in range(40)]
OPERATOR = TransactionOperator.cut_and_paste({m: m + 2 for m in (1, 2, 3)}, {1: 0.3, 2: 0.35, 3: 0.4}, len(ITEMS))
MAXIMA = (0.2, 0.05)
POLICY = {
    "version": 1,
    "name": "collected",
    "source": {"path": "sent.jsonl", "randomized_by": "clients", "operator": "operator.json"},
    "attributes": {"basket": {"role": "items"}},
    "privacy": {"itemset_breach": {"level": 0.8, "sizes": [1, 2], "max_supports": list(MAXIMA)}},
    "audits": {"limits": {"use": "discoverable_support", "with": {"max_supports": list(MAXIMA)}}},
    "releases": {"study": {"path": "study.parquet"}},
}


def publish(folder: Path, operator: TransactionOperator = OPERATOR, sets: str = "packed") -> Path:
    entry = {"attribute": "cart", "form": "transactions", "operator": document(operator), "items": ITEMS, "sets": sets}
    file = folder / "operator.json"
    file.write_text(json.dumps({"version": 1, "operators": [entry]}))
    return file


def collect(folder: Path, operator: Path, rows: int = 2000, often: float = 0.0) -> None:
    """Clients' sets; ``often``: with that probability one has the first item."""
    rng = np.random.default_rng(2)
    sets = [set(rng.choice(ITEMS, rng.integers(1, 4), replace=False).tolist()) for _ in range(rows)]
    sets = [{*sorted(s)[1:], ITEMS[0]} if rng.random() < often else s for s in sets]
    sent = pf.randomize(sets, operator)
    (folder / "sent.jsonl").write_text("".join(f"{json.dumps(each)}\n" for each in sent))


def judged(folder: Path, **changes: object) -> pf.Result:
    return pf.run({**POLICY, **changes}, home=folder, out=folder / "runs")


@pytest.fixture
def home(tmp_path: Path) -> Path:
    collect(tmp_path, publish(tmp_path))
    return tmp_path


def hardest_by_patterns(maxima: tuple[float, ...], m: int, k: int, *, inside: bool) -> float:
    """Return the worst posterior over all laws of t ∩ (A and z), pattern by pattern: by halving, one program each."""
    operator, items = OPERATOR, k if inside else k + 1
    patterns = [u for u in product((0, 1), repeat=items) if sum(u) <= m]
    chance = transition(operator, m, k)[k]
    seen = np.array([chance[sum(u[:k])] for u in patterns])
    holds = np.array([u[0] if inside else u[k] for u in patterns])
    caps, limits = [], []
    for chosen in product((0, 1), repeat=items):
        if 1 <= sum(chosen) <= m:
            caps.append([all(b >= c for b, c in zip(u, chosen, strict=True)) for u in patterns])
            limits.append(maxima[min(sum(chosen), len(maxima)) - 1])
    low, high = 0.0, 1.0
    for _ in range(40):
        middle = (low + high) / 2
        best = linprog(
            -(holds - middle) * seen, np.array(caps, dtype=float), limits, np.ones((1, len(patterns))), [1.0]
        )
        low, high = (middle, high) if -best.fun > 0 else (low, middle)
    return low


def test_the_requirement_is_judged_from_the_operator_alone(home: Path) -> None:
    """Against laws over all patterns, and the same for anything that was sent."""
    result = judged(home)
    assert result.released
    worst = result.figures["privacy.itemset_breach.worst_posterior"]
    expected = {
        (name, k): max(hardest_by_patterns(MAXIMA, m, k, inside=name == "within") for m in (1, 2, 3) if m >= k)
        for name in ("within", "beside")
        for k in (1, 2)
    }
    for (name, k), level in expected.items():
        assert result.figures[f"privacy.itemset_breach.{name}.{k}"] == pytest.approx(level, abs=1e-6)
    assert worst == pytest.approx(max(expected.values()), abs=1e-6)
    whole = [result.figures[f"privacy.itemset_breach.whole.{k}"] for k in (1, 2)]
    assert whole[0] == pytest.approx(expected["within", 1], abs=1e-6)
    assert 0.0 < whole[1] <= expected["within", 2]
    collect(home, home / "operator.json", 500)
    assert judged(home).figures["privacy.itemset_breach.worst_posterior"] == worst


@pytest.mark.slow
def test_what_is_released_and_what_is_said_of_it(home: Path) -> None:
    result = judged(home)
    for k in (1, 2, 3):
        largest, whole = (result.figures[f"limits.{name}.{k}"] for name in ("parts_at_largest", "none_or_all"))
        assert result.figures[f"limits.lowest.{k}"] == largest
        assert largest == pytest.approx(whole) if k == 1 else largest > whole
    (folder,) = (home / "runs/collected").glob("*/released/study")
    released = json.loads((folder / "operator.json").read_text())["operators"][0]
    published = json.loads((home / "operator.json").read_text())["operators"][0]
    assert released == published | {"attribute": "basket"}
    assert "Each client randomized its own set" in (folder / "datasheet.md").read_text()
    assert "mining_contract" not in (folder / "datasheet.md").read_text().replace("\\", "")
    report = json.loads((folder.parents[1] / "report.json").read_text())
    assert [f["code"] for f in report["findings"] if f["code"] == "PPF919"]
    (measured,) = [r for r in report["requirements"] if r["id"] == "privacy.itemset_breach"]
    assert "By the operator alone" in measured["sentence"]


@pytest.mark.slow(quick=1)
@pytest.mark.parametrize("sets", ["packed", "seeded"])
def test_seeds_and_bits_alike(tmp_path: Path, sets: str) -> None:
    operator = TransactionOperator.cut_and_paste(
        dict.fromkeys((1, 2, 3), 4), dict.fromkeys((1, 2, 3), 0.375), len(ITEMS)
    )
    collect(tmp_path, publish(tmp_path, operator, sets))
    result = judged(tmp_path)
    assert result.figures["privacy.itemset_breach.fit"] > 1e-6
    assert result.figures["privacy.itemset_breach.worst_posterior"] > 0.2


@pytest.mark.slow
def test_an_operator_that_hides_too_little_withholds(home: Path) -> None:
    result = judged(home, privacy={"itemset_breach": {"level": 0.3, "max_supports": [0.2, 0.05]}})
    assert not result.released
    assert result.figures["privacy.itemset_breach.worst_posterior"] > 0.3


@pytest.mark.slow(quick=1)
@pytest.mark.parametrize(
    ("used", "code"),
    [
        (
            TransactionOperator.cut_and_paste({m: m + 2 for m in (1, 2, 3)}, {1: 0.2, 2: 0.25, 3: 0.3}, len(ITEMS)),
            "PPF811",
        ),
        (TransactionOperator.uniform((1, 2, 3), 0.5, len(ITEMS)), "PPF811"),
    ],
)
def test_clients_that_used_another_operator_are_found(tmp_path: Path, used: TransactionOperator, code: str) -> None:
    """By the numbers of items that they sent, at an error of one in a million."""
    collect(tmp_path, publish(tmp_path, used))
    publish(tmp_path)
    result = judged(tmp_path)
    assert not result.released
    report = json.loads(next((tmp_path / "runs").glob("*/*/report.json")).read_text())
    assert code in [f["code"] for f in report["findings"]]


def sent(folder: Path, sets: list[tuple[int, list[str]]]) -> None:
    (folder / "sent.jsonl").write_text("".join(f"{json.dumps({'size': m, 'items': items})}\n" for m, items in sets))


def test_sets_without_the_variance_of_the_operator_are_found(home: Path) -> None:
    """As many items in all as the operator makes, and in each set: no client that applied it would send that."""
    operator = OPERATOR
    lines = [json.loads(line) for line in (home / "sent.jsonl").read_text().splitlines()]
    ones = [each for each in lines if each["size"] == 1]
    mean = float(operator.law(1) @ np.arange(2)) + operator.rho(1) * (len(ITEMS) - 1)
    rng = np.random.default_rng(4)
    numbers = [int(mean) + (rng.random() < mean % 1) for _ in ones]
    sent(home, [(1, sorted(rng.choice(ITEMS, number, replace=False).tolist())) for number in numbers])
    result = judged(home)
    assert not result.released
    assert result.figures["privacy.itemset_breach.fit"] < 1e-6
    sent(home, [(1, each["items"]) for each in ones])
    assert judged(home).released


@pytest.mark.parametrize(("often", "released"), [(1.0, False), (0.0, True)])
def test_few_sets_tell_what_is_far_too_frequent(tmp_path: Path, often: float, released: bool) -> None:
    """600 sets, some 200 of each length: an item of all of them is no item of a fifth."""
    collect(tmp_path, publish(tmp_path), 600, often)
    assert judged(tmp_path, audits={}).released is released


def test_one_set_that_the_operator_hardly_makes_is_found(home: Path) -> None:
    lines = (home / "sent.jsonl").read_text().splitlines()
    (home / "sent.jsonl").write_text("\n".join([*lines, json.dumps({"size": 1, "items": ITEMS})]))
    assert judged(home).figures["privacy.itemset_breach.fit"] < 1e-6


def test_frequencies_that_nothing_tells_are_not_verified(tmp_path: Path) -> None:
    """An operator that keeps an item as often as another one comes in: nothing says how frequent items are."""
    law = {1: [0.6, 0.4]}
    for rho, released in ((0.4, False), (0.3, True)):
        operator = TransactionOperator.select_a_size(law, {1: rho}, len(ITEMS))
        publish(tmp_path, operator)
        rng = np.random.default_rng(5)
        sets = [[item] for item in rng.choice(ITEMS, 1500).tolist()]
        made = pf.randomize(sets, tmp_path / "operator.json")
        (tmp_path / "sent.jsonl").write_text("".join(f"{json.dumps(each)}\n" for each in made))
        breach = {"level": 0.8, "sizes": [1], "max_supports": [0.2]}
        assert judged(tmp_path, privacy={"itemset_breach": breach}, audits={}).released is released


@pytest.mark.slow
def test_supports_that_the_data_surely_exceed_are_found(tmp_path: Path) -> None:
    """An item in two thirds of the sets, where the policy says a fifth at most; and the harmless mirror image."""
    collect(tmp_path, publish(tmp_path), 4000, often=0.65)
    assert not judged(tmp_path).released
    collect(tmp_path, tmp_path / "operator.json", 4000)
    assert judged(tmp_path).released


@pytest.mark.slow
def test_a_length_without_supports_is_not_verified(home: Path) -> None:
    breach = {"level": 0.9, "sizes": [1], "max_supports_by_length": {"1": [0.2], "2": [0.2]}}
    assert not judged(home, privacy={"itemset_breach": breach}).released
    breach = {"level": 0.9, "sizes": [1], "max_supports_by_length": {"1": [0.2], "2": [0.2], "3": [0.2]}}
    assert judged(home, privacy={"itemset_breach": breach}).released


@pytest.mark.parametrize(
    ("changes", "code"),
    [
        ({"steps": {"again": {"use": "randomize_transactions"}}}, "PPF554"),
        ({"steps": {"less": {"use": "limit_items", "with": {"without": ["item 00"]}}}}, "PPF557"),
        ({"audits": {"found": {"use": "itemset_recovery", "with": {"min_support": 0.1}}}}, "PPF446"),
        ({"audits": {"limits": {"use": "discoverable_support"}}}, "PPF446"),
        ({"privacy": {"km_anonymity": {"k": 2, "m": 1}}}, "PPF446"),
        ({"privacy": {"itemset_breach": {"level": 0.9}}}, "PPF446"),
        ({"source": {"path": "sent.jsonl", "randomized_by": "clients"}}, "PPF445"),
        ({"source": POLICY["source"] | {"format": "baskets"}}, "PPF445"),
        ({"attributes": POLICY["attributes"] | {"n": {"role": "weight"}}}, "PPF445"),
        ({"source": POLICY["source"] | {"operator": "nowhere.json"}}, "PPF701"),
        ({"releases": {"study": {"path": "study.baskets"}}}, "PPF574"),
    ],
)
def test_what_cannot_be_judged_is_refused(home: Path, changes: dict[str, object], code: str) -> None:
    outcome = pf.check({**POLICY, **changes}, home=home)
    assert not outcome.passes()
    assert code in [each.code for each in outcome.diagnostics]


@pytest.mark.slow
def test_a_run_is_verified_with_what_was_sent(home: Path, cli) -> None:
    (home / "policy.yaml").write_text(json.dumps(POLICY))
    assert cli("run", "policy.yaml", "--out", "runs", "-q", cwd=home).returncode == 0
    (run,) = (home / "runs/collected").iterdir()
    for words in (("--data", "sent.jsonl"), ("--own-data", "--policy-folder", ".")):
        done = cli("verify", run, *words, cwd=home)
        assert done.returncode == 0, done.stdout + done.stderr
    released = run / "released/study/study.parquet"
    done = cli("audit", "policy.yaml", "--released", released, "--original", "sent.jsonl", "-q", cwd=home)
    assert done.returncode == 0, done.stdout + done.stderr
