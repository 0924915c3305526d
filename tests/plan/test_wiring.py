"""Inputs, cycles, order."""

from __future__ import annotations

import re
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ppdm_flow.core.spans import Span
from ppdm_flow.plan.binding import wire
from ppdm_flow.policy.loaded import ResolvedPlaces

PLACES = ResolvedPlaces({(): Span("p.yaml", 1, 1, 1, 2)}, {(): Span("p.yaml", 1, 1, 1, 2)})


def codes(wiring):
    return [d.code for d in wiring.diagnostics]


def test_defaults_follow_the_file():
    wiring = wire({"a": None, "b": None, "c": ("source",)}, {"r": None, "s": "a"}, PLACES)
    assert wiring.inputs == {"a": ("source",), "b": ("a",), "c": ("source",)}
    assert wiring.origins == {"r": "c", "s": "a"}
    assert wiring.order == ("a", "c", "b")
    assert codes(wiring) == ["PPF603"]  # nothing comes from b


def test_no_steps_at_all():
    wiring = wire({}, {"r": None}, PLACES)
    assert wiring.origins == {"r": "source"}
    assert not wiring.diagnostics


def test_unknown_names_are_suggested():
    wiring = wire({"suppress": None, "perturb": ("supress",)}, {"r": "pertrub"}, PLACES)
    assert [(d.code, d.hint) for d in wiring.diagnostics] == [
        ("PPF601", "did you mean `suppress`?"),
        ("PPF601", "did you mean `perturb`?"),
    ]
    assert wiring.inputs["perturb"] is None
    assert wiring.order == ("suppress",)


def test_a_cycle_is_named_in_full_and_once():
    wiring = wire({"c": ("b",), "a": ("c",), "b": ("a",), "d": ("a",), "e": ("source",)}, {"r": "e"}, PLACES)
    cycles = [d.message for d in wiring.diagnostics if d.code == "PPF602"]
    assert cycles == ["the steps read each other in a circle: `a` → `b` → `c` → `a`"]
    assert wiring.order == ("e",)


def test_a_step_may_not_read_itself():
    wiring = wire({"a": ("a",)}, {"r": "a"}, PLACES)
    assert [d.message for d in wiring.diagnostics] == ["the steps read each other in a circle: `a` → `a`"]


def test_two_cycles_are_two_faults():
    wiring = wire({"a": ("b",), "b": ("a",), "c": ("d",), "d": ("c",)}, {"r": "a"}, PLACES)
    assert codes(wiring) == ["PPF602", "PPF602"]


def test_source_is_no_name_for_a_step():
    assert "PPF605" in codes(wire({"source": None}, {"r": None}, PLACES))


def test_what_several_inputs_lead_to_comes_after_all_of_them():
    wiring = wire({"a": None, "b": ("source",), "z": ("source",), "c": ("a", "b.left", "b.right")}, {"r": "c"}, PLACES)
    assert wiring.inputs["c"] == ("a", "b.left", "b.right")
    assert wiring.order == ("a", "b", "z", "c")
    assert [d.message for d in wiring.diagnostics] == ["no release comes from step `z`"]
    assert wiring.graph.edges["b", "c"] == {"outputs": ("left", "right")}


def test_each_unknown_input_of_several_is_told():
    wiring = wire({"a": None, "b": ("a", "x", "y"), "c": None}, {"r": "a"}, PLACES)
    assert codes(wiring) == ["PPF601", "PPF601"]
    assert wiring.inputs["b"] is None
    assert wiring.order == ("a",)


def test_a_circle_through_one_of_several_inputs_is_named():
    wiring = wire({"a": ("source", "c"), "b": ("a",), "c": ("a", "b")}, {"r": "c"}, PLACES)
    (message,) = [d.message for d in wiring.diagnostics]
    assert message in {
        f"the steps read each other in a circle: {ring}" for ring in ("`a` → `c` → `a`", "`a` → `b` → `c` → `a`")
    }
    assert wiring.order == ()


NAMES = [f"s{i}" for i in range(7)]


@given(
    st.dictionaries(st.sampled_from(NAMES), st.lists(st.sampled_from(["source", *NAMES, "x"]), max_size=3), min_size=1)
)
def test_any_wiring_is_ordered_or_has_a_cycle(steps):
    """Against a plain fixpoint: a step is in the order if and only if all its inputs lead to the source."""
    names = list(steps)
    wiring = wire({name: tuple(given) or None for name, given in steps.items()}, {"r": names[-1]}, PLACES)
    depths = {"source": -1}
    for _ in names:
        known = {n: read for n, read in wiring.inputs.items() if read and all(each in depths for each in read)}
        depths |= {n: 1 + max(depths[each] for each in read) for n, read in known.items()}
    assert list(wiring.order) == sorted(depths.keys() - {"source"}, key=lambda name: (depths[name], name))
    if None in wiring.inputs.values():
        return
    rings = [re.findall("`(.*?)`", d.message) for d in wiring.diagnostics if d.code == "PPF602"]
    assert bool(rings) == (len(wiring.order) < len(names))
    for ring in rings:
        assert all(before in wiring.inputs[name] for before, name in pairwise(ring))
        assert ring[0] == ring[-1] == min(ring)
    used, waiting = set(), [wiring.origins["r"]]
    while waiting:
        name = waiting.pop()
        if name in wiring.inputs and name not in used:
            used.add(name)
            waiting += wiring.inputs[name]
    unused = {d.message for d in wiring.diagnostics if d.code == "PPF603"}
    assert unused == {f"no release comes from step `{name}`" for name in wiring.order if name not in used}


@given(st.permutations(["a", "b", "c", "d"]))
def test_the_order_does_not_depend_on_the_files_order(names):
    inputs = {"a": ("source",), "b": ("a",), "c": ("source",), "d": ("b",)}
    wiring = wire({n: inputs[n] for n in names}, {"r": "d", "s": "c"}, PLACES)
    assert wiring.order == ("a", "c", "b", "d")


@pytest.mark.parametrize("reference", ["a.left", "a"])
def test_outputs_belong_to_their_step(reference):
    wiring = wire({"a": None, "b": (reference,)}, {"r": None}, PLACES)
    assert wiring.inputs["b"] == (reference,)
    assert wiring.order == ("a", "b")
