"""The control group of numeric linkage: against plain loops, on planted leaks, and on releases that tell nothing."""

from __future__ import annotations

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from tiers import examples

from ppdm_flow.core.errors import DataError
from ppdm_flow.requirements.numeric_linkage.control import clopper_pearson, near
from ppdm_flow.requirements.numeric_linkage.nearest import metric_of, nearest_squares
from ppdm_flow.requirements.numeric_linkage.second_route import nearest_squares_sql, whitening
from ppdm_flow.requirements.numeric_linkage.spaces import spaces
from ppdm_flow.sdk.registry import load

from .numeric_cases import ID, case_of

SPEC = load("audits", "numeric_linkage")
AUDIT = SPEC.load()(SPEC.params())
SPACES = ("euclidean", "mahalanobis", "rank")


def plainly(space, sample):
    """Every distance by loops, the median of those between records of the source, and who is nearer."""
    places = range(len(space.covariance))

    def apart(point, row):
        shown = [j for j in places if not np.isnan(row[j])]
        inverse = np.linalg.inv([[space.covariance[a][b] for b in shown] for a in shown]) if shown else []
        by = [row[j] - point[j] for j in shown]
        inside = sum(by[a] * inverse[a][b] * by[b] for a in range(len(shown)) for b in range(len(shown)))
        return inside + sum(space.hidden[j] for j in places if j not in shown)

    records = [i for i in range(len(space.known)) if not np.isnan(space.known[i]).any()]
    alone = sorted(
        min((apart(space.points[i], space.known[j]) for j in records if j != i), default=np.inf) for i in sample
    )
    reach = alone[(len(alone) - 1) // 2]
    equal = lambda d: d == reach or (reach < np.inf and abs(d - reach) <= 1e-9 * reach + 1e-18)  # noqa: E731  # twice
    at = sum(map(equal, alone))
    half = (len(alone) / 2 - sum(d < reach and not equal(d) for d in alone)) / at
    found = []
    for points in (space.points[sample], space.others):
        least = [min(apart(point, row) for row in space.released) for point in points]
        found.append([half if equal(d) else float(d < reach) for d in least])
    return found


CELLS = st.one_of(st.none(), st.integers(0, 5).map(float), st.sampled_from([0.5, 2.25]))


@examples(36)
@given(data=st.data(), width=st.integers(1, 3))
def test_near_by_near(data, width):
    size = data.draw(st.integers(1, 8))
    table = lambda cells, rows: np.array(  # noqa: E731  # three of them
        data.draw(st.lists(st.lists(cells, min_size=width, max_size=width), min_size=rows, max_size=rows)), np.float64
    )
    whole = st.integers(0, 5).map(float)
    known, released, others = table(whole, size), table(CELLS, size), table(whole, 3)
    for space in spaces(known, released, others=others).values():
        expected = plainly(space, np.arange(size))
        for route in ((metric_of, nearest_squares), (whitening, nearest_squares_sql)):
            found = near(space, np.arange(size), np.arange(size), *route)
            assert found.inside == pytest.approx(expected[0], abs=1e-9)
            assert found.outside == pytest.approx(expected[1], abs=1e-9)


def people(draws, rows, form):
    """Two numbers: continuous and correlated, or coarse."""
    table = draws.normal(0, 1, (rows, 2)) @ np.array([[1.0, 0.6], [0.0, 0.8]])
    return np.round(3 * table) if form == "coarse" else table


def measured(build, agree, tmp_path, known, released, others, **more):
    """Return the measured requirement and all figures, of both routes."""
    names = "xyz"[: known.shape[1]]
    lines = [",".join(names), *(",".join(repr(float(v)) for v in row) for row in others)]
    (tmp_path / "others.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    example = case_of(
        build,
        dict(zip(names, known.T, strict=True)),
        dict(zip(names, released.T, strict=True)),
        dict(zip(names, names, strict=True)),
        **({"control": "others.csv", "max_excess": 0.2, "max": 1.0} | more),
    ).but(home=tmp_path)
    agree(AUDIT, example, least=12)
    return AUDIT.measure(*example.args)


@pytest.mark.slow
@pytest.mark.parametrize("form", ["continuous", "coarse"])
def test_no_alarm_without_a_leak(build, agree, tmp_path, form):
    """Released are people of neither group: 5 % of runs or fewer have an interval above 0; more of 24: p < 1e-4."""
    draws = np.random.default_rng(7)
    alarms, held = 0, 0
    for _ in range(24):
        known, released, others = (people(draws, 500, form) for _ in range(3))
        outcome = measured(build, agree, tmp_path, known, released, others)
        alarms += any(outcome.figures[f"{ID}.{s}_control_excess"].interval[0] > 0 for s in SPACES)
        held += outcome.measured[2].figure.value <= 0.35
    assert alarms <= stats.binom.ppf(1 - 1e-4, 24, 0.05)
    assert held >= 20


def test_one_attribute_that_is_exchanged(build, agree, tmp_path):
    """The released numbers are exactly those of the source, one by one: only their nearness to a value is told."""
    draws = np.random.default_rng(8)
    known = np.round(draws.normal(0, 10, (600, 1)))
    outcome = measured(build, agree, tmp_path, known, draws.permutation(known), np.round(draws.normal(0, 10, (600, 1))))
    assert outcome.figures[f"{ID}.rank_control_excess"].interval[0] <= 0


@pytest.mark.parametrize("width", [1, 2, 3])
def test_a_copy_is_near_its_people_alone(build, agree, tmp_path, width):
    draws = np.random.default_rng(9)
    known, others = draws.normal(0, 1, (500, width)), draws.normal(0, 1, (400, width))
    outcome = measured(build, agree, tmp_path, known, known, others)
    figures = {name.removeprefix(f"{ID}."): figure for name, figure in outcome.figures.items()}
    assert figures["euclidean_near_share"].value == 1.0
    assert 0.4 < figures["euclidean_control_share"].value < 0.6
    assert figures["euclidean_control_excess"].interval[0] > 0.9
    least, most = (
        clopper_pearson(figures[f"euclidean_{n}_share"].value * s, s, 0.05 / 6)
        for n, s in (("near", 500), ("control", 400))
    )
    assert figures["control_excess_bound"].value == pytest.approx(1.0)
    assert figures["euclidean_control_excess"].interval == pytest.approx(
        ((least[0] - most[1]) / (1 - most[1]), (least[1] - most[0]) / (1 - most[0]))
    )
    _, beyond, outside = outcome.measured
    assert (beyond.metric, outside.metric) == (f"{ID}.excess_bound", f"{ID}.control_excess_bound")
    assert outside.figure.value > outside.bound
    assert "control group" in outside.sentence
    assert figures["control_records"].value == 400


def test_less_noise_than_was_claimed_is_found(build, agree, tmp_path):
    draws = np.random.default_rng(10)
    known, others = draws.normal(0, 1, (800, 2)), draws.normal(0, 1, (800, 2))
    noise = draws.normal(0, 1, known.shape)
    found = [
        measured(build, agree, tmp_path, known, known + sd * noise, others).figures[f"{ID}.control_excess"].value
        for sd in (0.2, 0.02)
    ]
    assert found[0] < 0.2 < 0.5 < found[1]


def test_a_control_group_of_the_source_itself_hides_nothing(build, agree, tmp_path):
    """With the source as its own control group there is no excess over it; that over chance is bounded still."""
    known = np.random.default_rng(11).normal(0, 1, (300, 2))
    outcome = measured(build, agree, tmp_path, known, known, known)
    _, beyond, outside = outcome.measured
    assert beyond.figure.value > 0.99 > beyond.bound
    assert outcome.figures[f"{ID}.euclidean_control_excess"].value is None
    assert outside.figure.value == pytest.approx(1.0)  # nobody can tell


def test_files_that_cannot_be_used(build, agree, tmp_path):
    known = np.random.default_rng(12).normal(0, 1, (30, 1))
    example = case_of(build, {"x": known[:, 0]}, {"x": known[:, 0]}, {"x": "x"}, control="others.csv", max_excess=0.1)
    example = example.but(home=tmp_path)
    for text, what in ((None, "opened"), ("y\n1\n", "column"), ("x\nsecret-7\n", "numbers"), ("x,x\n1,2\n", "two")):
        if text is not None:
            (tmp_path / "others.csv").write_text(text, encoding="utf-8")
        with pytest.raises(DataError) as fault:
            AUDIT.measure(*example.args)
        assert what in str(fault.value.diagnostics[0].message)
        assert "secret" not in str(fault.value.diagnostics)
    (tmp_path / "others.csv").write_text("x,y\n,1\n", encoding="utf-8")
    assert [m.verifiable for m in AUDIT.measure(*example.args).measured] == [False] * 3
    assert AUDIT.recheck(*example.args) == {}


POLICY = """version: 1
name: wages
source: {path: wages.csv}
attributes:
  income: {role: sensitive, type: float}
  born: {role: insensitive, type: date}
privacy:
  numeric_linkage: {attributes: [income, born], max: 1, max_excess: 0.5, control: others.csv}
STEPS
releases:
  study: {path: study.csv, shuffle: true}
randomness: {mode: reproducible, seed: near}
"""


@pytest.mark.slow
def test_by_a_run(cli, tmp_path):
    """A copy is nearer to its people than to others; exchanged numbers are as near to both."""
    draws = np.random.default_rng(13)
    for name, rows in (("wages", 500), ("others", 400)):
        days = (np.datetime64("1950-01-01") + draws.integers(0, 20_000, rows)).astype(str)
        lines = [f"{a},{b:.2f}" for a, b in zip(days, draws.lognormal(9, 0.6, rows), strict=True)]
        (tmp_path / f"{name}.csv").write_text("\n".join(["born,income", *lines]) + "\n", encoding="utf-8")
    exchange = "steps: {exchange: {use: swap, with: {attributes: [income, born]}}}\n"
    for name, steps, holds in (("copy", "", False), ("exchanged", exchange, True)):
        policy = tmp_path / f"{name}.yaml"
        policy.write_text(POLICY.replace("STEPS\n", steps), encoding="utf-8")
        done = cli("run", policy, "--out", tmp_path / name)
        assert done.returncode == (0 if holds else 1), done.stderr
        (report,) = (tmp_path / name).rglob("report.json")
        results = {r["metric"].rpartition(".")[2]: r for r in json.loads(report.read_text())["requirements"]}
        assert results["excess_bound"]["holds"] is results["control_excess_bound"]["holds"] is holds
    (tmp_path / "others.csv").write_text("born,income\n1950-01-01,many\n", encoding="utf-8")
    done = cli("run", tmp_path / "copy.yaml", "--out", tmp_path / "again")
    assert done.returncode == 2
    assert "PPF878" in done.stderr
    assert "many" not in done.stderr
