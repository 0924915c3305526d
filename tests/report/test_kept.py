"""Information kept, first among the figures of usefulness: in console output, Markdown and page."""

from __future__ import annotations

import pytest

from ppdm_flow.report.run import forms, html, markdown
from ppdm_flow.report.run.fields import information_kept
from ppdm_flow.report.run.page import page

HIDING = {
    "code": "PPF926",
    "severity": "warning",
    "text": "`zip` hides 92% of its cells (`*` or suppressed) after step `recode`. Give its hierarchy a level between",
    "subject": "study.zip",
    "hash": "0" * 16,
}


def figure(value, note=""):
    return {"value": value, "unit": "share", **({"note": note} if note else {})}


@pytest.fixture
def reported(document):
    """Make a report with figures of what release `study` keeps."""
    made = document()
    made["metrics"] |= {
        "study/kept.mean_kept": figure(0.74, "not released: `job`"),
        "study/kept.age.kept": figure(0.9),
        "study/kept.zip.kept": figure(0.58),
        "study/kept.job.kept": figure(0.0, "not released"),
        "study/kept.name.kept": figure(None, "not compared: its cells are generated or keyed names"),
    }
    made["findings"] = [*made["findings"], HIDING]
    return made


def test_it_is_read_from_the_figures(reported):
    (kept,) = information_kept(reported)
    assert (kept.release, kept.share, kept.text, kept.note) == ("study", 0.74, "74%", "not released: `job`")
    assert [(a.name, a.text) for a in kept.attributes] == [
        ("job", "0%"),
        ("zip", "58%"),
        ("age", "90%"),
        ("name", "not compared"),
    ]
    assert kept.attributes[-1].note == "its cells are generated or keyed names"


def test_the_console_says_it_behind_the_checks(reported):
    text = forms.render(reported)
    assert "information kept of study: 74% (not released: `job`)" in text
    assert "job 0%, zip 58%, age 90%" in text
    assert "`zip` hides 92% of its cells" in " ".join(text.split())
    assert "Give its hierarchy a level between" in " ".join(text.split())


def test_what_cannot_be_compared_has_no_number(reported):
    reported["metrics"]["study/kept.mean_kept"] = figure(
        None, "not compared: rows cannot be paired with their originals"
    )
    text = forms.render(reported)
    assert "information kept of study: not compared (rows cannot be paired with their originals)" in text
    assert "0%" not in next(line for line in text.splitlines() if "information kept" in line)


def test_several_releases_have_one_each(reported):
    for name in ("mean_kept", "age.kept"):
        reported["metrics"][f"partner/kept.{name}"] = reported["metrics"][f"study/kept.{name}"]
    assert [k.heading for k in information_kept(reported)] == [
        "information kept of study",
        "information kept of partner",
    ]


def test_the_first_screen_of_the_page_has_it(reported):
    shown = page(reported)
    assert ("74%", "information kept of study") in shown.tiles
    assert "92%" in shown.verdict.caution
    text = html.render(reported)
    assert text.index("information kept") < text.index('id="requirements"')
    assert "not compared" in text
    assert next(g for g in shown.tradeoff.kept if g.release == "study").name == "Information kept"


def test_markdown_has_a_table(reported):
    text = markdown.render(reported)
    assert "**Information kept of study: 74%**" in text
    assert "| job | 0% | not released |" in text


def test_a_remark_on_all_attributes_stands_once(reported):
    for name, each in reported["metrics"].items():
        if name.startswith("study/kept."):
            each["note"] = "; ".join(filter(None, (each.get("note", ""), "counts rows, not people")))
    (kept,) = information_kept(reported)
    assert kept.note == "not released: `job`; counts rows, not people"
    assert [each.note for each in kept.attributes if each.name == "zip"] == [""]
    assert html.render(reported).count('<div class="soft small">counts rows, not people</div>') == 0


def test_what_does_not_hold_comes_before_what_is_kept(reported):
    text = html.render(reported)
    assert text.index('id="kept"') < text.index('id="requirements"')
    failing = {**reported, "verdict": "withheld"}
    failing["requirements"] = [{**r, "holds": False} for r in reported["requirements"]]
    text = html.render(failing)
    assert text.index('id="requirements"') < text.index('id="kept"')
    assert text.count('id="kept"') == 1


def test_bars_and_numbers_say_what_is_kept(document):
    made = document()
    made["metrics"]["study/distributions.rows_lost"] = figure(0.1)
    made["metrics"]["study/distributions.suppressed_cells"] = figure(0.0)
    kept = {g.name: (g.share, g.text) for g in page(made).tradeoff.kept if g.release == "study"}
    assert kept["Rows kept"] == (0.9, "90%")
    assert kept["Cells not suppressed"] == (1.0, "100%")


def test_generated_rows_have_a_figure_under_another_name(document):
    """It stands beside information kept, and is never one with it."""
    made = document()
    made["metrics"] |= {
        "synthetic/distributions.pair_likeness": figure(0.88),
        "synthetic/distributions.age.likeness": figure(0.79),
        "synthetic/distributions.age.total_variation": figure(0.07),
    }
    (alike,) = information_kept(made)
    assert (alike.heading, alike.text) == ("likeness of distributions of synthetic", "88%")
    assert [(a.name, a.text) for a in alike.attributes] == [("age", "79%")]
    assert "likeness of distributions of synthetic: 88%" in forms.render(made)
    assert "**Likeness of distributions of synthetic: 88%**" in markdown.render(made)
    assert page(made).kept_title == "Likeness of distributions"
    shown = html.render(made)
    assert "no information kept, and the two cannot be compared" in shown
    made["metrics"]["study/kept.mean_kept"] = figure(0.74)
    assert page(made).kept_title == "Information kept"
    assert [each.heading for each in information_kept(made)] == [
        "likeness of distributions of synthetic",
        "information kept of study",
    ]
    assert "likeness of distributions of synthetic" in html.render(made)
