"""Categories beside numbers in linkage: against plain loops, generalized, exchanged, and planted leaks."""

from __future__ import annotations

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tiers import examples

from ppdm_flow.requirements.numeric_linkage.algorithm import compared, places_by_weight, weights_of, widths
from ppdm_flow.requirements.numeric_linkage.control import near
from ppdm_flow.requirements.numeric_linkage.nearest import metric_of, nearest_squares, places
from ppdm_flow.requirements.numeric_linkage.second_route import nearest_squares_sql, places_sql, whitening
from ppdm_flow.requirements.numeric_linkage.spaces import HIDDEN, Codes, Truth, spaces
from ppdm_flow.sdk.registry import load
from ppdm_flow.tables.column import Column

from .numeric_cases import ID, case_of

SPEC = load("audits", "numeric_linkage")
AUDIT = SPEC.load()(SPEC.params())
CELLS = st.one_of(st.none(), st.integers(0, 4).map(float), st.sampled_from([0.5, 2.25]))


def tables(data, numbers, columns, size):
    """Draw known and released numbers and codes."""
    draw = lambda cells, width: data.draw(  # noqa: E731  # four of them
        st.lists(st.lists(cells, min_size=width, max_size=width), min_size=size, max_size=size)
    )
    known = np.array(draw(st.integers(0, 4).map(float), numbers), np.float64).reshape(size, numbers)
    released = np.array(draw(CELLS, numbers), np.float64).reshape(size, numbers)
    mine = np.array(draw(st.integers(0, 2), columns), np.int64)
    shown = np.array(draw(st.integers(HIDDEN, 2), columns), np.int64)
    return known, released, Codes.of(mine, shown, mine[:2], Truth.by_number(size))


def apart(space, point, codes, row):
    """The squared distance of numbers, and 1 for each category that differs."""
    seen = [j for j in range(space.known.shape[1]) if not np.isnan(space.released[row][j])]
    inverse = np.linalg.inv([[space.covariance[a][b] for b in seen] for a in seen]) if seen else []
    by = [space.released[row][j] - point[j] for j in seen]
    found = sum(by[a] * inverse[a][b] * by[b] for a in range(len(seen)) for b in range(len(seen)))
    found += sum(space.hidden[j] for j in range(space.known.shape[1]) if j not in seen)
    for j in range(space.codes.width):
        cell = space.codes.released[row][j]
        found += space.codes.hidden[j] if cell == HIDDEN else float(cell != codes[j])
    return found


@examples(30)
@given(data=st.data(), numbers=st.integers(0, 2), columns=st.integers(1, 2), candidates=st.integers(1, 3))
def test_distance_by_distance(data, numbers, columns, candidates):
    size = data.draw(st.integers(1, 8))
    known, released, codes = tables(data, numbers, columns, size)
    for j in range(columns):
        own = [(a, b) for a, b in zip(codes.known[:, j], codes.released[:, j], strict=True) if b != HIDDEN]
        assert codes.hidden[j] == pytest.approx(sum(a != b for a, b in own) / max(1, len(own)))
    sample = np.arange(size)
    by_name = spaces(known, released, None, known[:2], codes)
    assert set(by_name) == {"euclidean", "rank", *(["mahalanobis"] if numbers else [])}
    for name, space in by_name.items():
        assert space.codes.width == (0 if name == "mahalanobis" else columns)
        expected, nearest = [], []
        for i in range(size):
            code = space.codes.known[i]
            distances = [apart(space, space.known[i], code, row) for row in range(size)]
            own = distances[i]
            nearer = sum(d < own * (1 - 1e-9) - 1e-12 for d in distances)
            ties = sum(d <= own * (1 + 1e-9) + 1e-12 for d in distances) - nearer
            expected.append(min(1.0, max(0, candidates - nearer) / ties))
            nearest.append(min(apart(space, space.points[i], code, row) for row in range(size)))
        assert places(space, sample, candidates).chances(candidates) == pytest.approx(expected, abs=1e-12)
        assert places_sql(space, sample, candidates).chances(candidates) == pytest.approx(expected, abs=1e-12)
        one = near(space, sample, sample, metric_of, nearest_squares)
        other = near(space, sample, sample, whitening, nearest_squares_sql)
        assert one.inside == pytest.approx(other.inside, abs=1e-9)
        assert one.outside == pytest.approx(other.outside, abs=1e-9)
        if size > 1:
            rows, every = space.released[:, :0], np.arange(size)
            alone = (rows, rows, every, np.full(size, -1), space.codes, space.codes.known)
            assert nearest_squares(*alone) == pytest.approx(nearest_squares_sql(*alone), abs=1e-12)


@examples(20)
@given(data=st.data(), numbers=st.integers(0, 2), columns=st.integers(1, 2), candidates=st.integers(1, 3))
def test_weight_by_weight(data, numbers, columns, candidates):
    """The pattern of each pair by a loop, and the place of the own row among the weights."""
    size = data.draw(st.integers(1, 8))
    known, released, codes = tables(data, numbers, columns, size)
    truth, every = Truth.by_number(size), np.arange(size)
    wide = widths(known, released, truth)
    assert compared(wide, codes) == columns

    def pattern(i, row):
        agree = [abs(released[row][j] - known[i][j]) <= wide[j] for j in range(numbers)]
        agree += [codes.released[row][j] == codes.known[i][j] for j in range(columns)]
        return sum(1 << bit for bit, yes in enumerate(agree) if yes)

    pairs = [[pattern(i, row) for row in every] for i in every]
    weights = weights_of(np.bincount(np.ravel(pairs), minlength=1 << (numbers + columns)), size)
    expected = []
    for i in every:
        each = [weights[p] for p in pairs[i]]
        nearer, ties = sum(w > each[i] for w in each), sum(w == each[i] for w in each)
        expected.append(min(1.0, max(0, candidates - nearer) / ties))
    found = places_by_weight(known, released, truth, every, codes)
    assert found.chances(candidates) == pytest.approx(expected, abs=1e-9)


ROWS = 600
RNG = np.random.default_rng(31)
X = np.round(RNG.normal(0, 10, ROWS), 1)
TOWNS = RNG.integers(0, 12, ROWS)


def towns(numbers, form="t{}"):
    return Column.of([form.format(n) for n in numbers])


def shares(build, agree, released, maps=(), sources=None, **more):
    """Return the figures where x and the town of a person are known."""
    sources = sources or {n: {"x": "x"}.get(n, "town") for n in released}
    example = case_of(build, {"x": X, "town": towns(TOWNS)}, released, sources, maps=maps, **more)
    return agree(AUDIT, example, least=10)


def test_a_category_finds_more_than_the_number_alone(build, agree):
    noisy = X + RNG.normal(0, 0.3, ROWS)
    alone = agree(AUDIT, case_of(build, {"x": X}, {"x": noisy}, {"x": "x"}), least=10)
    both = shares(build, agree, {"x": noisy, "town": towns(TOWNS)}, ["town"])
    assert both[f"{ID}.euclidean_share"] > 2 * alone[f"{ID}.share"]
    assert both[f"{ID}.probabilistic_share"] > 2 * alone[f"{ID}.share"]
    assert both[f"{ID}.mahalanobis_share"] == alone[f"{ID}.mahalanobis_share"]  # of numbers alone


@pytest.mark.slow
def test_generalized_labels_agree_with_what_they_stand_for(build, agree):
    """Three towns a region: less than by the town, more than without, and the same under any name."""
    noisy = X + RNG.normal(0, 0.3, ROWS)
    town, region, renamed, none = (
        shares(build, agree, {"x": noisy, **columns}, list(columns))[f"{ID}.euclidean_share"]
        for columns in (
            {"town": towns(TOWNS)},
            {"town": towns(TOWNS // 3, "region {}")},
            {"area": towns(TOWNS // 3, "other words for {}")},
            {"town": towns(TOWNS * 0, "everywhere")},
        )
    )
    assert town > region > none
    assert region == renamed


def test_a_town_and_its_region_tell_no_more_than_the_town(build, agree):
    noisy = X + RNG.normal(0, 0.3, ROWS)
    town = shares(build, agree, {"x": noisy, "town": towns(TOWNS)}, ["town"])
    columns = {"town": towns(TOWNS), "region": towns(TOWNS // 3, "region {}")}
    both = shares(build, agree, {"x": noisy, **columns}, ["town", "region"])
    assert both[f"{ID}.share"] == pytest.approx(town[f"{ID}.share"], abs=0.1)


def test_exchanged_categories_tell_nothing(build, agree):
    """Categories and numbers of other people: no more than chance finds, by 600 draws of 1/600."""
    mixed = {"x": RNG.permutation(X), "town": towns(RNG.permutation(TOWNS))}
    assert shares(build, agree, mixed)[f"{ID}.share"] < 0.02


def test_hidden_and_missing_categories(build, agree):
    half = [f"t{n}" if i % 2 else None for i, n in enumerate(TOWNS)]
    found = shares(build, agree, {"x": X, "town": Column.of(half)}, ["town"])
    assert found[f"{ID}.share"] > 0.5
    unknown = Column.of([None if i < 100 else f"t{n}" for i, n in enumerate(TOWNS)])
    example = case_of(build, {"x": X, "town": unknown}, {"x": X, "town": unknown}, {"x": "x", "town": "town"})
    assert agree(AUDIT, example, least=10)[f"{ID}.records"] == ROWS - 100
    alone = shares(build, agree, {"town": towns(TOWNS)}, ["town"])
    assert alone[f"{ID}.mahalanobis_share"] is None
    assert alone[f"{ID}.euclidean_share"] == pytest.approx(12 / ROWS)  # one of each town


def test_what_nobody_can_read_does_not_hold(build):
    """Labels of exchanged cells that are no values of the attribute, and a map that is none."""
    regions = towns(RNG.permutation(TOWNS) // 3, "region {}")
    for maps in ((), ("town",)):
        example = case_of(
            build, {"x": X, "town": towns(TOWNS)}, {"x": X, "town": regions}, {"x": "x", "town": "town"}, maps=maps
        )
        (measured,) = AUDIT.measure(*example.args).measured
        assert not measured.verifiable
        assert "cover different values" in measured.sentence
        assert AUDIT.recheck(*example.args) == {}


def test_people_of_files_have_categories_too(build, agree, tmp_path):
    keys = [f"p{i}" for i in range(ROWS)]
    lines = [f"p{i},{x},t{n}" for i, (x, n) in enumerate(zip(X[:300], TOWNS[:300], strict=True))]
    (tmp_path / "known.csv").write_text("\n".join(["who,x,town", *lines, "p301,3,", "p302,3,Atlantis"]) + "\n")
    lines = [f"{x},t{n}" for x, n in zip(RNG.normal(0, 10, 300), RNG.integers(0, 12, 300), strict=True)]
    (tmp_path / "others.csv").write_text("\n".join(["x,town", *lines, "3,Atlantis"]) + "\n")
    more = {"against": "known.csv", "key": "who", "control": "others.csv", "max_excess": 0.1}
    original = {"x": X, "town": towns(TOWNS)}
    sources = {"x": "x", "town": "town"}
    example = case_of(build, original, original, sources, {"who": keys}, ("town",), **more).but(home=tmp_path)
    found = agree(AUDIT, example, least=20)
    assert (found[f"{ID}.people_known"], found[f"{ID}.records"], found[f"{ID}.control_records"]) == (302, 301, 301)
    assert found[f"{ID}.share"] > 0.9
    assert found[f"{ID}.euclidean_control_excess"] > 0.5


POLICY = """version: 1
name: wages
source: {path: wages.csv}
attributes:
  income: {role: sensitive, type: integer}
  town: {role: quasi_identifier}
privacy:
  k_anonymity: {k: 2}
  numeric_linkage: {attributes: [income, town], max: 0.15}
steps:
  areas: {use: generalize, with: {attributes: {town: {level: 1, hierarchy: areas.csv}}}}
STEPS
releases:
  study: {path: study.csv, shuffle: true}
randomness: {mode: reproducible, seed: near}
"""


@pytest.mark.slow
def test_by_a_run(cli, tmp_path):
    draws = np.random.default_rng(13)
    lines = [f"t{n},{x}" for n, x in zip(draws.integers(0, 12, 300), draws.integers(1000, 90_000, 300), strict=True)]
    (tmp_path / "wages.csv").write_text("\n".join(["town,income", *lines]) + "\n", encoding="utf-8")
    (tmp_path / "areas.csv").write_text("\n".join(f"t{n};area {n // 3}" for n in range(12)) + "\n", encoding="utf-8")
    exchange = "  exchange: {use: swap, with: {attributes: [income]}}\n"
    for name, steps, holds in (("copy", "", False), ("exchanged", exchange, True)):
        policy = tmp_path / f"{name}.yaml"
        policy.write_text(POLICY.replace("STEPS\n", steps), encoding="utf-8")
        done = cli("run", policy, "--out", tmp_path / name)
        assert done.returncode == (0 if holds else 1), done.stderr
        (report,) = (tmp_path / name).rglob("report.json")
        metrics = json.loads(report.read_text())["metrics"]
        assert (metrics["privacy.numeric_linkage.share"]["value"] > 0.9) is not holds
