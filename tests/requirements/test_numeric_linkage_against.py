"""Numeric linkage by an attacker's file: whose row is whose by a key, against plain loops, and on planted leaks."""

from __future__ import annotations

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tiers import examples

from ppdm_flow.core.errors import DataError
from ppdm_flow.requirements.numeric_linkage.algorithm import places_by_weight
from ppdm_flow.requirements.numeric_linkage.nearest import places
from ppdm_flow.requirements.numeric_linkage.second_route import places_sql
from ppdm_flow.requirements.numeric_linkage.spaces import Codes, Truth, spaces
from ppdm_flow.sdk.registry import load

from .numeric_cases import ID, case_of

SPEC = load("audits", "numeric_linkage")
AUDIT = SPEC.load()(SPEC.params())
CELLS = st.one_of(st.none(), st.integers(0, 4).map(float), st.sampled_from([0.5, 2.25]))


def plainly(distances, mine, candidates):
    """The chance that one of ``mine`` is drawn with the nearest rows; those at one distance share what is left."""
    least = min(distances[row] for row in mine)
    same = lambda d: abs(d - least) <= 1e-9 * least + 1e-12  # noqa: E731  # three times
    nearer = sum(d < least and not same(d) for d in distances)
    ties = [row for row, d in enumerate(distances) if same(d)]
    left = min(max(0, candidates - nearer), len(ties))
    own = sum(row in mine for row in ties)
    none = 1.0
    for drawn in range(left):
        none *= max(0, len(ties) - own - drawn) / (len(ties) - drawn)
    return 1.0 - none


@examples(30)
@given(data=st.data(), width=st.integers(1, 2), candidates=st.integers(1, 4))
def test_whose_row_by_row(data, width, candidates):
    """Records of a file, some of whom have no row and some several."""
    people = data.draw(st.integers(1, 4))
    number = st.integers(-1, people - 1)
    owner = np.array(data.draw(st.lists(number, min_size=1, max_size=8)))
    whose = np.array(data.draw(st.lists(number, min_size=1, max_size=6)))
    whole = st.lists(st.integers(0, 4).map(float), min_size=width, max_size=width)
    known = np.array(data.draw(st.lists(whole, min_size=len(whose), max_size=len(whose))), np.float64)
    shown = st.lists(CELLS, min_size=width, max_size=width)
    released = np.array(data.draw(st.lists(shown, min_size=len(owner), max_size=len(owner))), np.float64)
    truth = Truth.by_people(owner, whose)
    own = [[r for r, o in enumerate(owner) if o == w >= 0] for w in whose]
    assert truth.row.tolist() == [rows[0] if rows else -1 for rows in own]
    chosen = np.flatnonzero(truth.row >= 0)
    if not len(chosen):
        return
    for space in spaces(known, released, truth).values():

        def apart(i, row, space=space):
            seen = [j for j in range(width) if not np.isnan(space.released[row][j])]
            inverse = np.linalg.inv([[space.covariance[a][b] for b in seen] for a in seen]) if seen else []
            by = [space.released[row][j] - space.known[i][j] for j in seen]
            inside = sum(by[a] * inverse[a][b] * by[b] for a in range(len(seen)) for b in range(len(seen)))
            return inside + sum(space.hidden[j] for j in range(width) if j not in seen)

        expected = [plainly([apart(i, row) for row in range(len(owner))], own[i], candidates) for i in chosen.tolist()]
        for way in (places, places_sql):
            assert way(space, chosen, candidates).chances(candidates) == pytest.approx(expected, abs=1e-9)
    codes = Codes.none(len(known), len(released), 0)
    found = places_by_weight(known, released, truth, chosen, codes)
    assert found.chances(len(owner)) == pytest.approx(1.0)


ROWS = 400
RNG = np.random.default_rng(21)
X, Y = np.round(RNG.normal(0, 10, ROWS), 3), np.round(RNG.normal(0, 10, ROWS), 3)
NAMES = [f"p{i}" for i in range(ROWS)]


def against(build, tmp_path, file, released, keys=NAMES, **more):
    """``file`` has rows of key, x and y."""
    lines = ["y,x,who", *(f"{y},{x},{who}" for who, x, y in file)]
    (tmp_path / "known.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    asked = {"against": "known.csv", "key": "who", "attributes": ("x", "y")} | more
    sources = {n: n for n in released}
    return case_of(build, {"x": X, "y": Y}, released, sources, {"who": keys}, **asked).but(home=tmp_path)


def test_a_copy_is_found_in_any_order(build, agree, tmp_path):
    order = RNG.permutation(ROWS)
    file = [(NAMES[i], X[i], Y[i]) for i in order[:150]] + [("stranger", 0, 0), ("", X[3], Y[3])]
    example = against(build, tmp_path, file, {"x": X, "y": Y})
    found = agree(AUDIT, example, least=12)
    assert found[f"{ID}.share"] == 1.0
    assert (found[f"{ID}.people_known"], found[f"{ID}.records_known"]) == (152, 150)
    assert (
        "Of the 152 in the file 150 have all numbers and a released row."
        in AUDIT.measure(*example.args).measured[0].sentence
    )


def test_what_the_file_gets_wrong_finds_less(build, agree, tmp_path):
    """Errors of the file count as much as those of the release; errors of both in the same direction cancel."""
    error = RNG.normal(0, 10, ROWS)
    exact = [(n, x, y) for n, x, y in zip(NAMES, X, Y, strict=True)]
    wrong = [(n, x + e, y + e) for n, x, y, e in zip(NAMES, X, Y, error, strict=True)]
    shares = [
        agree(AUDIT, against(build, tmp_path, file, {"x": X + shift, "y": Y + shift}), least=12)[
            f"{ID}.euclidean_share"
        ]
        for file, shift in ((exact, 0), (wrong, 0), (wrong, error))
    ]
    assert shares[1] < 0.1 < 0.99 < min(shares[0], shares[2])


def test_somebody_elses_numbers_find_nobody(build, agree, tmp_path):
    file = [(n, x, y) for n, x, y in zip(RNG.permutation(NAMES), X, Y, strict=True)]
    found = agree(AUDIT, against(build, tmp_path, file, {"x": X, "y": Y}), least=12)
    assert found[f"{ID}.share"] < 0.03


def test_several_rows_of_one_key(build, agree, tmp_path):
    """A person of several rows is found by any of them, and is one record for each line of the file."""
    keys = [f"p{i // 4}" for i in range(ROWS)]
    file = [(f"p{i}", X[4 * i + i % 4], Y[4 * i + i % 4]) for i in range(50)]
    found = agree(AUDIT, against(build, tmp_path, file, {"x": X, "y": Y}, keys), least=12)
    assert found[f"{ID}.share"] == 1.0
    assert found[f"{ID}.records"] == 50
    mixed = {"x": RNG.permutation(X), "y": RNG.permutation(Y)}
    by_chance = agree(AUDIT, against(build, tmp_path, file, mixed, keys, candidates=40), least=12)
    assert 0.15 < by_chance[f"{ID}.probabilistic_share"] < 0.6  # 1 - (0.9)^4 is 0.34


def test_files_that_tell_nothing(build, tmp_path):
    nobody = against(build, tmp_path, [("stranger", 1, 2)], {"x": X, "y": Y})
    unknown = against(build, tmp_path, [("p1", "", 2)], {"x": X, "y": Y})
    for example in (unknown, nobody):
        assert [m.verifiable for m in AUDIT.measure(*example.args).measured] == [False]
        assert AUDIT.recheck(*example.args) == {}
        (tmp_path / "known.csv").write_text("who,x,y\nstranger,1,2\n", encoding="utf-8")
    (tmp_path / "known.csv").write_text("x,y\n1,2\n", encoding="utf-8")
    with pytest.raises(DataError):
        AUDIT.measure(*nobody.args)


def test_a_control_group_beside_it(build, agree, tmp_path):
    file = [(n, x, y) for n, x, y in zip(NAMES, X, Y, strict=True)][:200]
    lines = ["x,y", *(f"{x},{y}" for x, y in RNG.normal(0, 10, (200, 2)))]
    (tmp_path / "others.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    more = {"control": "others.csv", "max_excess": 0.1}
    found = agree(AUDIT, against(build, tmp_path, file, {"x": X, "y": Y}, **more), least=20)
    assert found[f"{ID}.euclidean_near_share"] == 1.0
    assert found[f"{ID}.control_excess_bound"] > 0.9


POLICY = """version: 1
name: wages
source: {path: wages.csv}
attributes:
  patient: {role: identifier}
  income: {role: sensitive, type: integer}
  born: {role: insensitive, type: date}
privacy:
  numeric_linkage: {attributes: [income, born], max: 0.1, against: known.csv, key: patient}
STEPS
releases:
  study: {path: study.csv, shuffle: true}
randomness: {mode: reproducible, seed: near}
"""


@pytest.mark.slow
def test_by_a_run(cli, tmp_path):
    """The identifier is dropped, and tells the truth all the same."""
    draws = np.random.default_rng(13)
    days = (np.datetime64("1950-01-01") + draws.integers(0, 20_000, 300)).astype(str)
    lines = [f"{i:05},{a},{b}" for i, (a, b) in enumerate(zip(days, draws.integers(1000, 90_000, 300), strict=True))]
    (tmp_path / "wages.csv").write_text("\n".join(["patient,born,income", *lines]) + "\n", encoding="utf-8")
    (tmp_path / "known.csv").write_text("\n".join(["patient,born,income", *lines[::3]]) + "\n", encoding="utf-8")
    exchange = "steps: {exchange: {use: swap, with: {attributes: [income, born]}}}\n"
    for name, steps, holds in (("copy", "", False), ("exchanged", exchange, True)):
        policy = tmp_path / f"{name}.yaml"
        policy.write_text(POLICY.replace("STEPS\n", steps), encoding="utf-8")
        done = cli("run", policy, "--out", tmp_path / name)
        assert done.returncode == (0 if holds else 1), done.stderr
        (report,) = (tmp_path / name).rglob("report.json")
        metrics = json.loads(report.read_text())["metrics"]
        assert metrics["privacy.numeric_linkage.records"]["value"] == 100
        assert (metrics["privacy.numeric_linkage.share"]["value"] > 0.9) is not holds
