"""One ladder for every form of a hierarchy: labels, levels, leaves, and what is refused."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ppdm_flow.core.attributes import HierarchySpec
from ppdm_flow.core.errors import PluginError
from ppdm_flow.mining.hierarchies.intervals import joined
from ppdm_flow.mining.hierarchies.ladder import ancestors, full_hierarchy, ladder, ordered, read_csv

HERE = Path()
FORMS = {
    "intervals": (HierarchySpec(intervals=(0, 10, 20, 30, 40), then=(2, 2)), ["3", "12", "39"]),
    "open": (HierarchySpec(intervals=(0, 10, 20), then=(2,), open_ends="both"), ["-3", "12", "39"]),
    "prefix": (HierarchySpec(prefix=(3, 1)), ["10115", "10117", "20095"]),
    "date": (HierarchySpec(date=("month", "year", "decade")), ["2024-05-17", "2024-06-01", "1999-12-31"]),
    "order": (HierarchySpec(order=("none", "mild", "strong", "worst", "dead"), then=(2, 2)), ["mild", "dead", "none"]),
    "levels": (HierarchySpec(levels=(("a", ("x", "*")), ("b", ("x", "*")), ("c", ("y", "*")))), ["a", "b", "c"]),
}
EXPECTED = {
    "intervals": [["[0, 10)", "[10, 20)", "[30, 40)"], ["[0, 20)", "[0, 20)", "[20, 40)"], ["[0, 40)"] * 3],
    "open": [["< 0", "[10, 20)", ">= 20"], ["< 0", "[0, 20)", ">= 20"], ["*"] * 3],
    "prefix": [["101**", "101**", "200**"], ["1****", "1****", "2****"], ["*"] * 3],
    "date": [["2024-05", "2024-06", "1999-12"], ["2024", "2024", "1999"], ["2020s", "2020s", "1990s"], ["*"] * 3],
}


@pytest.mark.parametrize("form", sorted(EXPECTED))
def test_levels_of_forms_without_a_list_of_values(form) -> None:
    own, values = FORMS[form]
    found = full_hierarchy("x", own, values, HERE)
    assert found.levels == (tuple(values), *(tuple(level) for level in EXPECTED[form]))
    assert ladder("x", own, HERE).leaves is None


def test_levels_of_an_order_and_of_a_list_hold_values_that_the_data_lack() -> None:
    own, values = FORMS["order"]
    assert full_hierarchy("x", own, values, HERE).levels == (
        ("none", "mild", "strong", "worst", "dead"),
        ("none to mild", "none to mild", "strong to worst", "strong to worst", "dead"),
        ("none to worst",) * 4 + ("dead",),
        ("*",) * 5,
    )
    assert full_hierarchy("x", FORMS["levels"][0], ["c"], HERE).leaves == ("a", "b", "c")


@pytest.mark.parametrize("form", sorted(FORMS))
def test_every_level_is_a_coarsening_of_the_one_below(form) -> None:
    levels = full_hierarchy("x", *FORMS[form], HERE).levels
    for low, high in pairwise(levels):
        assert len(set(zip(low, high, strict=True))) == len(set(low))
    assert len(set(levels[-1])) == 1


@given(st.lists(st.integers(2, 4), min_size=1, max_size=4), st.integers(1, 40))
def test_ordered_values_are_joined_without_gaps(then, size) -> None:
    values = [f"v{i:02}" for i in range(size)]
    lines = ordered(values, then)
    for level in zip(*lines.values(), strict=True):
        runs = [label for i, label in enumerate(level) if i == 0 or label != level[i - 1]]
        assert len(runs) == len(set(runs))  # each label is one stretch of neighbours
    assert all(above[-1] == "*" for above in lines.values())


@given(st.integers(2, 60), st.integers(2, 5))
def test_joined_edges_are_edges(many, together) -> None:
    edges = tuple(range(many))
    kept = joined(edges, together)
    assert kept[0] == 0
    assert kept[-1] == many - 1
    assert set(kept) <= set(edges)
    assert all(a < b for a, b in pairwise(kept))
    assert all(b - a == together for a, b in pairwise(kept[:-1]))


def test_spans_are_numbers_in_an_interval_not_values_of_the_data() -> None:
    own = HierarchySpec(intervals=(0, 10, 25, 40), then=(2,), numeric=True)
    assert full_hierarchy("x", own, ["3", "39"], HERE).spans == ((1, 1), (10, 15), (25, 15), (40, 40))
    assert full_hierarchy("x", HierarchySpec(intervals=(0, 10, 25), numeric=False), ["3"], HERE).spans == ()


def test_ancestors_leave_out_what_says_no_more_than_a_suppressed_cell() -> None:
    assert ancestors("x", *FORMS["order"], HERE)[0] == ("none to mild", "none to worst")
    assert ancestors("x", HierarchySpec(prefix=(1, 0)), ["ab", "cd"], HERE) == [("a*",), ("c*",)]
    assert ancestors("x", FORMS["levels"][0], ["a", "c"], HERE) == [("x",), ("y",)]


@pytest.mark.parametrize(
    ("own", "values", "code"),
    [
        (FORMS["order"][0], ["canary"], "PPF789"),
        (FORMS["intervals"][0], ["canary"], "PPF786"),
        (FORMS["intervals"][0], ["40"], "PPF789"),
        (FORMS["date"][0], ["canary"], "PPF786"),
        (HierarchySpec(levels=(("flu", ("HIV",)), ("HIV", ("other",)))), ["flu"], "PPF788"),
        (HierarchySpec(csv="absent.csv"), ["x"], "PPF788"),
    ],
)
def test_what_is_refused_names_the_column_and_no_value(own, values, code) -> None:
    with pytest.raises(PluginError) as raised:
        full_hierarchy("x", own, values, HERE)
    assert raised.value.diagnostics[0].code == code
    assert "`x`" in str(raised.value)
    assert "canary" not in str(raised.value)


def test_a_file_with_another_delimiter_is_told_with_both(tmp_path) -> None:
    for mark, written in ((",", ","), ("\t", "\\t"), ("|", "|")):
        (tmp_path / "h.csv").write_text(f"Paris{mark}FR\nLyon{mark}FR\n")
        with pytest.raises(PluginError) as raised:
            read_csv(tmp_path / "h.csv", ";", "x")
        (diagnostic,) = raised.value.diagnostics
        assert diagnostic.message.endswith("has no levels: no line of it has the delimiter `;`")
        assert f'delimiter: "{written}"' in diagnostic.help
    (tmp_path / "h.csv").write_text("Paris\nLyon\n")
    with pytest.raises(PluginError, match="no levels"):
        read_csv(tmp_path / "h.csv", ";", "x")


def test_a_level_that_there_is_not() -> None:
    steps = ladder("x", FORMS["prefix"][0], HERE)
    assert steps.height == 3
    assert steps.at(0, "x") is None
    assert steps.at(3, "x").labels(["a", "b"]) == ["*", "*"]
    with pytest.raises(PluginError, match="3 levels"):
        steps.at(4, "x")


def test_a_file_as_other_tools_write_it(tmp_path) -> None:
    file = tmp_path / "h.csv"
    file.write_bytes("\ufeffParis;FR;*\r\nLyon;FR;*\r\nRome;IT;*".encode())
    assert read_csv(file, ";", "x") == {"Paris": ("FR", "*"), "Lyon": ("FR", "*"), "Rome": ("IT", "*")}
