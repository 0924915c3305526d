"""What a check of policies found, as Markdown for a pull request: the answer first, details folded."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from ppdm_flow.core.diagnostics import Diagnostic, Severity
from ppdm_flow.core.phrases import counted
from ppdm_flow.report import diagnostics as drawing
from ppdm_flow.report.check.result import CheckResult
from ppdm_flow.report.snippet import escaped

LIMIT = 65_536
"""Characters that a comment on GitHub may have; here of bytes, which are never fewer."""

_NOTICE = "\n*Cut here: {} do not fit.*\n"
_MARK = {Severity.ERROR: "❌", Severity.WARNING: "⚠️", Severity.INFO: "ℹ️"}
_TICKS = re.compile("`+")


def render(result: CheckResult, limit: int = LIMIT) -> str:
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
