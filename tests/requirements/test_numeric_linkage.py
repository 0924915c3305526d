"""Numeric linkage: against plain loops, by every distance, on planted leaks, and on independent numbers."""

from __future__ import annotations

import itertools
import json
import statistics

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from tiers import examples

from ppdm_flow.core.attributes import AttributeFacts
from ppdm_flow.core.results import Figure
from ppdm_flow.core.roles import Role
from ppdm_flow.requirements.numeric_linkage.algorithm import places_by_weight, sentence, weights_of
from ppdm_flow.requirements.numeric_linkage.control import clopper_pearson, wilson
from ppdm_flow.requirements.numeric_linkage.nearest import IntruderKnowledge, NearerCounts, places, sampled
from ppdm_flow.requirements.numeric_linkage.second_route import places_sql
from ppdm_flow.requirements.numeric_linkage.spaces import Codes, Truth, spaces
from ppdm_flow.sdk.registry import load
from ppdm_flow.tables.column import Column

from .numeric_cases import FLOAT, ID, case_of

SPEC = load("audits", "numeric_linkage")
AUDIT = SPEC.load()(SPEC.params())
RNG = np.random.default_rng(11)
ROWS = 600
X = np.round(RNG.lognormal(10, 0.5, ROWS), 2)
Y = np.round(RNG.normal(40, 12, ROWS), 1)


def plain(space, sample, candidates):
    """Every distance, by a loop over attributes; the chance by counting."""
    found = []
    for i in sample:
        distances = []
        for row in space.released:
            shown = [j for j in range(len(row)) if not np.isnan(row[j])]
            inverse = np.linalg.inv([[space.covariance[a][b] for b in shown] for a in shown]) if shown else []
            apart = [row[j] - space.known[i][j] for j in shown]
            inside = sum(apart[a] * inverse[a][b] * apart[b] for a in range(len(shown)) for b in range(len(shown)))
            distances.append(inside + sum(space.hidden[j] for j in range(len(row)) if j not in shown))
        own = distances[i]
        nearer = sum(d < own * (1 - 1e-9) - 1e-12 for d in distances)
        ties = sum(d <= own * (1 + 1e-9) + 1e-12 for d in distances) - nearer
        found.append(min(1.0, max(0, candidates - nearer) / ties))
    return found


CELLS = st.one_of(st.none(), st.integers(0, 5).map(float), st.sampled_from([0.5, 2.25]))


@examples(36)
@given(data=st.data(), width=st.integers(1, 3), candidates=st.integers(1, 4))
def test_distance_by_distance(data, width, candidates):
    size = data.draw(st.integers(1, 9))
    known = st.lists(st.integers(0, 5).map(float), min_size=width, max_size=width)
    shown = st.lists(CELLS, min_size=width, max_size=width)
    original = np.array(data.draw(st.lists(known, min_size=size, max_size=size)), dtype=np.float64)
    released = np.array(data.draw(st.lists(shown, min_size=size, max_size=size)), dtype=np.float64)
    sample = np.arange(size)
    for space in spaces(original, released).values():
        expected = plain(space, sample, candidates)
        assert places(space, sample, candidates).chances(candidates) == pytest.approx(expected, abs=1e-12)
        assert places_sql(space, sample, candidates).chances(candidates) == pytest.approx(expected, abs=1e-12)


@pytest.mark.slow(quick=2)
@pytest.mark.parametrize("noise", [0.0, 0.01, 0.3, 3.0])
def test_windows_and_trees_find_the_same(noise):
    """Correlated attributes, cells that repeat and cells that are hidden, in many rows."""
    draws = np.random.default_rng(3)
    original = np.round(draws.normal(0, 1, (3000, 4)) @ draws.normal(0, 1, (4, 4)), 1)
    released = original + noise * draws.normal(0, 1, original.shape)
    released[draws.random(original.shape) < 0.1] = np.nan
    for space in spaces(original, released).values():
        for candidates in (1, 7):
            one, other = (
                way(space, np.arange(0, 3000, 7), candidates).chances(candidates) for way in (places, places_sql)
            )
            assert one == pytest.approx(other, abs=1e-12)


def odd_numbers():
    """Pairs of original and released numbers that floats strain, and the least share that some distance finds."""
    draws = np.random.default_rng(4)
    plain, shared = draws.normal(0, 1, (800, 3)), draws.normal(0, 1, (800, 1))
    outlier, far = plain.copy(), plain.copy()
    outlier[0, 0], outlier[5, 1] = 1e300, -1e200
    far[::3, 0] = 1e308
    noise = 0.1 * draws.normal(0, 1, plain.shape)
    return {
        "a large offset": (plain + 1e12, plain + 1e12 + noise, 0.5),
        "numbers near the largest": (plain * 1e300, plain * 1e300, 1.0),
        "squares that would overflow": (plain * 1e160, (plain + 0.1) * 1e160, 1.0),
        "numbers near the least": (plain * 1e-310, plain * 1e-310, 1.0),
        "scales apart": (plain * [1e-9, 1, 1e9], (plain + noise) * [1e-9, 1, 1e9], 0.4),
        "one error in all attributes": (plain, plain + shared, 1.0),
        "one tiny error in all attributes": (plain, plain + 1e-9 * shared, 1.0),
        "the same added to all": (plain, plain + 5, 1.0),
        "two absurd outliers": (plain, outlier, 0.99),
        "a third absurdly far": (plain, far, 0.99),
    }


@pytest.mark.parametrize("name", odd_numbers())
def test_odd_numbers_are_found_by_both_routes(name):
    original, released, least = odd_numbers()[name]
    shares = []
    for space in spaces(original, released).values():
        one, other = (way(space, np.arange(300), 1).chances(1) for way in (places, places_sql))
        assert one == pytest.approx(other, abs=1e-12)
        shares.append(one.mean())
    assert max(shares) >= least


def test_pairs_are_bounded():
    """A million rows: no more records than a thousand; fewer rows: as many as make so many pairs."""
    for rows, most, expected in ((1_000_000, 5000, 1000), (100_000, 50_000, 10_000), (5000, 50_000, 5000)):
        assert len(sampled(np.arange(rows), most, rows)) == expected
    assert "No more of the 5,000" in sentence(IntruderKnowledge(("x",), 5000), 1, figures_of(records=1000))
    assert "No more of" not in sentence(IntruderKnowledge(("x",), 1000), 1, figures_of(records=1000))


def figures_of(records):
    known = {"share": 0.0, "share_bound": 0.1, "records": records, "records_known": 10**6, "chance_share": 0.0}
    return {name: Figure(value, "share") for name, value in known.items()}


def by_weight(original, released, sample, candidates):
    """Fellegi and Sunter by loops over pairs: widths, patterns, EM from 0.9, and counting."""
    rows, names = range(len(original)), range(original.shape[1])
    wide = []
    for a in names:
        errors = [abs(released[i][a] - original[i][a]) for i in rows if not np.isnan(released[i][a])]
        size = statistics.median(errors) if errors else 0.0
        wide.append(size + 1e-9 * (size + max(abs(original[i][a]) for i in rows)))
    pairs = {
        (i, j): tuple(abs(released[j][a] - original[i][a]) <= wide[a] for a in names) for i in sample for j in rows
    }
    inside = lambda p: min(1 - 1e-6, max(1e-6, p))  # noqa: E731  # three of them
    u = [inside(sum(p[a] for p in pairs.values()) / len(pairs)) for a in names]
    m = [0.9 for _ in names]

    def weight(p):
        return sum(np.log(m[a] / u[a]) if p[a] else np.log((1 - m[a]) / (1 - u[a])) for a in names)

    for _ in range(100):
        odds = {k: np.exp(weight(p)) / max(1, len(original) - 1) for k, p in pairs.items()}
        same = {k: o / (1 + o) for k, o in odds.items()}
        other = {k: 1 - s for k, s in same.items()}
        m, u = (
            [inside(sum(s[k] for k, p in pairs.items() if p[a]) / max(sum(s.values()), 1e-6)) for a in names]
            for s in (same, other)
        )
    found = []
    for i in sample:
        each = [round(float(weight(pairs[i, j])), 6) for j in rows]
        nearer, ties = sum(w > each[i] for w in each), sum(w == each[i] for w in each)
        found.append(min(1.0, max(0, candidates - nearer) / ties))
    return found


@examples(12)
@given(data=st.data(), width=st.integers(1, 3), candidates=st.integers(1, 4))
def test_weight_by_weight(data, width, candidates):
    size = data.draw(st.integers(1, 8))
    known = st.lists(st.integers(0, 5).map(float), min_size=width, max_size=width)
    shown = st.lists(CELLS, min_size=width, max_size=width)
    original = np.array(data.draw(st.lists(known, min_size=size, max_size=size)), dtype=np.float64)
    released = np.array(data.draw(st.lists(shown, min_size=size, max_size=size)), dtype=np.float64)
    expected = by_weight(original, released, range(size), candidates)
    every = np.arange(size)
    found = places_by_weight(original, released, Truth.by_number(size), every, Codes.none(size, size, 0)).chances(
        candidates
    )
    assert found == pytest.approx(expected, abs=1e-9)


def test_em_finds_what_pairs_were_drawn_with():
    """Patterns as they are expected with m = 0.95, 0.8, 0.9 and u = 0.1, 0.2, 0.05, and one match in 50 pairs."""
    m, u, share = np.array([0.95, 0.8, 0.9]), np.array([0.1, 0.2, 0.05]), 0.02
    agrees = (np.arange(8)[:, None] >> np.arange(3)) & 1 == 1
    of = [np.where(agrees, p, 1 - p).prod(axis=1) for p in (m, u)]
    pairs = np.round(1e9 * (share * of[0] + (1 - share) * of[1])).astype(np.int64)
    weights = weights_of(pairs, 50)
    exact = np.log(of[0] / of[1])
    assert weights == pytest.approx(exact, abs=0.05)


def test_agreement_finds_what_one_far_error_hides(build, agree):
    """Every row has one of four numbers replaced by a far one: distances point elsewhere, three agreements do not."""
    original = {n: np.round(RNG.normal(0, 100, ROWS), 3) for n in "abcd"}
    released = {n: v.copy() for n, v in original.items()}
    for i in range(ROWS):
        released["abcd"[i % 4]][i] = RNG.normal(0, 100)
    found = agree(AUDIT, case_of(build, original, released, {n: n for n in "abcd"}), least=8)
    assert found[f"{ID}.share_bound"] == found[f"{ID}.probabilistic_share"] > 0.99
    assert max(found[f"{ID}.{space}_share"] for space in ("euclidean", "mahalanobis", "rank")) < 0.5


def found_by(build, agree, released, sources, **more):
    return agree(AUDIT, case_of(build, {"x": X, "y": Y}, released, sources, **more), least=8)


def test_a_copy_is_found(build, agree):
    found = found_by(build, agree, {"x": X, "y": Y}, {"x": "x", "y": "y"})
    assert found[f"{ID}.share_bound"] == 1.0
    renamed = found_by(build, agree, {"pay": X, "far": RNG.permutation(X)}, {"pay": "x", "far": "x"})
    assert renamed[f"{ID}.share_bound"] > 0.99  # equal incomes share the chance


def test_a_tenth_of_the_noise_that_was_claimed_is_found(build, agree):
    shares = []
    for part in (2.0, 0.02):
        noisy = {"x": X + RNG.normal(0, part * X.std(), ROWS), "y": Y + RNG.normal(0, part * Y.std(), ROWS)}
        shares.append(found_by(build, agree, noisy, {"x": "x", "y": "y"})[f"{ID}.share"])
    assert shares[0] < 0.05 < 0.5 < shares[1]


def test_a_changed_scale_hides_nothing(build, agree):
    found = found_by(build, agree, {"x": X / 7 + 3, "y": Y}, {"x": "x", "y": "y"})
    assert found[f"{ID}.rank_share"] > 0.99


@pytest.mark.slow
def test_independent_numbers_are_found_by_chance_alone(build, agree):
    """The own row is any of 600: more than the 99.9 % point of the binomial would be an alarm."""
    limit = stats.binom.ppf(1 - 1e-4, ROWS, 1 / ROWS) / ROWS
    for _ in range(5):
        mixed = {"x": RNG.permutation(X), "y": RNG.permutation(Y)}
        found = found_by(build, agree, mixed, {"x": "x", "y": "y"})
        assert found[f"{ID}.share"] <= limit
        assert found[f"{ID}.chance_share"] == 1 / ROWS


def test_two_noisy_copies_are_averaged(build, agree):
    copies = {f"n{i}": X + RNG.normal(0, 0.02 * X.std(), ROWS) for i in range(8)}
    sources = dict.fromkeys(copies, "x")
    every = found_by(build, agree, copies, sources)[f"{ID}.share"]
    alone = found_by(build, agree, {"n0": copies["n0"]}, {"n0": "x"})[f"{ID}.share"]
    again = found_by(build, agree, dict.fromkeys(copies, copies["n0"]), sources)[f"{ID}.share"]
    assert every > 1.5 * alone
    assert again == pytest.approx(alone)


def test_groups_share_the_chance(build, agree):
    """Means of groups of 5: each of the five is found with a chance of a fifth."""
    order = np.argsort(X)
    means = np.empty(ROWS)
    for start in range(0, ROWS, 5):
        means[order[start : start + 5]] = X[order[start : start + 5]].mean()
    found = found_by(build, agree, {"x": means}, {"x": "x"})
    assert found[f"{ID}.euclidean_share"] <= 0.2 + 1e-12
    more = found_by(build, agree, {"x": means}, {"x": "x"}, candidates=5)
    assert more[f"{ID}.share"] > 0.8


def outcome_of(build, released, **more):
    return AUDIT.measure(*case_of(build, {"x": X}, {"x": released}, {"x": "x"}, **more).args)


def test_excess_is_what_guessing_does_not_explain(build):
    """(share - c) / (1 - c) for c candidates in 600 rows: of a copy nearly all, of a sample by its upper end."""
    copied = outcome_of(build, X, candidates=6, sample=50).figures
    guessing = 6 / ROWS
    figure = copied[f"{ID}.rank_excess"]
    share = copied[f"{ID}.rank_share"].value
    z = stats.norm.ppf(1 - 0.05 / 8)
    ends = [stats_wilson(share, 50, z, side) for side in (-1, 1)]
    assert figure.interval == pytest.approx([(end - guessing) / (1 - guessing) for end in ends])
    by_count = [outcome_of(build, X, candidates=c, sample=50).figures for c in range(1, 7)]
    for name, whole in (("excess", "share"), ("excess_bound", "share_bound")):
        each = [(f[f"{ID}.{whole}"].value - c / ROWS) / (1 - c / ROWS) for c, f in enumerate(by_count, 1)]
        assert copied[f"{ID}.{name}"].value == pytest.approx(max(each))
    every = outcome_of(build, X, candidates=ROWS).figures
    assert every[f"{ID}.euclidean_excess"].value is None
    assert every[f"{ID}.share_bound"].value == every[f"{ID}.excess_bound"].value == 1.0
    one = case_of(build, {"x": [1.0]}, {"x": [1.0]}, {"x": "x"}, max_excess=0.5)
    bound = AUDIT.measure(*one.args).measured[1]
    assert (bound.metric, bound.figure.value) == (f"{ID}.excess_bound", None)
    assert wilson(0.14, 50, 0.05) == pytest.approx(tuple(stats.binomtest(7, 50).proportion_ci(0.95, method="wilson")))


@examples(30)
@given(
    each=st.lists(st.tuples(st.integers(0, 6), st.integers(1, 4), st.integers(0, 3)), min_size=1, max_size=8),
    candidates=st.integers(1, 9),
)
def test_hits_of_every_number_of_candidates(each, candidates):
    """Of the ties so many are the person's own: the chance that one of them is drawn, by counting draws."""
    nearer, own, others = (np.array(column, dtype=np.float64) for column in zip(*each, strict=True))
    found = NearerCounts(nearer, nearer + own + others, own)

    def chance(candidates, nearer, own, others):
        left = min(max(0, candidates - nearer), own + others)
        draws = list(itertools.combinations(range(own + others), left))
        return sum(any(row < own for row in draw) for draw in draws) / len(draws)

    expected = [sum(chance(c, *record) for record in each) for c in range(1, candidates + 1)]
    assert found.hits(candidates) == pytest.approx(expected, abs=1e-12)


def test_a_bound_on_what_chance_misses(build):
    """Of 40 rows 20 named at random find half: what is found beyond that is little, and of a copy nearly all."""
    draws = np.random.default_rng(6)
    x = draws.permutation(40) * 1.0
    for released, holds in ((draws.permutation(x), True), (x, False)):
        example = case_of(build, {"x": x}, {"x": released}, {"x": "x"}, max=1.0, max_excess=0.25, candidates=20)
        share, beyond = AUDIT.measure(*example.args).measured
        assert (share.bound, beyond.bound, beyond.metric) == (1.0, 0.25, f"{ID}.excess_bound")
        assert (beyond.figure.value <= 0.25) is holds
        assert AUDIT.recheck(*example.args)[beyond.metric] == pytest.approx(beyond.figure.value, abs=1e-12)
        assert share.figure.value >= 0.5
        assert "naming rows at random misses" in beyond.sentence


def stats_wilson(share, size, z, side):
    root = np.sqrt(share * (1 - share) / size + z**2 / (4 * size**2))
    return min(1.0, max(0.0, (share + z**2 / (2 * size) + side * z * root) / (1 + z**2 / size)))


def test_excess_of_independent_numbers_is_none(build):
    """Intervals of four ways together start above 0 in at most 5 % of releases; more alarms of 20 have p < 1e-4."""
    draws = np.random.default_rng(5)
    alarms = 0
    for _ in range(20):
        found = outcome_of(build, draws.permutation(X), sample=300).figures
        ways = ("euclidean", "mahalanobis", "rank", "probabilistic")
        alarms += any(found[f"{ID}.{way}_excess"].interval[0] > 0 for way in ways)
    assert alarms <= stats.binom.ppf(1 - 1e-4, 20, 0.05)


def test_hidden_cells(build, agree):
    half = [x if i % 2 else None for i, x in enumerate(X.tolist())]
    found = found_by(build, agree, {"x": half, "y": Y}, {"x": "x", "y": "y"})
    assert 0.4 < found[f"{ID}.share"] < 0.9
    nothing = found_by(build, agree, {"x": [None] * ROWS}, {"x": "x"})
    assert nothing[f"{ID}.share"] == pytest.approx(1 / ROWS)


def test_a_sample_has_an_interval(build, agree):
    found = found_by(build, agree, {"x": X, "y": RNG.permutation(Y)}, {"x": "x", "y": "y"}, sample=50)
    assert (found[f"{ID}.records"], found[f"{ID}.records_known"]) == (50, ROWS)
    example = case_of(build, {"x": X}, {"x": RNG.permutation(X)}, {"x": "x"}, sample=50)
    outcome = AUDIT.measure(*example.args)
    figure = outcome.figures[f"{ID}.euclidean_share"]
    assert figure.interval == clopper_pearson(figure.value * 50, 50, 0.05 / 4)
    assert outcome.measured[0].figure.value >= figure.interval[1] > 0.05
    wide = clopper_pearson(7, 50, 0.05)
    exact = stats.binomtest(7, 50).proportion_ci(0.95, method="exact")
    assert wide == pytest.approx((exact.low, exact.high))
    assert clopper_pearson(50, 50, 0.05)[1] == 1.0


def test_what_cannot_be_measured_does_not_hold(build):
    ranges = Column.of(["[0, 30)"] * ROWS)
    unknown = case_of(build, {"x": [None] * ROWS}, {"x": X}, {"x": "x"})
    labelled = case_of(build, {"x": X}, {"x": ranges}, {"x": "x"})
    for example in (unknown, labelled, labelled.but(pairs=None)):
        (measured,) = AUDIT.measure(*example.args).measured
        assert not measured.verifiable
        assert AUDIT.recheck(*example.args) == {}


def test_nothing_released_is_found_by_nothing(build):
    example = case_of(build, {"x": X}, {"y": Y}, {"y": "x"})
    example = example.but(attributes={"y": AttributeFacts("y", Role.SENSITIVE, type=FLOAT, source="y")})
    (measured,) = AUDIT.measure(*example.args).measured
    assert measured.figure.value == 0
    assert AUDIT.recheck(*example.args) == {f"{ID}.columns": 0}


def test_the_audit_by_itself(build):
    audit = SPEC.load()(SPEC.params(attributes=["x"]))
    example = case_of(build, {"x": X}, {"x": X}, {"x": "x"}).but(requirements=())
    assert audit.measure(*example.args).figures["share"].value > 0.99


POLICY = """version: 1
name: wages
source: {path: wages.csv}
attributes:
  income: {role: sensitive, type: integer}
  age: {role: insensitive, type: float}
privacy:
  numeric_linkage: {attributes: [income, age], max: 0.1}
steps:
  names: {use: rename, with: {attributes: {income: pay}}}
STEPS
releases:
  study: {path: study.csv, shuffle: true}
randomness: {mode: reproducible, seed: near}
"""
ONE = "  exchange: {use: swap, with: {attributes: [age]}}\n"
BOTH = "  exchange: {use: swap, with: {attributes: [age, pay]}}\n"


@pytest.mark.slow
def test_by_a_run(cli, tmp_path):
    """Renaming and shuffling protect nothing; one attribute that is exact finds people, with any others."""
    income = RNG.permutation(40_000)[:900] + 1000
    lines = ["income,age", *(f"{a},{b}" for a, b in zip(income, RNG.integers(20, 70, 900), strict=True))]
    (tmp_path / "wages.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    for name, steps, holds in (("copy", "", False), ("one", ONE, False), ("both", BOTH, True)):
        policy = tmp_path / f"{name}.yaml"
        policy.write_text(POLICY.replace("STEPS\n", steps), encoding="utf-8")
        done = cli("run", policy, "--out", tmp_path / name)
        assert done.returncode == (0 if holds else 1), done.stdout + done.stderr
        (report,) = (tmp_path / name).glob("*/*/report.json")
        (requirement,) = json.loads(report.read_text())["requirements"]
        assert (requirement["measured"] > 0.99) == (not holds)
