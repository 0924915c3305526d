"""Long reports: folded, bounded in size, quick, and nothing left out without a word."""

from __future__ import annotations

from ppdm_flow.core.diagnostics import Severity
from ppdm_flow.core.results import Chart, Figure, FigureSeries, Finding, RequirementResult, StepResult
from ppdm_flow.report.run.html import render


def test_many_requirements_are_folded_failing_ones_are_not(report, document):
    many = tuple(
        RequirementResult(
            f"privacy.templates.t{i}",
            "study",
            f"privacy.templates.t{i}.confidence",
            0.5,
            "at_most",
            0.4 + 0.2 * (i < 30),
            i >= 30,
            f"Sentence {i}.",
        )
        for i in range(600)
    )
    steps = tuple(
        StepResult(f"s{i}", "drop", "1", 10, 10, 0.01, {"x": Figure(i, "rows")}, {"a": i}) for i in range(300)
    )
    figures = {f"a{i % 40}.f{i}": Figure(i, "rows") for i in range(2000)}
    findings = tuple(Finding("PPF780", Severity.INFO, f"Finding {i}.", str(i)) for i in range(400))
    text = render(
        document(requirements=many, gates=(), steps=steps, metrics=figures, findings=findings, verdict="withheld")
    )
    unfolded = text[text.index('<section id="requirements"') : text.index("more that hold")]
    assert [f">t{i} " in unfolded for i in (0, 29, 30, 599)] == [True, True, False, False]
    assert "570 more that hold" in text
    assert "and 22 more" in text
    assert "380 more findings" in text
    assert text.count('<li id="requirements-') == 600
    assert len(text.encode()) < 2_500_000


def charts(count: int) -> tuple[Chart, ...]:
    labels = tuple(f"category number {i}" for i in range(40))
    both = tuple(FigureSeries(name, tuple((i * 7 % 13) / 100 for i in range(40))) for name in ("original", "released"))
    return tuple(
        Chart(f"c{i}", f"attribute {i}", "bars", labels, both, "", "share", "", "distributions") for i in range(count)
    )


def test_fifty_charts_stay_small(document):
    found = document(charts=charts(50))
    text = render(found)
    assert len(text.encode()) < 1_000_000
    assert text.count('<figure class="card chart"') == 50


def test_what_has_no_room_is_named_not_dropped_in_silence(document):
    text = render(document(charts=charts(130)))
    assert text.count('<figure class="card chart"') == 100
    assert "30 more figures are in report.json." in text
    assert "Shown: 20 of 40 labels; the rest is in report.json." in text
    assert len(text.encode()) < 1_200_000
