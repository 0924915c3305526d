"""The audit `marginals`: copies, samples, noise and a shuffled column."""

from __future__ import annotations

import numpy as np
import pytest

from ppdm_flow.audits.marginals.algorithm import MarginalsAudit
from ppdm_flow.core.attributes import Change
from ppdm_flow.sdk.registry import load

SPEC = load("audits", "marginals")
ROWS = 2000


def people(rng, rows=ROWS):
    a = rng.integers(0, 4, rows)
    b = np.where(rng.random(rows) < 0.8, a, rng.integers(0, 4, rows))
    return {n: [f"{n}{v}" for v in x] for n, x in (("a", a), ("b", b), ("c", rng.integers(0, 3, rows)))}


def measured(build, before, after, *, more=None, **params):
    case = build.case(before, after, "x" * len(before), **(more or {}))
    return MarginalsAudit(SPEC.params(**params)).measure(*case.args)


def values(outcome):
    return {n: f.value for n, f in outcome.figures.items()}


def test_a_copy_has_moved_nowhere(build):
    before = people(np.random.default_rng(0))
    found = values(measured(build, before, before))
    assert all(v == pytest.approx(0, abs=1e-12) for n, v in found.items() if not n.endswith(".baseline"))
    assert 0 < found["one_way.mean_total_variation.baseline"] < found["three_way.mean_total_variation.baseline"] < 0.2


def test_another_sample_is_about_as_far_as_halves_are(build):
    rng = np.random.default_rng(1)
    found = values(measured(build, people(rng), people(rng)))
    assert found["three_way.mean_total_variation"] < 1.5 * found["three_way.mean_total_variation.baseline"]


def test_a_shuffled_column_is_found_in_pairs_and_named(build):
    rng = np.random.default_rng(2)
    before = people(rng)
    outcome = measured(build, before, before | {"b": rng.permutation(before["b"]).tolist()})
    found = values(outcome)
    assert found["one_way.largest_total_variation"] == 0
    assert found["one_way.above_baseline"] == 0
    assert found["two_way.largest_total_variation"] > 0.4
    assert outcome.figures["two_way.largest_total_variation"].note == "`a` and `b`"
    assert outcome.figures["largest_of_columns"].note == "`b`"
    assert found["two_way.above_baseline"] == pytest.approx(1 / 3)
    matrix = {c.id: c for c in outcome.charts}["two_way"]
    assert matrix.series[0].y[1] == pytest.approx(found["two_way.largest_total_variation"])


def test_more_noise_moves_more(build):
    rng = np.random.default_rng(3)
    before = people(rng)
    chance, other = rng.random(ROWS), [f"a{v}" for v in rng.integers(0, 2, ROWS)]
    seen = []
    for share in (0, 0.2, 0.5, 1):
        noisy = [n if u < share else v for v, n, u in zip(before["a"], other, chance, strict=True)]
        seen.append(values(measured(build, before, before | {"a": noisy})))
    for name in ("one_way.mean_total_variation", "two_way.largest_total_variation", "a.mean_total_variation"):
        assert [s[name] for s in seen] == sorted(s[name] for s in seen), name


def test_generalized_columns(build):
    before = people(np.random.default_rng(4))
    more = {"changes": {"a": (("coarsen", Change.GENERALIZED),)}}
    coarse = {"a0": "low", "a1": "low", "a2": "high", "a3": "high"}
    outcome = measured(build, before, before | {"a": [coarse[v] for v in before["a"]]}, more=more)
    assert values(outcome)["three_way.largest_total_variation"] == pytest.approx(0, abs=1e-12)
    several = [coarse[v] if i % 2 else "any" for i, v in enumerate(before["a"])]
    outcome = measured(build, before, before | {"a": several}, more=more)
    assert "`a`" in outcome.figures["columns_not_comparable"].note
    assert "a.mean_total_variation" not in outcome.figures


def test_limits_are_told(build):
    before = people(np.random.default_rng(5))
    outcome = measured(build, before, before, ways=2, most=2, rows=100)
    figure = outcome.figures["two_way.mean_total_variation"]
    assert (figure.sample, figure.note) == (100, "2 of 3 tables")
    assert "three_way.mean_total_variation" not in outcome.figures
    alone = measured(build, {"a": before["a"]}, {"a": before["a"]})
    assert alone.figures["two_way.mean_total_variation"].value is None
    empty = measured(build, {"a": []}, {"a": []})
    assert empty.figures["one_way.mean_total_variation"].value is None
