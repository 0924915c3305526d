"""The JSON form of a report, and its schema."""

from __future__ import annotations

import json

import jsonschema
import numpy as np
import pytest

from ppdm_flow.api.documents import SCHEMAS
from ppdm_flow.core.diagnostics import Severity
from ppdm_flow.core.results import Chart, Figure, FigureSeries, Finding, RequirementResult, StepResult
from ppdm_flow.core.spans import Span
from ppdm_flow.report.run.document import document, plain


def valid(found: dict) -> None:
    jsonschema.Draft7Validator(SCHEMAS["report"]()).validate(found)


@pytest.mark.parametrize("failing", [False, True])
def test_documents_are_valid(report, failing):
    found = document(report(failing=failing))
    valid(found)
    valid(json.loads(json.dumps(found, allow_nan=False)))


def test_an_empty_report_is_valid(report):
    empty = report(
        requirements=(), gates=(), metrics={}, steps=(), findings=(), charts=(), releases={}, plan={}, run={}
    )
    valid(document(empty))


@pytest.mark.parametrize(
    "break_it",
    [
        lambda d: d.pop("verdict"),
        lambda d: d.update(verdict="maybe"),
        lambda d: d.update(surprise=1),
        lambda d: d["requirements"][0].update(direction="below"),
        lambda d: d["requirements"][0].update(holds="yes"),
        lambda d: d["metrics"].update(x={"value": 1}),
        lambda d: d["findings"][0].update(hash="xyz"),
        lambda d: d["charts"][0].update(kind="pie"),
    ],
)
def test_the_schema_refuses_what_is_wrong(document, break_it):
    found = document()
    break_it(found)
    with pytest.raises(jsonschema.ValidationError):
        valid(found)


def test_names_of_the_contract(document):
    found = document()
    assert list(found) == [
        "version",
        "audience",
        "policy",
        "verdict",
        "requirements",
        "gates",
        "metrics",
        "steps",
        "findings",
        "waivers",
        "charts",
        "releases",
        "plan",
        "run",
    ]
    first = found["requirements"][0]
    assert first["id"] == "privacy.k_anonymity"
    assert first["measured"] == 7
    assert first["policy_span"] == {
        "file": "pipelines/bank_credit.yaml",
        "line": 20,
        "column": 3,
        "end_line": 23,
        "end_column": 1,
    }
    assert "interval" not in first
    assert found["gates"][0]["interval"] == [0.0131, 0.0302]
    assert found["metrics"]["distributions.mean_association_change"] == {
        "value": None,
        "unit": "share",
        "note": "fewer than two attributes are left",
    }


def test_figures_of_steps_are_metrics(document):
    assert document()["metrics"]["suppress.rounds"] == {"value": 14, "unit": "count"}


def test_what_the_engine_says_of_a_step_counts(report):
    found = document(report(metrics={"suppress.rounds": Figure(15, "count")}))
    assert found["metrics"]["suppress.rounds"]["value"] == 15


def test_metrics_do_not_depend_on_the_order_of_audits(report):
    figures = {f"a{i}.x": Figure(i, "rows") for i in range(20)}
    backwards = dict(reversed(figures.items()))
    assert json.dumps(document(report(metrics=figures))) == json.dumps(document(report(metrics=backwards)))


def test_findings_are_listed_once_errors_first(report):
    same = Finding("PPF780", Severity.INFO, "twice", "a")
    step = StepResult("s", "drop", "1", 1, 1, 0.0, findings=(same, Finding("PPF900", Severity.ERROR, "bad", "b")))
    found = document(report(findings=(same, Finding("PPF850", Severity.WARNING, "hm")), steps=(step,)))["findings"]
    assert [f["severity"] for f in found] == ["error", "warning", "info"]


def test_the_hash_of_a_finding_names_its_subject_not_its_figures():
    one = Finding("PPF780", Severity.WARNING, "measured 0.91", "disease")
    assert one.hash == Finding("PPF780", Severity.INFO, "measured 0.92", "disease").hash
    assert one.hash != Finding("PPF780", Severity.WARNING, "measured 0.91", "job").hash


def test_charts_of_steps_are_kept_and_names_are_made_distinct(report):
    chart = Chart("c", "one", "bars", ("a",), (FigureSeries("", (1.0,)),))
    other = Chart("c", "two", "bars", ("a",), (FigureSeries("", (2.0,)),))
    step = StepResult("s", "drop", "1", 1, 1, 0.0, charts=(chart, other))
    found = document(report(charts=(chart,), steps=(step,)))["charts"]
    assert [(c["id"], c["title"]) for c in found] == [("c", "one"), ("c~2", "two")]


@pytest.mark.parametrize("bad", [float("nan"), float("inf"), -float("inf"), np.float64("nan")])
def test_numbers_that_json_does_not_have_are_refused_by_place(report, bad):
    with pytest.raises(ValueError, match=r"run\.seconds is not a finite number"):
        document(report(run={"seconds": bad}))
    with pytest.raises(ValueError, match=r"charts\.c is not a finite number"):
        document(report(charts=(Chart("c", "", "bars", ("a",), (FigureSeries("", (bad,)),)),)))
    with pytest.raises(ValueError, match=r"metrics\.a\.b\.interval is not a finite number"):
        document(report(metrics={"a.b": Figure(1.0, "share", (0.0, bad))}))


def test_an_infinite_figure_is_refused(report):
    with pytest.raises(ValueError, match=r"metrics\.a\.b is not a finite number"):
        document(report(metrics={"a.b": Figure(float("inf"), "share")}))


def test_plain_values():
    found = plain({"a": (1, np.int64(2), np.float32(0.5), np.bool_(True)), "b": {"y", "x"}, 3: Severity.INFO}, "x")
    assert found == {"a": [1, 2, 0.5, True], "b": ["x", "y"], "3": "info"}
    assert [type(v) for v in found["a"]] == [int, int, float, bool]
    assert plain(np.arange(3), "x") == [0, 1, 2]


def test_a_value_without_json_form_is_named_by_place_not_by_content():
    with pytest.raises(TypeError, match=r"run\.key holds a bytes, which has no JSON form") as caught:
        plain({"key": b"secret"}, "run")
    assert "secret" not in str(caught.value)


def test_an_unmeasured_requirement_is_null(report):
    lost = RequirementResult("privacy.k_anonymity", "study", "m", 5.0, "at_least", None, False, "Not measured.")
    found = document(report(requirements=(lost,), verdict="withheld"))
    valid(found)
    assert found["requirements"][0]["measured"] is None
    assert found["requirements"][0]["policy_span"] is None


@pytest.mark.parametrize(
    ("file", "shown"),
    [("/home/somebody/secret/bank.yaml", "bank.yaml"), ("pipelines/bank.yaml", "pipelines/bank.yaml")],
)
def test_a_place_in_the_policy_says_nothing_of_the_machine(report, file, shown):
    place = Span(file, 1, 1, 1, 5)
    kept = RequirementResult("privacy.k_anonymity", "study", "m", 5.0, "at_least", 7, True, "Fine.", span=place)
    found = document(report(requirements=(kept,)))
    assert found["requirements"][0]["policy_span"]["file"] == shown
