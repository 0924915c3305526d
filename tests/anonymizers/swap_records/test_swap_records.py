"""Record swapping: risky rows move wherever somebody is there to exchange with, and nobody moves twice."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from ppdm_flow.anonymizers.swap_records.algorithm import partners, risk_levels
from ppdm_flow.core.attributes import AttributeFacts
from ppdm_flow.core.errors import PluginError
from ppdm_flow.core.roles import Role
from ppdm_flow.sdk import registry
from ppdm_flow.sdk.spec import Scope
from ppdm_flow.tables.table import Table
from ppdm_flow.testing.case import BadInput, Case
from ppdm_flow.testing.conformance import AnonymizerConformance, run

SPEC = registry.load("anonymizers", "swap_records")
PARAMS = {"areas": ["region", "district"], "key": ["age", "job"], "similar": [["age", "sex"], ["sex"]], "k": "3"}
ROW = st.tuples(st.integers(0, 2), st.integers(0, 2), st.integers(0, 2), st.integers(0, 2), st.integers(0, 1))


def people(rows: int = 800) -> Table:
    rng = np.random.default_rng(7)
    region = rng.integers(0, 4, rows)
    return Table.of(
        {
            "region": [f"region-{r}-canary" for r in region],
            "district": [f"district-{r}-{d}-canary" for r, d in zip(region, rng.integers(0, 3, rows), strict=True)],
            "postcode": [None if i % 13 == 0 else f"p{i % 40}" for i in range(rows)],
            "age": [f"age-{a}" for a in rng.integers(0, 6, rows)],
            "job": [f"job-{j}" for j in rng.geometric(0.3, rows)],
            "sex": [f"sex-{s}" for s in rng.integers(0, 2, rows)],
        }
    )


def cells(table, *names):
    return list(zip(*(table[n].texts() for n in names), strict=True))


def same_frequencies(*names):
    def claim(outcome):
        same = Counter(cells(outcome.original, *names)) == Counter(cells(outcome.released, *names))
        return None if same else f"the frequencies of {names} differ"

    return claim


def at_most(k, *names):
    """Rows that were alone in their region have moved: somebody of another region shares their sex."""

    def claim(outcome):
        counts = Counter(cells(outcome.original, *names))
        before, after = (cells(t, "region", "district") for t in (outcome.original, outcome.released))
        risky = [i for i, cell in enumerate(cells(outcome.original, *names)) if counts[cell] < k]
        stayed = sum(before[i][0] == after[i][0] for i in risky)
        return f"{stayed} of {len(risky)} risky rows are where they were" if stayed or not risky else None

    return claim


class TestSwapping(AnonymizerConformance):
    params = PARAMS

    def case(self):
        alone = people().take(np.flatnonzero(people()["district"].codes == 0))
        return Case(
            SPEC,
            self.params,
            people(),
            claims=(same_frequencies("region", "district", "sex"), at_most(3, "region", "age", "job")),
            bad=(BadInput("region", alone), BadInput("ill", params={**PARAMS, "key": ["ill"]})),
        )


class TestMore(TestSwapping):
    params = {**PARAMS, "carry_along": ["postcode"], "swap_rate": "0.4"}  # noqa: RUF012 - never changed


def plain(risk, areas, profiles, order, picks, least):
    """Each target in its turn takes the first free similar row of another area."""
    partner = [-1] * len(risk)
    turns = sorted(range(len(risk)), key=lambda i: order[i])
    taken = sorted(range(len(risk)), key=lambda i: picks[i])

    def pair_up(targets, group, area, most):
        for row in targets:
            if most <= 0:
                return
            if partner[row] >= 0:
                continue
            fits = [i for i in taken if partner[i] < 0 and group[i] == group[row] and area[i] != area[row]]
            if fits:
                partner[row], partner[fits[0]] = fits[0], row
                most -= 1

    for level, area in enumerate(areas):
        for group in profiles:
            pair_up([i for i in turns if risk[i] == level], group, area, len(risk))
    for group in profiles:
        missing = least - sum(p >= 0 for p in partner)
        pair_up(turns, group, areas[-1], -(-missing // 2))
    return partner


def arrays(rows):
    region, district, key, strict, loose = (np.array([r[i] for r in rows], dtype=np.int64) for i in range(5))
    _, nested = np.unique(region * 3 + district, return_inverse=True)
    return [region, nested], key, [strict * 2 + loose, loose]


@given(st.lists(ROW, min_size=5, max_size=60), st.integers(2, 4), st.floats(0, 1), st.integers(0, 999))
def test_against_a_plain_twin(rows, k, rate, seed):
    areas, key, profiles = arrays(rows)
    risk = risk_levels(areas, key, k)
    counts = [Counter(zip(a.tolist(), key.tolist(), strict=True)) for a in areas]
    for i in range(len(rows)):
        levels = [level for level in (0, 1) if counts[level][areas[level][i], key[i]] < k]
        assert risk[i] == (levels[0] if levels else 2)
    order, picks = np.random.default_rng(seed).random((2, len(rows)))
    least = int(np.ceil(rate * len(rows)))
    partner = partners(risk, areas, profiles, order, picks, least)
    assert partner.tolist() == plain(risk, areas, profiles, order, picks, least)
    _laws(partner, risk, areas, profiles, least)


def _laws(partner, risk, areas, profiles, least):
    """Nobody twice; partners alike, and of different areas; who stays has nobody left; the rate is reached."""
    loose = profiles[-1]
    for row, other in enumerate(partner.tolist()):
        if other >= 0:
            assert partner[other] == row
            assert loose[other] == loose[row]
            assert areas[-1][other] != areas[-1][row]
    free = np.flatnonzero(partner < 0)
    for row in free[risk[free] < len(areas)].tolist():
        area = areas[risk[row]]
        assert not ((loose[free] == loose[row]) & (area[free] != area[row])).any()
    if (partner >= 0).sum() < least:
        assert all(len(set(areas[-1][free[loose[free] == c]].tolist())) < 2 for c in set(loose[free].tolist()))


def test_partners_are_even():
    """One risky row of region 0 takes each of the six others with the same probability."""
    region = np.array([0, 0, 1, 1, 1, 2, 2, 2])
    risk = np.array([0, 1, 1, 1, 1, 1, 1, 1])
    draws = np.random.default_rng(4).random((12_000, 2, 8))
    taken = [partners(risk, [region], [np.zeros(8, dtype=np.int64)], *d, 0)[0] for d in draws]
    assert min(taken) == 2
    assert stats.chisquare(np.bincount(taken, minlength=8)[2:]).pvalue > 1e-3


def test_the_rate_is_reached_and_not_passed():
    case = Case(SPEC, {**PARAMS, "k": "2", "swap_rate": "0.7"}, people())
    fitted = case.fit()
    new = run(fitted.transform, case.table)[""]
    moved = sum(a != b for a, b in zip(cells(case.table, "district"), cells(new, "district"), strict=True))
    assert moved in (560, 561)  # a pair at a time
    assert fitted.figures["swapped_share"].value == pytest.approx(0.7, abs=0.002)


def test_what_moves_along_moves_along():
    """A postcode stays with its district."""
    case = Case(SPEC, {**PARAMS, "carry_along": ["postcode"]}, people())
    new = run(case.fit().transform, case.table)[""]
    names = ("region", "district", "postcode")
    assert Counter(cells(new, *names)) == Counter(cells(case.table, *names))
    assert cells(new, "age", "job", "sex") == cells(case.table, "age", "job", "sex")


def test_who_has_nobody_is_counted():
    table = Table.of({"region": list("aab"), "job": list("xyx"), "sex": list("mfm")})
    figures = Case(SPEC, {"areas": ["region"], "key": ["job"], "similar": [["sex"]]}, table).fit().figures
    assert {n: f.value for n, f in figures.items()} == {
        "risky_rows": 3,
        "risky_without_donor": 1,
        "swapped_share": pytest.approx(2 / 3),
    }


def test_few_rows():
    params = {"areas": ["region"], "key": ["job"], "similar": [[]]}
    empty = Table.of({"region": [], "job": []})
    fitted = Case(SPEC, params, empty).fit()
    assert fitted.figures["swapped_share"].value is None
    assert len(run(fitted.transform, empty)[""]) == 0
    gaps = Table.of({"region": ["a", None], "job": ["x", "x"]})
    assert run(Case(SPEC, params, gaps).fit().transform, gaps)[""]["region"].texts() == [None, "a"]
    with pytest.raises(PluginError, match="one area"):
        Case(SPEC, params, Table.of({"region": ["canary"], "job": ["x"]})).fit()


@pytest.mark.parametrize(
    ("params", "codes"),
    [
        ({"areas": ["region", "gone"], "key": ["job"], "similar": [["sex"]]}, ["PPF606"]),
        ({"areas": ["region"], "key": ["gone"], "similar": [["gone"]]}, ["PPF606", "PPF606"]),
        ({"areas": ["region"], "key": ["job"], "similar": [["region"]]}, ["PPF782"]),
        ({"areas": ["region"], "carry_along": ["job"], "key": ["job"], "similar": [[]]}, ["PPF782"]),
        ({"areas": ["region"], "carry_along": ["gone"], "key": ["job"], "similar": [[]]}, ["PPF606"]),
        (PARAMS, []),
    ],
)
def test_problems(params, codes):
    assert [p.code for p in _effect(params).problems] == codes


def _effect(params):
    known = {n: AttributeFacts(n, Role.QUASI_IDENTIFIER) for n in people().names}
    return SPEC.effect(SPEC.params.model_validate(params), Scope("s", known, ()))


def test_it_serves_nothing_and_says_what_chose():
    said = _effect({**PARAMS, "carry_along": ["postcode"]})
    assert said.serves == ()
    assert said.derivations["region"].computed_from == ("region",)
    assert set(said.derivations["region"].chosen_by) == {"district", "postcode", "age", "job", "sex"}


def test_the_example_of_the_card_is_one():
    step = yaml.safe_load(SPEC.info.example)["steps"]["exchange"]
    assert step["use"] == "swap_records"
    assert _effect(step["with"]).problems == ()
