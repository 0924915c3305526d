"""Inputs, cycles, order."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ppdm_flow.core.spans import Span
from ppdm_flow.plan.wiring import wire
from ppdm_flow.policy.loaded import Places

PLACES = Places({(): Span("p.yaml", 1, 1, 1, 2)}, {(): Span("p.yaml", 1, 1, 1, 2)})


def codes(wiring):
    return [d.code for d in wiring.diagnostics]


def test_defaults_follow_the_file():
    wiring = wire({"a": None, "b": None, "c": "source"}, {"r": None, "s": "a"}, PLACES)
    assert wiring.inputs == {"a": "source", "b": "a", "c": "source"}
    assert wiring.origins == {"r": "c", "s": "a"}
    assert wiring.order == ("a", "c", "b")
    assert codes(wiring) == ["PPF603"]  # nothing comes from b


def test_no_steps_at_all():
    wiring = wire({}, {"r": None}, PLACES)
    assert wiring.origins == {"r": "source"}
    assert not wiring.diagnostics


def test_unknown_names_are_suggested():
    wiring = wire({"suppress": None, "perturb": "supress"}, {"r": "pertrub"}, PLACES)
    assert [(d.code, d.hint) for d in wiring.diagnostics] == [
        ("PPF601", "did you mean `suppress`?"),
        ("PPF604", "did you mean `perturb`?"),
    ]
    assert wiring.inputs["perturb"] is None
    assert wiring.order == ("suppress",)


def test_a_cycle_is_named_in_full_and_once():
    wiring = wire({"c": "b", "a": "c", "b": "a", "d": "a", "e": "source"}, {"r": "e"}, PLACES)
    cycles = [d.message for d in wiring.diagnostics if d.code == "PPF602"]
    assert cycles == ["the steps read each other in a circle: `a` → `b` → `c` → `a`"]
    assert wiring.order == ("e",)


def test_a_step_may_not_read_itself():
    wiring = wire({"a": "a"}, {"r": "a"}, PLACES)
    assert [d.message for d in wiring.diagnostics] == ["the steps read each other in a circle: `a` → `a`"]


def test_two_cycles_are_two_faults():
    wiring = wire({"a": "b", "b": "a", "c": "d", "d": "c"}, {"r": "a"}, PLACES)
    assert codes(wiring) == ["PPF602", "PPF602"]


def test_source_is_no_name_for_a_step():
    assert "PPF605" in codes(wire({"source": None}, {"r": None}, PLACES))


@given(st.data())
def test_any_wiring_is_ordered_or_has_a_cycle(data):
    """Against a plain fixpoint: a step is in the order if and only if its inputs lead to the source."""
    names = [f"s{i}" for i in range(data.draw(st.integers(1, 7)))]
    inputs = {n: data.draw(st.sampled_from([None, "source", *names])) for n in names}
    wiring = wire(inputs, {"r": names[-1]}, PLACES)
    reached = {"source"}
    for _ in names:
        reached |= {n for n, ref in wiring.inputs.items() if ref in reached}
    assert set(wiring.order) == reached - {"source"}
    for place, name in enumerate(wiring.order):
        assert wiring.inputs[name] in ("source", *wiring.order[:place])
    cycles = [d for d in wiring.diagnostics if d.code == "PPF602"]
    assert bool(cycles) == (len(wiring.order) < len(names))
    in_cycles = [n for n in names if any(f"`{n}`" in d.message for d in cycles)]
    for name in in_cycles:
        at = wiring.inputs[name]
        for _ in names:
            if at == name:
                break
            at = wiring.inputs[at]
        assert at == name


@given(st.permutations(["a", "b", "c", "d"]))
def test_the_order_does_not_depend_on_the_files_order(names):
    inputs = {"a": "source", "b": "a", "c": "source", "d": "b"}
    wiring = wire({n: inputs[n] for n in names}, {"r": "d", "s": "c"}, PLACES)
    assert wiring.order == ("a", "c", "b", "d")


@pytest.mark.parametrize("reference", ["a.left", "a"])
def test_outputs_belong_to_their_step(reference):
    wiring = wire({"a": None, "b": reference}, {"r": None}, PLACES)
    assert wiring.inputs["b"] == reference
    assert wiring.order == ("a", "b")
