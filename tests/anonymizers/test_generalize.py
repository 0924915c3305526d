from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ppdm_flow.anonymizers.generalize.algorithm import Generalize
from ppdm_flow.anonymizers.generalize.spec import GeneralizeParams
from ppdm_flow.core.attributes import AttributeFacts, HierarchySpec
from ppdm_flow.core.errors import PluginError
from ppdm_flow.core.roles import Role
from ppdm_flow.mining.hierarchies.intervals import Intervals, Rounding, written
from ppdm_flow.sdk.anonymizer import StepContext
from ppdm_flow.tables.table import Table
from ppdm_flow.testing.conformance import run
from ppdm_flow.testing.view import InMemoryView


def generalized(values, rule=None, *, hierarchy=None, home=None):
    """The column ``x`` after the step."""
    table = Table.of({"x": values, "y": ["same"] * len(values)})
    facts = {"x": AttributeFacts("x", Role.QUASI_IDENTIFIER, hierarchy=hierarchy)}
    params = GeneralizeParams.model_validate({} if rule is None else {"attributes": {"x": rule}})
    context = StepContext("coarse", facts, (), home=home) if home else StepContext("coarse", facts, ())
    fitted = Generalize(params).fit(InMemoryView.of(table), context)
    released = run(fitted.transform, table, partition_rows=2)[""]
    assert released["y"].texts() == table["y"].texts()
    return released["x"].texts()


def refusal(values, rule=None, **rest) -> str:
    with pytest.raises(PluginError) as raised:
        generalized(values, rule, **rest)
    assert "`x`" in str(raised.value)
    assert "canary" not in str(raised.value)
    return raised.value.diagnostics[0].code


@pytest.mark.parametrize(
    ("rule", "values", "expected"),
    [
        ({"intervals": ["0", "18", "25.5"]}, ["0", "17.9", "18", "25.4"], ["[0, 18)"] * 2 + ["[18, 25.5)"] * 2),
        ({"intervals": [-1, 0, 1], "open_ends": "both"}, ["-2", "-1", "1", "7"], ["< -1", "[-1, 0)", ">= 1", ">= 1"]),
        ({"intervals": [0, 50], "open_ends": "above"}, ["0", "50", "99"], ["[0, 50)", ">= 50", ">= 50"]),
        ({"prefix": 3}, ["53715", "02174", "53", ""], ["537**", "021**", "53", ""]),
        ({"prefix": 0, "mask": "#"}, ["ab", "zürich"], ["######"] * 2),
        ({"prefix": 3}, ["250", "250.1", "25", "251.99", "2501"], ["250***", "250***", "25", "251***", "250***"]),
        ({"round": "1000"}, ["1499", "1500", "-1500", "0.2", "1e4"], ["1000", "2000", "-2000", "0", "10000"]),
        ({"round": "0.1"}, ["0.25", "0.349", "7"], ["0.3", "0.3", "7"]),
        ({"bottom": 15, "top": 40}, ["12", "15", "16.0", "39", "40"], ["<= 15", "<= 15", "16.0", "39", ">= 40"]),
        ({"top": 90}, ["-5", "101"], ["-5", ">= 90"]),
        ({"top": 90, "round": 10}, ["42", "89", "90", "101"], ["40", "80", ">= 90", ">= 90"]),
        ({"top": 90, "bottom": 20, "round": 10}, ["19.5", "20", "21", "46"], ["<= 20", "<= 20", "30", "50"]),
        ({"top": 88, "round": 10}, ["84", "85", "87.9", "88"], ["80", "80", "80", ">= 88"]),
        ({"top": 90, "bottom": 20, "coded": "number"}, ["19.5", "21", "101"], ["20", "21", "90"]),
        ({"top": 90, "round": 10, "coded": "number"}, ["42", "101"], ["40", "90"]),
        ({"date": "year"}, ["2024-02-29", "1999-12-31T23:59:59"], ["2024", "1999"]),
        ({"date": "month"}, ["2024-02-29"], ["2024-02"]),
        ({"date": "quarter"}, ["2024-03-31", "2024-04-01", "2024-12-01"], ["2024-Q1", "2024-Q2", "2024-Q4"]),
        ({"date": "decade"}, ["1976-01-21", "2000-01-01"], ["1970s", "2000s"]),
        ({"date": "year", "format": "%m/%d/%y"}, ["1/21/76", "4/13/86"], ["1976", "1986"]),
    ],
)  # fmt: skip
def test_every_method(rule, values, expected):
    assert generalized(values, rule) == expected


def test_missing_and_suppressed_cells_stay():
    assert generalized(["12", None, "⊥", "99"], {"intervals": [0, 50, 100]}) == ["[0, 50)", None, "⊥", "[50, 100)"]


@pytest.mark.parametrize(
    ("rule", "values", "code"),
    [
        ({"intervals": [0, 50]}, ["50"], "PPF789"),
        ({"intervals": [0, 50], "open_ends": "above"}, ["-1"], "PPF789"),
        ({"intervals": [0, 50]}, ["canary"], "PPF786"),
        ({"intervals": [0, 50]}, ["nan"], "PPF786"),
        ({"intervals": [0, 50], "open_ends": "both"}, ["inf"], "PPF786"),
        ({"round": 10}, ["1_000"], "PPF786"),
        ({"round": 10}, ["1e999999"], "PPF786"),
        ({"top": 10}, [""], "PPF786"),
        ({"date": "year"}, ["canary"], "PPF786"),
        ({"date": "year"}, ["2023-02-29"], "PPF786"),
        ({"date": "year", "format": "%d.%m.%Y"}, ["2023-02-20"], "PPF786"),
        ({}, ["a"], "PPF780"),
        ({"prefix": 1, "round": 10}, ["1"], "PPF782"),
    ],
)
def test_values_that_cannot_be_placed_are_refused(rule, values, code):
    assert refusal(["1", *values] if "date" not in rule else values, rule) == code


def test_the_error_counts_distinct_values():
    with pytest.raises(PluginError, match="2 of 3 distinct values"):
        generalized(["canary", "canary2", "7", "7"], {"round": 10})


def test_the_attributes_own_hierarchy_is_the_default():
    intervals = HierarchySpec(intervals=(0.0, 18.0, 65.0))
    assert generalized(["3", "20"], hierarchy=intervals) == ["[0, 18)", "[18, 65)"]
    assert generalized(["3", "20"], {"level": 0}, hierarchy=intervals) == ["3", "20"]
    assert generalized(["3", "99"], {"level": 2}, hierarchy=intervals) == ["*", "*"]
    assert refusal(["3"], {"level": 3}, hierarchy=intervals) == "PPF788"
    levels = HierarchySpec(levels=(("US", ("America", "*")), ("France", ("Europe", "*"))))
    assert generalized(["US", "France"], hierarchy=levels) == ["America", "Europe"]
    assert generalized(["US", "France"], {"level": "2"}, hierarchy=levels) == ["*", "*"]
    assert refusal(["US", "canary"], hierarchy=levels) == "PPF789"


def test_nothing_to_generalize():
    with pytest.raises(PluginError, match="PPF780"):
        generalized(["a"])


def test_hierarchy_files(tmp_path):
    (tmp_path / "h.csv").write_text("US;America;*\nFrance;Europe;*\nWallis;Europe;*\n", encoding="utf-8")
    assert generalized(["US", "France"], {"hierarchy": "h.csv"}, home=tmp_path) == ["America", "Europe"]
    assert generalized(["US", "France"], {"hierarchy": "h.csv", "level": 2}, home=tmp_path) == ["*", "*"]
    own = HierarchySpec(csv="h.csv")
    assert generalized(["Wallis", "US"], hierarchy=own, home=tmp_path) == ["Europe", "America"]
    assert refusal(["US", "canary"], hierarchy=own, home=tmp_path) == "PPF789"
    assert refusal(["US"], {"level": 3}, hierarchy=own, home=tmp_path) == "PPF788"


def test_hierarchy_files_with_quotes_and_another_delimiter(tmp_path):
    (tmp_path / "h.csv").write_text('\ufeff"a, b",first\n"c ""d""",second\n', encoding="utf-8")
    rule = {"hierarchy": "h.csv", "delimiter": ","}
    assert generalized(["a, b", 'c "d"'], rule, home=tmp_path) == ["first", "second"]


@pytest.mark.parametrize(
    ("content", "part"),
    [
        (None, "cannot be read"),
        (b"", "no levels"),
        (b"a,b\n", "no levels"),
        (b"a;b\nc\n", "line 2"),
        (b"a;b\na;c\n", "line 2"),
        (b"a;\n", "empty label in line 1"),
        (b"\xff;a\n", "UTF-8"),
        (b'"a;b\n', "not a CSV"),
        ("a;⊥\n".encode(), "mark of suppressed cells"),
    ],
)
def test_hierarchy_files_that_are_none(tmp_path, content, part):
    if content is not None:
        (tmp_path / "h.csv").write_bytes(content)
    with pytest.raises(PluginError, match=part) as raised:
        generalized(["a"], {"hierarchy": "h.csv"}, home=tmp_path)
    assert raised.value.diagnostics[0].code == "PPF788"


def test_patterns_and_lists_of_names():
    table = Table.of({"zip_a": ["53715"], "zip_b": ["02174"], "other": ["12345"]})
    params = GeneralizeParams.model_validate({"attributes": {"zip_*": {"prefix": 3}, "zip_b": {"prefix": 1}}})
    released = run(Generalize(params).fit(InMemoryView.of(table), StepContext("s", {}, ())).transform, table)[""]
    assert [released[n].texts()[0] for n in table.names] == ["537**", "0****", "12345"]
    assert GeneralizeParams.model_validate({"attributes": ["a", "b"]}).attributes.keys() == {"a", "b"}
    assert GeneralizeParams.model_validate({"attributes": {"a": None}}).attributes["a"].level == 1


@given(st.lists(st.decimals(-1000, 1000, places=3).map(str), min_size=1, max_size=20))
def test_intervals_contain_their_values(values):
    for text, label in zip(values, Intervals((-500.0, 0.0, 0.5, 700.0), "both").labels(values), strict=True):
        number = float(text)
        if label[0] == "[":
            low, high = map(float, label[1:-1].split(", "))
            assert low <= number < high
        else:
            assert (number < -500) if label == "< -500" else (number >= 700 and label == ">= 700")


@given(st.lists(st.integers(-10_000, 10_000).map(str), min_size=1, max_size=20), st.sampled_from([1.0, 7.0, 25.0]))
def test_rounding_gives_a_near_multiple(values, base):
    for text, label in zip(values, Rounding(base).labels(values), strict=True):
        assert int(label) % base == 0
        assert abs(int(label) - int(text)) <= base / 2


@pytest.mark.parametrize(("number", "text"), [(18.0, "18"), (0.1, "0.1"), (-3.50, "-3.5"), (1e20, "1" + "0" * 20)])
def test_numbers_are_written_plainly(number, text):
    assert written(number) == text


@pytest.mark.parametrize(
    ("levels", "refused"),
    [
        ({"HIV": ("flu",), "flu": ("HIV",)}, True),
        ({"HIV": ("flu",), "flu": ("cold",)}, True),
        ({"HIV": ("flu",), "flu": ("flu",)}, False),
        ({"HIV": ("infection",), "flu": ("infection",)}, False),
    ],
)
def test_a_label_is_not_another_values_name(levels, refused):
    hierarchy = HierarchySpec(levels=tuple(levels.items()))
    if refused:
        assert refusal(["HIV", "flu"], hierarchy=hierarchy) == "PPF788"
    else:
        assert len(generalized(["HIV", "flu"], hierarchy=hierarchy)) == 2
