"""The pictures of a report: what is cut is said, and the data stands below."""

from __future__ import annotations

from typing import Any

import pytest

from ppdm_flow.report.run.page import MOST_CHARTS, _chart, budget, picture, trimmed


def chart(kind: str, x: list[str], *series: dict, **more: str) -> Any:
    named = [{"name": f"series {i}"} | one for i, one in enumerate(series)]
    words = {"title": "t", "note": "", "group": "", "x_label": "", "y_label": "share of rows", "id": "c"}
    return words | {"kind": kind, "x": x, "series": named} | more


def cut(document: Any, marks: int) -> Any:
    return trimmed(_chart(document), marks)


def test_cuts_are_said():
    long = chart("bars", [str(i) for i in range(1000)], {"y": [1.0] * 1000}, {"y": [2.0] * 1000})
    kept, note = cut(long, 80)
    assert len(kept.x) == len(kept.series[1].y) == 40
    assert note == "Shown: 40 of 1,000 labels; the rest is in report.json."
    many = chart("bars", ["a"], *({"y": [1.0]} for _ in range(30)))
    assert cut(many, 400)[1] == "Shown: 8 of 30 series; the rest is in report.json."
    wide = chart("matrix", [str(i) for i in range(50)], *({"y": [1.0] * 50} for _ in range(50)))
    kept, note = cut(wide, 80)
    assert len(kept.series) == len(kept.x) == 12
    assert "12 of 50 labels and 12 of 50 rows" in note
    curve = chart("lines", [str(i) for i in range(1000)], {"y": list(range(1000))})
    kept, note = cut(curve, 80)
    assert len(kept.x) == 334
    assert note
    assert cut(chart("lines", ["1", "2"], {"y": [1.0, 2.0]}), 40)[1] == ""


def test_the_budget_bounds_the_page():
    assert all(count * budget(count) <= 4000 for count in range(10, MOST_CHARTS + 1))
    assert budget(0) == budget(1) == 400


def test_the_picture_of_a_chart_says_itself_without_sight():
    found = picture(chart("bars", ["a", "b"], {"name": "original", "y": [0.2, 0.8]}), 100)
    assert "Bar chart of 2 labels, original: from 20% to 80%. The data stands below." in found.drawing
    assert found.head == ("", "original")
    assert found.rows == (("a", "20%"), ("b", "80%"))
    with pytest.raises(ValueError, match="the kind of a chart must be one of"):
        picture(chart("pie", ["a"], {"y": [1.0]}), 100)


def test_the_data_of_a_forest_has_its_intervals():
    original = {"name": "original", "y": [-1.0, 2.0], "low": [-3.0, 1.0], "high": [1.0, 3.0]}
    released = {"name": "released", "y": [-2.0, 4.0], "low": [-4.0, 3.0], "high": [0.0, 5.0]}
    words = {"x_label": "term", "y_label": "standard errors"}
    shown = picture(chart("forest", ["age", "sex"], original, released, **words), 100)
    assert shown.head == ("term", "original", "released")
    assert shown.rows[1] == ("sex", "2 (1 to 3)", "4 (3 to 5)")
    assert [style for _, style in shown.legend] == ["s0", "s1"]
