"""A judged release as text, with its verdict and checks, as a page, and as documents."""

from __future__ import annotations

import textwrap
from collections import Counter
from collections.abc import Sequence

from ppdm_flow.core.texts import json_text, shortened
from ppdm_flow.report.check import LIMIT
from ppdm_flow.report.run import html as page
from ppdm_flow.report.run import markdown
from ppdm_flow.report.run.checks import CheckedRequirement, audience
from ppdm_flow.report.run.fields import ReportDocument, information_kept
from ppdm_flow.report.run.judgement import RunJudgement
from ppdm_flow.report.run.verdict import PageVerdict, verdict

_WIDTH = 100
_NARROWEST = 40
_MOST_HOLDING = 20
_LONGEST_NAME = 44
_MARK = {"holds": "ok", "waived": "waived", "fails": "NO"}
_GAP = "  "


def render(document: ReportDocument, width: int = _WIDTH, words: tuple[str, str] | None = None) -> str:
    """Return the summary: verdict, one line for each check, and why for those that do not hold.

    ``words`` replace "released" and "withheld", where nothing was released by this tool itself.

    Lines are at most ``width`` characters long where the names allow it; nothing in it is a control character.
    """
    width = max(_NARROWEST, width)
    judged = verdict(document, words)
    lines = [f"{judged.word.upper()}  {document['policy']}", *_wrapped(judged.sentence, width)]
    readers = audience(document)
    lines += _wrapped(f"{readers.word}: {readers.sentence}", width)
    for warning in (judged.contradiction, judged.caution):
        if warning:
            lines += ["", *_wrapped(f"warning: {warning}", width)]
    lines += [*_checks(judged, width), *_kept(document, width), *_waivers(judged, width)]
    return "\n".join(_printable(line).rstrip() for line in lines) + "\n"


def _checks(judged: PageVerdict, width: int) -> list[str]:
    every = (*judged.requirements, *judged.gates)
    holding = [check for check in every if check.holds]
    shown = [*judged.failing, *judged.waived, *holding[:_MOST_HOLDING]]
    if not shown:
        return []
    lines = ["", *_table(shown, several=len(judged.releases) > 1)]
    if len(holding) > _MOST_HOLDING:
        lines.append(f"    and {len(holding) - _MOST_HOLDING:,} more that hold")
    for check in (*judged.failing, *judged.waived):
        lines += _why(check, width)
    return lines


def _kept(document: ReportDocument, width: int) -> list[str]:
    """Return how much information each release keeps, and of which attributes it keeps least."""
    lines: list[str] = []
    for kept in information_kept(document):
        note = f" ({kept.note})" if kept.note else ""
        lines += ["", *_wrapped(f"{kept.heading}: {kept.text}{note}", width), *_wrapped(kept.least, width, "    ")]
    return lines


def _why(check: CheckedRequirement, width: int) -> list[str]:
    """Return why a check does not hold, and what to do next."""
    if not check.sentence and not check.advice:
        return []
    where = f"{check.id} ({check.place})" if check.place else check.id
    lines = ["", *_wrapped(where, width), *_wrapped(check.sentence, width, "    ")]
    if check.waiver:
        lines += _wrapped(f"{check.waiver.terms}: {check.waiver.reason}", width, "    ")
    return [*lines, *_wrapped(f"next: {check.advice}", width, "    ")] if check.advice else lines


def _waivers(judged: PageVerdict, width: int) -> list[str]:
    """Return the waivers that no check needed: those of findings, those that had expired, those of nothing."""
    names = {check.waiver.name for check in judged.waived if check.waiver}
    lines: list[str] = []
    for waiver in judged.waivers:
        if waiver.name not in names:
            what = f"covers {', '.join(waiver.covers)}" if waiver.covers else "covers nothing"
            text = f"waiver `{waiver.name}` of {waiver.of} until {waiver.until} ({waiver.left}) {what}; {waiver.owner}"
            lines += ["", *_wrapped(f"{text}: {waiver.reason}", width)]
    return lines


def _table(checks: Sequence[CheckedRequirement], *, several: bool) -> list[str]:
    """Return aligned columns: mark, check, release where there are several, measured, bound.

    A requirement that is judged by several figures of a release is named with its figure.
    """
    times = Counter((check.id, check.release) for check in checks)
    rows = [_cells(check, several, named=times[check.id, check.release] > 1) for check in checks]
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    return [_GAP.join(["", *(cell.ljust(widths[i]) for i, cell in enumerate(row))]).rstrip() for row in rows]


def _cells(check: CheckedRequirement, several: bool, *, named: bool) -> tuple[str, ...]:
    name = check.metric.rpartition("/")[2] if named else check.id
    names = (shortened(name, _LONGEST_NAME), *((check.release,) if several else ()))
    return (_MARK[check.state], *names, check.measured, check.bound)


def _wrapped(text: str, width: int, indent: str = "  ") -> list[str]:
    return textwrap.wrap(text, width, initial_indent=indent, subsequent_indent=indent, break_long_words=False)


def _printable(line: str) -> str:
    """Replace what a terminal would obey rather than show."""
    line = line.replace("\N{NO-BREAK SPACE}", " ")
    return "".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in line)


def text(judged: RunJudgement) -> str:
    """Return verdict and checks for a terminal."""
    return render(judged.document, judged.width, judged.words) + judged.last


def as_json(judged: RunJudgement) -> str:
    """Return the report document."""
    return json_text(judged.document)


def html(judged: RunJudgement) -> str:
    """Return the whole report as one page."""
    return page.render(judged.document, judged.words)


def md(judged: RunJudgement) -> str:
    """Return the whole report as Markdown."""
    return markdown.render(judged.document, words=judged.words)


def comment(judged: RunJudgement) -> str:
    """Return the report as Markdown that is short enough for a comment on a pull request."""
    return markdown.render(judged.document, LIMIT, judged.words)
