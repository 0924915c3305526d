"""Which points are dominated, held against brute force; how a sweep is written and drawn."""

from __future__ import annotations

import csv
import io
import re
from xml.etree import ElementTree as ET

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ppdm_flow.api.documents import SCHEMAS
from ppdm_flow.api.sweep.metrics import Metric
from ppdm_flow.api.sweep.sweep import choose_point, complete, dominators
from ppdm_flow.pictures.svg import Caption
from ppdm_flow.report.sweep import picture
from ppdm_flow.report.sweep.rows import recommended, rows, said, short

SMALL = st.one_of(st.none(), st.integers(0, 3).map(float))
GRIDS = st.integers(1, 4).flatmap(
    lambda m: st.tuples(st.lists(st.tuples(*[SMALL] * m), max_size=12), st.lists(st.booleans(), min_size=m, max_size=m))
)


def beats(one, other, small):
    """The definition, word by word."""
    pairs = [(a, b) if low else (b, a) for a, b, low in zip(one, other, small, strict=True)]
    return all(a <= b for a, b in pairs) and any(a < b for a, b in pairs)


@given(GRIDS)
def test_dominated_points_are_those_that_brute_force_finds(case):
    points, small = case
    whole = {i for i, p in enumerate(points) if complete(p)}
    beaten = {i for i in whole if any(beats(points[j], points[i], small) for j in whole)}
    found = dominators(points, small)
    assert {i for i, by in enumerate(found) if by is not None} == beaten
    for i in beaten:
        assert beats(points[found[i]], points[i], small)
        assert found[i] not in beaten  # named is one that is worth having itself


def test_equal_points_stay_and_incomplete_ones_take_no_part():
    assert dominators([(1.0, 1.0), (1.0, 1.0), (None, 0.0)], (True, True)) == (None, None, None)
    assert dominators([], (True,)) == ()


def figure(value, **more):
    return {"value": value, **more}


def point(number, k, nas, wrong, **more):
    return {
        "number": number,
        "values": {"privacy.k_anonymity.k": k},
        "verdict": "released",
        "released": 1,
        "runs": 1,
        "failing": [],
        "seconds": 0.5,
        "metrics": {"privacy.score.nas": figure(nas, interval=[nas - 0.05, nas + 0.05]), "c.error": figure(wrong)},
        "on_frontier": True,
        "dominated_by": None,
        **more,
    }


@pytest.fixture
def document():
    failed = {"verdict": "failed", "metrics": {}, "seconds": None, "on_frontier": False}
    withheld = {"verdict": "withheld", "failing": ["privacy.score"], "released": 0}
    return {
        "version": 1,
        "policy": "a <b>",
        "over": [{"path": "privacy.k_anonymity.k", "values": ["2", "5", "9", "<x>"]}],
        "metrics": [
            {"name": "privacy.score.nas", "unit": "share", "direction": "min", "requirement": True},
            {"name": "c.error", "unit": "share", "direction": "min", "requirement": False},
        ],
        "points": [
            point(1, "2", 0.6, 0.1, **withheld),
            point(2, "5", 0.3, 0.2),
            point(3, "9", 0.4, 0.3, on_frontier=False, dominated_by=2),
            point(4, "<x>", 0.4, 0.3, error={"code": "PPF714", "message": "no rows", "exit_status": 2}, **failed),
        ],
        "run": {
            "started": "2026-11-21T10:00:00+00:00",
            "finished": "2026-11-21T10:00:03+00:00",
            "seconds": 3.0,
            "repeat": 1,
            "workers": 2,
            "randomness": "sealed",
            "versions": {"ppdm_flow": "0.2.0"},
        },
    }


def test_the_document_fits_its_schema(document):
    jsonschema.validate(document, SCHEMAS["sweep"]())
    document["points"][0]["more"] = 1
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(document, SCHEMAS["sweep"]())


def test_the_table_says_where_each_point_stands(document):
    lines = picture.plain(document).splitlines()
    assert lines[0] == "a <b>: 4 points, measured in 3 s; no data was released. 1 failed. 2 are not dominated."
    (head,) = [i for i, line in enumerate(lines) if line.split()[:2] == ["#", "k"]]
    found = [line.split() for line in lines[head + 1 : head + 5]]
    assert found[0][:4] == ["*", "1", "2", "withheld"]
    assert found[1][:4] == ["*", "2", "5", "released"]
    assert " ".join(found[2][-5:]) == "dominated by 2 500 ms"
    assert found[3][-1] == "PPF714"
    assert "nas: privacy.score.nas, smaller is better" in lines
    assert "withheld because of: privacy.score" in lines


KEPT = Metric("information_kept.mean_kept", "share", "max", privacy=False)
RISK = Metric("risk.prosecutor_highest", "probability", "min", privacy=False)


def candidate(number, kept, risk, **more):
    figures = {KEPT.name: figure(kept), RISK.name: figure(risk)}
    return point(number, str(number), 0.1, 0.1, **more) | {"metrics": figures}


def test_the_point_that_keeps_most_is_recommended():
    """Of those whose requirements hold: others keep more, and one is waived."""
    points = [
        candidate(1, 0.9, 0.5, verdict="withheld", failing=["privacy.k_anonymity"]),
        candidate(2, 0.8, 0.4, failing=["privacy.k_anonymity"]),
        candidate(3, 0.7, 0.2),
        candidate(4, 0.5, 0.1),
        candidate(5, 0.1, 0.1),
        candidate(6, None, 0.0),
    ]
    kept = [p["metrics"][KEPT.name]["value"] for p in points]
    loss = {"metric": RISK.name, "value": 0.2, "best": 0.1, "point": 4, "kept": 0.5}
    assert choose_point(points, kept, (RISK, KEPT)) == {"point": 3, "kept": 0.7, "among": 3, "gives_up": [loss]}
    assert choose_point(points[:2], kept[:2], (RISK, KEPT)) is None
    assert choose_point(points[5:], kept[5:], (RISK, KEPT)) is None
    equal = [candidate(1, 0.7, 0.3, on_frontier=False, dominated_by=2), candidate(2, 0.7, 0.2)]
    assert choose_point(equal, [0.7, 0.7], (RISK, KEPT)) == {"point": 2, "kept": 0.7, "among": 2, "gives_up": []}
    ties = [candidate(1, 0.7, 0.2), candidate(2, 0.5, 0.2), candidate(3, 0.7 + 1e-14, 0.2)]
    assert choose_point(ties, [0.7, 0.5, 0.7 + 1e-14], (RISK, KEPT))["tied"] == [3]


def test_the_recommended_point_is_said_with_what_it_gives_up(document):
    document["metrics"].append({"name": KEPT.name, "unit": "share", "direction": "max", "requirement": False})
    for each, kept in zip(document["points"], (0.9, 0.74, 0.5, None), strict=True):
        each["metrics"] |= {} if kept is None else {KEPT.name: figure(kept)}
    losses = [{"metric": "c.error", "value": 0.2, "best": 0.1, "point": 3, "kept": 0.5}]
    document["recommended"] = {"point": 2, "kept": 0.74, "among": 2, "gives_up": losses}
    document["points"][1]["recommended"] = True
    jsonschema.validate(document, SCHEMAS["sweep"]())
    sentence = (
        "Recommended: point 2 (k 5). It keeps 74% of the information, the most of 2 points whose requirements hold."
        " It gives up: error is 20%, and 10% at point 3, which keeps 50%."
    )
    assert recommended(document) == sentence
    assert picture.plain(document).splitlines()[1] == sentence
    assert "frontier, recommended" in picture.plain(document)
    assert sentence in picture.markdown(document)
    assert sentence in picture.render(document)
    document["recommended"] |= {"tied": [3], "among": 3}
    jsonschema.validate(document, SCHEMAS["sweep"]())
    assert recommended(document) == (
        "None is recommended: points 2 and 3 keep most of 3 points whose requirements hold, 74% of the information"
        " each, and the other figures do not decide between them."
    )
    del document["recommended"]
    assert not recommended(document)


def test_points_that_promise_other_things_are_not_compared(document):
    each = [
        {"point": 2, "kept": 0.74, "among": 2, "gives_up": []},
        {"point": 3, "kept": 0.5, "among": 1, "gives_up": []},
    ]
    axis = document["over"][0]["path"]
    document["recommended_by_promise"] = {"axes": [axis], "points": each}
    jsonschema.validate(document, SCHEMAS["sweep"]())
    values = [point["values"][axis] for point in document["points"]]
    text = recommended(document)
    assert text.startswith("The points differ in what they promise (k), so none is recommended over another")
    assert f"With k {values[1]}, point 2 keeps 74% of the information, the most of 2 points." in text
    assert f"With k {values[2]}, point 3 keeps 50% of the information." in text
    document["recommended_by_promise"] = {"axes": [axis], "points": []}
    assert not recommended(document)


def test_a_figure_that_cannot_be_compared_has_no_number(document):
    document["points"][1]["metrics"]["c.error"] = figure(None, note="not compared: rows cannot be paired")
    assert "not compared" in rows(document).rows[1].figures


def test_markdown_shows_text_as_it_is(document):
    found = picture.markdown(document)
    assert "## Sweep of a &lt;b&gt;" in found
    assert "| **2** | 5 | released |" in found
    assert "&lt;x&gt;" in found


def test_csv_has_every_figure_unrounded(document):
    document["points"][1]["metrics"]["c.error"]["value"] = 1 / 3
    found = list(csv.DictReader(io.StringIO(picture.csv(document))))
    assert len(found) == 4
    assert float(found[1]["c.error"]) == 1 / 3
    assert (float(found[0]["privacy.score.nas.low"]), found[0]["verdict"]) == (0.6 - 0.05, "withheld")
    assert (found[2]["dominated_by"], found[2]["on_frontier"]) == ("2", "false")
    assert (found[3]["error"], found[3]["c.error"]) == ("PPF714", "")


def test_the_picture_tells_points_apart_without_colour(document):
    tree = ET.fromstring(picture.svg(document))
    space = {"s": "http://www.w3.org/2000/svg"}
    panel, legend = tree.findall("s:g", space)
    dots = [c.get("class") for c in panel.findall("s:circle", space)]
    squares = [r.get("class") for r in panel.findall("s:rect", space)]
    assert sorted(dots) == ["dot s0 hollow", "dot s1"]
    assert squares == ["dot s1"]  # not dominated, but a requirement does not hold
    assert len(legend) == 6
    titles = [t.text for t in panel.findall(".//s:title", space)]
    assert "k 9: nas 40% (35% to 45%), error 30%; released, dominated by 2" in titles
    assert tree.find("s:title", space).text == "Sweep of a <b>"
    assert "2 are not dominated: k 2; k 5" in tree.find("s:desc", space).text
    assert "light-dark(" in tree.find("s:style", space).text


def test_no_marks_outside_of_the_picture(document):
    (panel,) = picture.panels(document)
    root = ET.fromstring(panel.plot.picture(Caption("")))
    places = [(each.get("cx") or each.get("x"), each.get("cy") or each.get("y")) for each in root.iter()]
    found = [(float(x), float(y)) for x, y in places if x and y]
    assert len(found) > 10
    assert all(0 <= x <= panel.plot.width and 0 <= y <= panel.plot.height for x, y in found)


def test_the_border_of_what_is_dominated_is_a_staircase(document):
    document["points"][0] |= {"verdict": "released", "released": 1}
    (panel,) = picture.panels(document)
    border = re.search(r'class="border" d="M([^"]*)"', panel.plot.picture(Caption("")))[1]
    places = [tuple(map(float, place.split())) for place in border.split("L")]
    assert len(places) == 3
    assert places[0][1] == places[1][1]
    assert places[1][0] == places[2][0]
    assert places[0][0] < places[2][0]


def test_a_figure_that_never_changes_gives_no_picture_where_others_do(document):
    document["metrics"].append({"name": "d.same", "unit": "rows", "direction": "max", "requirement": False})
    for each in document["points"][:3]:
        each["metrics"]["d.same"] = figure(7)
    assert [p.title for p in picture.panels(document)] == ["error against nas"]
    document["metrics"] = document["metrics"][2:]
    assert picture.panels(document) == ()
    assert "nothing to draw" in picture.svg(document)
    assert "nothing to draw" in picture.render(document)


def test_the_page_needs_nothing_else(document):
    found = picture.render(document)
    assert not re.search(r"(src|href)=\"(?!#)", found)
    assert "a &lt;b&gt;" in found
    assert "<b>" not in found.partition("</head>")[0]
    assert "&lt;x&gt;" in found
    assert "default-src 'none'" in found


def test_repeated_points_say_how_often_they_released(document):
    document["run"]["repeat"] = 3
    document["points"][0] |= {"verdict": "mixed", "released": 2, "runs": 3}
    assert rows(document).rows[0].verdict == "released 2 of 3"
    assert "each 3 times" in said(document)


def test_rounding_errors_look_like_nothing(document):
    document["points"][0]["metrics"]["c.error"]["value"] = -3e-16
    assert rows(document).rows[0].figures[1] == "0%"


@pytest.mark.parametrize(
    ("names", "expected"),
    [
        (["a.k", "b.k"], ("a.k", "b.k")),
        (["x.a.k", "y.b.k"], ("a.k", "b.k")),
        (["k", "b.k"], ("k", "b.k")),
        (["r/a.k", "s/a.k", "s/a.l"], ("r/k", "s/k", "l")),
    ],
)
def test_short_names_differ(names, expected):
    assert short(names) == expected


def test_what_is_set_and_what_is_measured_have_unlike_names(document):
    document["metrics"][0]["name"] = "privacy.k_anonymity.k"
    table = rows(document)
    assert (table.axes, table.metrics[0]) == (("k (set)",), "k")


def test_a_ring_and_nothing_dominated(document):
    space = {"s": "http://www.w3.org/2000/svg"}
    document["points"][1]["own"] = True
    document["shown"] = "frontier"
    panel, legend = ET.fromstring(picture.svg(document)).findall("s:g", space)
    assert sorted(c.get("class") for c in panel.findall("s:circle", space)) == ["dot s1", "ring"]
    assert [r.get("class") for r in panel.findall("s:rect", space)] == ["dot s1"]
    assert [t.text for t in legend.findall("s:text", space)] == [
        "filled: not dominated",
        "square: a requirement or gate does not hold",
        "ring: the policy's own values",
    ]
    assert [row.number for row in rows(document).rows] == [1, 2]
    assert rows(document).rows[1].standing == "frontier, the policy's own"
    assert said(document).endswith("2 are not dominated. The policy's own values are point 2: frontier.")
    assert "ring: the policy" in picture.render(document)
    jsonschema.validate(document, SCHEMAS["sweep"]())
