"""What CI systems read: structure, escapes, limits, and fingerprints that stay."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import PurePosixPath
from xml.etree import ElementTree as ET

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ppdm_flow.core.diagnostics import Diagnostic, RelatedPlace, Severity
from ppdm_flow.core.spans import Span
from ppdm_flow.report import check
from ppdm_flow.report import check as check_markdown
from ppdm_flow.report import check as junit_policies
from ppdm_flow.report.check import CheckResult, WaiverNote
from ppdm_flow.report.forms import CHECK, JUDGED
from ppdm_flow.report.locations import Locations
from ppdm_flow.report.run import ci as github_checks
from ppdm_flow.report.run import ci as junit_checks
from ppdm_flow.report.run import judgement
from ppdm_flow.report.run import markdown as whole_report
from ppdm_flow.report.run.forms import comment
from ppdm_flow.report.run.judgement import BrokenJudgement, RunJudgement
from ppdm_flow.report.snippet import Annotation, commands
from ppdm_flow.report.verify import VERIFIED, ComparedPoint, Verification
from ppdm_flow.report.verify import markdown as verified_markdown

from .outputs_schema import GITLAB, SARIF

HERE = Locations(PurePosixPath("/repo"), PurePosixPath("/repo/deep"))
NASTY = "a|b<script>`x`%0A::error::x\n\x1b[31m\u202e</details>[l](http://e.example)@you"
LINES = "version: 1\nname: x\nprivacy: {kk: 3}\n"
COMMAND = re.compile(r"^::(error|warning|notice) ([^:]*)::(.*)$")


def diagnostic(line=3, message="unknown key", code="PPF201", severity=Severity.ERROR, path=("privacy", "kk"), **more):
    return Diagnostic(code, message, Span("p.yaml", line, 11, line, 13), severity, path=path, **more)


def check_result(*found, text=LINES, **more):
    return CheckResult({"p.yaml": tuple(found), "clean.yaml": ()}, {"p.yaml": text}, HERE, **more)


def valid(document, schema):
    jsonschema.validate(document, schema, cls=jsonschema.Draft7Validator)
    return document


def results(subject):
    (run,) = valid(json.loads(check.render_sarif(subject)), SARIF)["runs"]
    for result in run["results"]:
        assert run["tool"]["driver"]["rules"][result["ruleIndex"]]["id"] == result["ruleId"]
    return run["results"]


def told(text):
    """Return the commands of a log as (kind, properties, message), as GitHub reads them."""
    found = []
    for line in text.splitlines():
        if not line.startswith("::"):
            continue
        kind, properties, message = COMMAND.match(line).groups()
        pairs = dict(pair.split("=", 1) for pair in properties.split(","))
        found.append((kind, {k: undone(v) for k, v in pairs.items()}, undone(message)))
    return found


def undone(text):
    for code, character in (("%2C", ","), ("%3A", ":"), ("%0A", "\n"), ("%0D", "\r"), ("%25", "%")):
        text = text.replace(code, character)
    return text


class TestPlaces:
    def test_paths_from_the_root(self):
        assert HERE.relative("a b/ü.yaml") == "deep/a b/ü.yaml"
        assert HERE.relative("../x.yaml") == "x.yaml"
        assert HERE.relative("/repo/p.yaml") == "p.yaml"
        assert HERE.uri("a b/ü#%.yaml") == "deep/a%20b/%C3%BC%23%25.yaml"

    def test_what_is_elsewhere_keeps_its_name_only(self):
        assert HERE.relative("/home/someone/t.yaml") is None
        assert HERE.shown("/home/someone/t.yaml") == "t.yaml"
        assert HERE.shown("builtin:microdata-k") == HERE.uri("builtin:microdata-k") == "builtin:microdata-k"


class TestSarif:
    def test_a_finding_with_a_second_place(self):
        second = RelatedPlace(Span("t.yaml", 2, 1, 2, 5), "the template")
        (found,) = results(check_result(diagnostic(hint="did you mean `k`?", related=(second,))))
        place = found["locations"][0]["physicalLocation"]
        assert place["artifactLocation"] == {"uri": "deep/p.yaml", "uriBaseId": "%SRCROOT%"}
        assert place["region"] == {"startLine": 3, "startColumn": 11, "endLine": 3, "endColumn": 13}
        assert found["message"]["text"] == "Unknown key. Did you mean `k`?"
        assert found["relatedLocations"][0]["message"]["text"] == "the template"
        assert found["suppressions"] == []

    def test_a_waived_finding_is_suppressed(self):
        one = diagnostic()
        waiver = WaiverNote("old-release", "agreed\x1b", "dpo", "2027-01-01")
        (found,) = results(check_result(one, waived={one: waiver}))
        told_ = found["suppressions"][0]["justification"]
        assert told_ == "old-release: agreed\ufffd (dpo, until 2027-01-01)"

    def test_a_finding_without_a_place_is_drawn_on_the_policy(self):
        (found,) = results(check_result(Diagnostic("PPF526", "nothing required", severity=Severity.WARNING)))
        assert found["locations"][0]["physicalLocation"]["region"] == {"startLine": 1}
        assert found["level"] == "warning"

    def test_codes_of_plugins_have_a_rule_too(self):
        (found,) = results(check_result(diagnostic(code="PPF999")))
        assert found["ruleId"] == "PPF999"

    def test_nothing_found(self):
        assert results(check_result()) == []


class TestFingerprints:
    def marks(self, *found, text=LINES):
        return [mark for _, mark in check_result(*found, text=text).fingerprints()]

    def test_they_stay_when_lines_move_and_words_change(self):
        moved = diagnostic(line=5, message="this key is unknown")
        assert self.marks(diagnostic()) == self.marks(moved, text="# new\n\n" + LINES)

    def test_without_a_path_the_line_counts(self):
        here, moved = diagnostic(path=()), diagnostic(line=5, path=())
        assert self.marks(here) == self.marks(moved, text="# new\n\n" + LINES)
        assert self.marks(here) != self.marks(here, text=LINES.replace("kk", "kl"))

    def test_each_is_its_own(self):
        found = [diagnostic(message=str(i)) for i in range(4)] + [
            diagnostic(path=("other",)),
            diagnostic(code="PPF203"),
        ]
        assert len(set(self.marks(*found))) == 6
        assert {r["partialFingerprints"]["ppdmFlow/v1"] for r in results(check_result(*found))} == set(
            self.marks(*found)
        )


class TestGitHub:
    def test_a_command_can_be_read_back(self):
        subject = check_result(replace(diagnostic(message=NASTY), hint="a, b: c", path=()))
        subject = replace(subject, files={"a,b:%.yaml": (replace(subject.diagnostics[0], span=None),)})
        ((kind, about, message),) = told(check.render(subject))
        assert kind == "error"
        assert about == {"file": "deep/a,b:%.yaml", "title": "PPF201"}
        assert message.splitlines()[1:] == ["hint: a, b: c", "more: ppdm-flow explain PPF201"]
        assert "\x1b" not in message
        assert "\u202e" not in message

    @pytest.mark.parametrize(("many", "rest"), [(10, ""), (11, "1 more error"), (1200, "1,190 more errors")])
    def test_the_first_ten_and_how_many_more(self, many, rest):
        found = [diagnostic(message=str(i), path=(str(i),)) for i in range(many)]
        warning = diagnostic(severity=Severity.WARNING)
        text = check.render(check_result(*found, warning))
        assert [kind for kind, _, _ in told(text)] == ["error"] * 10 + ["warning"]
        last = text.splitlines()[-1]
        assert last.startswith(f"… and {rest}: ") if rest else last.startswith("::warning")

    def test_waived_findings_are_not_announced(self):
        one = diagnostic()
        assert check.render(check_result(one, waived={one: WaiverNote("w", "r", "o", "2027-01-01")})) == ""

    @given(st.text(), st.text(), st.text(min_size=1))
    def test_no_text_ends_a_command_or_begins_another(self, title, line, file):
        span = Span("x", 1, 1, 1, 2)
        text = commands([Annotation(Severity.ERROR, title, (line,), file, span)])
        assert text.count("\n") == 1
        assert COMMAND.match(text.rstrip("\n"))

    def test_a_release_that_is_withheld(self, document):
        judged = RunJudgement(document(failing=True), Locations(PurePosixPath("/r"), PurePosixPath("/r")))
        (error, *others) = told(github_checks.render(judged))
        assert error[1]["file"] == "pipelines/bank_credit.yaml"
        assert error[1]["line"] == "20"
        assert error[1]["title"] == "privacy.templates.no-default does not hold on partner"
        assert error[2].startswith("measured 54.2%, asked at most 50%")
        assert [kind for kind, _, _ in others] == ["warning", "notice", "notice"]

    def test_a_release_withheld_without_a_failing_check(self, document):
        judged = RunJudgement(document() | {"verdict": "withheld"}, HERE)
        assert told(github_checks.render(judged))[0][1]["title"] == "bank-credit withheld"


class TestGitLab:
    def test_structure(self):
        one = diagnostic(message=NASTY)
        waived = diagnostic(path=("w",), message="waived")
        subject = check_result(
            one, waived, diagnostic(severity=Severity.WARNING), waived={waived: WaiverNote("w", "r", "o", "2")}
        )
        found = valid(json.loads(check.gitlab(subject)), GITLAB)
        assert [f["severity"] for f in found] == ["critical", "minor"]
        assert len({f["fingerprint"] for f in found}) == 2
        assert found[0]["location"] == {"path": "deep/p.yaml", "lines": {"begin": 3}}
        assert "\x1b" not in found[0]["description"]
        assert json.loads(check.gitlab(check_result())) == []


class TestMarkdown:
    def test_the_answer_comes_first(self):
        text = check_markdown.render_markdown(check_result(diagnostic(), diagnostic(severity=Severity.WARNING)))
        assert text.startswith("## ❌ Policies: 1 error, 1 warning\n\n1 of 2 checked do not pass.\n\n| | Place |")
        assert check_markdown.render_markdown(check_result()).startswith(
            "## ✅ Policies: nothing to complain of\n\n2 checked.\n"
        )

    def test_nothing_in_a_message_is_markup(self):
        named = replace(check_result(diagnostic(message=NASTY)), sources={"p.yaml": "\n\n````x</details>```\n"})
        text = check_markdown.render_markdown(named)
        outside = re.sub(r"(?ms)^(`{3,})text\n.*?^\1$", "", text)
        assert len(re.findall(r"(?m)^`{5}(text)?$", text)) == 2
        assert "<script" not in outside
        assert outside.count("</details>") == outside.count("<details>") == 2
        (row,) = [line for line in outside.splitlines() if line.startswith("| ❌")]
        assert len(re.findall(r"(?<!\\)\|", row)) == 5
        assert "\x1b" not in text
        assert "http:" not in outside

    @pytest.mark.slow(quick=6)
    @pytest.mark.parametrize("limit", [2_000, 65_536, 1 << 20])
    @pytest.mark.parametrize("many", [1, 40, 4_000])
    def test_it_is_never_too_long(self, limit, many):
        found = [diagnostic(message=f"{i} " + "ü|" * 90, path=(str(i),)) for i in range(many)]
        text = check_markdown.render_markdown(check_result(*found), limit)
        assert len(text.encode()) <= limit
        assert text.startswith(f"## ❌ Policies: {many} error")
        assert text.count("<details>") == text.count("</details>")
        assert ("Cut here" in text) or many < 4_000

    @pytest.mark.slow
    def test_a_comment_on_a_report_fits(self, document):
        big = document()
        big["metrics"] = {f"m.{i}": {"value": i, "unit": "rows"} for i in range(9_000)}
        text = comment(RunJudgement(big, HERE))
        assert len(text) <= len(text.encode()) <= 65_536
        assert "Cut here" in text
        assert len(whole_report.render(big).encode()) > 65_536

    def test_an_error(self):
        failure = BrokenJudgement(
            "p`.yaml", [diagnostic(message=str(i)) for i in range(3_000)], {"p.yaml": LINES}, HERE
        )
        text = judgement.broken_markdown(failure)
        assert text.startswith("## ❌ No verdict: p\\`.yaml\n")
        assert len(text.encode()) <= 65_536
        assert "more do not fit" in text

    def test_a_verification(self):
        points = [ComparedPoint(f"r{i} {NASTY}", None if i % 2 else True, NASTY) for i in range(4_000)] + [
            ComparedPoint("bad", False)
        ]
        text = verified_markdown(Verification("1", "p", "released", points, ""))
        assert len(text.encode()) <= 65_536
        assert text.splitlines()[4] == "| ❌ | bad |  |"
        assert "more rows do not fit" in text


class TestJUnit:
    def test_each_policy_is_a_case(self):
        subject = check_result(diagnostic(message=NASTY), diagnostic(severity=Severity.WARNING))
        root = ET.fromstring(junit_policies.junit_xml(subject))
        cases = root.findall("testsuite/testcase")
        assert [c.get("name") for c in cases] == ["deep/p.yaml", "deep/clean.yaml"]
        assert root.get("failures") == "1"
        assert cases[0].find("failure").get("type") == "PPF201"

    @pytest.mark.parametrize(("strict", "waived", "failures"), [(False, False, 0), (True, False, 1), (True, True, 0)])
    def test_a_warning_fails_where_warnings_count(self, strict, waived, failures):
        one = diagnostic(severity=Severity.WARNING)
        given_ = {one: WaiverNote("w", "r", "o", "2027-01-01")} if waived else {}
        root = ET.fromstring(junit_policies.junit_xml(check_result(one, strict=strict, waived=given_)))
        assert int(root.get("failures")) == failures

    def test_each_requirement_and_gate_is_a_case(self, document):
        judged = RunJudgement(document(failing=True), Locations(PurePosixPath("/r"), PurePosixPath("/r")))
        root = ET.fromstring(junit_checks.junit_xml(judged))
        cases = root.findall("testsuite/testcase")
        assert len(cases) == 9
        assert {c.get("classname") for c in cases} == {"bank-credit"}
        (bad,) = [c for c in cases if c.find("failure") is not None]
        about = {p.get("name"): p.get("value") for p in bad.findall("properties/property")}
        assert {k: about[k] for k in ("measured", "bound", "direction")} == {
            "measured": "0.5421",
            "bound": "0.5",
            "direction": "at_most",
        }
        assert (bad.get("file"), bad.get("line")) == ("pipelines/bank_credit.yaml", "20")

    def test_it_is_not_green_where_the_data_was_withheld(self, document):
        root = ET.fromstring(junit_checks.junit_xml(RunJudgement(document() | {"verdict": "withheld"}, HERE)))
        assert root.get("failures") == "1"

    def test_an_error_is_a_case(self):
        failure = BrokenJudgement("p.yaml", [diagnostic(message=NASTY)], {"p.yaml": LINES}, HERE)
        root = ET.fromstring(junit_checks.broken_junit(failure))
        assert root.get("errors") == "1"
        assert root.find("testsuite/testcase").get("classname") == "p.yaml"


@pytest.mark.parametrize("form", CHECK.values(), ids=CHECK)
def test_every_form_of_a_check_can_be_written(form):
    assert form.render(check_result(diagnostic()))
    assert isinstance(form.render(check_result()), str)


@pytest.mark.parametrize("form", JUDGED.values(), ids=JUDGED)
def test_every_form_of_a_release_can_be_written(form, document):
    assert form.render(RunJudgement(document(failing=True), HERE))
    if form.summary:
        assert len(form.render_summary(RunJudgement(document(), HERE), 5_000).encode()) <= 5_000


@pytest.mark.parametrize("form", VERIFIED.values(), ids=VERIFIED)
def test_every_form_of_a_verification_can_be_written(form):
    found = Verification(
        "1",
        "p",
        "released",
        [ComparedPoint("files", True), ComparedPoint("k", False, "other"), ComparedPoint("l", None)],
        "x",
    )
    assert form.render(found)
