"""The geometry of the charts: lengths are proportional, marks and texts stay inside, hostile texts stay texts."""

from __future__ import annotations

import math
from itertools import pairwise
from xml.etree import ElementTree as ET

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ppdm_flow.core.results import Chart, FigureSeries
from ppdm_flow.pictures.charts import (
    KINDS,
    METER_HEIGHT,
    METER_WIDTH,
    Bin,
    ChartAxis,
    ChartPoint,
    Plot,
    PointLine,
    Scale,
    bars,
    forest,
    histogram,
    lines,
    matrix,
    meter,
    point_chart,
    styles,
    tick_text,
    ticks,
)
from ppdm_flow.pictures.svg import Caption

HOSTILE = '"><script>alert(1)</script>{{7*7}}\u202e\x00'

finite = st.floats(-1e9, 1e9, allow_nan=False)


def chart(kind: str, x: list[str], *series: dict, x_label: str = "", y_label: str = "share of rows") -> Chart:
    every = tuple(
        FigureSeries(one.get("name", f"series {i}"), *(tuple(one.get(part, ())) for part in ("y", "low", "high")))
        for i, one in enumerate(series)
    )
    return Chart("c", "t", kind, tuple(x), every, x_label, y_label)


class Drawn:
    """What is drawn: elements by a class that they have, with numbers for their places."""

    def __init__(self, plot: Plot) -> None:
        self.svg = plot.picture(Caption("title", "description", "name"))
        self.root = ET.fromstring(self.svg)
        for each in self.root.iter():
            assert each.tag in {"svg", "title", "desc", "g", "a", "rect", "path", "circle", "text", "line"}
            assert not {"style", "onclick", "onload"} & set(each.attrib)
        self.texts = [each.text for each in self.root.iter("text")]

    def every(self, kind: str) -> list[dict[str, float]]:
        found = [each for each in self.root.iter() if kind in each.get("class", "").split()]
        return [{name: float(value) for name, value in each.items() if _is_number(value)} for each in found]

    def tips(self) -> list[str]:
        return [each.text for each in self.root.iter("title")]


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


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
    for kind in ("bars", "lines"):
        drawn = Drawn(KINDS[kind](chart(kind, ["1", "2"], {"y": list(values)})))
        places = [mark[side] for mark in drawn.every("bar") for side in ("y", "height")]
        assert all(map(math.isfinite, [*places, *(dot["cy"] for dot in drawn.every("dot"))]))


@given(st.integers(0, 40), st.integers(1, 400))
def test_ticks_of_counts_are_whole(low, span):
    assert all(float(mark).is_integer() for mark in ticks(low, low + span, integers=True))


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
    plot = bars(chart("bars", words * 3, {"y": [0.1, 0.2, 0.4] * 3}))
    drawn = Drawn(plot)
    boxes = drawn.every("bar")
    assert boxes[1]["width"] == pytest.approx(2 * boxes[0]["width"], abs=0.5)
    assert boxes[2]["width"] == pytest.approx(4 * boxes[0]["width"], abs=0.5)
    assert [text for text in drawn.texts if text.endswith("%")][:3] == ["10%", "20%", "40%"]
    assert all(b["x"] >= 0 and b["x"] + b["width"] <= plot.width for b in boxes)
    assert all(b["y"] >= 0 and b["y"] + b["height"] <= plot.height for b in boxes)


def test_upright_bars_are_as_high_as_their_values_and_grow_from_zero():
    first, second, third = Drawn(bars(chart("bars", ["1", "2", "3"], {"y": [0.2, -0.1, 0.4]}))).every("bar")
    assert first["height"] == pytest.approx(2 * second["height"], abs=0.5)
    assert third["height"] == pytest.approx(4 * second["height"], abs=0.5)
    assert first["y"] + first["height"] == pytest.approx(second["y"], abs=0.11)


def test_the_tip_says_label_series_value_and_interval():
    drawn = Drawn(
        bars(chart("bars", ["a"], {"name": "x", "y": [0.5], "low": [0.4], "high": [0.6]}, {"name": "y", "y": [1.0]}))
    )
    assert drawn.tips() == ["a · x: 50% (40% to 60%)", "a · y: 100%"]
    assert len(drawn.every("whisker")) == 1


@pytest.mark.parametrize("words", [["1", "2"], ["a long category of words", "another of these long categories"] * 10])
def test_limits_are_ticks_across_the_bar_that_they_bound(words):
    limit = {"name": "the limit above", "y": [0.5] * len(words)}
    drawn = Drawn(bars(chart("bars", words, limit, {"name": "posterior", "y": [0.4] * len(words)})))
    boxes, limits = drawn.every("bar"), drawn.every("limit")
    assert len(boxes) == len(limits) == len(words)
    upright = limits[0]["y1"] == limits[0]["y2"]
    for box, limit in zip(boxes, limits, strict=True):
        assert limit["y1"] < box["y"] if upright else limit["x1"] > box["x"] + box["width"]
        beside = ("x1", "x", "x2") if upright else ("y1", "y", "y2")
        assert limit[beside[0]] <= box[beside[1]] <= limit[beside[2]]


def test_what_was_before_is_grey():
    assert styles(["original", "released"]) == ["s0", "s1"]
    assert styles(["fine-grain", "uniform"]) == ["s1", "s2"]
    assert styles(["released", "original", "sample"]) == ["s1", "s0", "s2"]
    assert len(set(styles([f"s{i}" for i in range(7)]))) == 7


def test_lines_over_numbers_are_to_scale():
    def places(*labels: str) -> list[float]:
        return [dot["cx"] for dot in Drawn(lines(chart("lines", list(labels), {"y": [1.0, 2.0, 3.0]}))).every("dot")]

    first, second, third = places("0", "1", "10")
    assert (third - first) == pytest.approx(10 * (second - first), abs=1.0)
    first, second, third = places("a", "b", "a")
    assert third - second == pytest.approx(second - first, abs=0.11)


def test_a_band_is_drawn_where_there_are_intervals():
    plain = Drawn(lines(chart("lines", ["1", "2"], {"y": [1.0, 2.0]})))
    banded = Drawn(lines(chart("lines", ["1", "2"], {"y": [1.0, 2.0], "low": [0.5, 1.5], "high": [1.5, 2.5]})))
    assert [len(each.every(kind)) for each in (plain, banded) for kind in ("line", "band")] == [1, 0, 1, 1]


def test_matrix_depth_is_size_and_hue_is_sign():
    drawn = Drawn(matrix(chart("matrix", ["a", "b"], {"y": [0.0, 1.0]}, {"y": [-0.5, -1.0]})))
    shades = [cell["fill-opacity"] for cell in drawn.every("cell")]
    assert shades[0] == pytest.approx(0.06)
    assert shades[1] == shades[3] == pytest.approx(1.0)
    assert [cell["fill-opacity"] for cell in drawn.every("minus")] == shades[2:]


@given(
    st.floats(-2, 2), st.sampled_from([0.0, 0.05, 0.5, 0.75, 1.0]), st.booleans(), st.booleans(),
    st.none() | st.floats(-2, 2),
)  # fmt: skip
def test_the_mark_lies_on_the_side_that_the_figures_say(measured, bound, at_most, share, before):
    interval = (measured - 0.1, measured)
    drawn = Drawn(meter(measured, bound, at_most=at_most, state="good", share=share, interval=interval, before=before))
    (limit,) = [line["x1"] for line in drawn.every("bound")]
    mark = next(each["cx"] for each in drawn.every("good") if "cx" in each)
    assert 0 <= mark <= METER_WIDTH
    assert 0 < limit < METER_WIDTH
    if measured < bound:
        assert mark <= limit
    if measured > bound:
        assert mark >= limit
    (allowed,), (forbidden,) = drawn.every("allowed"), drawn.every("forbidden")
    assert (allowed["x"] < forbidden["x"]) == at_most
    assert allowed["width"] + forbidden["width"] == pytest.approx(METER_WIDTH, abs=0.2)
    assert all(0 <= line["y1"] <= METER_HEIGHT for line in drawn.every("interval"))


def test_a_figure_far_beyond_the_scale_has_an_arrow():
    def arrows(k: float) -> int:
        return len(Drawn(meter(k, 5.0, at_most=False, state="good", share=False)).every("beyond"))

    assert [arrows(7), arrows(19), arrows(5000)] == [0, 0, 1]
    assert "circle" not in Drawn(meter(None, 5.0, at_most=False, state="bad", share=False)).svg


@given(st.lists(finite, min_size=1, max_size=30), st.sampled_from(sorted(KINDS)), st.text(max_size=30))
def test_all_places_are_numbers_inside_of_the_picture(values, kind, label):
    found = chart(kind, [f"{label} {i}" for i in range(len(values))], {"y": values}, x_label=label, y_label=label * 9)
    plot = KINDS[kind](found)
    drawn = Drawn(plot)
    for each in drawn.root.iter():
        places = {name: float(value) for name, value in each.items() if _is_number(value)}
        assert all(map(math.isfinite, places.values()))
        assert places.get("width", 0) >= 0
        assert places.get("height", 0) >= 0
        assert -1 <= places.get("x", 0) <= places.get("x", 0) + places.get("width", 0) <= plot.width + 1
        assert -1 <= places.get("y", 0) <= places.get("y", 0) + places.get("height", 0) <= plot.height + 1


def test_a_forest_has_a_row_for_each_label_and_a_line_at_zero():
    original = {"name": "original", "y": [-1.0, 2.0], "low": [-3.0, 1.0], "high": [1.0, 3.0]}
    released = {"name": "released", "y": [-2.0, 4.0], "low": [-4.0, 3.0], "high": [0.0, 5.0]}
    drawn = Drawn(forest(chart("forest", ["age", "sex"], original, released, y_label="standard errors")))
    (zero,) = drawn.every("zero")
    dots = drawn.every("dot")
    for own, series in ((dots[:2], original), (dots[2:], released)):
        unit = (own[1]["cx"] - own[0]["cx"]) / (series["y"][1] - series["y"][0])
        assert own[0]["cx"] - zero["x1"] == pytest.approx(unit * series["y"][0], abs=0.3)
        assert own[0]["cy"] < own[1]["cy"]  # the labels' order
    spreads = [line for line in drawn.every("spread") if line["y1"] == line["y2"]]
    assert len(spreads) == 4
    for line in spreads:
        (dot,) = [d for d in dots if d["cy"] == line["y1"]]
        assert line["x1"] < dot["cx"] < line["x2"]


def test_a_forest_without_intervals_is_drawn():
    drawn = Drawn(forest(chart("forest", ["a long name of a category, and one more"], {"y": [0.0]})))
    assert len(drawn.every("dot")) == 1
    assert not drawn.every("spread")
    assert any("…" in text for text in drawn.texts)


def test_points_lie_where_their_values_are_and_choose_by_a_link():
    points = tuple(
        ChartPoint(k, 0.1 * k, f"k {k}", (0.1 * k, 0.1 * k + 0.05), address=f"/edit?k={k}") for k in (2, 3, 5)
    )
    drawn = Drawn(point_chart([PointLine("error", points)], ChartAxis("k"), ChartAxis("error", "share"), plot=Plot()))
    xs, ys = ([dot[side] for dot in drawn.every("dot")] for side in ("cx", "cy"))
    assert xs[2] - xs[1] == pytest.approx(2 * (xs[1] - xs[0]), abs=0.3)
    assert ys == sorted(ys, reverse=True)
    assert [link.get("href") for link in drawn.root.iter("a")] == ["/edit?k=2", "/edit?k=3", "/edit?k=5"]
    assert [link.get("aria-label") for link in drawn.root.iter("a")] == drawn.tips() == ["k 2", "k 3", "k 5"]
    assert len(drawn.every("spread")) == 3
    assert drawn.root.get("role") == "group"  # each is reached by itself


def test_words_have_places_in_their_order_and_one_point_alone_is_drawn():
    points = tuple(ChartPoint(place, value) for place, value in enumerate((1, 3, 2)))
    words = ("low", "middle", "high")
    drawn = Drawn(
        point_chart([PointLine("s", points)], ChartAxis("level"), ChartAxis("rows"), plot=Plot(), words=words)
    )
    xs = [dot["cx"] for dot in drawn.every("dot")]
    assert xs == sorted(set(xs))
    assert set(words) <= set(drawn.texts)
    alone = Drawn(point_chart([PointLine("s", (ChartPoint(5, 0),))], ChartAxis("k"), ChartAxis("e"), plot=Plot()))
    assert len(alone.every("dot")) == 1
    Drawn(point_chart([], ChartAxis("k"), ChartAxis("e"), plot=Plot()))


def test_labels_of_points_stay_apart():
    points = tuple(ChartPoint(place % 7, place // 7, label=f"a label, {place}") for place in range(40))
    plot = point_chart(
        [PointLine("s", points)], ChartAxis("k", round_ends=True), ChartAxis("e", round_ends=True), plot=Plot(480, 340)
    )
    labels = [each for each in Drawn(plot).root.iter("text") if "halo" in each.get("class", "")]
    places = [(float(each.get("x")), float(each.get("y"))) for each in labels]
    assert len(places) > 8
    assert all(abs(y - v) >= 12 or abs(x - u) > 50 for i, (x, y) in enumerate(places) for u, v in places[:i])


def test_bars_of_a_histogram_are_as_high_as_their_rows_and_as_wide_as_their_edges():
    bins = [Bin(0, 10, 40, "0 to 10: 40"), Bin(10, 30, 20), Bin(30, 35, 0)]
    boxes = Drawn(histogram(bins, ChartAxis("age"), ChartAxis("rows"), plot=Plot())).every("bar")
    assert boxes[0]["height"] == pytest.approx(2 * boxes[1]["height"], abs=0.3)
    assert boxes[2]["height"] == 0
    assert boxes[1]["width"] + 1 == pytest.approx(2 * (boxes[0]["width"] + 1), abs=0.3)
    Drawn(histogram([], ChartAxis("age"), ChartAxis("rows"), plot=Plot()))


def test_a_histogram_says_where_its_numbers_are_and_reaches_as_far_as_asked():
    drawn = Drawn(histogram([Bin(17, 90, 5)], ChartAxis("age"), ChartAxis("rows"), plot=Plot(), reach=(0, 120.5)))
    (plot,), (bar,) = drawn.every("plot"), drawn.every("bar")
    assert (plot["data-low"], plot["data-high"]) == (0, 120.5)
    assert bar["x"] == pytest.approx(plot["x"] + plot["width"] * 17 / 120.5, abs=0.2)


def test_keys_are_wrapped_below_the_chart():
    plot = Plot(200, 100)
    plot.keys((f"circle dot s{i}", f"one of four things, {i}") for i in range(4))
    drawn = Drawn(plot)
    assert len(drawn.every("dot")) == 4
    assert all(100 < dot["cy"] < plot.height for dot in drawn.every("dot"))


@pytest.mark.parametrize("long", [HOSTILE, HOSTILE * 400])
def test_hostile_texts_stay_texts(long):
    series = [PointLine(long, (ChartPoint(1, 1, long, label=long, address=f"/{long}"), ChartPoint(2, 2)))]
    plots = [
        point_chart(series, ChartAxis(long), ChartAxis(long), plot=Plot()),
        histogram([Bin(0, 1, 3, long)], ChartAxis(long), ChartAxis(long), plot=Plot()),
        *(
            draw(chart(kind, [long], {"name": long, "y": [0.5]}, x_label=long, y_label=long))
            for kind, draw in KINDS.items()
        ),
    ]
    for plot in plots:
        drawn = Drawn(plot)
        assert "\u202e" not in drawn.svg
        assert "script" in "".join(drawn.root.itertext())
