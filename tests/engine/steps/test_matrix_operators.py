"""A matrix from a step to the verdict, the recipient's file, and judges who were not there; and ways around it."""

from __future__ import annotations

import csv
import json

import numpy as np
import pytest

from ppdm_flow import api
from ppdm_flow.core.errors import DataError
from ppdm_flow.plan.compile import compile_policy
from ppdm_flow.policy import load

POLICY = """version: 1
name: people
source: {path: table.csv}
attributes:
  name: {role: identifier}
  age: {role: quasi_identifier}
  ill: {role: sensitive, domain: [flu, cold, HIV]}
privacy:
  sensitivities: {ill: {default: {r1: 0.3, r2: 0.75}}}
steps:
  STEPS
releases:
  RELEASES
"""
ONE = "study: {path: study.csv}"
SAFE = "p: {use: pram, with: {attribute: ill, retain: 0.6}}"
NAMES = ("flu", "cold", "HIV")


def policy(steps: str | list[str], releases: str = ONE) -> str:
    every = [steps] if isinstance(steps, str) else steps
    return POLICY.replace("STEPS", "\n  ".join(every)).replace("RELEASES", releases.strip())


@pytest.fixture
def data(bench):
    rng = np.random.default_rng(5)
    ills = rng.choice(NAMES, 3000, p=[0.6, 0.3, 0.1])
    bench.data([[f"n{i}", str(20 + i % 7), ill] for i, ill in enumerate(ills)], "name,age,ill")
    return ills


def refused(bench, text: str) -> list[str]:
    path = bench.folder / "policy.yaml"
    path.write_text(text)
    compiled = compile_policy(load(path))
    return [d.code for d in compiled.diagnostics if d.severity == "error"]


def verdict(bench, text: str):
    report = bench.run(bench.plan(text)).report
    (found,) = report.requirements
    return report.verdict, found


@pytest.mark.slow
@pytest.mark.usefixtures("data")
def test_bounds_decide_by_the_matrix(bench):
    """At 0.9 retained 0.75 falls to 0.75 * 0.05 / (0.75 * 0.05 + 0.25 * 0.9) = 1/7; at 0.6 to 1/2."""
    assert verdict(bench, policy(SAFE))[0] == "released"
    found, requirement = verdict(bench, policy(SAFE.replace("0.6", "0.9")))
    assert found == "withheld"
    assert requirement.measured == pytest.approx(0.3 - 1 / 7)
    assert verdict(bench, policy("p: {use: pram}"))[0] == "released"


RENAMED = "r: {use: rename, with: {attributes: {ill: b}}}"
PUBLIC = "a: {path: a.csv, audience: public}"
BOTH = "a: {from: p, path: a.csv}\n  b: {from: q, path: b.csv}"
COARSER = "r: {use: recode, with: {attributes: {ill: {other: x, values: {flu: y}}}}}"
WAYS = {
    "two matrices": ([SAFE, "q: {use: pram, with: {attribute: ill, retain: 0.9}}"], ONE, "PPF554"),
    "a matrix and another draw": ([SAFE, "q: {use: fine_grain_perturbation}"], ONE, "PPF554"),
    "recoded after it": ([SAFE, COARSER], ONE, "PPF557"),
    "released as it is, too": ([SAFE], "a: {path: a.csv}\n  b: {from: source, path: b.csv}", "PPF556"),
    "two draws": ([SAFE.replace("pram,", "pram, input: source,").replace("p:", f"{n}:") for n in "pq"], BOTH, "PPF555"),
    "frequencies in public": ([SAFE.replace("0.6", "0.6, invariant: true")], PUBLIC, "PPF646"),
    "frequencies in public, renamed": (
        [
            RENAMED,
            "p: {use: pram, with: {attribute: b, retain: 0.6, spread: frequency}}",
            "q: {use: rename, with: {attributes: {b: c}}}",
        ],
        PUBLIC,
        "PPF646",
    ),
    "no category": (["p: {use: pram, with: {attribute: name, retain: 0.6}}"], ONE, "PPF885"),
}


@pytest.mark.usefixtures("data")
@pytest.mark.parametrize(("steps", "releases", "code"), WAYS.values(), ids=WAYS)
def test_ways_around_it_are_refused(bench, steps, releases, code):
    assert code in refused(bench, policy(steps, releases))


@pytest.mark.slow(quick=2)
@pytest.mark.parametrize(
    ("steps", "column"),
    [
        ([SAFE, RENAMED], "b"),
        ([RENAMED, SAFE.replace("ill", "b")], "b"),
        ([RENAMED, "p: {use: pram}"], "b"),
        (["s: {use: sample, with: {fraction: 0.5}}", SAFE], "ill"),
        ([SAFE, "s: {use: sample, with: {fraction: 0.5}}"], "ill"),
    ],
)
def test_the_operator_goes_with_the_column(bench, data, steps, column):
    outcome = bench.run(bench.plan(policy(steps)))
    assert outcome.report.verdict == "released"
    folder = outcome.run_dir / "released" / "study"
    (entry,) = json.loads((folder / "operator.json").read_text())["operators"]
    assert (entry["attribute"], entry["form"]) == (column, "matrix")
    answer = api.reconstruct(folder)
    released = answer.reconstruction.total.sum()
    assert np.all(np.abs(answer.reconstruction.unbiased[0].sum() - released) < 1e-6)
    truth = {v: (data == v).sum() * released / len(data) for v in NAMES}
    for value, low, high in zip(
        answer.operator.domain, answer.reconstruction.low[0], answer.reconstruction.high[0], strict=True
    ):
        assert low - 150 <= truth[value] <= high + 150


@pytest.mark.slow
@pytest.mark.usefixtures("data")
def test_a_judge_who_gets_the_file_and_the_operator(bench):
    """The released file passes by its operator; the original under that operator does not; another operator neither."""
    outcome = bench.run(bench.plan(policy(SAFE)))
    folder = outcome.run_dir / "released" / "study"
    policy_file, table = bench.folder / "policy.yaml", bench.folder / "table.csv"

    def judged(file, operator):
        return api.audit(policy_file, table, file, operator=operator).report.verdict

    own = folder / "operator.json"
    assert judged(folder / "study.csv", own) == "released"
    with table.open() as rows:
        cells = [[row["age"], row["ill"]] for row in csv.DictReader(rows)]
    bare = bench.folder / "bare.csv"
    bare.write_text("\n".join(["age,ill", *(",".join(c) for c in cells), ""]))
    assert judged(bare, own) == "withheld"
    document = json.loads(own.read_text())
    document["operators"][0]["transition"] = [[0.4, 0.3, 0.3], [0.3, 0.4, 0.3], [0.3, 0.3, 0.4]]
    claimed = bench.folder / "claimed.json"
    claimed.write_text(json.dumps(document))
    assert judged(folder / "study.csv", claimed) == "withheld"


@pytest.mark.usefixtures("data")
def test_a_matrix_without_an_inverse_is_not_reconstructed(bench):
    outcome = bench.run(bench.plan(policy("p: {use: pram, with: {attribute: ill, retain: 0.33333333333333333}}")))
    assert outcome.report.verdict == "released"
    with pytest.raises(DataError) as raised:
        api.reconstruct(outcome.run_dir)
    assert [d.code for d in raised.value.diagnostics] == ["PPF869"]


@pytest.mark.usefixtures("data")
def test_a_run_comes_out_the_same_for_any_partition(bench):
    text = policy(SAFE)
    plan = bench.plan(text)
    files = set()
    for workers in (1, 2):
        outcome = bench.run(plan, workers=workers)
        files.add((outcome.run_dir / "released" / "study" / "study.csv").read_bytes())
    assert len(files) == 1
