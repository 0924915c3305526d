"""The plugin as the engine drives it: null semantics, infeasible templates, the written cells."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import entropy

from ppdm_flow.anonymizers.progressive_disclosure.algorithm import ProgressiveDisclosure
from ppdm_flow.anonymizers.progressive_disclosure.spec import DisclosureParams
from ppdm_flow.core.attributes import AttributeFacts
from ppdm_flow.core.errors import PluginError
from ppdm_flow.core.requirement_families import by_attribute
from ppdm_flow.core.roles import Nulls, Role
from ppdm_flow.requirements.templates.requirement import InferenceTemplate
from ppdm_flow.sdk.anonymizer import StepContext
from ppdm_flow.tables.table import Table
from ppdm_flow.testing.claims import confidence
from ppdm_flow.testing.conformance import run
from ppdm_flow.testing.strategies import cells, tables
from ppdm_flow.testing.view import InMemoryView


def fit(view, *templates, nulls=Nulls.OWN_CATEGORY, **params):
    facts = {f.name: AttributeFacts(f.name, f.role) for f in view.schema}
    context = StepContext("suppress", facts, templates, nulls)
    return ProgressiveDisclosure(DisclosureParams(**params)).fit(view, context)


def template(confidence, *channel, sensitive=(("S", "bad"),), name="t"):
    return InferenceTemplate.of(
        f"privacy.templates.{name}", name, channel=channel, sensitive=by_attribute(sensitive), confidence=confidence
    )


def test_the_papers_table_2(papers):
    view = papers.bank()
    fitted = fit(view, papers.discharged("t", 0.75, "Job", "Country"))
    released = run(fitted.transform, view.whole)[""]
    assert released["Job"].texts() == ["Cook", "Artist", "Artist", "Doctor", "Doctor", *["⊥"] * 5]
    assert released["Country"].texts() == ["US", "France", "France", "US", "US", *["⊥"] * 5]
    assert released["Child"].texts() == view.whole["Child"].texts()
    values = {name: figure.value for name, figure in fitted.figures.items()}
    kept = values.pop("information_kept")
    job = 4 / 24 * entropy([1 / 4, 3 / 4], base=2) + 6 / 24 * entropy([4 / 6, 2 / 6], base=2)
    country = 10 / 24 * entropy([4 / 10, 6 / 10], base=2) + 4 / 24 * entropy([1 / 4, 3 / 4], base=2)
    assert kept == pytest.approx(2 * entropy([15 / 24, 9 / 24], base=2) - job - country)
    assert values == {
        "suppressed_cells": 20, "suppressed_share": 20 / 48, "disclosed_values": 5, "suppressed_values": 4,
        "Job.suppressed_share": 10 / 24, "Country.suppressed_share": 10 / 24, "disclosures": 5,
        "redundant_templates": 0,
    }  # fmt: skip
    searched, by_attribute = fitted.charts
    assert (by_attribute.x, by_attribute.series[0].y) == (("Job", "Country"), (10 / 24, 10 / 24))
    assert searched.x == ("1. Job", "2. Job", "3. Job", "4. Country", "5. Country")
    first = {series.name: round(series.y[0], 4) for series in searched.series}
    assert first == {"score": 0.2672, "information gain": 0.2784, "privacy loss": 0.0417}


def test_not_even_the_dictionary_keeps_a_suppressed_value(papers):
    view = papers.bank()
    released = run(fit(view, papers.discharged("t", 0.75, "Job", "Country")).transform, view.whole)[""]
    assert released["Job"].categories.to_pylist() == ["Artist", "Cook", "Doctor"]


def test_an_infeasible_template_is_named_with_its_confidence():
    view = InMemoryView.of(Table.of({"A": ["x", "y", "z", "x"], "S": ["bad", "bad", "good", "good"]}))
    with pytest.raises(PluginError) as raised:
        fit(view, template(0.4, "A"))
    (found,) = raised.value.diagnostics
    assert found.code == "PPF784"
    assert "privacy.templates.t" in found.message
    assert "0.5" in found.message
    assert raised.value.exit_status == 2


def test_every_infeasible_template_is_reported_at_once():
    view = InMemoryView.of(Table.of({"A": ["x", "y"], "B": ["u", "v"], "S": ["bad", "bad"]}))
    with pytest.raises(PluginError) as raised:
        fit(view, template(0.4, "A"), template(0.5, "B", name="u"))
    assert len(raised.value.diagnostics) == 2


def test_a_confidence_equal_to_the_bound_holds():
    view = InMemoryView.of(Table.of({"A": list("xxxyyyzzz"), "S": ["bad", "good", "good"] * 3}))
    released = run(fit(view, template(1 / 3, "A")).transform, view.whole)[""]
    assert released["A"].texts() == view.whole["A"].texts()


@pytest.mark.parametrize("nulls", list(Nulls))
def test_missing_values(nulls):
    table = Table.of({"A": ["x", "x", None, None, "y", "y"], "S": ["good"] * 5 + ["bad"]})
    view = InMemoryView.of(table)
    released = run(fit(view, template(0.9, "A"), nulls=nulls).transform, table)[""]
    own = [None, None] if nulls is Nulls.OWN_CATEGORY else ["⊥", "⊥"]
    assert released["A"].texts() == ["x", "x", *own, "y", "y"]


def test_a_missing_value_is_suppressed_where_it_gives_away():
    table = Table.of({"A": ["x", "x", None, "y", "y"], "S": ["good", "good", "bad", "bad", "good"]})
    released = run(fit(InMemoryView.of(table), template(0.5, "A")).transform, table)[""]
    assert None not in released["A"].texts()
    assert confidence(released, ("A",), "S", "bad") <= 0.5


@pytest.mark.parametrize("nulls", [Nulls.WILDCARD, Nulls.EXCLUDE])
def test_missing_values_that_may_not_be_suppressed_are_refused(nulls):
    view = InMemoryView.of(Table.of({"A": ["x", None, "y"], "B": ["u", "u", "v"], "S": ["good"] * 3}))
    with pytest.raises(PluginError, match="PPF799") as raised:
        fit(view, template(0.5, "A", "B"), nulls=nulls, attributes=("B",))
    assert "`A`" in str(raised.value)


def test_cells_that_come_suppressed_stay_so_and_count():
    table = Table.of({"A": ["x", "⊥", "⊥", "y"], "S": ["good", "bad", "good", "good"]})
    fitted = fit(InMemoryView.of(table), template(0.5, "A"))
    released = run(fitted.transform, table)[""]
    assert released["A"].texts()[1:3] == ["⊥", "⊥"]
    assert confidence(released, ("A",), "S", "bad") <= 0.5


def test_the_last_value_is_disclosed_since_the_mark_would_hide_nothing():
    table = Table.of({"A": ["x", "x"], "S": ["good", "bad"], "C": ["g", "g"]})
    fitted = fit(InMemoryView.of(table, {"C": Role.TARGET}), template(0.5, "A"))
    assert run(fitted.transform, table)[""]["A"].texts() == ["x", "x"]


def test_only_chosen_templates_are_enforced(papers):
    wanted = (papers.discharged("a", 0.75, "Job", "Country"), papers.discharged("b", 0.5, "Job", "Child"))
    fitted = fit(papers.bank(), *wanted, templates=("b",))
    assert set(fitted.transform.describe()["attributes"]) == {"Job", "Child"}
    with pytest.raises(PluginError, match="PPF780"):
        fit(papers.bank(), *wanted, templates=("c",))


def test_values_never_seen_are_suppressed(papers):
    fitted = fit(papers.bank(), papers.discharged("t", 0.75, "Job", "Country"))
    other = Table.of({"Job": ["Cook", "Pilot"], "Country": ["US", "Chile"]})
    released = run(fitted.transform, other)[""]
    assert released["Job"].texts() == ["Cook", "⊥"]
    assert released["Country"].texts() == ["US", "⊥"]


def test_information_gain_needs_a_target():
    view = InMemoryView.of(Table.of({"A": ["x"], "S": ["good"]}))
    with pytest.raises(PluginError, match="PPF780"):
        fit(view, template(0.5, "A"), score="information_gain")


@pytest.mark.parametrize("rows", [0, 1])
def test_tiny_tables(rows):
    table = Table.of({"A": ["x"] * rows, "S": ["good"] * rows})
    released = run(fit(InMemoryView.of(table), template(0.5, "A")).transform, table)[""]
    assert released["A"].texts() == ["x"] * rows


COLUMNS = {
    "A": cells("abc", missing=True, suppressed=True),
    "B": cells("xyz", missing=True),
    "S": cells(["bad", "good"], missing=True),
    "C": cells("gh"),
}


@given(
    tables(COLUMNS, max_rows=25),
    st.sampled_from([0.3, 0.5, 0.7]),
    st.sampled_from(list(Nulls)),
    st.sampled_from(["useful", "valid"]),
    st.booleans(),
)
def test_the_template_holds_afterwards(table, bound, nulls, disclose, target):
    view = InMemoryView.of(table, {"C": Role.TARGET} if target else {}, partition_rows=4)
    wanted = (template(bound, "A", "B"), template(bound, "B", sensitive=(("S", "good"),), name="u"))
    try:
        fitted = fit(view, *wanted, nulls=nulls, disclose=disclose)
    except PluginError as error:
        refused = {d.code for d in error.diagnostics}
    else:
        refused = set()
    shares = {v: table["S"].texts().count(v) / len(table) for v in ("bad", "good")}
    if refused or max(shares.values()) > bound + 1e-9:
        assert refused == {"PPF784"}
        return
    released = run(fitted.transform, table)[""]
    assert confidence(released, ("A", "B"), "S", "bad") <= bound + 1e-9
    assert confidence(released, ("B",), "S", "good") <= bound + 1e-9
    hidden = sum(c == "⊥" for n in ("A", "B") for c in released[n].texts())
    assert fitted.figures["suppressed_cells"].value == hidden


def renamed(**sources):
    return {name: AttributeFacts(name, Role.INSENSITIVE, source=source) for name, source in sources.items()}


def test_renamed_attributes_are_still_suppressed():
    table = Table.of({"X": ["u", "u", "v", "v"], "Z": ["bad", "bad", "good", "good"]})
    context = StepContext("suppress", renamed(X="A", Z="S"), (template(0.5, "A"),))
    fitted = ProgressiveDisclosure(DisclosureParams()).fit(InMemoryView.of(table), context)
    assert run(fitted.transform, table)[""]["X"].texts() == ["⊥"] * 4


def test_a_channel_is_narrowed_to_what_is_left_of_it():
    """Dropping B does not protect: a reader who knows A alone could still infer."""
    table = Table.of({"A": ["u", "u", "v", "v"], "S": ["bad", "bad", "good", "good"]})
    context = StepContext("suppress", renamed(A="A", S="S"), (template(0.5, "A", "B"),))
    fitted = ProgressiveDisclosure(DisclosureParams()).fit(InMemoryView.of(table), context)
    assert run(fitted.transform, table)[""]["A"].texts() == ["⊥"] * 4
    without = StepContext("suppress", renamed(A="A"), (template(0.5, "A", "B"),))
    with pytest.raises(PluginError, match="PPF780"):
        ProgressiveDisclosure(DisclosureParams()).fit(InMemoryView.of(table), without)


def test_rows_of_weight_zero_neither_count_nor_stand_in_the_way():
    cells = {"A": ["u", "u", "v", "w"], "S": ["good", "bad", "good", "bad"], "n": ["1", "1", "2", "0"]}
    table = Table.of(cells)
    fitted = fit(InMemoryView.of(table, {"n": Role.WEIGHT}), template(0.5, "A"))
    assert run(fitted.transform, table)[""]["A"].texts() == ["u", "u", "v", "⊥"]
    assert fitted.figures["suppressed_cells"].value == 0
    assert fitted.figures["suppressed_values"].value == 0
