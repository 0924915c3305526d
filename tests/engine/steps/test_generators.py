"""Generated rows through the whole engine."""

from __future__ import annotations

import json

import numpy as np
import pytest

from ppdm_flow.core.errors import PluginError
from ppdm_flow.engine.events import RowProgress
from ppdm_flow.engine.verify.judge_files import judge
from ppdm_flow.engine.verify.verify import verify
from ppdm_flow.plan.compile import compile_policy
from ppdm_flow.policy import load
from ppdm_flow.report.run.document import document

POLICY = """version: 1
name: made
source: {path: table.csv, missing: [""]}
attributes:
  name: {role: identifier}
  job: {role: quasi_identifier}
  ill: {role: quasi_identifier}
  n: {role: ROLE}
steps:
  generate: {use: krimp_generator, with: {WITH}}
releases:
  study: {path: study.csv}
"""


def table(bench, rows=400):
    rng = np.random.default_rng(4)
    job = rng.integers(0, 3, rows)
    ill = np.where(rng.random(rows) < 0.7, job, rng.integers(0, 3, rows))
    found = [
        [f"zqcanary{i}", f"job{j}", "" if k == 2 else f"ill{k}", str(1 + i % 3)]
        for i, (j, k) in enumerate(zip(job, ill, strict=True))
    ]
    return bench.data(found, "name,job,ill,n")


def plan(bench, data, with_="min_support: 2", role="insensitive"):
    return bench.plan(POLICY.replace("ROLE", role).replace("WITH", with_), data)


def released(run):
    lines = (run / "released/study/study.csv").read_text().splitlines()
    return lines[0], lines[1:]


def test_a_generated_table_is_released(bench):
    data = table(bench)
    events = []
    outcome = bench.run(plan(bench, data), data, listener=events.append)
    header, rows = released(outcome.run_dir)
    assert header == "job,ill,n"
    assert len(rows) == 400
    assert not any("zqcanary" in row for row in rows)
    progress = [e for e in events if isinstance(e, RowProgress) and e.name == "generate"]
    assert progress
    assert {e.unit for e in progress} == {"candidates"}


@pytest.mark.slow
def test_any_partitioning_releases_the_same_bytes(bench):
    data = table(bench)
    found = []
    for size in (64, 10_000):
        outcome = bench.run(plan(bench, data, "blend: strict, min_support: 3"), data, partition_rows=size)
        found.append(released(outcome.run_dir))
    assert found[0] == found[1]


def test_weights_are_rows_and_go(bench):
    data = table(bench)
    outcome = bench.run(plan(bench, data, role="weight"), data)
    header, rows = released(outcome.run_dir)
    assert header == "job,ill"
    assert len(rows) == sum(1 + i % 3 for i in range(400))


def test_rows_as_many_as_asked_for(bench):
    data = table(bench)
    assert len(released(bench.run(plan(bench, data, "rows: 1234"), data).run_dir)[1]) == 1234


def test_the_code_table_is_in_no_file_of_the_run_but_its_own(bench):
    """It has values of the original and their counts: nobody but the owner of the run opens it."""
    data = table(bench)
    outcome = bench.run(plan(bench, data), data)
    own = outcome.run_dir / "internal/generate/code_table.json"
    assert "job1" in own.read_text()
    assert own.stat().st_mode & 0o077 == 0
    for path in outcome.run_dir.rglob("*"):
        if path.is_file() and path != own and "released" not in path.parts:
            text = path.read_text(errors="replace")
            assert "job1" not in text, path
            assert "zqcanary" not in text, path
    report = outcome.report
    step = report.steps[0]
    assert json.dumps(dict(step.description))
    assert step.rows_out == 400


def test_an_error_of_fitting_leaves_nothing(bench):
    data = bench.data([["a", f"zqcanary{i}", "", "1"] for i in range(5)], "name,job,ill,n")
    error = bench.fails(plan(bench, data, "blend: strict, min_support: 2"), data)
    assert isinstance(error, PluginError)
    assert error.diagnostics[0].code == "PPF744"


def codes(tmp_path, steps, role="insensitive"):
    path = tmp_path / "policy.yaml"
    text = POLICY.replace("ROLE", role)
    begin, end = text.index("steps:"), text.index("releases:")
    path.write_text(text[:begin] + steps + text[end:])
    return [d.code for d in compile_policy(load(path)).diagnostics]


def test_a_holdout_needs_the_rows_of_the_source(tmp_path):
    first = "steps:\n  first: {use: krimp_generator, with: {holdout: 0.2}}\n"
    assert "PPF743" not in codes(tmp_path, first)
    second = "steps:\n  first: {use: krimp_generator}\n  second: {use: krimp_generator, with: {holdout: 0.2}}\n"
    assert "PPF743" in codes(tmp_path, second)
    thinned = (
        "steps:\n  few: {use: sample, with: {fraction: 0.5}}\n  made: {use: krimp_generator, with: {holdout: 0.2}}\n"
    )
    assert "PPF743" not in codes(tmp_path, thinned)
    assert "PPF743" in codes(tmp_path, thinned, role="weight")


PEOPLE = """version: 1
name: made
source: {path: table.csv}
attributes:
  job: {role: quasi_identifier}
  town: {role: quasi_identifier}
  ill: {role: sensitive}
privacy:
  PRIVACY
steps:
  generate: {use: krimp_generator, with: {rows: 5000}}
  MORE
releases:
  study: {path: study.csv}
"""


def people(bench, privacy, *, coarse=False, same=False):
    """One row for each of 12 jobs in 12 towns; ``same``: of one illness in a job. ``coarse``: all jobs become one."""
    rows = [[f"job{j:02}", f"town{t}", f"ill{(j if same else j + t) % 3}"] for j in range(12) for t in range(12)]
    bench.data(rows, "job,town,ill")
    more = "coarse: {use: generalize, with: {attributes: {job: {prefix: 3}}}}" if coarse else ""
    text = PEOPLE.replace("PRIVACY", privacy).replace("MORE", more)
    return bench.run(bench.plan(text), documents=lambda report: {"report.json": json.dumps(document(report))})


def test_k_is_of_the_people_whose_rows_come_up_again(bench):
    """Generated rows are alike by the dozen, and every row that only one person has is among them."""
    report = people(bench, "k_anonymity: {k: 5}").report
    (result,) = report.requirements
    assert (report.verdict, result.measured) == ("withheld", 1)
    assert "144 original rows that they repeat" in result.sentence
    assert report.metrics["privacy.k_anonymity.repeated"].value == 144


def test_k_where_later_steps_merge_their_classes(bench):
    report = people(bench, "k_anonymity: {k: 5}", coarse=True).report
    assert (report.verdict, report.requirements[0].measured) == ("released", 12)


@pytest.mark.parametrize(("coarse", "verdict"), [(False, "withheld"), (True, "released")])
def test_shares_are_also_those_of_the_people(bench, coarse, verdict):
    assert people(bench, "l_diversity: {ill: {l: 2}}", coarse=coarse).report.verdict == verdict


@pytest.mark.slow
def test_whose_rows_come_up_again_is_told_by_a_run_alone(bench):
    """Judged as a file, generated rows count as they are, and say so; verifying does not take that for a difference."""
    outcome = people(bench, "k_anonymity: {k: 5}", coarse=True)
    plan, data = bench.plan(bench.folder.joinpath("policy.yaml").read_text()), bench.folder / "table.csv"
    judged = judge(plan, data, outcome.run_dir / "released/study/study.csv", "study")
    assert judged.requirements[0].measured > 100
    assert [f.code for f in judged.findings if f.subject == "privacy.k_anonymity"] == ["PPF838"]
    found = verify(outcome.run_dir, data, lambda p, d: plan)
    assert found.holds, found.text
    assert set(found.remeasured.unknown) == {"privacy.k_anonymity on study"}
