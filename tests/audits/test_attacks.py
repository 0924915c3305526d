"""Attacks on generated data: planted leaks are found, fresh samples of the population raise no alarm."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from ppdm_flow.audits.membership_inference.algorithm import advantage, area, threshold
from ppdm_flow.audits.records import gathering
from ppdm_flow.core.attributes import AttributeFacts, HierarchySpec
from ppdm_flow.core.roles import AttributeType
from ppdm_flow.sdk.holdout import Holdout
from ppdm_flow.sdk.registry import load
from ppdm_flow.sdk.spec import Scope
from ppdm_flow.tables.schema import Field, Schema

COLUMNS = "abcds"
ROLES = "qqqqs"
ATTACKS = {
    "closest_record": ("closer_to_training", 0.5, "PPF860"),
    "membership_inference": ("auc", 0.5, "PPF862"),
    "attribute_disclosure": ("risk", 0.0, "PPF863"),
}


def people(rng, rows, values=8):
    """Four columns and a secret that go together loosely: each copies a hidden value with probability 1/2."""
    hidden = rng.integers(0, values, rows)
    cells = [np.where(rng.random(rows) < 0.5, hidden, rng.integers(0, values, rows)) for _ in COLUMNS]
    return np.stack(cells, axis=1)


def table(cells):
    return {n: [f"v{v}" for v in cells[:, i].tolist()] for i, n in enumerate(COLUMNS)}


def setting(build, rng, rows, memorized, values=8):
    """Half of the rows is held out; a share of the release are rows of the rest, the others are fresh."""
    original = people(rng, rows, values)
    holdout = Holdout(0.5)
    inside = original[~holdout.held_out(np.arange(rows))]
    fresh = people(rng, len(inside), values)
    copied = rng.random(len(inside)) < memorized
    released = np.where(copied[:, None], inside, fresh)
    return build.case(table(original), table(released), ROLES, paired=False, holdout=holdout)


def measured(name, case, **params):
    spec = load("audits", name)
    return spec.load()(spec.params(**params)).measure(*case.args)


@pytest.mark.parametrize("name", ATTACKS)
def test_copied_rows_are_found(build, name):
    """Three rows of ten are copies of training rows."""
    figure, neutral, code = ATTACKS[name]
    case = setting(build, np.random.default_rng(1), 2400, 0.3)
    outcome = measured(name, case)
    found = outcome.figures[figure]
    assert found.interval[0] > neutral
    assert [f.code for f in outcome.findings] == [code] * len(outcome.findings)
    assert outcome.findings


@pytest.mark.random
@pytest.mark.parametrize("name", ATTACKS)
def test_fresh_rows_raise_no_alarm(build, name):
    """60 releases on fixed keys: at 1 in 1000 each more than 2 alarms, at 95 % fewer than 48 good intervals are rarer
    than one in ten thousand.
    """
    figure, neutral, _ = ATTACKS[name]
    alarms = covered = 0
    for key in range(60):
        outcome = measured(name, setting(build, np.random.default_rng([2, key]), 400, 0.0))
        alarms += bool(outcome.findings)
        low, high = outcome.figures[figure].interval
        covered += low <= neutral <= high
    assert alarms <= stats.binom.ppf(1 - 1e-4, 60, 0.001)
    assert covered >= stats.binom.ppf(1e-4, 60, 0.95)


def test_without_a_holdout_disclosure_is_beyond_the_most_frequent_value(build):
    case = setting(build, np.random.default_rng(3), 200, 1.0).but(holdout=None)
    outcome = measured("attribute_disclosure", case)
    success, baseline = (outcome.figures[f"s.{n}"].value for n in ("success", "baseline"))
    assert outcome.figures["risk"].value == pytest.approx((success - baseline) / (1 - baseline))
    assert outcome.figures["s.control"].value is None
    assert [f.code for f in outcome.findings] == ["PPF864"]


@pytest.mark.parametrize("name", ["closest_record", "membership_inference"])
def test_without_a_holdout_there_is_no_verdict(build, name):
    figure, _, _ = ATTACKS[name]
    case = setting(build, np.random.default_rng(3), 200, 1.0).but(holdout=None)
    outcome = measured(name, case)
    assert outcome.figures[figure].value is None
    assert "held out" in outcome.figures[figure].note
    assert [f.code for f in outcome.findings] == ["PPF864"]


@pytest.mark.slow(quick=25)
@pytest.mark.parametrize("name", [*ATTACKS, "synthetic_training", "krimp_dissimilarity", "itemset_comparison"])
@pytest.mark.parametrize("rows", [0, 1, 2])
@pytest.mark.parametrize("side", ["original", "released", "both"])
def test_hardly_any_rows(build, name, rows, side):
    rng = np.random.default_rng(4)
    sizes = {"original": rows if side != "released" else 40, "released": rows if side != "original" else 40}
    roles = "qqqst"
    before, after = (table(people(rng, sizes[s])) for s in ("original", "released"))
    outcome = measured(name, build.case(before, after, roles, paired=False, holdout=Holdout(0.5)))
    assert outcome.figures
    for found in outcome.figures.values():
        assert found.value is not None or found.note


@pytest.mark.parametrize("name", [*ATTACKS, "synthetic_training", "krimp_dissimilarity", "itemset_comparison"])
def test_a_release_without_the_originals_attributes(build, name):
    case = build.case({"i": ["1"] * 20, "a": ["x"] * 20}, {"i": ["2"] * 20}, "ix", paired=False, holdout=Holdout(0.5))
    outcome = measured(name, case)
    assert all(f.value is None and f.note for f in outcome.figures.values())


@pytest.mark.slow(quick=2)
@pytest.mark.parametrize("name", [*ATTACKS, "krimp_dissimilarity", "itemset_comparison"])
def test_constant_columns_and_many_values(build, name):
    cells = np.arange(2000).reshape(400, 5)
    cells[:, 1] = 7
    case = build.case(table(cells), table(cells[:200]), ROLES, paired=False, holdout=Holdout(0.5))
    params = {"min_support": {"count": 1}} if name == "itemset_comparison" else {}
    for found in measured(name, case, **params).figures.values():
        assert found.value is not None or found.note


@pytest.mark.parametrize("name", ATTACKS)
def test_of_large_tables_few_are_asked_about_all(build, name, monkeypatch):
    """A leak of a twentieth would be lost in samples of both sides."""
    monkeypatch.setattr(gathering, "COMPARISONS", 10_000_000)
    case = setting(build, np.random.default_rng(12), 12_000, 0.3)
    figure, neutral, code = ATTACKS[name]
    outcome = measured(name, case)
    assert {f.code for f in outcome.findings} == {code}
    assert outcome.figures[figure].interval[0] > neutral
    told = [f.sample for f in outcome.figures.values() if f.sample is not None]
    assert max(told) <= 2000


@pytest.mark.parametrize("name", ATTACKS)
def test_samples_are_told(build, name):
    case = setting(build, np.random.default_rng(5), 600, 0.3)
    figure, _, _ = ATTACKS[name]
    outcome = measured(name, case, sample=50)
    assert outcome.figures[figure].interval is not None
    told = [f.sample for f in outcome.figures.values() if f.sample is not None]
    assert told
    assert max(told) <= 100


@pytest.mark.parametrize(
    ("name", "params"),
    [
        ("closest_record", {"attributes": ["agee"]}),
        ("membership_inference", {"attributes": ["agee"]}),
        ("krimp_dissimilarity", {"attributes": ["agee"]}),
        ("itemset_comparison", {"attributes": ["agee"]}),
        ("attribute_disclosure", {"known": ["agee"]}),
        ("attribute_disclosure", {"sensitive": ["agee"]}),
    ],
)
def test_attributes_that_there_are_not(build, name, params):
    case = build.case({"age": ["1"], "s": ["2"]}, {"age": ["1"], "s": ["2"]}, "qs")
    spec = load("audits", name)
    problems = spec.effect(spec.params(**params), Scope("", case.ctx.attributes, ())).problems
    assert [(p.code, p.hint) for p in problems] == [("PPF861", "did you mean `age`?")]
    assert problems[0].path[0] == next(iter(params))


def test_nothing_sensitive_is_told_beforehand(build):
    case = build.case({"a": ["1"]}, {"a": ["1"]}, "q")
    spec = load("audits", "attribute_disclosure")
    problems = spec.effect(spec.params(), Scope("", case.ctx.attributes, ())).problems
    assert [p.code for p in problems] == ["PPF861"]
    assert not spec.effect(spec.params(sensitive=["a"]), Scope("", case.ctx.attributes, ())).problems


def test_closest_record_by_hand(build):
    """Rows 0, 1 and 2 with each one its own holdout; distances are shares of the two attributes."""
    holdout = Holdout(0.5)
    rows = 40
    held = holdout.held_out(np.arange(rows))
    original = {"a": ["h" if x else "t" for x in held], "b": ["x"] * rows}
    far = int(np.flatnonzero(~held)[-1])  # nobody's closest row but the last one's, and no closer than others
    original["a"][far], original["b"][far] = "z", "y"
    released = {"a": ["t", "t", "h", "z"], "b": ["x", "y", "x", "x"]}
    found = measured("closest_record", build.case(original, released, "qq", paired=False, holdout=holdout)).figures
    assert found["closer_to_training"].value == (1 + 1 + 0 + 0.5) / 4
    assert found["training_copies"].value == found["holdout_copies"].value == 0.25
    assert found["training_median"].value == 0.5
    assert found["holdout_p05"].value == 0


def test_a_duplicated_copy_is_one_witness_only(build):
    """One training row a thousand times over is no proof; the interval must know that these rows fall together."""
    rng = np.random.default_rng(6)
    original = people(rng, 400)
    holdout = Holdout(0.5)
    one = original[~holdout.held_out(np.arange(400))][:1]
    released = np.concatenate([np.repeat(one, 1000, axis=0), people(rng, 200)])
    outcome = measured(
        "closest_record", build.case(table(original), table(released), ROLES, paired=False, holdout=holdout)
    )
    found = outcome.figures["closer_to_training"]
    assert found.value > 0.8
    assert found.interval[0] < 0.5
    assert not outcome.findings


def plain_disclosure(released, persons, known, wanted):
    """The attack, person by person."""
    right = 0
    frequency = {}
    for row in released:
        frequency[row[wanted]] = frequency.get(row[wanted], 0) + 1
    for person in persons:
        far = [sum(row[k] != person[k] for k in known) for row in released]
        near = [row[wanted] for row, d in zip(released, far, strict=True) if d == min(far)]
        best = max(near.count(v) for v in near)
        guess = [v for v in frequency if v in near and near.count(v) == best]
        right += person[wanted] == min(guess, key=lambda v: (-frequency[v], v))
    return right / len(persons)


def test_disclosure_against_one_person_at_a_time(build):
    rng = np.random.default_rng(7)
    original, released = people(rng, 200, 4), people(rng, 90, 4)
    holdout = Holdout(0.5)
    held = holdout.held_out(np.arange(200))
    case = build.case(table(original), table(released), ROLES, paired=False, holdout=holdout)
    found = measured("attribute_disclosure", case).figures
    rows = [tuple(r) for r in released.tolist()]
    success, control = (
        plain_disclosure(rows, [tuple(r) for r in original[group].tolist()], range(4), 4) for group in (~held, held)
    )
    assert found["s.success"].value == pytest.approx(success)
    assert found["s.control"].value == pytest.approx(control)
    assert found["s.risk"].value == found["risk"].value == pytest.approx((success - control) / (1 - control))
    mode = np.bincount(released[:, 4]).argmax()
    assert found["s.baseline"].value == pytest.approx((original[~held][:, 4] == mode).mean())
    groups = {}
    for row in rows:
        groups.setdefault(row[:4], set()).add(row[4])
    matched = {tuple(r[:4]) for r in original[~held].tolist()} & groups.keys()
    assert found["s.smallest_l"].value == min(len(groups[g]) for g in matched)
    assert found["s.homogeneous"].value == pytest.approx(np.mean([len(groups[g]) == 1 for g in matched]))


def test_disclosure_ignores_missing_secrets_and_takes_what_is_known(build):
    original = {"a": ["1", "2"] * 20, "b": ["x"] * 40, "s": [None, "u"] * 20, "t": ["p", "q"] * 20}
    case = build.case(original, original, "qxst", paired=False, holdout=Holdout(0.5))
    found = measured("attribute_disclosure", case).figures
    assert found["s.success"].value == found["s.control"].value == found["s.baseline"].value == 1
    assert found["risk"].value == 0
    found = measured("attribute_disclosure", case, sensitive=["t"], known=["b"]).figures
    assert found["t.smallest_l"].value == 2
    assert found["t.success"].value == found["t.baseline"].value < 1
    case = build.case(original, {**original, "s": ["⊥"] * 40}, "qxst", paired=False, holdout=Holdout(0.5))
    assert measured("attribute_disclosure", case).figures["risk"].value is None


def test_several_secrets_each_have_their_figures(build):
    rng = np.random.default_rng(8)
    case = setting(build, rng, 2000, 0.5)
    found = measured("attribute_disclosure", case, sensitive=["s", "d"]).figures
    assert found["risk"].value == max(found["s.risk"].value, found["d.risk"].value)


def test_membership_of_a_release_that_is_its_training_rows(build):
    """A release that repeats its training rows: found by every score, with nearly all members at 1 % of others."""
    rng = np.random.default_rng(9)
    rows = 1200
    original = rng.integers(0, 30, (rows, 5))
    holdout = Holdout(0.5)
    released = original[~holdout.held_out(np.arange(rows))]
    case = build.case(table(original), table(released), ROLES, paired=False, holdout=holdout)
    found = {n: f.value for n, f in measured("membership_inference", case).figures.items()}
    assert found["distance.auc"] == found["auc"] == 1
    assert found["advantage"] == found["advantage_at_1_percent"] == 1
    assert found["density.auc"] > 0.8


def test_area_against_all_pairs():
    rng = np.random.default_rng(10)
    a, b = rng.integers(0, 5, 60).astype(float) + 1, rng.integers(0, 5, 40).astype(float)
    pairs = (a[:, None] > b) + 0.5 * (a[:, None] == b)
    found = area(a, b)
    assert found.value == pytest.approx(pairs.mean())
    by_structure = pairs.mean(axis=1).var(ddof=1) / 60 + pairs.mean(axis=0).var(ddof=1) / 40
    assert found.error == pytest.approx(np.sqrt(by_structure))
    null = stats.mannwhitneyu(a, b, method="asymptotic", use_continuity=False)
    z = (found.value - 0.5) / found.chance
    assert 2 * stats.norm.sf(z) == pytest.approx(null.pvalue)
    level = threshold(a, b)
    gains = {v: (a >= v).mean() - (b >= v).mean() for v in range(6)}
    assert gains[level] == max(gains.values())
    assert advantage(a, b, level).value == pytest.approx(max(gains.values()))
    assert (b >= threshold(a, b, 0.01)).mean() <= 0.01


def test_values_of_no_pairing_leave_the_likelihood_out(build):
    cells = np.arange(50_000).reshape(10_000, 5)
    case = build.case(table(cells), table(cells[:100]), ROLES, paired=False, holdout=Holdout(0.5))
    found = measured("membership_inference", case).figures
    assert found["likelihood.auc"].value is None
    assert found["distance.auc"].value is not None


def test_secret_numbers_are_guessed_by_interval(build):
    """Salaries differ by a little in every row; their intervals follow from what is known."""
    rng = np.random.default_rng(13)

    def salaries(rows):
        job = rng.integers(0, 2, rows)
        return {"a": [f"job{j}" for j in job], "s": [f"{1000 * j + rng.random() * 900:.4f}" for j in job]}

    original, released = salaries(300), salaries(300)
    edges = HierarchySpec(intervals=(0.0, 1000.0, 2000.0))
    for hierarchy, right in ((None, 0), (edges, 1)):
        case = build.case(original, released, "qs", paired=False, holdout=Holdout(0.5))
        schema = Schema((case.original.schema["a"], Field("s", case.original.schema["s"].role, AttributeType.FLOAT)))
        facts = {
            **case.ctx.original_attributes,
            "s": AttributeFacts("s", schema["s"].role, AttributeType.FLOAT, hierarchy=hierarchy),
        }
        args = build.View(case.original.whole, schema), case.candidate, case.but(original_attributes=facts).ctx
        spec = load("audits", "attribute_disclosure")
        found = spec.load()(spec.params()).measure(*args).figures
        assert found["s.success"].value == found["s.control"].value == right
