"""Data shuffling: marginals and rank correlations stay, and a row's number says nothing beyond what is given."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pandas as pd
import pytest
import yaml
from hypothesis import assume, given
from hypothesis import strategies as st
from numeric_tables import FACTS, KINDS, facts, numbers, people
from scipy import stats

from ppdm_flow.anonymizers.shuffle_values.algorithm import (
    CopulaVariable,
    conditional,
    correlations,
    drawn_scores,
    mended,
    midranks,
    ordered,
    scores,
    spearman,
)
from ppdm_flow.core.attributes import AttributeFacts
from ppdm_flow.core.errors import PluginError
from ppdm_flow.core.roles import AttributeType, Role
from ppdm_flow.sdk import registry
from ppdm_flow.sdk.spec import Scope
from ppdm_flow.tables.column import Column
from ppdm_flow.tables.numeric.column import NumericColumn
from ppdm_flow.testing.case import BadInput, Case
from ppdm_flow.testing.conformance import AnonymizerConformance, run

SPEC = registry.load("anonymizers", "shuffle_values")
FLOAT, INTEGER = AttributeType.FLOAT, AttributeType.INTEGER
NUMBER = st.one_of(st.none(), st.integers(-4, 4))


def same_numbers(*names):
    def claim(outcome):
        for name in names:
            before, after = (t[name].texts() for t in (outcome.original, outcome.released))
            if Counter(before) != Counter(after):
                return f"the numbers of {name} are not the same ones"
            if [v is None for v in before] != [v is None for v in after]:
                return f"missing cells of {name} changed"
        return None

    return claim


class TestWithin(AnonymizerConformance):
    params = {"attributes": ["income", "assets"], "given": ["age"], "within": ["city"]}  # noqa: RUF012 - never changed

    def case(self):
        return Case(
            SPEC, self.params, people(), facts=FACTS, claims=(same_numbers("income", "assets"), numbers_of_cities)
        )


def numbers_of_cities(outcome):
    before, after = (
        Counter(zip(t["city"].texts(), t["income"].texts(), strict=True)) for t in (outcome.original, outcome.released)
    )
    return None if before == after else "a number left its city"


def test_a_stratum_with_one_number_is_refused():
    table = numbers(INTEGER, [1, 2, 3], city=Column.of(["a", "a", "b"]))
    with pytest.raises(PluginError, match="stratum of `within`"):
        Case(SPEC, {"attributes": ["x"], "within": ["city"]}, table, facts=facts(table)).fit()


class TestShuffling(AnonymizerConformance):
    params = {"attributes": ["income", "assets", "seen"], "given": ["age", "city"]}  # noqa: RUF012 - never changed

    def case(self):
        text = BadInput("city", params={"attributes": ["city"]})
        repeated = BadInput("birth", params={"attributes": ["birth"], "given": ["twin"]}, table=twins())
        one = BadInput("income", params={"attributes": ["income"]}, table=people().take(slice(0, 1)))
        claims = (same_numbers(*self.params["attributes"]),)
        return Case(SPEC, self.params, people(), facts=FACTS, claims=claims, bad=(text, one, repeated))


class TestOne(TestShuffling):
    params = {"attributes": ["birth"]}  # noqa: RUF012 - never changed


def twins():
    table = people()
    return table.replaced({"twin": NumericColumn(table["birth"].floats().astype(np.int64) * 2, INTEGER)})


def frame_of(rows):
    return pd.DataFrame([[np.nan if v is None else v for v in row] for row in rows], dtype=float)


def plain_correlations(frame, dummies):
    """The matrix in pandas, before it is mended."""
    standard = frame.copy()
    for name in frame:
        if name not in dummies:
            standard[name] = stats.norm.ppf(frame[name].rank() / (frame[name].notna().sum() + 1))
    matrix = np.eye(len(frame.columns))
    for i in frame:
        for j in frame:
            if i == j:
                continue
            both = frame[[i, j]].dropna().index
            ranked = not {i, j} & dummies
            x, y = ((frame if ranked else standard).loc[both, n] for n in (i, j))
            if len(both) < 2 or x.nunique() < 2 or y.nunique() < 2:
                matrix[i, j] = 0.0
            else:
                matrix[i, j] = 2 * np.sin(np.pi / 6 * x.corr(y, "spearman")) if ranked else x.corr(y)
    return matrix


@pytest.mark.slow
@given(
    st.lists(st.tuples(NUMBER, NUMBER, NUMBER, st.integers(0, 1)), min_size=2, max_size=25),
    st.integers(1, 3),
    st.integers(0, 99),
)
def test_against_a_plain_twin(rows, shuffled, seed):
    frame = frame_of(rows)
    variables = [CopulaVariable(frame[j].to_numpy(), dummy=j == 3) for j in frame]
    plain = plain_correlations(frame, {3})
    matrix = correlations(variables)
    values = np.linalg.eigvalsh(plain)
    assert np.linalg.eigvalsh(matrix)[0] > 0
    assert np.diag(matrix) == pytest.approx(1)
    assume(values[0] > 1e-3)
    assert matrix == pytest.approx(plain, abs=1e-9)
    noise = np.random.default_rng(seed).standard_normal((len(rows), shuffled))
    model = conditional(matrix, shuffled)
    standard = np.array([scores(v) for v in variables[shuffled:]]).T
    others = np.linalg.inv(plain[shuffled:, shuffled:])
    across = plain[:shuffled, shuffled:]
    rest = plain[:shuffled, :shuffled] - across @ others @ across.T
    expected = standard @ (across @ others).T + noise @ np.linalg.cholesky(rest).T
    drawn = drawn_scores(list(standard.T), noise, model)
    assert drawn == pytest.approx(expected, abs=1e-7)
    column = np.array([0 if row[0] is None else row[0] for row in rows])
    given_back = pd.Series(np.sort(column)).iloc[pd.Series(drawn[:, 0]).rank(method="first").astype(int) - 1]
    assert ordered(column, drawn[:, 0], noise[:, 0]).tolist() == given_back.tolist()


@given(st.lists(st.integers(-3, 3), min_size=1, max_size=30))
def test_ranks_against_scipy(values):
    assert midranks(np.array(values, dtype=float)).tolist() == stats.rankdata(values).tolist()


def test_normal_columns_have_their_correlation_again():
    """2 sin(pi r / 6) is Pearson's correlation of a bivariate normal distribution, for any change of each column."""
    x, y = np.random.default_rng(8).multivariate_normal([0, 0], [[1, 0.6], [0.6, 1]], 200_000).T
    matrix = correlations([CopulaVariable(np.exp(x)), CopulaVariable(y**3)])
    assert matrix[0, 1] == pytest.approx(0.6, abs=0.006)


def test_a_matrix_that_is_none_is_mended():
    bad = np.array([[1, 0.9, -0.9], [0.9, 1, 0.9], [-0.9, 0.9, 1]])
    assert np.linalg.eigvalsh(bad)[0] < 0
    good = mended(bad)
    assert np.linalg.eigvalsh(good)[0] > 0
    assert np.diag(good) == pytest.approx(1)
    assert mended(np.zeros((0, 0))).shape == (0, 0)


def test_what_gaps_contradict_is_not_multiplied():
    """Three given columns, each pair of which is seen in rows of its own, as no three columns can be."""
    rng = np.random.default_rng(9)
    a, b, c, x = np.full((4, 900), np.nan)
    a[:300], b[300:600], c[600:] = rng.standard_normal((3, 300))
    b[:300], c[300:600], a[600:] = a[:300], b[300:600], -c[600:]
    x[:] = np.nan_to_num(a) + rng.standard_normal(900)
    model = conditional(correlations([CopulaVariable(v) for v in (x, a, b, c)]), 1)
    assert np.abs(model.slopes).max() < 3
    assert 0.1 < model.explained[0] < 0.9


def test_any_coding_of_a_given_column_gives_the_same():
    """The texts have equal counts, so that only their order says which one needs no dummy."""
    rng = np.random.default_rng(5)
    towns = [f"t{i % 3}" for i in range(300)]
    released = []
    x = rng.standard_normal(300).tolist()
    for names in (["t0", "t1", "t2"], ["t2", "unused", "t0", "t1"]):
        table = numbers(FLOAT, x, town=Column.of(towns, names))
        released.append(shuffle(table, attributes=["x"], given=["town"])[1]["x"].floats().tolist())
    assert released[0] == released[1]


def correlated(rows=20_000):
    normal = np.random.default_rng(2).multivariate_normal(
        [0, 0, 0], [[1, 0.7, 0.5], [0.7, 1, 0.4], [0.5, 0.4, 1]], rows
    )
    return numbers(FLOAT, np.exp(normal[:, 0]).tolist(), (normal[:, 1] ** 3).tolist(), normal[:, 2].tolist())


def shuffle(table, **params):
    case = Case(SPEC, params, table, facts=facts(table))
    fitted = case.fit()
    return fitted, run(fitted.transform, table)[""]


def test_rank_correlations_stay():
    """Five standard errors at 20 000 rows are 0.035; the figures are those of another key."""
    table = correlated()
    fitted, new = shuffle(table, attributes=["x", "y"], given=["z"])
    for a, b in (("x", "y"), ("x", "z"), ("y", "z")):
        assert spearman(new[a].floats(), new[b].floats()) == pytest.approx(
            spearman(table[a].floats(), table[b].floats()), abs=0.035
        )
    assert fitted.figures["rank_correlation_change"].value < 0.035
    assert fitted.figures["x.explained"].value == pytest.approx(0.25, abs=0.02)


def test_old_and_new_are_independent_given_the_rest():
    """What is left of the scores, old and new, after the given ones: five standard errors are 0.035."""
    table = correlated()
    _, new = shuffle(table, attributes=["x", "y"], given=["z"])
    z = scores(CopulaVariable(table["z"].floats()))
    rests = []
    for name in ("x", "y"):
        for t in (table, new):
            own = scores(CopulaVariable(t[name].floats()))
            rests.append(own - z * (own @ z) / (z @ z))
    (x, new_x, y, new_y) = rests
    for old, drawn in ((x, new_x), (x, new_y), (y, new_x), (y, new_y)):
        assert abs(np.corrcoef(old, drawn)[0, 1]) < 0.035
    assert abs(np.corrcoef(np.abs(x), np.abs(new_x))[0, 1]) < 0.035


def test_without_given_ones_nothing_of_the_row_is_left():
    table = correlated()
    _, new = shuffle(table, attributes=["x"])
    thirds = [np.searchsorted(np.quantile(c, (1 / 3, 2 / 3)), c) for c in (table["x"].floats(), new["x"].floats())]
    assert stats.chi2_contingency(pd.crosstab(*thirds)).pvalue > 1e-3


def test_means_of_categories_stay_apart():
    """A text is given by dummies: groups that differ by two standard deviations still do."""
    rng = np.random.default_rng(6)
    group = rng.integers(0, 3, 9000)
    x = 2.0 * (group == 1) + rng.standard_normal(9000)
    table = numbers(FLOAT, x.tolist(), town=Column.of([f"t{g}" for g in group]))
    _, new = shuffle(table, attributes=["x"], given=["town"])
    means = [new["x"].floats()[group == g].mean() for g in range(3)]
    assert means == pytest.approx([x[group == g].mean() for g in range(3)], abs=0.1)


def test_constant_and_singular_columns_and_gaps():
    values = list(range(40))
    table = numbers(INTEGER, values, [7] * 40, [-v for v in values])
    _, new = shuffle(table, attributes=["x", "y", "z"])
    assert new["y"].floats().tolist() == [7] * 40
    assert sorted(new["x"].floats().tolist()) == values
    assert spearman(new["x"].floats(), new["z"].floats()) < -0.99  # one determines the other, after as before
    gone = table.replaced({"y": NumericColumn(np.zeros(40, dtype=np.int64), INTEGER, np.ones(40, dtype=bool))})
    _, new = shuffle(gone, attributes=["x", "y"], given=[])
    assert new["y"].missing.all()
    _, new = shuffle(gone, attributes=["x"], given=["y"])
    assert sorted(new["x"].floats().tolist()) == values
    for few in (0, 2):
        _, new = shuffle(table.take(slice(0, few)), attributes=["x", "y"])
        assert sorted(new["x"].floats().tolist()) == values[:few]


def test_equal_scores_go_by_draws():
    assert ordered(np.array([3, 1, 2]), np.zeros(3), np.array([0.2, 0.3, 0.1])).tolist() == [2, 3, 1]


def test_too_many_texts_are_refused():
    table = numbers(FLOAT, list(range(30)), town=Column.of([f"canary{i}" for i in range(30)]))
    with pytest.raises(PluginError) as refused:
        Case(SPEC, {"attributes": ["x"], "given": ["town"]}, table, facts=facts(table)).fit()
    assert "`town`" in str(refused.value)
    assert "canary" not in str(refused.value)


def test_a_given_value_a_row_is_refused():
    """Nineteen dummies for twenty rows determine every rank."""
    table = numbers(FLOAT, list(range(20)), town=Column.of([f"t{i:02}" for i in range(20)]))
    with pytest.raises(PluginError, match="determine the ranks"):
        Case(SPEC, {"attributes": ["x"], "given": ["town"]}, table, facts=facts(table)).fit()


@pytest.mark.parametrize(
    ("params", "codes"),
    [
        ({"attributes": ["word", "gone"]}, ["PPF606", "PPF848"]),
        ({"attributes": ["x"], "given": ["gone"]}, ["PPF606"]),
        ({"attributes": ["x"], "given": ["x"]}, ["PPF782"]),
        ({"attributes": ["x"], "given": ["word"]}, []),
    ],
)
def test_problems(params, codes):
    known = {"x": AttributeFacts("x", Role.SENSITIVE, INTEGER), "word": AttributeFacts("word", Role.SENSITIVE)}
    found = SPEC.effect(SPEC.params.model_validate(params), Scope("s", known, ()))
    assert [p.code for p in found.problems] == codes


def test_a_shuffled_cell_reveals_the_given_ones():
    """Dropping the given column afterwards still releases what is computed from it."""
    said = SPEC.effect(SPEC.params.model_validate({"attributes": ["income"], "given": ["age"]}), Scope("s", FACTS, ()))
    assert said.derivations["income"].computed_from == ("income", "age")
    assert said.serves == ()


def test_the_example_of_the_card_is_one():
    step = yaml.safe_load(SPEC.info.example)["steps"]["shuffle"]
    known = {
        n: AttributeFacts(n, Role.SENSITIVE, KINDS.get(n, AttributeType.TEXT)) for n in (*KINDS, "turnover", "branch")
    }
    assert step["use"] == "shuffle_values"
    assert SPEC.effect(SPEC.params.model_validate(step["with"]), Scope("s", known, ())).problems == ()
