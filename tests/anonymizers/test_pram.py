"""PRAM: matrices against their definitions, draws against a plain twin and against the matrix, and what is refused."""

from __future__ import annotations

import json
from bisect import bisect_right
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import linprog
from tiers import examples

from ppdm_flow.anonymizers.pram.algorithm import (
    Pram,
    PramTransform,
    general,
    invariant,
    of_rows,
    on_grid,
    retaining,
    within_posterior,
)
from ppdm_flow.anonymizers.pram.spec import SPEC, PramParams
from ppdm_flow.core.attributes import AttributeFacts
from ppdm_flow.core.draws import Draws, RunKey
from ppdm_flow.core.errors import PluginError
from ppdm_flow.core.roles import AttributeType, Directions, Role
from ppdm_flow.requirements.sensitivities.requirement import BoundOfValue, Sensitivity, slack_of
from ppdm_flow.requirements.sensitivities.second_route import brute_posteriors_of_matrix
from ppdm_flow.sdk.anonymizer import Operator, StepContext, value_operator
from ppdm_flow.sdk.matrix_operator import MatrixOperator
from ppdm_flow.sdk.spec import Scope
from ppdm_flow.tables.numeric.column import NumericColumn
from ppdm_flow.tables.table import Table
from ppdm_flow.testing.claims import smallest_p
from ppdm_flow.testing.conformance import run
from ppdm_flow.testing.view import InMemoryView

KEY = RunKey.from_seed("pram")
MATRIX = np.array([[0.7, 0.2, 0.1], [0.05, 0.9, 0.05], [0.0, 0.4, 0.6]])


def fit(table: Table, *requirements: Sensitivity, domain=None, home=None, **params):
    view = InMemoryView.of(table, None)
    facts = {f.name: AttributeFacts(f.name, Role.SENSITIVE, domain=domain) for f in view.schema}
    more = {} if home is None else {"home": home}
    return Pram(PramParams(**params)).fit(view, StepContext("p", facts, requirements, **more))


def refusal(*args, **params) -> str:
    with pytest.raises(PluginError) as raised:
        fit(*args, **params)
    return " ".join(f"{d.code}: {d.message}" for d in raised.value.diagnostics)


shares = st.lists(st.integers(0, 50), min_size=1, max_size=7).filter(any).map(lambda w: np.array(w) / sum(w))


@st.composite
def bases(draw, size):
    entry = st.one_of(st.just(0.0), st.floats(0.01, 1))
    matrix = np.array([draw(st.lists(entry, min_size=size, max_size=size).filter(any)) for _ in range(size)])
    return matrix / matrix.sum(axis=1, keepdims=True)


@examples(60)
@given(shares, st.data())
def test_an_invariant_matrix_keeps_the_frequencies(frequency, data):
    base = data.draw(bases(len(frequency)))
    matrix = on_grid(invariant(base, frequency))
    assert np.abs(frequency @ matrix - frequency).max() <= 1e-12
    assert np.all(matrix.sum(axis=1) == 1.0)
    assert matrix.min() >= 0


def test_the_two_steps_in_fractions():
    """Gouweleeuw et al., section 4, entry by entry."""
    base = [[Fraction(4, 5), Fraction(1, 5)], [Fraction(3, 10), Fraction(7, 10)]]
    share = [Fraction(1, 4), Fraction(3, 4)]
    reached = [sum(share[k] * base[k][j] for k in range(2)) for j in range(2)]
    back = [[share[k] * base[k][j] / reached[j] for k in range(2)] for j in range(2)]
    wanted = [[sum(base[i][j] * back[j][k] for j in range(2)) for k in range(2)] for i in range(2)]
    found = invariant(np.array(base, dtype=float), np.array(share, dtype=float))
    assert found == pytest.approx(np.array(wanted, dtype=float), abs=1e-15)


@given(st.floats(0, 1), shares, st.booleans())
def test_what_is_not_retained_is_spread_over_the_others(retain, frequency, by_frequency):
    m = len(frequency)
    matrix = retaining(retain, m, frequency if by_frequency else None)
    assert matrix.sum(axis=1) == pytest.approx(np.ones(m))
    if m == 1:
        assert matrix[0, 0] == 1.0
        return
    assert np.diagonal(matrix) == pytest.approx(np.full(m, retain))
    for i in range(m):
        others = [j for j in range(m) if j != i]
        total = frequency[others].sum()
        weight = frequency[others] / total if by_frequency and total > 0 else np.full(m - 1, 1 / (m - 1))
        assert matrix[i, others] == pytest.approx((1 - retain) * weight)


@examples(30)
@given(st.integers(1, 8).flatmap(bases))
def test_the_grid_moves_nothing_that_shows_and_sums_are_exact(matrix):
    found = on_grid(matrix)
    assert np.all(found.sum(axis=1) == 1.0)
    assert np.all(found * 2.0**53 == np.rint(found * 2.0**53))
    assert np.abs(found - matrix).max() < 1e-14
    assert np.all(found[matrix == 0.0] == 0.0)


@examples(10)
@given(st.integers(2, 6), st.integers(0, 10_000), st.sampled_from(list(Directions)))
def test_the_general_optimum_keeps_every_bound_exactly(m, seed, directions):
    rng = np.random.default_rng(seed)
    r1 = rng.uniform(0.05, 0.4, m)
    r2 = r1 + rng.uniform(0.05, 0.4, m)
    slack = np.array([slack_of(a, b) for a, b in zip(r1, r2, strict=True)])
    matrix = on_grid(general(rng.dirichlet(np.ones(m)), slack, directions))
    upward, downward = brute_posteriors_of_matrix(matrix.T.tolist(), list(zip(r1, r2, strict=True)))
    assert max(u - b for u, b in zip(upward, r2, strict=True)) <= 1e-12
    if directions is Directions.BOTH:
        assert max(a - d for a, d in zip(r1, downward, strict=True)) <= 1e-12


def twin(codes, matrix, words) -> list[int]:
    """One row at a time, in whole numbers of 2^-53."""
    out = []
    for code, word in zip(codes, words, strict=True):
        ends, total = [], 0
        for p in matrix[code]:
            total += int(Fraction(p) * 2**53)
            ends.append(total)
        out.append(bisect_right(ends, int(word) >> 11))
    return out


@examples(20)
@given(st.integers(1, 6).flatmap(bases), st.integers(0, 100))
def test_draws_are_those_of_the_plain_twin(matrix, seed):
    m = len(matrix)
    domain = tuple(f"v{i}" for i in range(m))
    operator = MatrixOperator("d", domain, on_grid(matrix), "p")
    codes = np.random.default_rng(seed).integers(0, m, 200)
    table = Table.of({"d": [domain[c] for c in codes]})
    draws = Draws(KEY.step("p"), 1)
    found = PramTransform("p", (operator,)).apply(table, draws)["d"].texts()
    words = draws.words(table.rows)[:, 0]
    assert found == [domain[c] for c in twin(codes.tolist(), operator.transition.tolist(), words.tolist())]


def test_a_word_at_either_end_is_drawn_and_what_has_no_chance_is_not(monkeypatch):
    operator = MatrixOperator("d", ("a", "b", "c"), on_grid(np.array([[0.0, 1.0, 0.0]] * 3)), "p")
    ends = np.array([[0], [2**64 - 1], [2**63]], dtype=np.uint64)
    monkeypatch.setattr(Draws, "words", lambda self, rows: ends)
    found = PramTransform("p", (operator,)).apply(Table.of({"d": ["a", "b", "c"]}), Draws(KEY.step("p"), 1))
    assert found["d"].texts() == ["b"] * 3


def test_transitions_follow_the_matrix():
    """60,000 rows on a fixed key: a chi-square test for each original value; p below 1e-4 once in 3,000 keys."""
    rng = np.random.default_rng(1)
    table = Table.of({"d": rng.choice(["a", "b", "c"], 60_000, p=[0.5, 0.3, 0.2]).tolist()})
    rows = {v: dict(zip("abc", map(float, row), strict=True)) for v, row in zip("abc", MATRIX, strict=True)}
    fitted = fit(table, attribute="d", matrix=rows)
    after = run(fitted.transform, table)[""]
    operator = fitted.operators["d"]
    assert smallest_p(table, after, operator) > 1e-4
    other = MatrixOperator("d", operator.domain, on_grid(0.97 * MATRIX + 0.01), "p")
    assert smallest_p(table, after, other) < 1e-6


def test_released_frequencies_of_an_invariant_matrix_are_the_original_ones():
    """40,000 rows on a fixed key: within 5 standard deviations of what was there."""
    rng = np.random.default_rng(4)
    table = Table.of({"d": rng.choice(["a", "b", "c"], 40_000, p=[0.7, 0.25, 0.05]).tolist()})
    fitted = fit(table, attribute="d", retain=0.4, invariant=True)
    assert fitted.figures["expected_shift"].value <= 1e-12
    both = (table, run(fitted.transform, table)[""])
    before, after = ([t["d"].texts().count(v) for v in "abc"] for t in both)
    assert np.abs(np.array(before) - after).max() < 5 * np.sqrt(40_000 * 0.25)
    assert [f.code for f in fitted.findings] == ["PPF647", "PPF794"]


def test_the_partition_makes_no_difference():
    table = Table.of({"d": ["a", "b", "c"] * 50, "e": ["x", "y", "x"] * 50})
    transform = fit(table, attributes=["d", "e"], retain=0.3).transform
    draws = Draws(KEY.step("p"), transform.draws_per_row)
    whole = transform.apply(table, draws)
    parts = [transform.apply(table.take(np.arange(a, b)), draws) for a, b in ((0, 7), (7, 90), (90, 150))]
    for name in ("d", "e"):
        assert [t for p in parts for t in p[name].texts()] == whole[name].texts()


def test_the_document_reads_back_to_the_last_digit():
    table = Table.of({"d": ["a", None, "b", "b"]})
    fitted = fit(table, attribute="d", retain=0.8, spread="frequency")
    (entry,) = json.loads(json.dumps(fitted.artifacts["operator.json"], allow_nan=False))["operators"]
    found = value_operator(entry)
    assert isinstance(found, MatrixOperator)
    assert entry["made"] == "retain"
    assert found.domain == ("a", "b", None)
    assert np.array_equal(found.transition, fitted.operators["d"].transition)
    assert np.array_equal(found.matrix().T, found.transition)
    with pytest.raises(ValueError, match="unknown form"):
        Operator.from_document(entry)


@pytest.mark.parametrize(
    "changed",
    [
        {"transition": [[0.5, 0.5], [0.5, 0.5]]},
        {"transition": [[0.5, 0.6, 0], [0, 1, 0], [0, 0, 1]]},
        {"transition": [[1.5, -0.5, 0], [0, 1, 0], [0, 0, 1]]},
        {"transition": [[float("nan"), 0.5, 0.5], [0, 1, 0], [0, 0, 1]]},
        {"transition": "x"},
        {"domain": ["a", "a", "b"]},
        {"domain": ["a", 1, "b"]},
        {"domain": []},
        {"form": "another"},
    ],
)
def test_a_damaged_document_is_refused(changed):
    document = MatrixOperator("d", ("a", "b", "c"), MATRIX).document()
    value_operator(document)
    with pytest.raises((ValueError, TypeError, KeyError)):
        value_operator({**document, **changed})


def test_a_matrix_that_is_stated():
    rows = {"b": {"b": 0.5, "a": 0.5}, "a": {"a": 1.0}}
    assert of_rows(rows, ("a", "b", None)).tolist() == [[1, 0, 0], [0.5, 0.5, 0], [0, 0, 1]]
    table = Table.of({"d": ["a", None, "b"]})
    operator = fit(table, attribute="d", matrix=rows).operators["d"]
    assert operator.domain == ("a", "b", None)  # a missing cell stays
    assert operator.transition[2].tolist() == [0, 0, 1]


def test_a_matrix_from_a_file(tmp_path):
    file = tmp_path / "m.csv"
    file.write_text("a;a;0.75\na;b;0.25\n\nb;b;1\n")
    table = Table.of({"d": ["a", "b"]})
    found = fit(table, attribute="d", matrix_file="m.csv", delimiter=";", home=tmp_path)
    assert found.operators["d"].transition.tolist() == [[0.75, 0.25], [0, 1]]
    for text, said in (
        ("a;a;1\na;a;0\n", "line 2: this pair"),
        ("a;a;x\n", "line 1: the third field"),
        ("a;a\n", "line 1: 2 fields"),
        ("a;a;0.9\n", "sum to 0.9"),
        ("a;a;nan\n", "outside of [0, 1]"),
        ("a;a;1\n", "values outside of those that its matrix has a row for"),
        ("", "no line"),
    ):
        file.write_text(text)
        message = refusal(table, attribute="d", matrix_file="m.csv", delimiter=";", home=tmp_path)
        assert said in message
    file.write_bytes(b"\xff;a;1\n")
    assert "not UTF-8" in refusal(table, attribute="d", matrix_file="m.csv", home=tmp_path)
    assert "cannot be read" in refusal(table, attribute="d", matrix_file="absent.csv", home=tmp_path)


def test_a_matrix_under_bounds_is_that_of_the_fine_grain_form_or_better():
    table = Table.of({"d": ["a"] * 50 + ["b"] * 30 + ["c"] * 20})
    bounds = Sensitivity.of_bounds("d", (BoundOfValue("c", 0.1, 0.25),), Directions.BOTH, default=(0.3, 0.8))
    plain, best = fit(table, bounds), fit(table, bounds, optimum="general")
    assert plain.figures["record_utility"].value < best.figures["record_utility"].value
    for fitted in (plain, best):
        matrix = fitted.operators["d"].transition
        upward, downward = brute_posteriors_of_matrix(matrix.T.tolist(), [(0.3, 0.8), (0.3, 0.8), (0.1, 0.25)])
        assert upward[2] <= 0.25 + 1e-12
        assert max(upward) <= 0.8 + 1e-12
        assert downward[2] >= 0.1 - 1e-12
    (entry,) = plain.artifacts["operator.json"]["operators"]
    assert entry["made"] == "bounds"
    assert entry["gamma"] == pytest.approx([0.8 * 0.7 / (0.3 * 0.2)] * 2 + [3])


def test_what_is_refused_at_the_data():
    assert "PPF783" in refusal(Table.of({"d": ["a", "⊥"]}), attribute="d", retain=0.5)
    assert "PPF785" in refusal(Table.of({"d": ["a", "b"]}), domain=("a",), attribute="d", retain=0.5)
    assert "PPF785" in refusal(Table.of({"d": []}), attribute="d", retain=0.5)
    many = Table.of({"d": [f"v{i}" for i in range(501)]})
    assert "PPF885" in refusal(many, attribute="d", retain=0.5)
    assert "PPF606" in refusal(many, attribute="e", retain=0.5)
    assert "PPF780" in refusal(many, attribute="d")
    wide = Table.of({"d": [f"v{i}" for i in range(31)]})
    assert "PPF885" in refusal(wide, Sensitivity.of_bounds("d", default=(0.1, 0.5)), optimum="general")


def test_a_value_that_was_not_there_when_it_was_fitted():
    transform = fit(Table.of({"d": ["a", "b"]}), attribute="d", retain=0.5).transform
    for cell in ("c", None, "⊥"):
        with pytest.raises(PluginError) as raised:
            transform.apply(Table.of({"d": ["a", cell]}), Draws(KEY.step("p"), 1))
        assert raised.value.diagnostics[0].code == "PPF785"


def test_a_matrix_that_nobody_can_invert_is_said():
    even = {"a": {"a": 0.5, "b": 0.5}, "b": {"a": 0.5, "b": 0.5}}
    fitted = fit(Table.of({"d": ["a", "b"]}), domain=("a", "b"), attribute="d", matrix=even)
    assert [f.code for f in fitted.findings] == ["PPF869"]
    assert fitted.figures["condition"].value is None


def test_a_single_value():
    fitted = fit(Table.of({"d": ["a", "a"]}), attribute="d", retain=0.1)
    assert run(fitted.transform, Table.of({"d": ["a", "a"]}))[""]["d"].texts() == ["a", "a"]


@pytest.mark.parametrize(
    ("kind", "more", "numbers"),
    [
        (AttributeType.INTEGER, {"retain": 0.5}, True),
        (AttributeType.DATE, {"retain": 0.5}, True),
        (AttributeType.TEXT, {"retain": 0.5}, False),
        (AttributeType.INTEGER, {"matrix": {"1": {"1": 0.5, "2": 0.5}}}, True),
        (AttributeType.INTEGER, {"matrix": {"1": {"1": 0.5, "02": 0.5}}}, False),
        (AttributeType.INTEGER, {"matrix": {"1": {"1": 0.5, "none": 0.5}}}, False),
        (AttributeType.INTEGER, {"matrix_file": "m.csv"}, False),
    ],
)
def test_numbers_stay_numbers_where_all_that_may_be_drawn_are(kind, more, numbers):
    facts = AttributeFacts("income", Role.SENSITIVE, type=kind)
    effect = SPEC.effect(PramParams(attribute="income", **more), Scope("p", {"income": facts}, ()))
    assert effect.numbers == (("income",) if numbers else ())


def test_labels_of_numbers_do_not_become_numbers():
    facts = AttributeFacts("income", Role.SENSITIVE, type=AttributeType.INTEGER, labels=True)
    assert SPEC.effect(PramParams(attribute="income", retain=0.5), Scope("p", {"income": facts}, ())).numbers == ()


def test_a_numeric_column_is_randomized_over_its_numbers():
    values = np.array([1, 2, 10, 0] * 50)
    column = NumericColumn(values, AttributeType.INTEGER, values == 0)
    table = Table({"income": column}, np.arange(200))
    facts = {"income": AttributeFacts("income", Role.SENSITIVE, type=AttributeType.INTEGER)}
    fitted = Pram(PramParams(attribute="income", retain=0.5)).fit(
        InMemoryView.of(table, None), StepContext("p", facts, ())
    )
    released = fitted.transform.apply(table, Draws(KEY.step("p"), 1))["income"]
    assert set(released.texts()) <= {"1", "2", "10", None}


def best_within_posterior(frequency, bound) -> float:
    """The linear program over all matrices, written out over the joint probabilities q[j, i] of released and own."""
    m = len(frequency)
    rows = []
    for j in range(m):
        for i in range(m):
            row = np.zeros((m, m))
            row[j] = -bound
            row[j, i] += 1.0
            rows.append(row.ravel())
    sums = [np.outer(np.ones(m), np.eye(m)[i]).ravel() for i in range(m)]
    program = {"A_ub": np.array(rows), "b_ub": np.zeros(len(rows)), "A_eq": np.array(sums), "b_eq": frequency}
    found = linprog(-np.eye(m).ravel(), **program, bounds=(0, 1))
    return -float(found.fun) if found.status == 0 else float("nan")


@examples(20)
@given(shares, st.floats(0.0, 0.999))
def test_no_matrix_under_a_posterior_keeps_more(frequency, above):
    """Optimal by a linear program of another solver, for any bound between the largest share and 1."""
    largest = float(frequency.max())
    bound = min(0.999, largest + above * (1.0 - largest))
    if bound < largest:
        return
    matrix = within_posterior(frequency, bound)
    assert matrix.sum(axis=1) == pytest.approx(np.ones(len(frequency)), abs=1e-9)
    assert matrix.min() >= 0
    joint = frequency[:, None] * matrix
    assert (joint.max(axis=0) <= bound * joint.sum(axis=0) + 1e-9).all()
    utility = float(frequency @ np.diag(matrix))
    assert utility == pytest.approx(bound, abs=1e-9)
    assert utility == pytest.approx(best_within_posterior(frequency, bound), abs=1e-6)


def test_a_posterior_as_a_step():
    table = Table.of({"d": ["a"] * 50 + ["b"] * 30 + ["c"] * 20})
    fitted = fit(table, attribute="d", posterior=0.6)
    operator, frequency = fitted.operators["d"], np.array([0.5, 0.3, 0.2])
    joint = frequency[:, None] * operator.transition
    assert (joint / joint.sum(axis=0)).max() == pytest.approx(0.6)
    bounds = [(float(f), 0.6) for f in frequency]
    upward, _ = brute_posteriors_of_matrix(operator.transition.T.tolist(), bounds)  # over all priors of at most f
    assert upward == pytest.approx([0.6] * 3, abs=1e-12)
    assert fitted.figures["record_utility"].value == pytest.approx(0.6)
    assert fitted.figures["condition"].value is not None  # frequencies can be reconstructed
    assert fitted.artifacts["operator.json"]["operators"][0]["made"] == "posterior"
    assert {f.code for f in fitted.findings} == {"PPF647", "PPF794"}  # its frequencies are given away
    assert "PPF885" in refusal(table, attribute="d", posterior=0.49)
    edge = fit(table, attribute="d", posterior=0.5)
    assert edge.operators["d"].transition.tolist() == [[1, 0, 0]] * 3
    scope = Scope("p", {"d": AttributeFacts("d", Role.SENSITIVE)}, ())
    effect = SPEC.effect(PramParams(attribute="d", posterior=0.5), scope)
    assert (effect.problems, effect.tells_frequencies) == ((), ("d",))
    both = SPEC.effect(PramParams(attribute="d", posterior=0.5, retain=0.5), scope)
    assert [(p.code, p.path) for p in both.problems] == [("PPF782", ("posterior",))]
