"""Numeric linkage of people with several rows: against plain loops, with and without pseudonyms, on planted leaks."""

from __future__ import annotations

import itertools
import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from tiers import examples

from ppdm_flow.core.attributes import AttributeFacts
from ppdm_flow.core.lineage import Lineage
from ppdm_flow.core.people import PeopleCount
from ppdm_flow.core.roles import AttributeType, Role
from ppdm_flow.mining.exposure.numbers import UnnumberedError
from ppdm_flow.requirements.numeric_linkage.nearest import chosen_units, nearest_squares
from ppdm_flow.requirements.numeric_linkage.requirement import NumericLinkage
from ppdm_flow.requirements.numeric_linkage.second_route import nearest_squares_sql
from ppdm_flow.requirements.numeric_linkage.spaces import Codes, Truth, spaces
from ppdm_flow.sdk.registry import load
from ppdm_flow.tables.column import Column
from ppdm_flow.tables.table import Table

from .numeric_cases import ID, column

SPEC = load("audits", "numeric_linkage")
AUDIT = SPEC.load()(SPEC.params())
RNG = np.random.default_rng(51)


def case_of(build, whose, original, released, *, pseudonym=False, people=True, **more):
    """``original`` and ``released`` (rows, attributes), None or NaN where there is no number."""
    rows, names = np.arange(len(whose)), "xyz"[: len(original[0])]
    cells = lambda table, j: column([None if v is None or v != v else float(v) for v in (r[j] for r in table)])  # noqa: E731  # twice; NaN
    who = Column.of([f"p{w}" for w in whose])
    codes = {"code": Column.of([f"c{w}" for w in whose])} if pseudonym else {}
    before = Table({n: cells(original, j) for j, n in enumerate(names)} | {"who": who}, rows)
    after = Table({n: cells(released, j) for j, n in enumerate(names)} | codes, rows)
    made = {n: Lineage(frozenset((n,)), value_map=False) for n in names}
    made |= {n: Lineage(frozenset(("who",)), keyed=frozenset(("who",))) for n in codes}
    kind = AttributeType.FLOAT
    asked = {"attributes": tuple(names), "max": 0.05} | more
    return build.case(
        before,
        after,
        dict.fromkeys(names, Role.SENSITIVE) | {"who": Role.SUBJECT},
        sources={n: n for n in names} | dict.fromkeys(codes, "who"),
        attributes={n: AttributeFacts(n, Role.SENSITIVE, type=kind, derived=d) for n, d in made.items()},
        original_attributes={n: AttributeFacts(n, Role.SENSITIVE, type=kind, source=n) for n in names},
        requirements=(NumericLinkage.of(ID, **asked),),
        people=PeopleCount("who", 1) if people else None,
    )


def drawn(nearer, ties, own, candidates):
    """The chance that one of ``own`` of the ties is a candidate, by counting draws."""
    left = min(max(0, candidates - nearer), ties)
    draws = list(itertools.combinations(range(ties), left))
    return sum(any(each < own for each in draw) for draw in draws) / len(draws)


def apart(space, i, row):
    seen = [j for j in range(space.known.shape[1]) if not np.isnan(space.released[row][j])]
    inverse = np.linalg.inv([[space.covariance[a][b] for b in seen] for a in seen]) if seen else []
    by = [space.released[row][j] - space.known[i][j] for j in seen]
    inside = sum(by[a] * inverse[a][b] * by[b] for a in range(len(seen)) for b in range(len(seen)))
    return inside + sum(space.hidden[j] for j in range(space.known.shape[1]) if j not in seen)


def placed(distances, mine, candidates):
    least = min(distances[each] for each in mine)
    same = lambda d: abs(d - least) <= 1e-9 * least + 1e-12  # noqa: E731  # twice
    ties = [each for each, d in enumerate(distances) if same(d)]
    nearer = sum(d < least and not same(d) for d in distances)
    return drawn(nearer, len(ties), sum(each in mine for each in ties), candidates)


def plainly(whose, original, released, candidates):
    """The shares of people and of records that each distance finds, and that of sums, by loops."""
    number = lambda table: np.array([[np.nan if v is None else v for v in row] for row in table], np.float64)  # noqa: E731  # twice
    known, shown = number(original), number(released)
    found = {}
    records = [i for i in range(len(whose)) if not np.isnan(known[i]).any()]
    people = list(dict.fromkeys(whose[i] for i in records))
    for name, space in spaces(known, shown).items():
        chances = {}
        for i in records:
            distances = [apart(space, i, row) for row in range(len(whose))]
            chances[i] = placed(distances, [r for r, w in enumerate(whose) if w == whose[i]], candidates)
        each = [1 - np.prod([1 - chances[i] for i in records if whose[i] == p]) for p in people]
        found[name] = float(np.mean(each)), float(np.mean(list(chances.values())))
        if name == "mahalanobis":
            every = sorted(set(whose))
            sums = []
            for p in people:
                mine = [i for i in records if whose[i] == p]
                totals = [
                    sum(min(apart(space, i, r) for r, w in enumerate(whose) if w == other) for i in mine)
                    for other in every
                ]
                sums.append(placed(totals, [every.index(p)], candidates))
            found["together"] = float(np.mean(sums)), 0.0
    return found


CELLS = st.one_of(st.none(), st.integers(0, 4).map(float), st.sampled_from([0.5, 2.25]))


@examples(20)
@given(data=st.data(), pseudonym=st.booleans(), candidates=st.integers(1, 3), width=st.integers(1, 2))
def test_person_by_person(build, agree, data, pseudonym, candidates, width):
    size = data.draw(st.integers(2, 7))
    draw = lambda cells, wide: data.draw(  # noqa: E731  # two of them
        st.lists(st.lists(cells, min_size=wide, max_size=wide), min_size=size, max_size=size)
    )
    whose = data.draw(st.lists(st.integers(0, 3), min_size=size, max_size=size))
    original, released = draw(st.one_of(st.none(), st.integers(0, 4).map(float)), width), draw(CELLS, width)
    example = case_of(build, whose, original, released, pseudonym=pseudonym, candidates=candidates)
    if all(None in row for row in original):
        return
    found = agree(AUDIT, example, least=10)
    expected = plainly(whose, original, released, candidates)
    for name in ("euclidean", "mahalanobis", "rank"):
        assert found[f"{ID}.{name}_share"] == pytest.approx(expected[name][0], abs=1e-9)
    several = len(set(whose)) < size
    assert (f"{ID}.together_share" in found) == (pseudonym and several)
    if pseudonym and several:
        assert found[f"{ID}.together_share"] == pytest.approx(expected["together"][0], abs=1e-9)
    known = [i for i in range(size) if None not in original[i]]
    if len({whose[i] for i in known}) < len(known):
        assert found[f"{ID}.rows_share"] >= max(each[1] for name, each in expected.items() if name != "together") - 1e-9
    guesses = []
    for p in {whose[i] for i in known}:
        own = drawn(0, size, sum(w == p for w in whose), candidates)
        guesses.append(1 - (1 - own) ** sum(whose[i] == p for i in known))
    assert found[f"{ID}.chance_share"] == pytest.approx(float(np.mean(guesses)))


@pytest.mark.slow(quick=2)
@pytest.mark.parametrize("pseudonym", [True, False])
@pytest.mark.parametrize("sample", [60, 1000])
def test_with_one_row_a_person_figures_are_those_of_rows(build, agree, tmp_path, pseudonym, sample):
    original = RNG.normal(0, 10, (200, 2))
    released = original + RNG.normal(0, 0.5, (200, 2))
    (tmp_path / "others.csv").write_text("x,y\n" + "\n".join(f"{a},{b}" for a, b in RNG.normal(0, 10, (80, 2))) + "\n")
    more = {"candidates": 3, "sample": sample, "control": "others.csv", "max_excess": 0.1}
    by_people, by_rows = (
        case_of(build, range(200), original, released, pseudonym=pseudonym, people=each, **more).but(home=tmp_path)
        for each in (True, False)
    )
    by_people, by_rows = (agree(AUDIT, each, least=20) for each in (by_people, by_rows))
    assert by_people == by_rows


def visits(people, rows, draws):
    """Each person has as many visits, with numbers of their own about the person's own."""
    whose = np.repeat(np.arange(people), rows)
    return whose, draws.normal(0, 10, (people, 2))[whose] + draws.normal(0, 10, (len(whose), 2))


def test_a_copy_is_found_and_noise_of_a_tenth_too(build, agree):
    whose, original = visits(60, 5, RNG)
    shares = []
    for sd in (0, 30, 3):
        released = original + RNG.normal(0, 1, original.shape) * sd
        shares.append(agree(AUDIT, case_of(build, whose, original, released), least=10)[f"{ID}.excess"])
    assert shares[0] == 1.0
    assert shares[1] < 0.15 < 0.4 < shares[2]


@pytest.mark.slow
def test_all_rows_together_find_whom_single_ones_do_not(build, agree):
    """Ten rows, each of which tells little: with a pseudonym their sum points to the person."""
    whose = np.repeat(np.arange(200), 10)
    original = RNG.normal(0, 10, (200, 2))[whose] + RNG.normal(0, 20, (2000, 2))
    released = original + RNG.normal(0, 6, original.shape)
    found, alone = (
        agree(AUDIT, case_of(build, whose, original, released, pseudonym=seen), least=10) for seen in (True, False)
    )
    assert found[f"{ID}.together_share"] > 0.8
    assert f"{ID}.together_share" not in alone
    assert alone[f"{ID}.share"] < 0.5


@pytest.mark.slow(quick=1)
@pytest.mark.parametrize("pseudonym", [True, False])
def test_no_alarm_without_a_leak(build, pseudonym):
    """Rows of other people: intervals of excess above 0 in at most 5 % of runs; more of 20 has p < 1e-4."""
    draws = np.random.default_rng(52)
    alarms = 0
    for _ in range(20):
        whose, original = visits(150, 3, draws)
        released = visits(150, 3, draws)[1]
        example = case_of(build, whose, original, released, pseudonym=pseudonym, sample=100, candidates=2)
        figures = AUDIT.measure(*example.args).figures
        ways = ["euclidean", "mahalanobis", "rank", "probabilistic", *(["together"] if pseudonym else [])]
        alarms += any(figures[f"{ID}.{way}_excess"].interval[0] > 0 for way in ways)
    assert alarms <= stats.binom.ppf(1 - 1e-4, 20, 0.05)


def test_a_sample_is_of_people(build, agree):
    whose, original = visits(80, 4, RNG)
    found = agree(AUDIT, case_of(build, whose, original, original, sample=30), least=10)
    assert (found[f"{ID}.records"], found[f"{ID}.records_known"], found[f"{ID}.rows"]) == (30, 80, 320)
    assert found[f"{ID}.share_bound"] == 1.0
    example = case_of(build, whose, original, RNG.permutation(original), sample=30)
    figure = AUDIT.measure(*example.args).figures[f"{ID}.euclidean_share"]
    low, high = figure.interval
    assert figure.sample == 30
    assert low < figure.value < high


def test_few_people_with_most_rows_are_rows_too(build, agree):
    """Half of the rows are one person's and copies; all others are exchanged: half of the records are found."""
    whose = np.concatenate((np.zeros(100, np.int64), np.arange(1, 101)))
    original = RNG.normal(0, 10, (200, 2))
    released = np.vstack((original[:100], RNG.permutation(original[100:])))
    found = agree(AUDIT, case_of(build, whose, original, released), least=10)
    assert found[f"{ID}.euclidean_share"] < 0.1
    assert found[f"{ID}.rows_share"] == found[f"{ID}.share"] > 0.45


@pytest.mark.parametrize("leak", [True, False])
def test_a_control_group_of_people(build, agree, tmp_path, leak):
    """The nearest record of another person is as far as an outsider's: the baseline is about a half, rows or not."""
    whose, original = visits(100, 6, RNG)
    released = original if leak else visits(100, 6, RNG)[1]
    others = visits(300, 1, RNG)[1]
    (tmp_path / "others.csv").write_text("x,y\n" + "\n".join(f"{a},{b}" for a, b in others) + "\n")
    example = case_of(build, whose, original, released, control="others.csv", max_excess=0.5).but(home=tmp_path)
    found = agree(AUDIT, example, least=20)
    assert 0.35 < found[f"{ID}.euclidean_control_share"] < 0.7
    assert (found[f"{ID}.euclidean_control_excess"] > 0.9) is leak
    assert (AUDIT.measure(*example.args).figures[f"{ID}.euclidean_control_excess"].interval[0] > 0) is leak


@examples(20)
@given(data=st.data(), width=st.integers(1, 2))
def test_the_nearest_row_of_another_person(data, width):
    size = data.draw(st.integers(1, 9))
    point = st.lists(st.integers(0, 5).map(float), min_size=width, max_size=width)
    draw = lambda number: np.array(data.draw(st.lists(point, min_size=number, max_size=number)))  # noqa: E731  # two of them
    rows, points = draw(size), draw(3)
    owner = np.array(data.draw(st.lists(st.integers(0, 2), min_size=size, max_size=size)))
    but = np.array(data.draw(st.lists(st.integers(-1, 2), min_size=3, max_size=3)))
    expected = [
        min((float(((p - r) ** 2).sum()) for r, o in zip(rows, owner, strict=True) if o != b), default=np.inf)
        for p, b in zip(points, but, strict=True)
    ]
    codes = Codes.none(3, size, 0)
    for way in (nearest_squares, nearest_squares_sql):
        assert way(points, rows, owner, but, codes, codes.known) == pytest.approx(expected)


def test_the_cost_is_bounded(build):
    """With 40,000 rows 25,000 records are looked for: 1,250 people of 20; and somebody with nearly all is refused."""
    whose, some = np.repeat(np.arange(2000), 20), np.ones(40_000, np.bool_)
    truth = Truth.by_number(40_000).of_people(whose)
    units = chosen_units(some, 5000, 40_000, truth, people=True)
    assert (len(units.firsts), len(units.records), units.eligible_units) == (1250, 25_000, 2000)
    alone = chosen_units(some, 5000, 40_000, truth, people=False)
    assert len(alone.records) == 5000
    huge = Truth.by_number(1_000_000).of_people(np.zeros(1_000_000, np.int64))
    with pytest.raises(UnnumberedError, match="limit_rows"):
        chosen_units(np.ones(1_000_000, np.bool_), 1000, 1_000_000, huge, people=True)


POLICY = """version: 1
name: visits
source: {path: visits.csv}
attributes:
  patient: {role: subject}
  pressure: {role: sensitive, type: float}
  town: {role: insensitive}
people: {known_rows: 1}
privacy:
  numeric_linkage:
    exact: {attributes: [pressure, town], max: 0.3}
    register: {attributes: [pressure], max: 0.3, against: register.csv, key: patient}
steps:
  exchange: {use: swap, with: {attributes: [pressure, town]}}
  STEP
releases:
  study: {path: study.csv, shuffle: true}
randomness: {mode: reproducible, seed: near}
"""


@pytest.mark.slow
def test_by_a_run(cli, tmp_path):
    """A run that was refused before, with a pseudonym and without; a copy does not hold."""
    lines = [f"p{i % 200},{n:.2f},t{i % 7}" for i, n in enumerate(RNG.normal(120, 15, 600))]
    for name, some in (("visits", lines), ("register", lines[:150])):
        (tmp_path / f"{name}.csv").write_text("\n".join(["patient,pressure,town", *some]) + "\n", encoding="utf-8")
    (tmp_path / "one.key").write_bytes(bytes(range(1, 33)).hex().encode())
    (tmp_path / "one.key").chmod(0o600)
    named = "codes: {use: pseudonymize, with: {attributes: [patient], key_file: one.key}}"
    for name, text, holds in (
        ("unlinked", POLICY.replace("STEP", ""), True),
        ("linked", POLICY.replace("STEP", named), True),
        ("copy", POLICY.replace("STEP", named).replace("[pressure, town]}}", "[town], share: 0.1}}"), False),
    ):
        (tmp_path / f"{name}.yaml").write_text(text, encoding="utf-8")
        done = cli("run", tmp_path / f"{name}.yaml", "--out", tmp_path / name)
        assert done.returncode == (0 if holds else 1), done.stderr
        (report,) = (tmp_path / name).rglob("report.json")
        metrics = json.loads(report.read_text())["metrics"]
        assert metrics["privacy.numeric_linkage.exact.records"]["value"] == 200
        assert metrics["privacy.numeric_linkage.register.records"]["value"] == 150
        assert ("privacy.numeric_linkage.exact.together_share" in metrics) == (name != "unlinked")
