"""Graphs as SVG: layers, crossings, places of cards."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from itertools import combinations, pairwise
from xml.etree import ElementTree as ET

import networkx as nx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ppdm_flow.pictures.graphs import (
    Card,
    Line,
    _crossings,
    _spread,
    drawn,
    graph,
    graph_file,
    layered,
    placed,
    title_line,
)


def digraph(*edges):
    return nx.DiGraph(edges)


@st.composite
def graphs(draw):
    """Graphs without cycles, of which some nodes hang on nothing."""
    size = draw(st.integers(1, 9))
    graph = nx.DiGraph()
    graph.add_nodes_from(f"n{i}" for i in draw(st.permutations(range(size))))
    numbers = st.integers(0, size - 1)
    ends = draw(st.lists(st.tuples(numbers, numbers), max_size=14))
    graph.add_edges_from((f"n{i}", f"n{j}") for i, j in ends if i < j)
    return graph


def links(layers):
    return nx.DiGraph([pair for route in layers.routes.values() for pair in pairwise(route)])


@given(graphs())
def test_every_arrow_leads_to_a_later_layer_by_way_of_all_between(graph):
    made = layered(graph)
    depth = {node: number for number, layer in enumerate(made.layers) for node in layer}
    for node, longest in (
        (node, nx.dag_longest_path_length(graph.subgraph({node, *nx.ancestors(graph, node)}))) for node in graph
    ):
        assert depth[node] == longest
    for (start, end), route in made.routes.items():
        assert (route[0], route[-1]) == (start, end)
        assert [depth[each] for each in route] == list(range(depth[start], depth[end] + 1))


def test_two_pairs_are_put_side_by_side_without_a_crossing():
    graph = nx.DiGraph()
    graph.add_nodes_from("abxy")
    graph.add_edges_from([("a", "y"), ("b", "x")])
    assert layered(graph).layers == (("a", "b"), ("y", "x"))


def test_arrows_that_cross_at_first_are_uncrossed():
    graph = digraph(("a", "x"), ("b", "y"), ("c", "z"), ("x", "end"), ("b", "z"), ("a", "z"), ("c", "x"))
    made = layered(graph)
    assert _crossings(made.layers, links(made)) <= 2


@given(st.data())
def test_no_arrows_of_trees_cross(data):
    graph = nx.DiGraph()
    graph.add_nodes_from(["root 0", "root 1"])
    for number in range(data.draw(st.integers(0, 12))):
        graph.add_edge(data.draw(st.sampled_from(list(graph))), f"n{number}")
    leaves = tuple(node for node in graph if not graph.succ[node])
    for last in ((), leaves):
        made = layered(graph, last)
        assert _crossings(made.layers, links(made)) == 0


@given(st.lists(st.lists(st.integers(0, 5), min_size=1, max_size=5), min_size=1, max_size=5))
def test_crossings_are_counted(ends):
    """Against each pair of arrows."""
    graph = nx.DiGraph([(f"a{i}", f"b{j}") for i, own in enumerate(ends) for j in own])
    layers = [[f"a{i}" for i in range(len(ends))], [f"b{j}" for j in range(6)]]
    pairs = {(i, j) for i, own in enumerate(ends) for j in own}
    assert _crossings(layers, graph) == sum((i - k) * (j - m) < 0 for (i, j), (k, m) in combinations(pairs, 2))


def test_those_that_are_last_stand_in_a_layer_of_their_own():
    graph = digraph(("a", "b"), ("b", "c"), ("a", "out"), ("b", "also"))
    assert set(layered(graph, ("out", "also")).layers[-1]) == {"out", "also"}
    assert [len(layer) for layer in layered(graph).layers] == [1, 2, 2]


@pytest.mark.parametrize("edges", [[("a", "b"), ("b", "a")], [("a", "a")]])
def test_a_cycle_is_refused(edges):
    with pytest.raises(nx.NetworkXUnfeasible):
        layered(digraph(*edges))


@given(graphs(), st.data())
def test_no_card_lies_on_another_or_on_an_arrow_that_passes_by(graph, data):
    rows = {node: data.draw(st.integers(1, 6)) for node in graph}
    cards = {node: Card("step", (Line(node, "title"),) * rows[node]) for node in graph}
    spots, made = placed(graph, cards)
    assert min(spot.top for spot in spots.values()) >= 0
    for layer in made.layers:
        for above, below in pairwise(layer):
            assert spots[above].top + spots[above].height < spots[below].top
    for before, after in pairwise(made.layers):
        assert max(spots[node].right for node in before) < min(spots[node].left for node in after)
    parts, wide, high = drawn(graph, cards)
    assert all(ET.fromstring(part) is not None for part in parts)
    assert all(spots[node].right <= wide and spots[node].top + spots[node].height <= high for node in graph)


@given(st.lists(st.tuples(st.floats(-50, 50), st.floats(1, 20)), min_size=1, max_size=8))
def test_places_are_those_nearest_to_the_wanted_ones(given_):
    """Against the quadratic program, as far as small moves tell."""
    wanted = [want for want, _ in given_]
    offsets = [sum(gap for _, gap in given_[:i]) for i in range(len(given_))]
    found = _spread(wanted, offsets)
    gaps = [b - a for a, b in pairwise(offsets)]
    assert all(b - a >= gap - 1e-9 for (a, b), gap in zip(pairwise(found), gaps, strict=True))
    cost = sum((a - b) ** 2 for a, b in zip(found, wanted, strict=True))
    for place in range(len(found)):
        for move in (-0.5, 0.5):
            for moved in (slice(place, None), slice(0, place + 1)):
                other = [*found]
                other[moved] = [each + move for each in found[moved]]
                if all(b - a >= gap - 1e-9 for (a, b), gap in zip(pairwise(other), gaps, strict=True)):
                    assert sum((a - b) ** 2 for a, b in zip(other, wanted, strict=True)) >= cost - 1e-6


def test_texts_are_escaped_and_outputs_stand_at_their_arrows():
    graph = nx.DiGraph()
    graph.add_edge("a", "b", outputs=("", "<left>"))
    parts, _, _ = drawn(graph, {node: Card("step", (Line(f"<{node}> &\x00", "plain"),), "<tip>") for node in graph})
    text = "".join("".join(ET.fromstring(part).itertext()) for part in parts)
    assert text == "<left><tip><a> &\ufffd<tip><b> &\ufffd"


HOSTILE = '"><script>alert(1)</script>{{7*7}}\u202e\x00'
KINDS = {"read": "source", "suppress": "step", "perturb": "random", "public": "release", "inside": "release"}
ARROWS = [
    ("read", "suppress"),
    ("suppress", "perturb"),
    ("perturb", "public"),
    ("read", "public"),
    ("suppress", "inside"),
]


def card(text: str, kind: str = "step", **more: str) -> Card:
    return Card(kind, (title_line(text, 200),), **more)


def picture(*edges: tuple[str, str], draw: Callable[..., str] = graph, **more: object) -> ET.Element:
    nodes = {node: card(node, kind) for node, kind in KINDS.items()}
    arrows = nx.DiGraph()
    arrows.add_nodes_from(nodes)
    arrows.add_edges_from(edges)
    return ET.fromstring(draw(arrows, nodes, "Steps", ("public", "inside"), **more))


def of_class(root: ET.Element, kind: str) -> list[ET.Element]:
    return [each for each in root.iter() if kind in each.get("class", "").split()]


def test_a_picture_has_a_box_for_each_node_and_is_told_in_words():
    root = picture(*ARROWS, name="steps")
    boxes = [[float(b.get(side, "")) for side in ("x", "y", "width", "height")] for b in of_class(root, "pp-body")]
    assert len(boxes) == len(KINDS)
    assert len(of_class(root, "pp-arrow")) == len(ARROWS)
    wide, high = float(root.get("width", "")), float(root.get("height", ""))
    assert all(x >= 0 and y >= 0 and x + w <= wide and y + h <= high for x, y, w, h in boxes)
    assert (root.get("role"), root.get("aria-label"), root.get("aria-describedby")) == ("img", "Steps", "steps-desc")
    assert (root[0].tag, root[0].get("id")) == ("desc", "steps-desc")
    assert "suppress leads to perturb." in root[0].text


def test_a_file_names_itself_and_has_its_styles():
    root = picture(*ARROWS, draw=graph_file, smallest=0.5)
    space = "{http://www.w3.org/2000/svg}"
    assert root.find(f"{space}title").text == "Steps"
    assert "suppress leads to perturb." in root.find(f"{space}desc").text
    style = root.find(f"{space}style").text
    assert "light-dark(" in style
    assert f"min-width: {float(root.get('width')) / 2:.0f}px" in style


@pytest.mark.parametrize(
    ("end", "error"), [("read", nx.NetworkXUnfeasible), ("suppress", nx.NetworkXUnfeasible), ("nowhere", KeyError)]
)
def test_no_picture_of_a_cycle_or_of_an_arrow_to_nowhere(end, error):
    with pytest.raises(error):
        picture(*ARROWS, ("suppress", end))


def one(text: str, **more: str) -> ET.Element:
    arrows = nx.DiGraph()
    arrows.add_node("a")
    return ET.fromstring(graph(arrows, {"a": card(text, **more)}, text))


def test_a_card_with_an_address_is_a_link_that_the_keyboard_reaches():
    root = one("first", address="/steps/a?x=1&y=2")
    link = next(root.iter("a"))
    assert (link.get("href"), link.get("aria-label")) == ("/steps/a?x=1&y=2", "first")
    assert root.get("role") == "group"


@pytest.mark.parametrize(
    "address", ["javascript:alert(1)", "//elsewhere.example/", "/\\elsewhere.example", "https://a.example"]
)
def test_a_link_to_elsewhere_is_refused(address):
    with pytest.raises(ValueError, match="address of this server"):
        one("a", address=address)


@pytest.mark.parametrize("long", [HOSTILE, HOSTILE * 400])
def test_hostile_texts_stay_texts(long):
    root = one(long, tip=long, address=f"/{long}")
    assert {each.tag for each in root.iter()} <= {"svg", "title", "desc", "g", "a", "rect", "text"}
    assert "script" in "".join(root.itertext())
    assert "\u202e" not in ET.tostring(root, encoding="unicode")


def test_an_empty_graph_is_drawn():
    ET.fromstring(graph(nx.DiGraph(), {}, "Steps"))


HASHES = """
import networkx as nx
from ppdm_flow.pictures.graphs import layered
print(layered(nx.DiGraph([("a", "x"), ("b", "x"), ("b", "y"), ("a", "z"), ("x", "end"), ("a", "end"), ("z", "end")])))
"""


@pytest.mark.slow
def test_the_drawing_does_not_depend_on_hashes():
    runs = [
        subprocess.run([sys.executable, "-c", HASHES], env={"PYTHONHASHSEED": seed}, capture_output=True, check=True)
        for seed in "123"
    ]
    assert len({run.stdout for run in runs}) == 1
