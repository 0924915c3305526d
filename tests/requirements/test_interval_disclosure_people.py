"""Interval disclosure of people with several rows: against plain loops, and on planted leaks."""

from __future__ import annotations

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tiers import examples

from ppdm_flow.core.attributes import AttributeFacts
from ppdm_flow.core.lineage import Lineage
from ppdm_flow.core.people import PeopleCount
from ppdm_flow.core.roles import AttributeType, Role
from ppdm_flow.requirements.interval_disclosure.requirement import IntervalDisclosure, Width
from ppdm_flow.sdk.registry import load
from ppdm_flow.tables.column import Column
from ppdm_flow.tables.numeric.column import NumericColumn
from ppdm_flow.tables.table import Table

SPEC = load("audits", "interval_disclosure")
AUDIT = SPEC.load()(SPEC.params())
ID = "privacy.interval_disclosure.x"
RNG = np.random.default_rng(41)


def numbers(values):
    missing = np.array([v is None for v in values], dtype=bool)
    return NumericColumn(np.array([0.0 if v is None else v for v in values]), AttributeType.FLOAT, missing)


def case_of(build, whose, original, released, width, *, pseudonym=False, people=True):
    """``released``: columns by name, each computed from x; with a pseudonym it is seen which rows are one person's."""
    rows = np.arange(len(whose))
    names = Column.of([f"p{w}" for w in whose])
    before = Table({"x": numbers(original), "who": names}, rows)
    codes = {"code": Column.of([f"c{w}" for w in whose])} if pseudonym else {}
    after = Table({n: numbers(v) for n, v in released.items()} | codes, rows)
    made = {n: Lineage(frozenset(("x",)), value_map=False) for n in released}
    made |= {"code": Lineage(frozenset(("who",)), keyed=frozenset(("who",)))} if pseudonym else {}
    return build.case(
        before,
        after,
        {"x": Role.SENSITIVE, "who": Role.SUBJECT},
        sources=dict.fromkeys(released, "x") | dict.fromkeys(codes, "who"),
        attributes={n: AttributeFacts(n, Role.SENSITIVE, type=AttributeType.FLOAT, derived=d) for n, d in made.items()},
        original_attributes={"x": AttributeFacts("x", Role.SENSITIVE, type=AttributeType.FLOAT, source="x")},
        requirements=(IntervalDisclosure.of(ID, "x", width=Width(**width), max=0.5),),
        people=PeopleCount("who", 1) if people else None,
    )


def shared(near, whose, known):
    """The larger share: of rows, and of people by any of their rows."""
    rows = [i for i in range(len(whose)) if known[i]]
    if not rows:
        return 0.0
    people = {whose[i] for i in rows}
    return max(sum(near[i] for i in rows) / len(rows), len({whose[i] for i in rows if near[i]}) / len(people))


CELLS = st.one_of(st.none(), st.sampled_from([0.0, 1.0, 2.0, 3.5]))


@pytest.mark.slow
@examples(25)
@given(data=st.data(), pseudonym=st.booleans(), width=st.sampled_from([0.0, 0.6, 1.1]))
def test_person_by_person(build, agree, data, pseudonym, width):
    size = data.draw(st.integers(1, 8))
    column = lambda cells: data.draw(st.lists(cells, min_size=size, max_size=size))  # noqa: E731  # three of them
    whose, original, released = column(st.integers(0, 3)), column(CELLS), column(CELLS)
    example = case_of(build, whose, original, {"r": released}, {"absolute": width}, pseudonym=pseudonym)
    found = agree(AUDIT, example, least=2)
    known = [o is not None for o in original]
    near = lambda guess, i: guess is not None and known[i] and abs(guess - original[i]) <= width + 1e-9  # noqa: E731  # twice
    ways = {"column_share.r": [near(released[i], i) for i in range(size)]}
    if pseudonym and len(set(whose)) < size:
        means = []
        for w in whose:
            own = [r for r, v in zip(released, whose, strict=True) if v == w and r is not None]
            means.append(sum(own) / len(own) if own else None)
        ways["person_mean_share"] = [near(means[i], i) for i in range(size)]
    expected = {name: shared(each, whose, known) for name, each in ways.items()}
    assert {n: found[f"{ID}.{n}"] for n in expected} == pytest.approx(expected)
    assert found[f"{ID}.share"] == pytest.approx(max(expected.values()))
    assert (f"{ID}.person_mean_share" in found) == ("person_mean_share" in expected)
    figures = AUDIT.measure(*example.args).figures
    assert figures[f"{ID}.people"].value == len({w for w, k in zip(whose, known, strict=True) if k})


@pytest.mark.slow(quick=3)
@pytest.mark.parametrize("width", [{"absolute": 0.3}, {"relative": 0.2}, {"sd": 0.2}, {"rank": 0.1}])
@pytest.mark.parametrize("pseudonym", [True, False])
def test_with_one_row_a_person_figures_are_those_of_rows(build, agree, width, pseudonym):
    original = RNG.normal(10, 3, 120)
    released = {n: original + RNG.normal(0, 0.5, 120) for n in ("a", "b", "c")}
    each = [
        case_of(build, range(120), original, released, width, pseudonym=pseudonym, people=people)
        for people in (True, False)
    ]
    by_people, by_rows = (agree(AUDIT, example, least=6) for example in each)
    assert by_people.pop(f"{ID}.people") == 120
    assert by_people == pytest.approx(by_rows)


def test_any_row_discloses_a_person(build, agree):
    """A tenth of the rows is near, two of twenty of each person: all people are disclosed."""
    whose = np.repeat(np.arange(50), 20)
    original = RNG.normal(0, 1, 1000)
    released = original + 10
    released[::10] -= 10
    found = agree(AUDIT, case_of(build, whose, original, {"r": released}, {"absolute": 0.1}), least=2)
    assert found[f"{ID}.share"] == 1.0
    alone = agree(AUDIT, case_of(build, whose, original, {"r": released}, {"absolute": 0.1}, people=False), least=2)
    assert alone[f"{ID}.share"] == pytest.approx(0.1)


def test_many_rows_of_few_people_count_as_rows_too(build, agree):
    """One person has 99 rows, all near, and another one row: half of the people are no less than nearly all rows."""
    original = RNG.normal(0, 1, 100)
    released = original.copy()
    released[99] += 5
    found = agree(AUDIT, case_of(build, [0] * 99 + [1], original, {"r": released}, {"absolute": 0.1}), least=2)
    assert found[f"{ID}.share"] == pytest.approx(0.99)


def test_rows_seen_to_be_one_persons_are_averaged(build, agree):
    """A number that a person has in all of 25 rows, each with noise of its own: the pseudonym undoes four fifths."""
    whose = np.repeat(np.arange(80), 25)
    original = np.repeat(RNG.normal(0, 10, 80), 25)
    released = original + RNG.normal(0, 5, len(whose))
    shares = [
        agree(AUDIT, case_of(build, whose, original, {"r": released}, {"absolute": 1}, pseudonym=seen), least=2)
        for seen in (True, False)
    ]
    assert shares[0][f"{ID}.person_mean_share"] == pytest.approx(0.68, abs=0.15)
    assert f"{ID}.person_mean_share" not in shares[1]


POLICY = """version: 1
name: visits
source: {path: visits.csv}
attributes:
  patient: {role: subject}
  pressure: {role: sensitive, type: float}
people: {known_rows: 1}
privacy:
  interval_disclosure: {pressure: {width: {absolute: 1}, max: 0.5}}
steps:
  noise: {use: add_noise, with: {attributes: [pressure], sd: 8}}
  STEP
releases:
  study: {path: study.csv, shuffle: true}
randomness: {mode: reproducible, seed: near}
"""


@pytest.mark.slow
def test_by_a_run(cli, tmp_path):
    """A run that was refused before: people are counted, with a pseudonym by the mean of their rows."""
    lines = [f"p{i},{n:.2f}" for i, n in enumerate(RNG.normal(120, 15, 100)) for _ in range(40)]
    (tmp_path / "visits.csv").write_text("\n".join(["patient,pressure", *lines]) + "\n", encoding="utf-8")
    (tmp_path / "one.key").write_bytes(bytes(range(1, 33)).hex().encode())
    (tmp_path / "one.key").chmod(0o600)
    named = "codes: {use: pseudonymize, with: {attributes: [patient], key_file: one.key}}"
    found = {}
    for name, step in (("unlinked", ""), ("linked", named)):
        policy = tmp_path / f"{name}.yaml"
        policy.write_text(POLICY.replace("STEP", step), encoding="utf-8")
        done = cli("run", policy, "--out", tmp_path / name)
        assert done.returncode == 1, done.stderr  # 40 rows of each: some row is near
        (report,) = (tmp_path / name).rglob("report.json")
        found[name] = json.loads(report.read_text())["metrics"]
    key = "privacy.interval_disclosure.pressure"
    assert found["unlinked"][f"{key}.people"]["value"] == 100
    assert f"{key}.person_mean_share" not in found["unlinked"]
    assert found["linked"][f"{key}.person_mean_share"]["value"] > 0.4
