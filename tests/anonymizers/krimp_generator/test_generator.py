from __future__ import annotations

import json
import pickle
from collections import Counter

import numpy as np
import pytest

from ppdm_flow.core.draws import Draws, RunKey
from ppdm_flow.core.errors import PluginError
from ppdm_flow.core.roles import Role
from ppdm_flow.core.supports import SupportBound
from ppdm_flow.requirements.blend.requirement import Blend
from ppdm_flow.sdk.holdout import Holdout
from ppdm_flow.tables.column import Column
from ppdm_flow.tables.table import Table


def people(rows=2000, seed=3):
    rng = np.random.default_rng(seed)
    job = rng.integers(0, 4, rows)
    ill = np.where(rng.random(rows) < 0.8, job, rng.integers(0, 4, rows))
    return {
        "name": [f"person {i}" for i in range(rows)],
        "job": [f"job {j}" for j in job],
        "ill": [None if i == 3 else f"ill {i}" for i in ill],
        "age": [str(a) for a in rng.integers(18, 60, rows)],
    }


def texts(table):
    return {n: table[n].texts() for n in table.names}


def share(table, one, other):
    pairs = Counter(zip(table[one].texts(), table[other].texts(), strict=True))
    return {k: n / len(table) for k, n in pairs.items()}


def test_identifiers_are_left_out_and_missing_is_a_value(bench):
    made, fitted = bench(people(), {"name": Role.IDENTIFIER}).rows()
    assert made.names == ("job", "ill", "age")
    assert len(made) == 2000
    assert None in made["ill"].texts()
    assert fitted.figures["learned_rows"].value == 2000
    assert fitted.figures["code_table_itemsets"].value > 0


def test_correlations_come_through(bench):
    """Joint frequencies differ by at most 0.035, and by far less than if drawn independently (0.13)."""
    given = bench(people(8000), {"name": Role.IDENTIFIER})
    made, _ = given.rows(attributes=["job", "ill"])
    before, after = share(given.table, "job", "ill"), share(made, "job", "ill")
    assert max(abs(before.get(k, 0) - after.get(k, 0)) for k in {*before, *after}) < 0.035


def test_any_partitioning_gives_the_same_rows(bench):
    given = bench(people(300), {"name": Role.IDENTIFIER}, {"age": ([0, 30, 60], "integer")})
    for more in ({}, {"blend": "strict", "min_support": 3}):
        made, fitted = given.rows(**more)
        draws = Draws(RunKey.from_seed("seed").step("step"), fitted.transform.draws_per_row)
        copy = pickle.loads(pickle.dumps(fitted.transform))
        turned = copy.generate(np.array([7, 299, 0, 41], dtype=np.int64), draws)
        whole = texts(made)
        assert texts(turned) == {n: [whole[n][i] for i in (7, 299, 0, 41)] for n in whole}
        assert copy.generate(np.zeros(0, dtype=np.int64), draws).names == made.names


def test_rows_may_be_more_or_fewer(bench):
    _, fitted = bench(people(50), {"name": Role.IDENTIFIER}).rows(rows=10)
    assert fitted.transform.row_count == 50
    assert bench(people(50), {"name": Role.IDENTIFIER}).fit(rows="7000").transform.row_count == 7000


def test_weights_count_as_that_many_rows(bench):
    table = {"a": ["x", "y"], "b": ["u", "v"], "n": ["30", "10"]}
    made, fitted = bench(table, {"n": Role.WEIGHT}).rows()
    assert made.names == ("a", "b")
    assert len(made) == 40
    assert fitted.figures["learned_rows"].value == 40
    collapsed = bench({"a": ["x"] * 30 + ["y"] * 10, "b": ["u"] * 30 + ["v"] * 10}).rows()[0]
    assert texts(made) == texts(collapsed)


def test_numbers_are_drawn_uniformly_within_their_intervals(bench):
    rng = np.random.default_rng(1)
    ages = [str(a) for a in rng.integers(20, 25, 600)]
    made, fitted = bench({"age": ages}, intervals={"age": ([0, 20, 40], "integer")}).rows(8000)
    found = np.array([int(t) for t in made["age"].texts()])
    assert set(found.tolist()) == set(range(20, 40))  # all of the interval, although five values were seen
    counts = np.bincount(found - 20, minlength=20)
    assert ((counts - 400) ** 2 / 400).sum() < 43.8  # chi-square, 19 degrees: 0.1 %
    assert fitted.transform.describe()["attributes"]["age"] == "uniform within 2 intervals"
    assert not [f for f in fitted.findings if f.code == "PPF746"]


def test_decimals_are_those_of_the_original(bench):
    values = ["1.5", "2.25", "-0.5", "3", None]
    made, _ = bench({"x": values}, intervals={"x": ([-1, 0, 4], "float")}).rows(3000)
    found = [t for t in made["x"].texts() if t is not None]
    assert all(-1 <= float(t) < 4 for t in found)
    assert max(len(t.partition(".")[2]) for t in found) == 2
    assert not any("." in t and t.endswith("0") for t in found)
    assert any(t.startswith("-0.") for t in found)
    assert None in made["x"].texts()


def test_empirical_draws_are_the_originals_own_and_said_to_be(bench):
    ages = ["1", "1", "1", "7", "12", "12", "19"] * 50
    made, fitted = bench({"age": ages}, intervals={"age": ([0, 10, 20], "integer")}).rows(14_000, draw="empirical")
    counts = Counter(made["age"].texts())
    for value, n in {"1": 3, "7": 1, "12": 2, "19": 1}.items():
        p = n / 7
        assert abs(counts[value] / 14_000 - p) < 4.5 * (p * (1 - p) / 14_000) ** 0.5
    assert [f.code for f in fitted.findings if f.code == "PPF746"] == ["PPF746"]


def test_a_number_outside_of_all_intervals_names_its_column(bench):
    for values in (["5", "987654"], ["5", "old"]):
        with pytest.raises(PluginError, match="`age`") as caught:
            bench({"age": values}, intervals={"age": ([0, 40], "integer")}).fit()
        assert "987654" not in str(caught.value)
        assert "old" not in str(caught.value)


def test_recoded_and_enumerated_numbers_are_values(bench):
    given = bench({"age": ["[0, 30)", "[30, 60)"] * 20})
    assert set(given.rows()[0]["age"].texts()) == {"[0, 30)", "[30, 60)"}


def test_correlations_between_removed_attributes_go(bench):
    """Independence of job and ill, where they were strongly bound: total variation below 0.03 at 8,000 rows."""
    given = bench(people(8000), {"name": Role.IDENTIFIER})
    made, fitted = given.rows(attributes=["job", "ill"], remove=[["job", "ill"]])
    joint, job, ill = share(made, "job", "ill"), Counter(made["job"].texts()), Counter(made["ill"].texts())
    distance = sum(abs(joint.get((j, i), 0) - job[j] * ill[i] / 8000**2) for j in job for i in ill) / 2
    assert distance < 0.03
    assert fitted.figures["removed_candidates"].value > 0
    assert fitted.figures["removed_dependence"].value < 0.05 < 0.6 < fitted.figures["removed_dependence_before"].value
    assert "PPF747" not in {f.code for f in fitted.findings}


def test_correlations_that_a_removal_leaves_are_measured_and_said(bench):
    """With two attributes alone, the named values go together all the same: all other values have elements of two."""
    given = bench(people(8000), {"name": Role.IDENTIFIER})
    groups = [{"job": "job 1", "ill": ["ill 1", "ill 7"]}]
    made, fitted = given.rows(attributes=["job", "ill"], remove=groups)
    before, after = share(given.table, "job", "ill"), share(made, "job", "ill")
    assert abs(after["job 2", "ill 2"] - before["job 2", "ill 2"]) < 0.05
    left = fitted.figures["removed_dependence"].value
    one, other = (np.array([v == f"{n} 1" for v in made[n].texts()]) for n in ("job", "ill"))
    assert left == pytest.approx(np.corrcoef(one, other)[0, 1], abs=0.05)
    texts_ = sorted(f.text for f in fitted.findings if f.code == "PPF747")
    assert texts_[0].startswith("1 of the values")
    assert f"{left:.2f}" in texts_[1]
    assert len({f.hash for f in fitted.findings}) == len(fitted.findings)


def test_held_out_rows_are_not_learned_from(bench):
    given = bench(people(3000), {"name": Role.IDENTIFIER}, partition_rows=100)
    fitted = given.fit(holdout="0.25")
    assert fitted.holdout == Holdout(0.25)
    out = Holdout(0.25).held_out(np.arange(3000))
    assert fitted.figures["holdout_rows"].value == out.sum()
    kept = bench(given.table.take(~out), {"name": Role.IDENTIFIER}).fit()
    assert fitted.figures["bits_after"].value == kept.figures["bits_after"].value
    assert fitted.transform.row_count == 3000


def test_values_of_held_out_rows_alone_are_not_made(bench):
    out = Holdout(0.5).held_out(np.arange(100))
    table = Table.of({"a": ["secret" if h else f"v{i % 3}" for i, h in enumerate(out)], "b": ["x"] * 100})
    made, _ = bench(table).rows(2000, holdout="0.5")
    assert set(made["a"].texts()) <= {"v0", "v1", "v2"}


def test_a_holdout_of_everything_leaves_nothing_to_learn(bench):
    with pytest.raises(PluginError, match="held out") as caught:
        bench({"a": ["x"]}).fit(holdout="0.999999")
    assert caught.value.diagnostics[0].code == "PPF745"


def rare_rows(table, names, limit):
    counts = Counter(zip(*(table[n].texts() for n in names), strict=True))
    return {row for row, n in counts.items() if n < limit}


def rows_of(table, names):
    return set(zip(*(table[n].texts() for n in names), strict=True))


def in_intervals(table):
    """The intervals of the next test: [0, 30) and [30, 60)."""
    ages = [str(int(a) // 30) for a in table["age"].texts()]
    return Table({**table.columns, "age": Column.of(ages)}, table.rows)


@pytest.mark.slow
def test_strict_blending_makes_no_rare_row(bench):
    given = bench(people(1500), {"name": Role.IDENTIFIER}, {"age": ([0, 30, 60], "integer")})
    names = ("job", "ill", "age")
    rare = rare_rows(given.table, names, 10)
    loose, _ = given.rows(min_support=10)
    assert rare & set(zip(*(loose[n].texts() for n in names), strict=True))
    made, fitted = given.rows(min_support=10, blend="strict")
    assert not rare & set(zip(*(made[n].texts() for n in names), strict=True))
    assert not rare_rows(in_intervals(given.table), names, 10) & rows_of(in_intervals(made), names)
    figure = fitted.figures["rejected"]
    assert 0 < figure.value < 1
    assert figure.interval[0] < figure.value < figure.interval[1]
    assert figure.sample == 10_000
    assert 0 < fitted.figures["rejection_distance"].value < 1
    accepted = [r for r in range(1500) if texts(loose)["job"][r] == texts(made)["job"][r]]
    assert len(accepted) > 100  # drafts that pass stay


def test_the_policys_blend_says_what_is_rare(bench):
    blend = Blend.of("privacy.blend", min_support=SupportBound(count=7))
    given = bench({"a": ["x"] * 6 + ["y"] * 8}, requirements=(blend,))
    made, fitted = given.rows(2000, blend="strict", min_support=1)
    assert set(made["a"].texts()) == {"y"}
    assert fitted.figures["min_support"].value == 1
    assert given.fit().figures["min_support"].value == 7
    assert given.effect().serves == ("privacy.blend",)


def test_rows_that_never_pass_are_replaced_by_frequent_ones(bench):
    """With one element a row, every draft is an original row; all but one of them are rare."""
    table = {"a": [*(f"v{i}" for i in range(4000)), "z", "z"]}
    made, fitted = bench(table).rows(40, blend="strict", min_support=2, laplace=0)
    assert set(made["a"].texts()) == {"z"}
    assert fitted.figures["rejected"].value > 0.99


def test_where_nothing_can_pass_the_step_fails_closed(bench):
    with pytest.raises(PluginError) as caught:
        bench({"a": ["x", "y", "z"]}).rows(5, blend="strict", min_support=2)
    assert caught.value.diagnostics[0].code == "PPF744"
    fitted = bench({"a": ["x", "y", "z"]}).fit(blend="strict", min_support=2)
    assert fitted.figures["rejection_distance"].value is None


@pytest.mark.parametrize("more", [{}, {"algorithm": "slim"}, {"candidates": "closed"}, {"pruning": "false"}])
def test_every_way_to_compress_makes_rows(bench, more):
    made, fitted = bench(people(400), {"name": Role.IDENTIFIER}).rows(min_support=2, **more)
    assert len(made) == 400
    assert fitted.figures["compression"].value < 1


def test_the_account_has_no_values_and_is_json(bench):
    fitted = bench(people(400), {"name": Role.IDENTIFIER}).fit()
    text = json.dumps(fitted.transform.describe(), allow_nan=False)
    assert "job 1" not in text
    assert fitted.artifacts == {}
    described = fitted.transform.describe()["code_table"]["itemsets_by_length"]
    assert sum(described.values()) == fitted.figures["code_table_itemsets"].value
    assert sum(fitted.charts[0].series[0].y) == pytest.approx(1)


def test_progress_is_told_and_may_end_the_fit(bench):
    told = []
    bench(people(3000), {"name": Role.IDENTIFIER}).fit(progress=lambda done, total: told.append((done, total)))
    assert told
    assert told[-1][0] == told[-1][1]

    def stop(_done, _total):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        bench(people(3000), {"name": Role.IDENTIFIER}).fit(progress=stop)
