"""The geometry of the charts: lengths are proportional, marks stay inside, nothing is hidden without a word."""

from __future__ import annotations

import math
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ppdm_flow.report.plots.bars import bars
from ppdm_flow.report.plots.bullet import HEIGHT, WIDTH, bullet
from ppdm_flow.report.plots.drawing import shortened, styles
from ppdm_flow.report.plots.figure import MOST_CHARTS, budget, picture, trimmed
from ppdm_flow.report.plots.forest import forest
from ppdm_flow.report.plots.lines import lines
from ppdm_flow.report.plots.matrix import matrix
from ppdm_flow.report.plots.scale import Scale, tick_text, ticks

finite = st.floats(-1e9, 1e9, allow_nan=False)


def chart(kind: str, x: list[str], *series: dict, **more: str) -> dict:
    named = [{"name": f"series {i}"} | one for i, one in enumerate(series)]
    words = {"title": "t", "note": "", "group": "", "x_label": "", "y_label": "share of rows", "id": "c"}
    return words | {"kind": kind, "x": x, "series": named} | more


@given(finite, finite)
def test_ticks_cover_the_range_evenly_and_are_few(one, other):
    low, high = min(one, other), max(one, other)
    marks = ticks(low, high)
    span = marks[-1] - marks[0]
    assert marks[0] <= low + 1e-6 * span
    assert marks[-1] >= high - 1e-6 * span
    assert 2 <= len(marks) <= 8
    steps = {round((b - a) / span, 6) for a, b in pairwise(marks)}
    assert len(steps) == 1


@pytest.mark.parametrize(
    "values",
    [
        (1e9, 1e9 + 1.2e-7),
        (0.0, 5e-324),
        (-1.7e308, 1.7e308),
        (0.0, 0.0),
        (-3.0, -3.0),
        (1e-290, 2e-290),
        (0.1, 0.1 + 2e-17),
    ],
)
def test_odd_ranges_are_drawn(values):
    for kind, draw in (("bars", bars), ("lines", lines)):
        drawing = draw(chart(kind, ["1", "2"], {"y": list(values)}))
        assert all(math.isfinite(v) for r in drawing.rects for v in (r.y, r.height))
        assert all(math.isfinite(d.y) for d in drawing.dots)


def test_ticks_are_written_apart():
    marks = ticks(0.7499, 0.7501)
    texts = [tick_text(mark, "share", marks[1] - marks[0]) for mark in marks]
    assert len(set(texts)) == len(texts)
    assert [tick_text(t, "share", 0.1) for t in ticks(0, 0.3)] == ["0%", "10%", "20%", "30%"]


@given(st.floats(-10, 10), st.floats(-10, 10))
def test_a_scale_keeps_order_and_stays_inside(one, other):
    scale = Scale(-5, 5, 100, 0)
    assert 0 <= scale(one) <= 100
    if one < other:
        assert scale(one) >= scale(other)


def test_lying_bars_are_as_long_as_their_values():
    words = ["a category in words", "another category in words", "and a third of them"]
    drawing = bars(chart("bars", words * 3, {"y": [0.1, 0.2, 0.4] * 3}))
    widths = [rect.width for rect in drawing.rects]
    assert widths[1] == pytest.approx(2 * widths[0], abs=0.5)
    assert widths[2] == pytest.approx(4 * widths[0], abs=0.5)
    assert [label.text for label in drawing.labels if label.style == "value"][:3] == ["10%", "20%", "40%"]
    assert all(r.x >= 0 and r.x + r.width <= drawing.width for r in drawing.rects)
    assert all(r.y >= 0 and r.y + r.height <= drawing.height for r in drawing.rects)


def test_upright_bars_are_as_high_as_their_values_and_grow_from_zero():
    drawing = bars(chart("bars", ["1", "2", "3"], {"y": [0.2, -0.1, 0.4]}))
    heights = [rect.height for rect in drawing.rects]
    assert heights[0] == pytest.approx(2 * heights[1], abs=0.5)
    assert heights[2] == pytest.approx(4 * heights[1], abs=0.5)
    assert drawing.rects[0].y + heights[0] == pytest.approx(drawing.rects[1].y, abs=0.11)


def test_the_tip_says_label_series_value_and_interval():
    drawing = bars(
        chart("bars", ["a"], {"name": "x", "y": [0.5], "low": [0.4], "high": [0.6]}, {"name": "y", "y": [1.0]})
    )
    assert [rect.tip for rect in drawing.rects] == ["a · x: 50% (40% to 60%)", "a · y: 100%"]
    assert len([line for line in drawing.lines if line.style == "whisker"]) == 1


@pytest.mark.parametrize("words", [["1", "2"], ["a long category of words", "another of these long categories"] * 10])
def test_limits_are_ticks_across_the_bar_that_they_bound(words):
    found = chart(
        "bars",
        words,
        {"name": "the limit above", "y": [0.5] * len(words)},
        {"name": "posterior", "y": [0.4] * len(words)},
    )
    drawing = bars(found)
    assert len(drawing.rects) == len(words)
    limits = [line for line in drawing.lines if line.style == "limit"]
    assert len(limits) == len(words)
    upright = limits[0].y1 == limits[0].y2
    for rect, limit in zip(drawing.rects, limits, strict=True):
        beyond = limit.y1 < rect.y if upright else limit.x1 > rect.x + rect.width
        beside = limit.x1 <= rect.x <= limit.x2 if upright else limit.y1 <= rect.y <= limit.y2
        assert beyond
        assert beside


def test_what_was_before_is_grey():
    assert styles(["original", "released"]) == ["s0", "s1"]
    assert styles(["fine-grain", "uniform"]) == ["s1", "s2"]
    assert styles(["released", "original", "sample"]) == ["s1", "s0", "s2"]
    assert len(set(styles([f"s{i}" for i in range(7)]))) == 7


def test_lines_over_numbers_are_to_scale():
    drawing = lines(chart("lines", ["0", "1", "10"], {"y": [1.0, 2.0, 3.0]}))
    first, second, third = (dot.x for dot in drawing.dots)
    assert (third - first) == pytest.approx(10 * (second - first), abs=1.0)
    drawing = lines(chart("lines", ["a", "b", "c"], {"y": [1.0, 2.0, 3.0]}))
    first, second, third = (dot.x for dot in drawing.dots)
    assert third - second == pytest.approx(second - first, abs=0.11)


def test_a_band_is_drawn_where_there_are_intervals():
    plain = lines(chart("lines", ["1", "2"], {"y": [1.0, 2.0]}))
    banded = lines(chart("lines", ["1", "2"], {"y": [1.0, 2.0], "low": [0.5, 1.5], "high": [1.5, 2.5]}))
    assert [p.style.split()[0] for p in plain.paths] == ["line"]
    assert [p.style.split()[0] for p in banded.paths] == ["band", "line"]


def test_matrix_depth_is_size_and_hue_is_sign():
    drawing = matrix(chart("matrix", ["a", "b"], {"y": [0.0, 1.0]}, {"y": [-0.5, -1.0]}))
    shades = [rect.shade for rect in drawing.rects]
    assert shades[0] == pytest.approx(0.06)
    assert shades[1] == shades[3] == pytest.approx(1.0)
    assert [rect.style for rect in drawing.rects] == ["cell", "cell", "cell minus", "cell minus"]


@given(
    st.floats(-2, 2), st.sampled_from([0.0, 0.05, 0.5, 0.75, 1.0]), st.booleans(), st.booleans(),
    st.none() | st.floats(-2, 2),
)  # fmt: skip
def test_the_mark_lies_on_the_side_that_the_figures_say(measured, bound, at_most, share, before):
    drawing = bullet(
        measured, bound, at_most=at_most, holds=True, share=share, interval=(measured - 0.1, measured), before=before
    )
    (limit,) = [line.x1 for line in drawing.lines if line.style == "bound"]
    mark = drawing.dots[-1]
    assert 0 <= mark.x <= WIDTH
    assert 0 < limit < WIDTH
    if measured < bound:
        assert mark.x <= limit
    if measured > bound:
        assert mark.x >= limit
    left, right = drawing.rects
    assert (left.style, right.style) == (("allowed", "forbidden") if at_most else ("forbidden", "allowed"))
    assert left.width + right.width == pytest.approx(WIDTH, abs=0.2)
    assert all(0 <= line.y1 <= HEIGHT for line in drawing.lines)


def test_a_figure_far_beyond_the_scale_has_an_arrow():
    def arrows(k: float) -> int:
        return len(bullet(k, 5.0, at_most=False, holds=True, share=False, interval=None).paths)

    assert [arrows(7), arrows(19), arrows(5000)] == [0, 0, 1]
    assert bullet(None, 5.0, at_most=False, holds=False, share=False, interval=None).dots == []


def test_cuts_are_said():
    long = chart("bars", [str(i) for i in range(1000)], {"y": [1.0] * 1000}, {"y": [2.0] * 1000})
    kept, note = trimmed(long, 80)
    assert len(kept["x"]) == len(kept["series"][1]["y"]) == 40
    assert note == "Shown: 40 of 1,000 labels; the rest is in report.json."
    many = chart("bars", ["a"], *({"y": [1.0]} for _ in range(30)))
    assert trimmed(many, 400)[1] == "Shown: 8 of 30 series; the rest is in report.json."
    wide = chart("matrix", [str(i) for i in range(50)], *({"y": [1.0] * 50} for _ in range(50)))
    kept, note = trimmed(wide, 80)
    assert len(kept["series"]) == len(kept["x"]) == 12
    assert "12 of 50 labels and 12 of 50 rows" in note
    curve = chart("lines", [str(i) for i in range(1000)], {"y": list(range(1000))})
    kept, note = trimmed(curve, 80)
    assert len(kept["x"]) == 334
    assert note
    assert trimmed(chart("lines", ["1", "2"], {"y": [1.0, 2.0]}), 40)[1] == ""


def test_the_budget_bounds_the_page():
    assert all(count * budget(count) <= 4000 for count in range(10, MOST_CHARTS + 1))
    assert budget(0) == budget(1) == 400


def test_the_picture_of_a_chart_says_itself_without_sight():
    found = picture(chart("bars", ["a", "b"], {"name": "original", "y": [0.2, 0.8]}), 100)
    assert found.spoken == "Bar chart of 2 labels, original: from 20% to 80%. The data stands below."
    assert found.head == ("", "original")
    assert found.rows == (("a", "20%"), ("b", "80%"))
    with pytest.raises(ValueError, match="the kind of a chart must be one of"):
        picture(chart("pie", ["a"], {"y": [1.0]}), 100)


@given(st.text(max_size=60), st.integers(3, 40))
def test_shortening_keeps_both_ends(text, most):
    found = shortened(text, most)
    assert len(found) <= max(most, 0) or found == text
    if len(text) > most:
        assert len(found) == most
        assert found[0] == text[0]
        assert "…" in found
    else:
        assert found == text


@given(st.lists(finite, min_size=1, max_size=30), st.sampled_from(["bars", "lines", "matrix"]))
def test_no_chart_has_a_place_that_is_no_number(values, kind):
    draw = {"bars": bars, "lines": lines, "matrix": matrix}[kind]
    drawing = draw(chart(kind, [f"label {i}" for i in range(len(values))], {"y": values}))
    places = [v for r in drawing.rects for v in (r.x, r.y, r.width, r.height)]
    places += [v for d in drawing.dots for v in (d.x, d.y)]
    places += [v for line in (*drawing.lines, *drawing.back) for v in (line.x1, line.y1, line.x2, line.y2)]
    assert all(math.isfinite(place) for place in places)
    assert all(r.x >= -1 and r.x + r.width <= drawing.width + 1 for r in drawing.rects)
    assert all(r.width >= 0 and r.height >= 0 for r in drawing.rects)


def test_a_forest_has_a_row_for_each_label_and_a_line_at_zero():
    original = {"name": "original", "y": [-1.0, 2.0], "low": [-3.0, 1.0], "high": [1.0, 3.0]}
    released = {"name": "released", "y": [-2.0, 4.0], "low": [-4.0, 3.0], "high": [0.0, 5.0]}
    given = chart("forest", ["age", "sex"], original, released, x_label="term", y_label="standard errors")
    drawing = forest(given)
    (zero,) = [line for line in drawing.back if line.style == "axis zero"]
    by_style = {s: [d for d in drawing.dots if d.style == s] for s in ("s0", "s1")}
    for dots, series in zip(by_style.values(), (original, released), strict=True):
        unit = (dots[1].x - dots[0].x) / (series["y"][1] - series["y"][0])
        assert dots[0].x - zero.x1 == pytest.approx(unit * series["y"][0], abs=0.3)
        assert dots[0].y < dots[1].y  # the labels' order
    spreads = [line for line in drawing.lines if line.y1 == line.y2]
    assert len(spreads) == 4
    for line in spreads:
        (dot,) = [d for d in drawing.dots if d.y == line.y1]
        assert line.x1 < dot.x < line.x2
    assert all(0 <= x <= drawing.width for line in drawing.lines for x in (line.x1, line.x2))
    assert all(0 <= label.y <= drawing.height for label in drawing.labels)
    shown = picture(given, 100)
    assert shown.head == ("term", "original", "released")
    assert shown.rows[1] == ("sex", "2 (1 to 3)", "4 (3 to 5)")
    assert [style for _, style in shown.legend] == ["s0", "s1"]


def test_a_forest_without_intervals_is_drawn():
    drawing = forest(chart("forest", ["a long name of a category, and one more"], {"y": [0.0]}))
    assert len(drawing.dots) == 1
    assert not drawing.lines
    assert "…" in drawing.labels[-1].text
