"""Steps for people with several rows, from the source to the release: the same bytes however the run is cut."""

from __future__ import annotations

import csv
import io
from collections import defaultdict
from datetime import date
from types import SimpleNamespace as Fake

import numpy as np
import pytest

from ppdm_flow.core.errors import DataError
from ppdm_flow.engine.judging.others import left_out_at_random
from ppdm_flow.sdk.spec import Effect

POLICY = """version: 1
name: visits
source: {path: table.csv}
attributes:
  patient: {role: subject}
  came: {role: insensitive, type: date}
  left: {role: insensitive, type: date}
  ill: {role: sensitive, domain: [flu, cold, HIV, ok]}
people: {known_rows: 1}
privacy:
  sensitivities: {ill: {values: {HIV: {r1: 0.05, r2: 0.25}}}}
steps:
  n: {use: pseudonymize, with: {attributes: [patient], key_env: STUDY_KEY, scope: patient}}
  r: {use: limit_rows, with: {rows: 3, keep: last, order: came}}
  v: {use: limit_rows, with: {values: 1, attribute: ill}}
  s: {use: shift_dates, with: {attributes: [came, left], days: [-100, 100], zero: false}}
  p: {use: fine_grain_perturbation}
releases:
  study: {path: study.csv}
"""
DAYS = {"came": 3, "left": 4}


@pytest.fixture
def visits(bench, monkeypatch):
    """1,500 visits of 300 patients, of one to thirty days."""
    monkeypatch.setenv("STUDY_KEY", "7f3a9c1e5b8d2046c1e8f7a3b5d90426")
    rng = np.random.default_rng(3)
    rows = []
    for _ in range(1500):
        came = int(rng.integers(737_000, 738_000))
        days = [date.fromordinal(d).isoformat() for d in (came, came + int(rng.integers(1, 30)))]
        rows.append([f"p{1000 + rng.integers(300)}", *days, str(rng.choice(["flu", "cold", "HIV", "ok"]))])
    bench.data(rows, "patient,came,left,ill")
    return rows


@pytest.mark.slow
def test_the_same_bytes_for_any_partitions_and_what_they_promise(bench, tools, visits):
    files = []
    for rows, workers in ((1 << 18, 2), (97, 1), (11, 2)):
        done = bench.run(bench.plan(POLICY), partition_rows=rows, workers=workers)
        assert done.report.verdict == "released"
        (text,) = (v.decode() for k, v in tools.released(done.run_dir).items() if k.endswith(".csv"))
        files.append(text)
    assert files[0] == files[1] == files[2]
    released = defaultdict(list)
    for row in csv.DictReader(io.StringIO(files[0])):
        released[row["patient"]].append((date.fromisoformat(row["came"]), date.fromisoformat(row["left"]), row["ill"]))
    assert len(released) == len({row[0] for row in visits})
    assert max(map(len, released.values())) <= 3
    assert {len({ill for _, _, ill in own}) for own in released.values()} == {1}
    stays = sorted((date.fromisoformat(r[2]) - date.fromisoformat(r[1])).days for r in visits)
    assert {(left - came).days for own in released.values() for came, left, _ in own} <= set(stays)


def test_a_row_that_is_nobodys_ends_the_run(bench, visits):
    visits[6][0] = ""
    bench.data(visits, "patient,came,left,ill")
    with pytest.raises(DataError, match="row 7: column `patient`"):
        bench.run(bench.plan(POLICY))


def test_a_subject_that_only_draws_alike_may_be_dropped_afterwards(bench, tools, visits):
    """The moved date is not computed from the subject, which nobody can tell from an offset without the key."""
    pseudonyms = "  n: {use: pseudonymize, with: {attributes: [patient], key_env: STUDY_KEY, scope: patient}}\n"
    policy = POLICY.replace(pseudonyms, "")
    policy = policy.replace("releases:", "  d: {use: drop, with: {attributes: [patient]}}\nreleases:")
    done = bench.run(bench.plan(policy))
    assert done.report.verdict == "released"
    for text in tools.released(done.run_dir).values():
        assert visits[0][0].encode() not in text


@pytest.mark.parametrize(("by_others", "expected"), [(False, [1, 3]), (True, [])])
def test_a_row_that_went_since_its_person_has_many_is_not_left_out_at_random(by_others, expected):
    node = Fake(
        name="after",
        input="before",
        effect=Effect(rows="fewer", by_others=by_others),
        randomized=True,
    )
    numbers = {"before": [0, 1, 2, 3], "after": [0, 2]}
    streams = {
        name: Fake(parts=lambda _, rows=rows: [Fake(table=Fake(rows=np.array(rows)))]) for name, rows in numbers.items()
    }
    plan, graph = Fake(upstream=lambda _: [node]), Fake(streams=streams)
    assert left_out_at_random(plan, graph, Fake(input="after")).tolist() == expected
