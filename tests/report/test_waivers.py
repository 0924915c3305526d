"""Waived checks in every form of a report: drawn apart, counted apart, with reason, owner and time."""

from __future__ import annotations

import json
import xml.etree.ElementTree as ET
from dataclasses import replace
from datetime import date
from pathlib import Path, PurePath

import jsonschema
import pytest

from ppdm_flow.core.diagnostics import Severity
from ppdm_flow.core.results import Finding, WaiverResult
from ppdm_flow.core.waivers import AcceptedWaiver
from ppdm_flow.report.locations import Locations
from ppdm_flow.report.run import ci as github_checks
from ppdm_flow.report.run import ci as junit_checks
from ppdm_flow.report.run import forms, html, markdown
from ppdm_flow.report.run.document import document as to_document
from ppdm_flow.report.run.judgement import RunJudgement
from ppdm_flow.report.run.page import page
from ppdm_flow.report.run.verdict import verdict

HERE = Locations(PurePath("/repo"), PurePath("/repo"))
REASON = "agreed with the study <b>until</b> June | `now`"
SCHEMA = Path(__file__).parents[2] / "schemas" / "report.v1.json"
GRANT = AcceptedWaiver("small-study", "gates.still-useful", REASON, "dpo@bank.example", date(2027, 3, 31))


@pytest.fixture
def waived(report):
    """The document of a run in which everything that fails is waived."""

    def build(days_left: int = 130, covers=("something on study",), findings=(), **more):
        made = report(failing=True)
        results = [
            [r if r.holds else replace(r, waived_by="small-study") for r in part]
            for part in (made.requirements, made.gates)
        ]
        given = WaiverResult(GRANT, days_left, tuple(covers), tuple(f.hash for f in findings))
        fields = {"findings": (*made.findings, *findings), "waivers": (given,), "verdict": "released"} | more
        return to_document(replace(made, requirements=tuple(results[0]), gates=tuple(results[1]), **fields))

    return build


def test_the_verdict_says_released_under_waivers(waived) -> None:
    found = verdict(waived())
    assert (found.released, found.word, found.state, found.contradiction) == (
        True,
        "Released under waivers",
        "waived",
        "",
    )
    assert found.failing == ()
    assert len(found.waived) > 0
    assert "do not hold and are waived" in found.sentence or "does not hold and is waived" in found.sentence
    assert sum(t.waived for t in found.releases) >= len(found.waived)


@pytest.mark.parametrize("spoil", ["expired", "unknown"])
def test_a_waiver_that_had_expired_or_is_not_there_waives_nothing(waived, spoil: str) -> None:
    found = waived(days_left=-1) if spoil == "expired" else waived(waivers=())
    judged = verdict(found)
    assert not judged.released
    assert judged.word == "Withheld"
    assert "contradicts itself" in judged.contradiction


def test_something_else_that_fails_still_withholds(waived) -> None:
    found = waived(verdict="withheld")
    failing = next(r for r in (*found["requirements"], *found["gates"]) if not r["holds"])
    del failing["waived_by"]
    judged = verdict(found)
    assert judged.state == "fails"
    assert len(judged.failing) == 1


def test_a_run_without_waivers_is_told_as_before(report) -> None:
    found = to_document(report())
    assert found["waivers"] == []
    assert verdict(found).word == "Released"
    del found["waivers"]  # as documents were before there were any
    assert verdict(found).word == "Released"
    assert "Waivers" not in markdown.render(found)


def test_the_terminal_names_reason_owner_and_time(waived) -> None:
    text = forms.render(waived(), 200)
    assert text.startswith("RELEASED UNDER WAIVERS")
    assert "waived by `small-study` until 2027-03-31 (130 days left), dpo@bank.example answers for it" in text
    assert REASON in text
    assert "NO" not in text.split()


def test_who_has_to_sign_a_waiver_is_told(waived) -> None:
    given = WaiverResult(replace(GRANT, signed_by="privacy-officer"), 9, ("something on study",))
    signed, unsigned = waived(waivers=(given,)), waived()
    jsonschema.validate(signed, json.loads(SCHEMA.read_text(encoding="utf-8")))
    assert "answers for it, and `privacy-officer` signs it" in forms.render(signed, 300)
    assert "privacy-officer signs it" in html.render(signed)
    assert "signs it" not in html.render(unsigned) + forms.render(unsigned, 300)


def test_a_waiver_that_covers_nothing_is_told_at_the_end(report) -> None:
    given = WaiverResult(GRANT, 0, ())
    text = forms.render(to_document(replace(report(), waivers=(given,))), 300)
    assert text.startswith("RELEASED ")
    assert "waiver `small-study` of gates.still-useful until 2027-03-31 (its last day) covers nothing" in text


def test_markdown_shows_it_and_nothing_in_it_is_obeyed(waived) -> None:
    text = markdown.render(waived())
    assert text.startswith("## 🟠 Released under waivers")
    assert "### Waivers" in text
    assert "<b>" not in text
    assert "until</b>" not in text
    assert "❌" not in text


def test_the_page_draws_it_in_amber(waived) -> None:
    text = html.render(waived())
    assert "<title>Released under waivers" in text
    assert 'class="hero released cautioned"' in text
    assert 'aria-label="does not hold, waived"' in text
    assert 'id="waivers"' in text
    assert "&lt;b&gt;until&lt;/b&gt;" in text
    assert "no, waived" in text
    assert 'aria-label="does not hold"' not in text
    assert (f"{len(verdict(waived()).waived)}", "waived") in page(waived()).tiles


def test_the_page_without_waivers_has_no_section_of_them(report) -> None:
    assert 'id="waivers"' not in html.render(to_document(report()))


def test_junit_skips_it(waived) -> None:
    root = ET.fromstring(junit_checks.junit_xml(RunJudgement(waived(), HERE, "p.yaml")))
    assert root.get("failures") == "0"
    skipped = root.findall(".//skipped")
    assert len(skipped) == len(verdict(waived()).waived)
    assert "waived by `small-study` until 2027-03-31" in skipped[0].get("message", "")
    assert root.find(".//property[@name='waived']").get("value") == str(len(skipped))


def test_github_warns_of_it(waived) -> None:
    text = github_checks.render(RunJudgement(waived(), HERE, "p.yaml"))
    assert "::error" not in text
    assert "(waived)" in text
    assert "released under waivers" in text


def test_waived_findings_are_told_apart(waived) -> None:
    noted = Finding("PPF860", Severity.WARNING, "rows are close to original ones", "study.closest_record")
    bad = replace(noted, code="PPF851", severity=Severity.ERROR)
    found = waived(findings=(noted, bad))
    by = {f["code"]: f.get("waived_by") for f in found["findings"]}
    assert by["PPF860"] == "small-study"
    assert by["PPF851"] is None
    assert "rows are close" not in github_checks.render(RunJudgement(waived(findings=(noted,)), HERE, "p.yaml"))
    assert "warning, waived by small-study" in markdown.render(found)


def test_documents_with_waivers_are_valid(waived) -> None:
    schema = json.loads(SCHEMA.read_text(encoding="utf-8"))
    noted = Finding("PPF860", Severity.WARNING, "close", "study.closest_record", "study")
    jsonschema.validate(waived(findings=(noted,)), schema)
