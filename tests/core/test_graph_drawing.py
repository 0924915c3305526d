"""Graphs as SVG: layers, crossings, places of cards."""

from __future__ import annotations

import subprocess
import sys
from itertools import combinations, pairwise
from xml.etree import ElementTree as ET

import networkx as nx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ppdm_flow.core.graph_drawing import Card, Line, _crossings, _spread, drawn, layered, placed


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


HASHES = """
import networkx as nx
from ppdm_flow.core.graph_drawing import layered
print(layered(nx.DiGraph([("a", "x"), ("b", "x"), ("b", "y"), ("a", "z"), ("x", "end"), ("a", "end"), ("z", "end")])))
"""


@pytest.mark.slow
def test_the_drawing_does_not_depend_on_hashes():
    runs = [
        subprocess.run([sys.executable, "-c", HASHES], env={"PYTHONHASHSEED": seed}, capture_output=True, check=True)
        for seed in "123"
    ]
    assert len({run.stdout for run in runs}) == 1
