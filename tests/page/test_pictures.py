"""Drawings: what is drawn, what a screen reader is told, and that no text becomes markup."""

from __future__ import annotations

from itertools import combinations
from xml.etree import ElementTree as ET

import networkx as nx
import pytest

from ppdm_flow.page.looks.chart import Axes, Bin, Point, Series, histogram, line_chart
from ppdm_flow.page.looks.graph import Edge, Node, graph

HOSTILE = '"><script>alert(1)</script>{{7*7}}\u202e\x00'
AXES = Axes("k", "error", "share", bound=0.3, bound_text="asked")
STEPS = [
    Node("read", "bank.csv", ("5 columns",), "source"),
    Node("suppress", "suppress"),
    Node("perturb", "perturb", ("noise",), "random"),
    Node("public", "public", kind="release"),
    Node("inside", "inside", kind="release"),
]
ARROWS = [
    Edge("read", "suppress"),
    Edge("suppress", "perturb"),
    Edge("perturb", "public"),
    Edge("read", "public"),
    Edge("suppress", "inside"),
]


def _parsed(drawing: str) -> ET.Element:
    root = ET.fromstring(drawing)
    for each in root.iter():
        assert each.tag in {"svg", "title", "desc", "g", "a", "rect", "path", "circle", "text"}
        assert not {"style", "onclick", "onload"} & set(each.attrib)
    return root


def _of_class(root: ET.Element, kind: str) -> list[ET.Element]:
    return [each for each in root.iter() if kind in each.get("class", "").split()]


@pytest.mark.parametrize(
    ("end", "error"), [("read", nx.NetworkXUnfeasible), ("suppress", nx.NetworkXUnfeasible), ("nowhere", KeyError)]
)
def test_a_cycle_or_an_arrow_to_nowhere_is_refused(end, error):
    with pytest.raises(error):
        graph(STEPS, [*ARROWS, Edge("suppress", end)], name="steps", title="Steps")


def test_a_graph_has_a_box_for_each_node_and_none_over_another():
    root = _parsed(graph(STEPS, ARROWS, name="steps", title="Steps"))
    boxes = [[float(b.get(side, "")) for side in ("x", "y", "width", "height")] for b in _of_class(root, "pp-body")]
    assert len(boxes) == len(STEPS)
    assert len(_of_class(root, "pp-arrow")) == len(ARROWS)
    for (x, y, w, h), (x2, y2, w2, h2) in combinations(boxes, 2):
        assert x + w <= x2 or x2 + w2 <= x or y + h <= y2 or y2 + h2 <= y
    wide, high = float(root.get("width", "")), float(root.get("height", ""))
    assert all(x >= 0 and y >= 0 and x + w <= wide and y + h <= high for x, y, w, h in boxes)


def test_a_graph_is_told_in_words():
    root = _parsed(graph(STEPS, ARROWS, name="steps", title="Steps"))
    assert (root.get("role"), root.get("aria-labelledby")) == ("img", "steps-title")
    assert root[0].text == "Steps"
    assert "suppress leads to perturb." in (root[1].text or "")


def test_a_box_with_an_address_is_a_link_that_the_keyboard_reaches():
    root = _parsed(graph([Node("a", "first", address="/steps/a?x=1&y=2")], [], name="g", title="Steps"))
    link = next(each for each in root.iter() if each.tag == "a")
    assert (link.get("href"), link.get("aria-label")) == ("/steps/a?x=1&y=2", "first")
    assert root.get("role") == "group"


def test_an_empty_graph_and_empty_charts_are_drawn():
    _parsed(graph([], [], name="g", title="Steps"))
    _parsed(line_chart([], Axes("x", "y"), name="c", title="Chart", description=""))
    _parsed(histogram([], Axes("x", "y"), name="c", title="Chart", description=""))


@pytest.mark.parametrize("long", [HOSTILE, HOSTILE * 400])
def test_hostile_texts_stay_texts(long):
    nodes = [Node(long, long, (long,), "step", f"/{long}", long), Node("b", "b")]
    drawings = (
        graph(nodes, [Edge(long, "b", long)], name="g", title=long),
        line_chart(
            [Series(long, (Point(long, 1, long, address=f"/{long}"), Point("b", 2)))],
            Axes(long, long),
            name="c",
            title=long,
            description=long,
        ),
        histogram([Bin(0, 1, 3, long)], Axes(long, long), name="h", title=long, description=long),
    )
    for drawing in drawings:
        root = _parsed(drawing)
        assert "\u202e" not in drawing
        assert "script" in "".join(root.itertext())


@pytest.mark.parametrize(
    "address", ["javascript:alert(1)", "//elsewhere.example/", "/\\elsewhere.example", "https://a.example"]
)
def test_a_link_to_elsewhere_is_refused(address):
    with pytest.raises(ValueError, match="address of this server"):
        graph([Node("a", "a", address=address)], [], name="g", title="Steps")


def test_points_lie_where_their_values_are_and_choose_by_a_link():
    points = tuple(Point(k, 0.1 * k, f"k {k}", "released", f"/edit?k={k}", 0.1 * k, 0.1 * k + 0.05) for k in (2, 3, 5))
    root = _parsed(line_chart([Series("error", points)], AXES, name="c", title="Sweep", description="k costs error"))
    dots = _of_class(root, "point")
    xs, ys = ([float(dot.get(side, "")) for dot in dots] for side in ("cx", "cy"))
    assert xs[2] - xs[1] == pytest.approx(2 * (xs[1] - xs[0]), abs=0.3)
    assert ys == sorted(ys, reverse=True)
    assert [each.get("href") for each in root.iter() if each.tag == "a"] == ["/edit?k=2", "/edit?k=3", "/edit?k=5"]
    assert len(_of_class(root, "whisker")) == 3
    assert "asked" in "".join(root.itertext())


def test_words_have_places_of_their_own_in_their_order():
    points = (Point("low", 1), Point("middle", 3), Point("high", 2))
    root = _parsed(line_chart([Series("s", points)], Axes("level", "rows"), name="c", title="t", description="d"))
    xs = [float(dot.get("cx", "")) for dot in _of_class(root, "point")]
    assert xs == sorted(xs)
    assert {"low", "middle", "high"} <= {each.text for each in _of_class(root, "tick")}


def test_bars_are_as_high_as_their_rows_and_as_wide_as_their_edges():
    bins = [Bin(0, 10, 40, "0 to 10: 40"), Bin(10, 30, 20), Bin(30, 35, 0)]
    root = _parsed(histogram(bins, Axes("age", "rows"), name="h", title="Ages", description="d"))
    heights, widths = ([float(b.get(side, "")) for b in _of_class(root, "bar")] for side in ("height", "width"))
    assert heights[0] == pytest.approx(2 * heights[1], abs=0.3)
    assert heights[2] == 0
    assert widths[1] + 1 == pytest.approx(2 * (widths[0] + 1), abs=0.3)


def test_a_histogram_says_where_its_numbers_are_and_reaches_as_far_as_asked():
    made = histogram([Bin(17, 90, 5)], Axes("age", "rows"), name="h", title="t", description="d", reach=(0, 120.5))
    (plot,) = _of_class(_parsed(made), "plot")
    assert (plot.get("data-low"), plot.get("data-high")) == ("0", "120.5")
    (bar,) = _of_class(_parsed(made), "bar")
    left, wide = (float(plot.get(side, "")) for side in ("x", "width"))
    assert float(bar.get("x", "")) == pytest.approx(left + wide * 17 / 120.5, abs=0.2)


def test_one_point_alone_is_drawn():
    root = _parsed(line_chart([Series("s", (Point(5, 0),))], Axes("k", "e"), name="c", title="t", description="d"))
    assert len(_of_class(root, "point")) == 1
