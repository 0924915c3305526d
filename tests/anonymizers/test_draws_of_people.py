"""Rows of one person with equal values draw alike, and several different values share the bound."""

from __future__ import annotations

import itertools
import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from tiers import examples

from ppdm_flow.anonymizers.fine_grain_perturbation.algorithm import FineGrainPerturbation
from ppdm_flow.anonymizers.fine_grain_perturbation.optimum import optimal_retention
from ppdm_flow.anonymizers.fine_grain_perturbation.people import shared_slack
from ppdm_flow.anonymizers.fine_grain_perturbation.spec import FineGrainParams
from ppdm_flow.anonymizers.pram.algorithm import Pram
from ppdm_flow.anonymizers.pram.spec import PramParams
from ppdm_flow.core.attributes import AttributeFacts
from ppdm_flow.core.draws import Draws, RunKey
from ppdm_flow.core.errors import PluginError
from ppdm_flow.core.roles import Directions, Role
from ppdm_flow.requirements.sensitivities.requirement import BoundOfValue, Sensitivity
from ppdm_flow.sdk.anonymizer import StepContext, value_operator
from ppdm_flow.tables.table import Table
from ppdm_flow.testing.conformance import run
from ppdm_flow.testing.view import InMemoryView

ILLS = ("HIV", "cold", "flu", "ok")
R1, R2 = 0.05, 0.25
GAMMA = R2 * (1 - R1) / (R1 * (1 - R2))
ROLES = {"who": Role.SUBJECT, "d": Role.SENSITIVE}


def hiv(**more) -> Sensitivity:
    """One bounded value among three without a bound."""
    return Sensitivity.of_bounds("d", (BoundOfValue("HIV", R1, R2),), Directions.BOTH, domain=ILLS, **more)


def table(values: dict[str, list[str | None]]) -> Table:
    """``values`` of each person, one row each."""
    rows = [(who, value) for who, mine in values.items() for value in mine]
    return Table.of({"who": [who for who, _ in rows], "d": [value for _, value in rows]})


def fit(data: Table, algorithm=FineGrainPerturbation, params=None, requirements=None, roles=None):
    view = InMemoryView.of(data, roles or ROLES)
    facts = {f.name: AttributeFacts(f.name, f.role) for f in view.schema}
    chosen = params or FineGrainParams()
    return algorithm(chosen).fit(
        view, StepContext("perturb", facts, (hiv(),) if requirements is None else requirements)
    )


def released(fitted, data: Table, key: str = "fixed", partition_rows: int | None = None) -> list[str | None]:
    return run(fitted.transform, data, RunKey.from_seed(key), partition_rows)[""]["d"].texts()


def worst_posterior(matrix: np.ndarray, values: int) -> tuple[float, float]:
    """Return the worst posteriors that HIV is among a person's ``values`` different values, over all joint priors.

    By enumeration: ``matrix`` is P[released, original]. For a fixed prior of the event the posterior is a ratio of
    linear functions of the rest of the joint prior, so that priors on two tuples, one with HIV and one without, are
    the worst; all of them are tried, for each released tuple.
    """
    tuples = list(itertools.permutations(range(4), values))
    shown = list(itertools.product(range(4), repeat=values))
    law = np.array(
        [[np.prod([matrix[y, x] for y, x in zip(out, own, strict=True)]) for own in tuples] for out in shown]
    )
    has = np.array([0 in own for own in tuples])
    if not (~has).any():
        return 0.0, 1.0
    law = law[law.any(axis=1)]  # what is never released tells nothing
    inside, outside = law[:, has], law[:, ~has]
    odds = inside[:, :, None] / outside[:, None, :]
    highest, lowest = odds.max() * R1 / (1 - R1), odds.min() * R2 / (1 - R2)
    return float(highest / (1 + highest)), float(lowest / (1 + lowest))


@pytest.mark.parametrize("values", [1, 2, 3])
@pytest.mark.parametrize(
    ("algorithm", "params"),
    [
        (FineGrainPerturbation, FineGrainParams()),
        (FineGrainPerturbation, FineGrainParams(operator="uniform")),
        (FineGrainPerturbation, FineGrainParams(objective="aggregate")),
        (Pram, PramParams()),
        (Pram, PramParams(optimum="general")),
    ],
)
def test_the_joint_posterior_keeps_the_bound_for_every_prior(values, algorithm, params):
    data = table({"a": list(ILLS[:values]), "b": ["flu"] * 5, "c": ["ok"]})
    fitted = fit(data, algorithm, params)
    operator = fitted.operators["d"]
    assert operator.per_person == values
    matrix = operator.matrix()
    highest, lowest = worst_posterior(matrix, values)
    assert highest <= R2 + 1e-9
    assert lowest >= R1 - 1e-9
    rng = np.random.default_rng(7)
    tuples = list(itertools.permutations(range(4), values))
    has = np.array([0 in own for own in tuples])
    law = np.array(
        [
            [np.prod([matrix[y, x] for y, x in zip(out, own, strict=True)]) for own in tuples]
            for out in itertools.product(range(4), repeat=values)
        ]
    )
    for share in np.linspace(R1 / 20, R1, 20):  # priors of any correlation, of the event at most r1
        prior = rng.dirichlet(np.full(len(tuples), 0.2))
        prior[has] *= share / max(prior[has].sum(), 1e-300)
        prior[~has] *= (1 - share) / max(prior[~has].sum(), 1e-300)
        after = law[law.any(axis=1)] * prior
        assert (after[:, has].sum(axis=1) / after.sum(axis=1)).max() <= R2 + 1e-9


def test_roots_of_each_values_own_gamma_would_not_keep_it():
    """Half of the bound for each of two values, and unbounded values without any: correlated priors break it."""
    slack = np.array([np.sqrt(GAMMA) - 1, np.inf, np.inf, np.inf])
    kept = optimal_retention(np.full(4, 0.25), slack, Directions.BOTH)
    matrix = np.diag(kept) + (1 - kept) / 4
    with np.errstate(divide="ignore"):
        highest, _ = worst_posterior(matrix, 2)
    assert highest > R2 + 0.1
    slack = shared_slack(np.array([GAMMA - 1, np.inf, np.inf, np.inf]), 2)
    even = optimal_retention(np.full(4, 0.25), slack, Directions.BOTH)
    assert worst_posterior(np.diag(even) + (1 - even) / 4, 2)[0] <= R2 + 1e-9


def test_two_different_values_get_the_gamma_diagonal_matrix():
    operator = fit(table({"a": ["HIV", "ok"], "b": ["flu"], "c": ["cold"]})).operators["d"]
    root = GAMMA**0.5
    assert operator.retention == pytest.approx((root - 1) / (root - 1 + 4))


def test_one_value_a_person_leaves_the_operator_as_it_is():
    people = {f"p{i}": [ILLS[i % 4]] * (1 + i % 3) for i in range(40)}
    mine = fit(table(people)).operators["d"]
    rows = fit(table(people), roles={"d": Role.SENSITIVE}).operators["d"]
    assert mine.retention.tolist() == rows.retention.tolist()
    assert (mine.per_person, rows.per_person) == (1, None)


@pytest.mark.parametrize(("algorithm", "params"), [(FineGrainPerturbation, FineGrainParams()), (Pram, PramParams())])
@pytest.mark.parametrize("times", [1, 5, 50])
def test_averaging_rows_tells_no_more_than_one_draw(times, algorithm, params):
    """Each person's released rows are constant, and what they show follows one row of the operator."""
    people = {f"p{i}": [ILLS[i % 4]] * times for i in range(2000)}
    data = table(people)
    fitted = fit(data, algorithm, params)
    shown = np.array(released(fitted, data)).reshape(2000, times)
    assert (shown == shown[:, :1]).all()
    matrix = fitted.operators["d"].matrix()
    p_values = []
    for i in range(4):
        counts = np.array([(shown[i::4, 0] == other).sum() for other in ILLS])
        expected = matrix[:, i] * 500
        some = expected > 0
        assert not counts[~some].any()
        p_values.append(stats.chisquare(counts[some], expected[some]).pvalue if some.sum() > 1 else 1.0)
    assert min(p_values) > 1e-6


def test_different_values_of_a_person_and_equal_ones_of_others_draw_apart():
    people = {f"p{i}": ["HIV", "ok", "HIV", "ok", "ok"] for i in range(20_000)}
    data = table(people)
    fitted = fit(data)
    shown = np.array(released(fitted, data)).reshape(-1, 5)
    assert (shown[:, 0] == shown[:, 2]).all()
    assert (shown[:, [1]] == shown[:, 3:]).all()
    matrix = fitted.operators["d"].matrix()
    place = {ill: i for i, ill in enumerate(ILLS)}
    seen = np.zeros((4, 4))
    np.add.at(seen, tuple(np.vectorize(place.get)(shown[:, :2]).T), 1)
    expected = np.outer(matrix[:, 0], matrix[:, 3]) * len(shown)
    assert stats.chisquare(seen.ravel(), expected.ravel()).pvalue > 1e-6


@examples(10)
@given(st.integers(1, 40), st.randoms(use_true_random=False))
def test_the_same_for_any_partitions_and_any_order(size, random):
    rows = [(f"p{i % 7}", ILLS[(i * i) % 4] if i % 5 else None) for i in range(40)]
    data = Table.of({"who": [r[0] for r in rows], "d": [r[1] for r in rows]})
    fitted = fit(data)
    whole = released(fitted, data)
    assert released(fitted, data, partition_rows=size) == whole
    order = random.sample(range(40), 40)
    turned = Table.of({"who": [rows[i][0] for i in order], "d": [rows[i][1] for i in order]})
    assert released(fitted, turned) == [whole[i] for i in order]
    by_pair: dict = {}
    for row, out in zip(rows, whole, strict=True):
        assert by_pair.setdefault(row, out) == out


def test_two_attributes_and_two_steps_draw_apart():
    data = Table.of({"who": [f"p{i}" for i in range(5000)], "d": ["HIV"] * 5000, "e": ["HIV"] * 5000})
    wanted = tuple(
        Sensitivity.of_bounds(name, (BoundOfValue("HIV", R1, R2),), Directions.BOTH, domain=ILLS) for name in "de"
    )
    fitted = fit(data, requirements=wanted, roles={**ROLES, "e": Role.SENSITIVE})
    out = run(fitted.transform, data, RunKey.from_seed("1"))[""]
    first, second = (np.array(out[name].texts()) == "HIV" for name in "de")
    share = first.mean() * second.mean()
    assert abs((first & second).mean() - share) < 6 * np.sqrt(share * (1 - share) / 5000)
    assert released(fitted, data, "other") != out["d"].texts()


def test_nobodys_row_cannot_be_drawn():
    for text in (None, "⊥"):
        with pytest.raises(PluginError, match="whose row"):
            fit(Table.of({"who": ["a", text], "d": ["HIV", "ok"]}))
    fitted = fit(table({"a": ["HIV"], "b": ["ok"]}))
    with pytest.raises(PluginError):
        released(fitted, Table.of({"who": ["a", None], "d": ["HIV", "ok"]}))


def test_a_missing_value_is_one_more_value():
    assert fit(table({"a": ["HIV", None, None], "b": ["ok"]})).operators["d"].per_person == 2


def test_the_document_says_for_how_many_values_and_no_more():
    fitted = fit(table({"a": ["HIV", "ok"], "b": ["ok"]}))
    (entry,) = json.loads(json.dumps(fitted.artifacts["operator.json"]))["operators"]
    assert entry["values_per_person"] == 2
    assert value_operator(entry).per_person == 2
    for wrong in (0, True, "2", 1.5):
        with pytest.raises(ValueError, match="people"):
            value_operator({**entry, "values_per_person": wrong})
    assert "who" not in json.dumps(entry)


@pytest.mark.parametrize(
    ("slack", "most", "expected"),
    [
        ([3.0, np.inf], None, [3.0, np.inf]),
        ([3.0, np.inf], 1, [3.0, np.inf]),
        ([3.0, np.inf], 2, [1.0, 1.0]),
        ([np.inf, np.inf], 4, [np.inf, np.inf]),
        ([7.0, 26.0], 3, [1.0, 1.0]),
    ],
)
def test_what_each_value_may_spend(slack, most, expected):
    assert shared_slack(np.array(slack), most) == pytest.approx(np.array(expected))


def test_addresses_are_keyed_and_of_their_kind():
    draws, other = (Draws(RunKey.from_seed(s).step("s"), 1) for s in "ab")
    texts = ["x", "", None, "y"]
    mine = draws.addresses("subject", texts)
    assert len({tuple(a) for a in mine.tolist()}) == 4
    assert not (mine == other.addresses("subject", texts)).all(axis=1).any()
    assert not (mine == draws.addresses("value", texts)).all(axis=1).any()
    wide = draws.words_at(mine, 5)
    assert (draws.words_at(mine, 2) == wide[:, :2]).all()
    assert draws.words_at(mine[:0], 3).shape == (0, 3)
    many = draws.words_at(draws.addresses("subject", map(str, range(50_000))), 2)
    assert stats.kstest(many.ravel() / 2.0**64, "uniform").pvalue > 1e-6
    assert abs(np.corrcoef(many[:, 0] / 2.0**64, many[:, 1] / 2.0**64)[0, 1]) < 5 / np.sqrt(50_000)


@pytest.mark.parametrize("algorithm", [FineGrainPerturbation, Pram])
def test_a_person_with_many_rows_makes_no_value_frequent(algorithm):
    """With a tolerance, r1 is the share among people's values: 5,000 rows of one patient would leave HIV unbounded."""
    wanted = (Sensitivity.of_bounds("d", (), Directions.BOTH, tolerance=3.0, domain=ILLS),)
    few = {"a": ["HIV"], **{f"p{i}": [ILLS[1 + i % 3], *["ok"] * (i == 0)] for i in range(99)}}
    many = {**few, "a": ["HIV"] * 5000}
    params = FineGrainParams() if algorithm is FineGrainPerturbation else PramParams()
    matrices = [fit(table(p), algorithm, params, wanted).operators["d"].matrix() for p in (few, many)]
    one, other = ((m.max(axis=1) / m.min(axis=1)).max() for m in matrices)
    assert one == pytest.approx(other)
