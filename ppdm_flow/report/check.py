"""The results of checking policies, in every form."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ppdm_flow.core.diagnostics import Diagnostic, Severity, in_order
from ppdm_flow.core.digests import digest
from ppdm_flow.core.pages import CodePage, pages
from ppdm_flow.core.pages import fenced as pages_fenced
from ppdm_flow.core.phrases import counted
from ppdm_flow.core.spans import Span
from ppdm_flow.core.texts import json_text
from ppdm_flow.core.version import VERSION
from ppdm_flow.report import diagnostics as drawing
from ppdm_flow.report import junit
from ppdm_flow.report.junit import JUnitCase, JUnitOutcome, Suite
from ppdm_flow.report.locations import Locations
from ppdm_flow.report.snippet import annotated, commands, escaped, lines_of, printable

_Object = dict[str, Any]


# A check of policies for CI systems: annotations and a summary on GitHub, code quality on GitLab, JUnit XML.


def render(result: CheckResult) -> str:
    """Return workflow commands for what is not waived; an empty text where nothing was found."""
    shown = [d for d in result.diagnostics if d not in result.waived]
    return commands(annotated(d, result.places, result.file_of(d)) for d in shown)


def summary(result: CheckResult, limit: int) -> str:
    """Return Markdown of at most ``limit`` bytes."""
    return render_markdown(result, limit)


_SEVERITY = {Severity.ERROR: "critical", Severity.WARNING: "minor", Severity.INFO: "info"}


def gitlab(result: CheckResult) -> str:
    """Return the report; waived findings are not in it, since it has no word for them."""
    issues = [_issue(result, each, mark) for each, mark in result.fingerprints() if each not in result.waived]
    return json_text(issues)


def _issue(result: CheckResult, each: Diagnostic, mark: str) -> dict[str, Any]:
    hint = f" ({each.hint})" if each.hint else ""
    return {
        "description": printable(f"{each.code}: {each.message}{hint}"),
        "check_name": each.code,
        "fingerprint": mark,
        "severity": _SEVERITY[each.severity],
        "location": {
            "path": result.places.shown(result.file_of(each)),
            "lines": {"begin": each.span.line if each.span else 1},
        },
    }


def junit_xml(result: CheckResult) -> str:
    """Return one suite; a policy fails by what makes the check fail."""
    cases = [_case(result, name, diagnostics) for name, diagnostics in result.files.items()]
    return junit.render([Suite("ppdm-flow check", cases)])


def _case(result: CheckResult, name: str, diagnostics: Sequence[Diagnostic]) -> JUnitCase:
    file = result.places.shown(name)
    failing = [d for d in diagnostics if result.fails(d)]
    text = drawing.concise(d for d in diagnostics if d not in result.waived)
    if not failing:
        return JUnitCase("ppdm-flow.check", file, text=text, file=file)
    first = failing[0]
    message = f"{drawing.summary(failing)}: {first.message}"
    line = first.span.line if first.span and first.span.file == name else None
    return JUnitCase("ppdm-flow.check", file, JUnitOutcome.FAILED, message, text, first.code, file=file, line=line)


# The result of checking policies, from which every output format is rendered.


KEY = "ppdmFlow/v1"
"""Names the rule by which fingerprints are made; another rule needs another name."""


@dataclass(frozen=True, slots=True)
class WaiverNote:
    """A waiver of one finding: its name in the policy, why, who answers for it, and until when (ISO date)."""

    name: str
    reason: str
    owner: str
    until: str


@dataclass(frozen=True, slots=True)
class CheckResult:
    """The diagnostics of all checked policies.

    ``files`` maps each checked policy to its diagnostics, including those in the files that it extends. ``sources``
    holds the text of each file by the name that spans use, ``waived`` the waived diagnostics.
    """

    files: Mapping[str, tuple[Diagnostic, ...]]
    sources: Mapping[str, str]
    places: Locations
    waived: Mapping[Diagnostic, WaiverNote] = field(default_factory=dict)
    strict: bool = False
    color: bool = False

    @property
    def diagnostics(self) -> tuple[Diagnostic, ...]:
        """All diagnostics without duplicates, sorted by position."""
        return in_order(d for diagnostics in self.files.values() for d in diagnostics)

    def fails(self, diagnostic: Diagnostic) -> bool:
        """Whether it makes the check fail: an error, or a warning where those count."""
        bad = (Severity.ERROR, Severity.WARNING) if self.strict else (Severity.ERROR,)
        return diagnostic.severity in bad and diagnostic not in self.waived

    def file_of(self, diagnostic: Diagnostic) -> str:
        """Return the file it stands in; of one without a place, the first policy that has it."""
        if diagnostic.span is not None:
            return diagnostic.span.file
        return next((name for name, diagnostics in self.files.items() if diagnostic in diagnostics), "")

    def fingerprints(self) -> Iterator[tuple[Diagnostic, str]]:
        """Yield each diagnostic with a digest that stays when lines move, and when messages are worded better.

        It is made of the code, the file and the place in the policy (without one, of the line's text), and counts
        those that are equal in all of these.
        """
        seen: dict[tuple[str, ...], int] = {}
        lines = {name: lines_of(text) for name, text in self.sources.items()}
        for each in self.diagnostics:
            file = self.places.shown(self.file_of(each))
            key = (each.code, file, *(("path", *each.path) if each.path else ("line", _line(each, lines))))
            seen[key] = seen.get(key, 0) + 1
            yield each, digest([KEY, *key, seen[key]])


def _line(diagnostic: Diagnostic, lines: Mapping[str, list[str]]) -> str:
    span = diagnostic.span
    if span is None or not 0 < span.line <= len(lines.get(span.file, ())):
        return diagnostic.message
    line = lines[span.file][span.line - 1]
    end = span.end_column - 1 if span.end_line == span.line else len(line)
    return " ".join((*line.split(), "/", line[span.column - 1 : end].strip()))


# What a check of policies found, as Markdown for a pull request: the answer first, details folded.


LIMIT = 65_536
"""Characters that a comment on GitHub may have; here of bytes, which are never fewer."""

_NOTICE = "\n*Cut here: {} do not fit.*\n"
_MARK = {Severity.ERROR: "❌", Severity.WARNING: "⚠️", Severity.INFO: "ℹ️"}
_TICKS = re.compile("`+")


def render_markdown(result: CheckResult, limit: int = LIMIT) -> str:
    """Return the text in at most ``limit`` bytes; a notice counts what is left out."""
    diagnostics = result.diagnostics
    shown = sorted((d for d in diagnostics if d not in result.waived), key=lambda d: d.severity is not Severity.ERROR)
    rows = [*_HEAD, *(_row(result, d) for d in shown)] if shown else []
    body = _fitting(_title(result), rows, limit, "findings")
    for section in _sections(result, shown):
        if len(body.encode()) + len(section.encode()) + len(_NOTICE) + 12 > limit:
            return body + _NOTICE.format("details")
        body += section
    return body


_HEAD = ("| | Place | Code | What |\n", "| --- | --- | --- | --- |\n")


def _title(result: CheckResult) -> str:
    failing = [d for d in result.diagnostics if result.fails(d)]
    bad = sum(any(result.fails(d) for d in diagnostics) for diagnostics in result.files.values())
    tally = drawing.summary(d for d in result.diagnostics if d not in result.waived)
    waived = f"; {len(result.waived):,} waived" if result.waived else ""
    if failing:
        said = f"## ❌ Policies: {tally}{waived}\n\n{bad:,} of {len(result.files):,} checked do not pass.\n"
    else:
        said = f"## ✅ Policies: {tally or 'nothing to complain of'}{waived}\n\n{len(result.files):,} checked.\n"
    return said


def _fitting(head: str, lines: Sequence[str], limit: int, noun: str) -> str:
    """Return ``head`` and as many lines below it as fit."""
    room = limit - len(_NOTICE) - 24 - len(head.encode()) - 1
    if lines:
        head += "\n"
    for done, line in enumerate(lines):
        room -= len(line.encode())
        if room < 0:
            left = len(lines) - done
            return head + _NOTICE.format(f"{left:,} {noun}")
        head += line
    return head


def _row(result: CheckResult, each: Diagnostic) -> str:
    file = result.places.shown(result.file_of(each))
    place = f"{file}:{each.span.line}" if each.span else file
    what = f"{each.message} ({each.hint})" if each.hint else each.message
    return f"| {_MARK[each.severity]} | {escaped(place)} | {each.code} | {escaped(what)} |\n"


def _sections(result: CheckResult, shown: Sequence[Diagnostic]) -> Iterator[str]:
    if shown:
        drawn = drawing.render(shown, result.sources)
        yield _folded(f"Where and why ({len(shown):,})", fenced(drawn))
    if result.waived:
        lines = [
            f"- {each.code}: {escaped(w.name)}, until {escaped(w.until)}: {escaped(w.reason)} ({escaped(w.owner)})"
            for each, w in result.waived.items()
        ]
        yield _folded(f"Waived ({len(lines):,})", "\n".join(lines))
    names = "\n".join(f"- {escaped(result.places.shown(name))}" for name in result.files)
    yield _folded(f"{counted(len(result.files), 'file')} checked", names)


def _folded(title: str, body: str) -> str:
    return f"\n<details><summary>{title}</summary>\n\n{body}\n\n</details>\n"


def fenced(text: str) -> str:
    """Return a code block that no run of backticks in the text can end."""
    longest = max((len(run) for run in _TICKS.findall(text)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}text\n{text.rstrip()}\n{fence}"


# SARIF 2.1.0 (OASIS standard): findings on policy lines, for code scanning.


SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
_BASE = "%SRCROOT%"
_LEVEL = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.INFO: "note"}


def render_sarif(result: CheckResult) -> str:
    """Return a log of one run, with a rule for each code that was found."""
    codes = sorted({d.code for d in result.diagnostics})
    driver = {
        "name": "ppdm-flow",
        "semanticVersion": _semantic(VERSION),
        "rules": [_rule(code) for code in codes],
    }
    run = {
        "tool": {"driver": driver},
        "automationDetails": {"id": "ppdm-flow/check/"},
        "columnKind": "unicodeCodePoints",
        "originalUriBaseIds": {_BASE: {"description": {"text": "The root of the repository."}}},
        "artifacts": [{"location": _artifact(result, name)} for name in result.files],
        "results": [_result(result, d, mark, codes.index(d.code)) for d, mark in result.fingerprints()],
    }
    return json_text({"$schema": SCHEMA, "version": "2.1.0", "runs": [run]})


def _semantic(version: str) -> str:
    """Return a version of three numbers, as semantic versions have."""
    return ".".join((*version.split("."), "0", "0")[:3]) if version.count(".") < 2 else version


def _rule(code: str) -> _Object:
    page = pages().get(code) or CodePage(code, code, "A plugin's own code.", "", "See the plugin's documentation.")
    plain = "\n\n".join(part for part in (page.what, page.why, page.fix) if part)
    return {
        "id": code,
        "shortDescription": {"text": page.title},
        "fullDescription": {"text": page.what},
        "help": {"text": f"{plain}\n\nMore: ppdm-flow explain {code}", "markdown": _help(page)},
        "properties": {"tags": ["privacy", "policy"]},
    }


def _help(page: CodePage) -> str:
    parts = [page.what, page.why, f"**What to do:** {page.fix}"]
    for title, example in (("Not so", page.bad), ("But so", page.good)):
        if example:
            parts.append(f"{title}:\n\n{pages_fenced(example)}")
    return "\n\n".join(part for part in (*parts, f"`ppdm-flow explain {page.code}` says more.") if part)


def _result(result: CheckResult, each: Diagnostic, mark: str, rule: int) -> _Object:
    entry: _Object = {
        "ruleId": each.code,
        "ruleIndex": rule,
        "level": _LEVEL[each.severity],
        "message": {"text": _message(each)},
        "locations": [_place(result, result.file_of(each), each.span)],
        "partialFingerprints": {KEY: mark},
    }
    if each.related:
        entry["relatedLocations"] = [
            {"id": i, **_place(result, r.span.file, r.span), "message": {"text": _plain(r.text)}}
            for i, r in enumerate(each.related, start=1)
        ]
    waiver = result.waived.get(each)
    entry["suppressions"] = [] if waiver is None else [_suppression(waiver)]
    return entry


def _suppression(waiver: WaiverNote) -> _Object:
    justification = f"{waiver.name}: {waiver.reason} ({waiver.owner}, until {waiver.until})"
    return {"kind": "inSource", "status": "accepted", "justification": printable(justification)}


def _message(each: Diagnostic) -> str:
    extra: Sequence[str] = (*([each.hint] if each.hint else []), *([each.help] if each.help else []), *each.notes)
    return " ".join(_sentence(_plain(part)) for part in (each.message, *extra))


def _sentence(text: str) -> str:
    sentence = text[:1].upper() + text[1:]
    return sentence if sentence.endswith((".", "?", "!")) else f"{sentence}."


def _plain(text: str) -> str:
    """Return text without control characters, and without what would read as a link (3.11.6)."""
    return printable(text).replace("](", "] (")


def _place(result: CheckResult, file: str, span: Span | None) -> _Object:
    region = {"startLine": 1} if span is None else _region(span)
    return {"physicalLocation": {"artifactLocation": _artifact(result, file), "region": region}}


def _region(span: Span) -> _Object:
    end = max((span.end_line, span.end_column), (span.line, span.column))
    return {"startLine": span.line, "startColumn": span.column, "endLine": end[0], "endColumn": end[1]}


def _artifact(result: CheckResult, file: str) -> _Object:
    artifact: _Object = {"uri": result.places.uri(file)}
    return artifact | {"uriBaseId": _BASE} if result.places.relative(file) is not None else artifact


# What a check of policies found for a terminal and for programs, from the value that all forms share.


def text(result: CheckResult) -> str:
    """Draw each diagnostic with its line; those that are waived have a line each at the end."""
    drawn = drawing.render(_open(result), result.sources, color=result.color)
    waived = _waived(result)
    return f"{drawn}\n{waived}" if drawn and waived else drawn or waived


def concise(result: CheckResult) -> str:
    """Return a line for each diagnostic."""
    return drawing.concise(_open(result)) + _waived(result)


def as_json(result: CheckResult) -> str:
    """Return all diagnostics as JSON."""
    return drawing.as_json(result.diagnostics, {d: w.name for d, w in result.waived.items()})


def _open(result: CheckResult) -> list[Diagnostic]:
    return [d for d in result.diagnostics if d not in result.waived]


def _waived(result: CheckResult) -> str:
    lines = []
    for each, waiver in result.waived.items():
        place = f"{each.span.file}:{each.span.line}: " if each.span else ""
        terms = f"waived by `{waiver.name}` until {waiver.until}, {waiver.owner} answers for it: {waiver.reason}"
        lines.append(printable(f"{place}{each.code} {terms}"))
    return "".join(f"{line}\n" for line in lines)
